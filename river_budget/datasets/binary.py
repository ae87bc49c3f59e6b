"""Two classes. True is the label +1, or what the docstring says."""

from __future__ import annotations

from river.datasets.base import BINARY_CLF

from .definitions import Definition, File, listed, matlab_file, uci
from .reading import Csv, kdd
from .stored import StoredDataset

__all__ = [
    "A9a",
    "CodRNA",
    "Electricity",
    "German",
    "GermanScaled",
    "Ijcnn1",
    "KDDCup08",
    "KDDCup99",
    "KDDCup99TenPercent",
    "Mushrooms",
    "PhishingWebsites",
    "Reuters",
    "SkinNonSkin",
    "Spambase",
    "W7a",
    "W8a",
    "W8aTrain",
]

KDD99 = "http://kdd.ics.uci.edu/databases/kddcup99"
TICK = (
    "https://raw.githubusercontent.com/X-DataInitiative/tick-datasets/"
    "9d959b6e53e17145e93e9849ff1f9f6d2de8ae51/binary"
)


def _kdd(name: str, n_features: int, file: str, rows: int, member: str) -> Definition:
    """A file of the KDD Cup 1999."""
    published = File(file, rows, f"{KDD99}/{member}.gz", kdd, member)
    return Definition(name, BINARY_CLF, n_features, 2, (published,), sparse=True)


class German(StoredDataset):
    """German credit: people who asked for a loan. True is a bad risk.

    german.numer of the LIBSVM collection, raw integers, equal to the matrix of the 2016 paper's
    authors. With the authors' permutations.
    """

    definition = listed("german", authors=True)


class GermanScaled(StoredDataset):
    """German credit with every feature between -1 and 1. No paper here uses it.

    german.numer_scale of the LIBSVM collection.
    """

    definition = listed("german-scaled")


class Spambase(StoredDataset):
    """Spambase: frequencies of words and characters in e-mails. True is spam.

    From the UCI repository, raw: equal to the authors' matrix. With the authors' permutations.
    """

    definition = Definition(
        "spambase",
        BINARY_CLF,
        n_features=57,
        n_classes=2,
        files=(
            uci(
                "94/spambase.zip",
                4_601,
                "spambase",
                "spambase.data",
                Csv(target=57),
                matlab_file("binary", "spambase"),
            ),
        ),
        authors=matlab_file("binary", "spambase"),
    )


class W7a(StoredDataset):
    """Web pages as the words in them, training file w7a alone. Many pages have none of the words.

    From the LIBSVM collection (Platt), as published. The rows are grouped by class. The test file
    is the part w7a.t.
    """

    definition = listed("w7a", sparse=True)


class W8a(StoredDataset):
    """Web pages as the words in them, training and test file joined.

    w8a and w8a.t of the LIBSVM collection (Platt), as published. Never fetched in a test.
    """

    definition = listed("w8a", sparse=True)


class W8aTrain(StoredDataset):
    """Web pages as the words in them, training file w8a alone: the pages of w7a and w7a.t together.

    Of the LIBSVM collection (Platt), as published. The rows are grouped by class.
    """

    definition = listed("w8a-train", sparse=True)


class A9a(StoredDataset):
    """Adult: does someone earn more than 50,000 dollars? Training and test file joined.

    a9a and a9a.t of the LIBSVM collection (UCI Adult, in Platt's zeros and ones), as published. The
    split of the other papers is in the parts a9a and a9a.t.
    """

    definition = listed("a9a", sparse=True)


class Ijcnn1(StoredDataset):
    """The challenge of IJCNN 2001: misfires of an engine. Training and test file joined.

    ijcnn1 and ijcnn1.t of the LIBSVM collection, as published. The copy that was tested holds
    ijcnn1.tr and then ijcnn1.val; the published ijcnn1.bz2 may order these rows differently.
    """

    definition = listed("ijcnn1")


class CodRNA(StoredDataset):
    """Does a pair of sequences hold a non-coding RNA? The test file alone, as in the 2016 paper.

    cod-rna.t of the LIBSVM collection, raw. The rows are grouped by class. The training file is the
    part cod-rna.
    """

    definition = listed("codrna")


class KDDCup08(StoredDataset):
    """Breast cancer in X-ray images, KDD Cup 2008. True is malignant.

    The organisers give it to registered users only. Write it as LIBSVM text (label -1 or +1, then
    the 117 features) named kddcup08. Never fetched in a test.
    """

    definition = Definition("kddcup08", BINARY_CLF, 117, 2, (File("kddcup08", 102_294, None),))


class KDDCup99(StoredDataset):
    """Connections of a network, KDD Cup 1999, the full training file. True is an attack.

    Numeric columns raw; protocol, service and flag become one column per value. The 2016 paper
    prints 1,131,571 rows and 127 features, and does not say how it chose and encoded them: here are
    all rows. As an array they take 4.8 GB. Never fetched in a test.
    """

    definition = _kdd("kddcup99", 122, "kddcup99", 4_898_431, "kddcup.data")


class KDDCup99TenPercent(StoredDataset):
    """Connections of a network, KDD Cup 1999, the file with a tenth of them. True is an attack.

    Encoded as `KDDCup99`, which has more services and so more features.
    """

    definition = _kdd("kddcup99-10pct", 118, "kddcup99_10pct", 494_021, "kddcup.data_10_percent")


class Mushrooms(StoredDataset):
    """Mushrooms described by their looks. True is poisonous (label 1).

    From the LIBSVM collection, as published: one column per value of each property.
    """

    definition = listed("mushrooms", sparse=True)


class PhishingWebsites(StoredDataset):
    """Web sites: phishing or not. True is the label 1.

    phishing of the LIBSVM collection, as published: rows of length 1. Not River's `Phishing`, which
    has 9 features.
    """

    definition = listed("phishing")


class SkinNonSkin(StoredDataset):
    """Colours of pixels in photographs of faces. True is skin (label 1).

    skin_nonskin of the LIBSVM collection, raw. The rows are grouped by class.
    """

    definition = listed("skin")


class Reuters(StoredDataset):
    """News of Reuters as the words in them. True is a report about money and foreign exchange
    (money_fx).

    The file of the LASVM programs that the 2012 paper uses, in the copy of tick-datasets; rows of
    length 1. The test file is the part reuters.t. As an array the set takes half a GB.
    """

    definition = Definition(
        "reuters",
        BINARY_CLF,
        n_features=8_315,
        n_classes=2,
        files=(File("reuters", 7_770, f"{TICK}/reuters/reuters.trn.bz2"),),
        beside=(File("reuters.t", 3_299, f"{TICK}/reuters/reuters.tst.bz2"),),
        sparse=True,
    )


class Electricity(StoredDataset):
    """Does the price of electricity in New South Wales go up? A stream in the order of time.

    The normalised file that MOA uses, fetched from the address of River's `Elec2`. It is never
    shuffled: `orders` gives the order of the file only.
    """

    definition = Definition(
        "elec2",
        BINARY_CLF,
        n_features=8,
        n_classes=2,
        files=(
            File(
                "elec2",
                45_312,
                "https://maxhalford.github.io/files/datasets/electricity.zip",
                Csv(target=8, header=True, words=((b"UP", b"1"), (b"DOWN", b"-1"))),
                "electricity.csv",
            ),
        ),
        time_order=True,
    )

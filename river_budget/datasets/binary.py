"""Two classes. True is the label +1, or what the docstring says."""

from __future__ import annotations

from typing import Any

from river.datasets.base import BINARY_CLF

from .definitions import Definition, File, collection, matlab_file, uci
from .reading import Csv, kdd
from .stored import StoredDataset

KDD99 = "http://kdd.ics.uci.edu/databases/kddcup99"


def two_classes(
    name: str, n_features: int, *files: File, authors: bool = False, **more: Any
) -> Definition:
    """A set of two classes. `authors`: the authors of the 2016 paper publish permutations of it."""
    address = matlab_file("binary", name) if authors else None
    return Definition(name, BINARY_CLF, n_features, 2, files, authors=address, **more)


class German(StoredDataset):
    """German credit: people who asked for a loan. True is a bad risk.

    german.numer of the LIBSVM collection, raw whole numbers, exactly the authors' matrix. With the authors'
    permutations.
    """

    definition = two_classes("german", 24, collection("binary/german.numer", 1_000), authors=True)


class GermanScaled(StoredDataset):
    """German credit with every feature between -1 and 1. No paper here uses it.

    german.numer_scale of the LIBSVM collection.
    """

    definition = two_classes("german-scaled", 24, collection("binary/german.numer_scale", 1_000))


class Spambase(StoredDataset):
    """Spambase: frequencies of words and signs in mails. True is spam.

    Of the UCI repository, raw. With the authors' permutations, if their rows are in UCI's order.
    """

    definition = two_classes(
        "spambase",
        57,
        uci("94/spambase.zip", 4_601, "spambase", "spambase.data", Csv(target=57)),
        authors=True,
    )


class W7a(StoredDataset):
    """Web pages as the words in them, training file w7a alone. Many pages have none of the words.

    Of the LIBSVM collection (Platt), as published. The rows are grouped by class. The test file is the
    part w7a.t.
    """

    definition = two_classes(
        "w7a",
        300,
        collection("binary/w7a", 24_692),
        beside=(collection("binary/w7a.t", 25_057),),
        sparse=True,
    )


class W8a(StoredDataset):
    """Web pages as the words in them, training and test file joined.

    w8a and w8a.t of the LIBSVM collection (Platt), as published. Never fetched in a test.
    """

    definition = two_classes(
        "w8a",
        300,
        collection("binary/w8a", 49_749),
        collection("binary/w8a.t", 14_951),
        sparse=True,
    )


class A9a(StoredDataset):
    """Adult: does someone earn more than 50,000 dollars? Training and test file joined.

    a9a and a9a.t of the LIBSVM collection (UCI Adult, in Platt's zeros and ones), as published. The split
    of the other papers is in the parts a9a and a9a.t.
    """

    definition = two_classes(
        "a9a",
        123,
        collection("binary/a9a", 32_561),
        collection("binary/a9a.t", 16_281),
        sparse=True,
    )


class Ijcnn1(StoredDataset):
    """The challenge of IJCNN 2001: misfires of an engine. Training and test file joined.

    ijcnn1 and ijcnn1.t of the LIBSVM collection, as published. The copy that was tested holds ijcnn1.tr and
    then ijcnn1.val; the published ijcnn1.bz2 may order these rows differently.
    """

    definition = two_classes(
        "ijcnn1",
        22,
        collection("binary/ijcnn1.bz2", 49_990),
        collection("binary/ijcnn1.t.bz2", 91_701),
    )


class CodRNA(StoredDataset):
    """Does a pair of sequences hold a non-coding RNA? The test file alone, as in the 2016 paper.

    cod-rna.t of the LIBSVM collection, raw. The rows are grouped by class. The training file is the part
    cod-rna.
    """

    definition = two_classes(
        "codrna",
        8,
        collection("binary/cod-rna.t", 271_617),
        beside=(collection("binary/cod-rna", 59_535),),
    )


class KDDCup08(StoredDataset):
    """Breast cancer in X-ray images, KDD Cup 2008. True is malignant.

    The organisers give it to registered users only. Write it as LIBSVM text (label -1 or +1, then the 117
    features) named kddcup08. Never fetched in a test.
    """

    definition = two_classes("kddcup08", 117, File("kddcup08", 102_294, None))


class KDDCup99(StoredDataset):
    """Connections of a network, KDD Cup 1999, the full training file. True is an attack.

    Numeric columns raw; protocol, service and flag become one column per value. The 2016 paper prints
    1,131,571 rows and 127 features, and does not say how it chose and encoded them: this is all there is.
    As an array it takes 4.8 GB. Never fetched in a test.
    """

    definition = two_classes(
        "kddcup99",
        122,
        File("kddcup99", 4_898_431, f"{KDD99}/kddcup.data.gz", reader=kdd, member="kddcup.data"),
        sparse=True,
    )


class KDDCup99TenPercent(StoredDataset):
    """Connections of a network, KDD Cup 1999, the file with a tenth of them. True is an attack.

    Encoded as `KDDCup99`, which has more services and so more features.
    """

    definition = two_classes(
        "kddcup99-10pct",
        118,
        File(
            "kddcup99_10pct",
            494_021,
            f"{KDD99}/kddcup.data_10_percent.gz",
            reader=kdd,
            member="kddcup.data_10_percent",
        ),
        sparse=True,
    )


class Mushrooms(StoredDataset):
    """Mushrooms by their looks. True is poisonous (label 1).

    Of the LIBSVM collection, as published: one column per value of each property.
    """

    definition = two_classes("mushrooms", 112, collection("binary/mushrooms", 8_124), sparse=True)


class PhishingWebsites(StoredDataset):
    """Web sites that may be after passwords. True is the label 1.

    phishing of the LIBSVM collection, as published. Not River's `Phishing`, which has 9 features. Never
    fetched in a test.
    """

    definition = two_classes("phishing", 68, collection("binary/phishing", 11_055))


class SkinNonSkin(StoredDataset):
    """Colours of pixels in photographs of faces. True is skin (label 1).

    skin_nonskin of the LIBSVM collection, raw. Never fetched in a test.
    """

    definition = two_classes("skin", 3, collection("binary/skin_nonskin", 245_057))


class Electricity(StoredDataset):
    """Does the price of electricity in New South Wales go up? A stream in the order of time.

    The normalised file that MOA uses, fetched from the address of River's `Elec2`. It is never shuffled:
    `orders` gives the order of the file only.
    """

    definition = two_classes(
        "elec2",
        8,
        File(
            "elec2",
            45_312,
            "https://maxhalford.github.io/files/datasets/electricity.zip",
            Csv(target=8, header=True, words=((b"UP", b"1"), (b"DOWN", b"-1"))),
            "electricity.csv",
        ),
        time_order=True,
    )

"""Three classes and more. Targets are the labels in the files."""

from __future__ import annotations

from river.datasets.base import MULTI_CLF

from .definitions import COLLECTION, Definition, File, collection, listed
from .preparing import columns_around_zero, pixels
from .reading import letters
from .stored import StoredDataset

__all__ = [
    "Acoustic",
    "Covtype",
    "Dna",
    "Letter",
    "LetterRaw",
    "Mnist",
    "MnistTest",
    "Poker",
    "PokerTest",
    "Satimage",
    "Shuttle",
    "Usps",
]


class Dna(StoredDataset):
    """DNA: boundaries of introns and exons, with features 0 or 1.

    dna.scale of the LIBSVM collection (Statlog), as published, exactly the authors' matrix. With
    the authors' permutations. The test file is the part dna.scale.t, never fetched.
    """

    definition = listed("dna", authors=True, sparse=True)


class Satimage(StoredDataset):
    """Kinds of soil in satellite images.

    satimage.scale of the LIBSVM collection (Statlog), as published, between -1 and 1, or the
    authors' matrix, on which it was tested. With the authors' permutations. The test file is the
    part satimage.scale.t, never fetched.
    """

    definition = listed("satimage", authors=True)


class Usps(StoredDataset):
    """Digits from letters of the US Postal Service; the label is the digit plus 1.

    usps of the LIBSVM collection, as published, between -1 and 1. The test file is the part usps.t.
    """

    definition = listed("usps")


class Mnist(StoredDataset):
    """MNIST: handwritten digits, the 60,000 training images. The 2016 paper uses `MnistTest`.

    mnist of the LIBSVM collection, divided by 255. The test file is the part mnist.t. Never fetched
    in a test.
    """

    definition = listed("mnist", prepare=pixels, sparse=True)


class MnistTest(StoredDataset):
    """MNIST: handwritten digits, the 10,000 test images, which the 2016 paper calls mnist.

    mnist.t of the LIBSVM collection, divided by 255.
    """

    definition = listed("mnist-test", prepare=pixels, sparse=True)


class Letter(StoredDataset):
    """Letters printed in many fonts, described by 16 measures of their shape.

    letter.scale of the LIBSVM collection (Statlog), as published, between -1 and 1. The test file
    is the part letter.scale.t, never fetched.
    """

    definition = listed("letter")


class LetterRaw(StoredDataset):
    """Letters printed in many fonts, with the measures as whole numbers from 0 to 15.

    letter.scale of the LIBSVM collection, scaled back. The test file is the part letter.t.
    """

    definition = Definition(
        "letter-raw",
        MULTI_CLF,
        n_features=16,
        n_classes=26,
        files=(File("letter", 15_000, f"{COLLECTION}/multiclass/letter.scale", letters),),
        beside=(File("letter.t", 5_000, f"{COLLECTION}/multiclass/letter.scale.t", letters),),
    )


class Shuttle(StoredDataset):
    """States of the space shuttle's radiators and valves. Four of five examples are of one class.

    The training file of Statlog, every column scaled to [-1, 1]. The tested copy is the raw file;
    the published one, shuttle.scale of the LIBSVM collection, is scaled already and rounded.
    """

    definition = Definition(
        "shuttle",
        MULTI_CLF,
        n_features=9,
        n_classes=7,
        files=(collection("multiclass/shuttle.scale", 43_500, name="shuttle"),),
        prepare=columns_around_zero,
    )


class Acoustic(StoredDataset):
    """Kinds of vehicle by their sound.

    acoustic_scale of the LIBSVM collection (SensIT), as published. Never fetched in a test, nor its
    test file acoustic_scale.t.
    """

    definition = listed("acoustic")


class Covtype(StoredDataset):
    """Kinds of forest by soil, height and light.

    covtype.scale01 of the LIBSVM collection, as published, between 0 and 1. Never fetched in a
    test.
    """

    definition = listed("covtype", sparse=True)


class Poker(StoredDataset):
    """Poker hands of five cards, the training file. The 2016 paper uses `PokerTest`.

    poker of the LIBSVM collection, raw: suits 1 to 4, ranks 1 to 13.
    """

    definition = listed("poker")


class PokerTest(StoredDataset):
    """Poker hands of five cards, the test file with a million, which the 2016 paper calls poker.

    poker.t of the LIBSVM collection, raw. Never fetched in a test.
    """

    definition = listed("poker-test")

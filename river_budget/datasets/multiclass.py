"""Three classes and more. Targets are the labels in the files."""

from __future__ import annotations

from typing import Any

from river.datasets.base import MULTI_CLF

from .definitions import Definition, File, collection, matlab_file
from .preparing import columns_around_zero, letters, pixels
from .stored import StoredDataset


def several_classes(
    name: str, n_features: int, n_classes: int, *files: File, authors: bool = False, **more: Any
) -> Definition:
    """A set of so many classes. `authors`: the authors of the 2016 paper publish permutations of it."""
    address = matlab_file("multiclass", name) if authors else None
    return Definition(name, MULTI_CLF, n_features, n_classes, files, authors=address, **more)


class Dna(StoredDataset):
    """DNA: where introns meet exons, in zeros and ones.

    dna.scale of the LIBSVM collection (Statlog), as published, exactly the authors' matrix. With the
    authors' permutations. The test file is the part dna.scale.t, never fetched.
    """

    definition = several_classes(
        "dna",
        180,
        3,
        collection("multiclass/dna.scale", 2_000),
        beside=(collection("multiclass/dna.scale.t", 1_186),),
        authors=True,
        sparse=True,
    )


class Satimage(StoredDataset):
    """Kinds of soil in satellite images.

    satimage.scale of the LIBSVM collection (Statlog), as published, between -1 and 1. With the authors'
    permutations, if their rows are in the same order. Never fetched in a test, nor its test file
    satimage.scale.t.
    """

    definition = several_classes(
        "satimage",
        36,
        6,
        collection("multiclass/satimage.scale", 4_435),
        beside=(collection("multiclass/satimage.scale.t", 2_000),),
        authors=True,
    )


class Usps(StoredDataset):
    """Digits from letters of the US Postal Service; the label is the digit plus 1.

    usps of the LIBSVM collection, as published, between -1 and 1. The test file is the part usps.t, never
    fetched.
    """

    definition = several_classes(
        "usps",
        256,
        10,
        collection("multiclass/usps.bz2", 7_291),
        beside=(collection("multiclass/usps.t.bz2", 2_007),),
    )


class Mnist(StoredDataset):
    """MNIST: handwritten digits, the 60,000 training images. The 2016 paper uses `MnistTest`.

    mnist of the LIBSVM collection, divided by 255. The test file is the part mnist.t. Never fetched in a
    test.
    """

    definition = several_classes(
        "mnist",
        780,
        10,
        collection("multiclass/mnist.bz2", 60_000),
        beside=(collection("multiclass/mnist.t.bz2", 10_000),),
        prepare=pixels,
        sparse=True,
    )


class MnistTest(StoredDataset):
    """MNIST: handwritten digits, the 10,000 test images, which the 2016 paper calls mnist.

    mnist.t of the LIBSVM collection, divided by 255.
    """

    definition = several_classes(
        "mnist-test",
        780,
        10,
        collection("multiclass/mnist.t.bz2", 10_000),
        prepare=pixels,
        sparse=True,
    )


class Letter(StoredDataset):
    """Letters printed in many fonts, as 16 measures of their shape.

    letter.scale of the LIBSVM collection (Statlog), as published, between -1 and 1. The test file is the
    part letter.scale.t, never fetched.
    """

    definition = several_classes(
        "letter",
        16,
        26,
        collection("multiclass/letter.scale", 15_000),
        beside=(collection("multiclass/letter.scale.t", 5_000),),
    )


class LetterRaw(StoredDataset):
    """Letters printed in many fonts, with the measures as whole numbers from 0 to 15.

    letter.scale of the LIBSVM collection, scaled back. No paper here uses it.
    """

    definition = several_classes(
        "letter-raw", 16, 26, collection("multiclass/letter.scale", 15_000), prepare=letters
    )


class Shuttle(StoredDataset):
    """What the space shuttle's radiators and valves do. Four of five examples are of one class.

    The training file of Statlog, every column brought to [-1, 1]. The tested copy is the raw file; the
    published one, shuttle.scale of the LIBSVM collection, is scaled already and rounded.
    """

    definition = several_classes(
        "shuttle",
        9,
        7,
        collection("multiclass/shuttle.scale", 43_500, name="shuttle"),
        prepare=columns_around_zero,
    )


class Acoustic(StoredDataset):
    """Kinds of vehicle by their sound.

    acoustic_scale of the LIBSVM collection (SensIT), as published. Never fetched in a test, nor its test
    file acoustic_scale.t.
    """

    definition = several_classes(
        "acoustic",
        50,
        3,
        collection("multiclass/vehicle/acoustic_scale.bz2", 78_823),
        beside=(collection("multiclass/vehicle/acoustic_scale.t.bz2", 19_705),),
    )


class Covtype(StoredDataset):
    """Kinds of forest by soil, height and light.

    covtype.scale01 of the LIBSVM collection, as published, between 0 and 1. Never fetched in a test.
    """

    definition = several_classes(
        "covtype", 54, 7, collection("multiclass/covtype.scale01.bz2", 581_012), sparse=True
    )


class Poker(StoredDataset):
    """Poker hands of five cards, the training file. The 2016 paper uses `PokerTest`.

    poker of the LIBSVM collection, raw: suits 1 to 4, ranks 1 to 13.
    """

    definition = several_classes("poker", 10, 10, collection("multiclass/poker.bz2", 25_010))


class PokerTest(StoredDataset):
    """Poker hands of five cards, the test file with a million, which the 2016 paper calls poker.

    poker.t of the LIBSVM collection, raw. Never fetched in a test.
    """

    definition = several_classes(
        "poker-test", 10, 10, collection("multiclass/poker.t.bz2", 1_000_000)
    )

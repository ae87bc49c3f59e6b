"""The papers' data as River datasets.

Every dataset iterates over (x, y), like River's datasets: x is a dict from column numbers to values. `arrays()` gives
the same numbers as a matrix and a vector, which is the fast path. The papers' preparation is part of the
definition, and `orders()` gives the order of each repetition of an experiment.

A file is read from the folder in the environment variable RIVER_BUDGET_DATA, else from the folder river_budget in
River's data folder. A file that is in neither is downloaded from its publisher into the second. Tests download
nothing, and readers of files that are not LIBSVM text are tested on artificial rows. Datasets marked "Never fetched
in a test" were never read from their file: their shapes and formats are what publishers and papers state.
"""

from __future__ import annotations

from typing import Any

from .binary import (
    A9a,
    CodRNA,
    Electricity,
    German,
    GermanScaled,
    Ijcnn1,
    KDDCup08,
    KDDCup99,
    KDDCup99TenPercent,
    Mushrooms,
    PhishingWebsites,
    Reuters,
    SkinNonSkin,
    Spambase,
    W7a,
    W8a,
    W8aTrain,
)
from .fetching import DatasetUnavailable
from .generated import Checkerboard, Waveform
from .multiclass import (
    Acoustic,
    Covtype,
    Dna,
    Letter,
    LetterRaw,
    Mnist,
    MnistTest,
    Poker,
    PokerTest,
    Satimage,
    Shuttle,
    Usps,
)
from .regression import (
    Abalone,
    AbaloneScaled,
    Cadata,
    Casp,
    Cpusmall,
    Housing,
    Mg,
    Parkinsons,
    Slice,
    Year,
)
from .stored import StoredDataset

__all__ = [
    "A9a",
    "Abalone",
    "AbaloneScaled",
    "Acoustic",
    "Cadata",
    "Casp",
    "Checkerboard",
    "CodRNA",
    "Covtype",
    "Cpusmall",
    "DatasetUnavailable",
    "Dna",
    "Electricity",
    "German",
    "GermanScaled",
    "Housing",
    "Ijcnn1",
    "KDDCup08",
    "KDDCup99",
    "KDDCup99TenPercent",
    "Letter",
    "LetterRaw",
    "Mg",
    "Mnist",
    "MnistTest",
    "Mushrooms",
    "Parkinsons",
    "PhishingWebsites",
    "Poker",
    "PokerTest",
    "Reuters",
    "Satimage",
    "Shuttle",
    "SkinNonSkin",
    "Slice",
    "Spambase",
    "StoredDataset",
    "Usps",
    "W7a",
    "W8a",
    "W8aTrain",
    "Waveform",
    "Year",
    "load",
    "names",
]


def __dir__() -> list[str]:
    return __all__


Known = StoredDataset | Checkerboard | Waveform

_BY_NAME: dict[str, type[Known]] = {
    **{kind.definition.name: kind for kind in StoredDataset.__subclasses__()},
    "checkerboard": Checkerboard,
    "waveform": Waveform,
}


def names() -> list[str]:
    """The short names of all datasets, those of the papers' tables where they have one."""
    return list(_BY_NAME)


def load(name: str, **parameters: Any) -> Known:
    """The dataset with this short name; only the generators take parameters.

    Examples
    --------

    >>> from river_budget import datasets

    >>> datasets.load("german").definition.n_features
    24

    """
    if name.lower() not in _BY_NAME:
        raise ValueError(f"there is no dataset {name!r}: there are {', '.join(names())}")
    return _BY_NAME[name.lower()](**parameters)

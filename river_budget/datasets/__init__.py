"""The papers' data as River datasets.

Every dataset iterates over (x, y), like River's datasets: x is a dict from column numbers to
values. `arrays()` gives the same numbers as a matrix and a vector, which is the fast path. The
papers' preparation is part of the definition, and `orders()` gives the order of each repetition of
an experiment.

A file is read from the folder in the environment variable RIVER_BUDGET_DATA, else from the folder
river_budget in River's data folder. A file that is in neither is downloaded from its publisher into
the second. Tests download nothing, and readers of files that are not LIBSVM text are tested on
artificial rows. Datasets marked "Never fetched in a test" were never read from their file: their
shapes and formats are what publishers and papers state.
"""

from __future__ import annotations

from typing import Any

from . import binary, multiclass, regression
from .binary import *  # noqa: F403
from .fetching import DatasetUnavailable
from .generated import Checkerboard, PokerHands, Waveform
from .multiclass import *  # noqa: F403
from .regression import *  # noqa: F403
from .stored import StoredDataset

__all__ = ["Checkerboard", "DatasetUnavailable", "PokerHands", "StoredDataset", "Waveform"]
__all__ += ["load", "names"]
__all__ += binary.__all__
__all__ += multiclass.__all__
__all__ += regression.__all__


def __dir__() -> list[str]:
    return __all__


Known = StoredDataset | Checkerboard | PokerHands | Waveform

_BY_NAME: dict[str, type[Known]] = {
    **{kind.definition.name: kind for kind in StoredDataset.__subclasses__()},
    "checkerboard": Checkerboard,
    "poker-hands": PokerHands,
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

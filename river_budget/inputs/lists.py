"""Sparse lists: examples as (place, value) pairs."""

from __future__ import annotations

from typing import Any

import numpy as np


class Lists:
    """Examples as sparse lists: the entries of example t are those from starts[t] to starts[t + 1].

    A feature that the model does not know has the place -1.
    """

    __slots__ = ("places", "starts", "values")

    def __init__(self, starts: Any, places: Any, values: Any):
        self.starts, self.places, self.values = starts, places, values

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, some: slice) -> Lists:
        start, stop, _ = some.indices(len(self))
        starts = self.starts[start : max(start, stop) + 1]
        return Lists(starts, self.places, self.values)

    @property
    def longest(self) -> int:
        return int(np.diff(self.starts).max(initial=0))

    @property
    def entries(self) -> slice:
        """Where the entries stand, as these lists may be a part of others."""
        return slice(int(self.starts[0]), int(self.starts[-1]))

    @property
    def owners(self) -> Any:
        """The example of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def table(self, width: int) -> Any:
        """The lists as the rows of a matrix."""
        rows = np.zeros((len(self), width))
        rows[self.owners, self.places[self.entries]] = self.values[self.entries]
        return rows

    @classmethod
    def of_table(cls, rows: Any) -> Lists:
        """The entries of a matrix that are not 0, as lists."""
        owners, places = np.nonzero(rows)
        lengths = np.bincount(owners, minlength=len(rows))
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls(starts, places.astype(np.int64), rows[owners, places])

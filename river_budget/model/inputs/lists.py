"""Sparse lists: examples and support vectors as (place, value) pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.block import blocks


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
    def owners(self) -> Any:
        """The example of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def copies_of(self, kept: Any) -> Lists:
        """A copy of some of the lists, in this order."""
        lengths = np.diff(self.starts)[kept]
        starts = starts_of(lengths)
        picked = np.repeat(self.starts[kept] - starts[:-1], lengths) + np.arange(starts[-1])
        return Lists(starts, self.places[picked], self.values[picked])

    def table(self, width: int) -> Any:
        """The lists as the rows of a matrix."""
        rows = np.zeros((len(self), width))
        first, last = self.starts[0], self.starts[-1]
        rows[self.owners, self.places[first:last]] = self.values[first:last]
        return rows

    @classmethod
    def of_table(cls, rows: Any) -> Lists:
        """The entries of a matrix that are not 0, as lists."""
        owners, places = np.nonzero(rows)
        starts = starts_of(np.bincount(owners, minlength=len(rows)))
        return cls(starts, places.astype(np.int64), rows[owners, places])


def joined(parts: list[Lists]) -> Lists:
    """Concatenate lists."""
    lengths = [np.diff(part.starts) for part in parts]
    nothing = np.zeros(0, np.int64)
    return Lists(
        starts_of(np.concatenate([nothing, *lengths])),
        np.concatenate([nothing, *(part.places for part in parts)]),
        np.concatenate([np.zeros(0), *(part.values for part in parts)]),
    )


def starts_of(lengths: Any) -> Any:
    """The starts of lists of these lengths that lie one behind the other."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def vectors_of(block: Any) -> Lists:
    """The support vectors of a block as lists, in the order of its columns."""
    model = blocks.views(block)
    return Lists.of_table(np.ascontiguousarray(model.vectors[:, : model.head.count].T))


def set_vectors(block: Any, lists: Lists) -> None:
    """Overwrite the vectors of a block with as many lists."""
    table = blocks.views(block).vectors
    table[:] = 0.0
    table[lists.places, lists.owners] = lists.values

"""Batches: examples that a model can learn or score, as rows or as lists."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .cells import Cells
from .features import FeatureIndex
from .lists import Lists

ROWS_OF_A_PART = 2**10  # about a millisecond: between parts other threads get their turn
FEW_COLUMNS = 4  # a batch with less than 1 / FEW_COLUMNS of the known features becomes lists


class Batch(Cells):
    """Many examples whose numbers are all finite. predicted: they are only scored, and missing values count as 0."""

    def __init__(self, X: Any, predicted: bool = False):
        super().__init__(X)
        numbers = self.values if self.lists is None else self.lists.values
        if np.isfinite(numbers).all():
            return
        if not (predicted and self.all_numbers):
            self.refuse_bad(missing_too=not predicted)
        numbers = np.where(np.isfinite(numbers), numbers, 0.0)
        if self.lists is None:
            self.values = numbers
        else:
            self.lists = Lists(self.lists.starts, self.lists.places, numbers)
        self.bad = np.zeros(len(self), bool)

    @classmethod
    def of(cls, names: list[Any], values: Any, lists: Lists | None = None) -> Batch:
        """A batch from a matrix of float64, or lists, that have been checked, and the names of its columns."""
        batch = cls.__new__(cls)
        batch.names, batch.values, batch.lists = names, values, lists
        batch.bad = np.zeros(len(batch), bool)
        return batch

    @classmethod
    def of_one(cls, x: dict[Any, float]) -> Batch:
        """A batch of one example, from `FeatureIndex.taken`."""
        return cls.of(list(x), np.array([list(x.values())]))

    def part(self, start: int, stop: int) -> Batch:
        """The examples from start to stop, as a batch."""
        some = slice(start, stop)
        if stop - start == len(self):
            return self
        if self.lists is None:
            return Batch.of(self.names, self.values[some])
        return Batch.of(self.names, None, self.lists[some])

    def check_scaled(self, features: FeatureIndex) -> None:
        """Raise for a number whose product with the scale of its feature is not finite."""
        if features.scaled:
            self._scaled_lists(features)

    def names_in_use(self) -> list[Any]:
        """The names of all columns; for a sparse matrix, of those that have an entry."""
        if self.lists is None:
            return self.names
        return [self.names[column] for column in self._columns_in_use.tolist()]

    @functools.cached_property
    def _columns_in_use(self) -> Any:
        """The columns of a sparse matrix that have an entry."""
        assert self.lists is not None
        starts, used = self.lists.starts, np.zeros(len(self.names), bool)
        used[self.lists.places[starts[0] : starts[-1]]] = True
        return np.flatnonzero(used)

    def rows(self, features: FeatureIndex) -> Any:
        """The batch as rows of all known features, without unknown ones, for models that take no lists."""
        values = self.scaled_values(features)
        order = [features.places.get(name, -1) for name in self.names]
        known = [column for column, place in enumerate(order) if place >= 0]
        rows = np.zeros((len(self), features.width))
        rows[:, [order[column] for column in known]] = values[:, known]
        return rows

    def scaled_values(self, features: FeatureIndex) -> Any:
        """The matrix, with its columns times the scales of their features."""
        values = self.matrix()
        if not features.scaled:
            return values
        with np.errstate(over="ignore"):
            scaled = values * features.factors(self.names)
        for bad in np.flatnonzero(~np.isfinite(scaled).all(axis=1))[:1]:
            features.reject(dict(zip(self.names, values[bad].tolist(), strict=True)))
        return scaled

    def _scaled_lists(self, features: FeatureIndex) -> Lists:
        """The sparse matrix as lists, with values times the scales of their features."""
        if self.lists is None:
            return Lists.of_table(self.scaled_values(features))
        if not features.scaled:
            return self.lists
        lists = self.lists
        with np.errstate(over="ignore"):
            values = lists.values * features.factors(self.names)[lists.places]
        for place in np.flatnonzero(~np.isfinite(values))[:1]:
            features.reject({self.names[int(lists.places[place])]: float(lists.values[place])})
        return Lists(lists.starts, lists.places, values)

    def examples(self, features: FeatureIndex) -> Any:
        """The batch as rows of all known features; or as lists, if these are shorter or names are unknown."""
        known = features.places.keys() >= set(self.names)
        if self.lists is None and known and features.width <= FEW_COLUMNS * len(self.names):
            return self.rows(features)
        lists, places = self._scaled_lists(features), np.full(len(self.names), -1)
        columns = range(len(self.names)) if self.lists is None else self._columns_in_use.tolist()
        for column in columns:
            places[column] = features.places.get(self.names[column], -1)
        first, last = lists.starts[0], lists.starts[-1]
        found, values = places[lists.places[first:last]], lists.values[first:last]
        return Lists(lists.starts - first, found, values)

    def parts(self, entries: int) -> Iterator[tuple[int, int]]:
        """(first, last) of parts with at most `entries` entries, as a sparse matrix may contain very many new names."""
        first, n = 0, len(self)
        if self.lists is None:
            for first in range(0, n, ROWS_OF_A_PART):
                yield first, min(first + ROWS_OF_A_PART, n)
            return
        starts = self.lists.starts
        while first < n:
            last = int(np.searchsorted(starts, starts[first] + entries, "right")) - 1
            last = min(max(last, first + 1), first + ROWS_OF_A_PART, n)
            yield first, last
            first = last


def batch_of(X: Any, predicted: bool = False) -> Batch:
    """A batch of the examples of a user, or what is one already."""
    return X if isinstance(X, Batch) else Batch(X, predicted)

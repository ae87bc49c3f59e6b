"""Batches: many examples from frames, arrays and sparse matrices, as rows or as lists of numbers."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from river.utils import dataframe

from ...parameters import NUMBER_KINDS, as_float, is_missing, number
from .features import FeatureIndex
from .frames import Frame, chosen, csr_of
from .lists import Lists

ROWS_OF_A_PART = 2**10  # about a millisecond: between parts other threads get their turn
FEW_COLUMNS = 4  # a batch with less than 1 / FEW_COLUMNS of the known features becomes lists


class Batch:
    """Many examples. As a user gives them, some may hold a bad cell, no finite number: models take what is `checked`."""

    frame: Frame | None = None
    sparse: Any = None  # the examples as CSR, if they came as a sparse matrix or frame
    lists: Lists | None = None  # the same, with columns as places
    values: Any = None  # else as a matrix of float64, with NaN in place of what is no number
    all_numbers = True  # whether they came in a numeric type

    def __init__(self, X: Any):
        self.given = X
        if isinstance(X, np.ndarray):
            if X.ndim != 2:
                raise ValueError(f"an array of examples must have 2 dimensions, not {X.ndim}")
            self.names: list[Any] = list(range(X.shape[1]))
            self._take_matrix(X)
        elif hasattr(X, "tocsr") and getattr(X, "ndim", 2) == 2:  # of scipy, if it is installed
            self.names = list(range(X.shape[1]))
            self._take_sparse(X)
        else:
            self.frame = Frame(X)
            self.given, self.names = self.frame.native, self.frame.names
            if (sparse := self.frame.sparse()) is not None:
                self._take_sparse(sparse)
            elif (matrix := self.frame.matrix()) is not None:
                self._take_matrix(matrix)
            else:
                self._take_columns(self.frame.seen)

    @classmethod
    def of(cls, names: list[Any], values: Any, lists: Lists | None = None) -> Batch:
        """A batch from a matrix of float64, or lists, that have been checked, and the names of its columns."""
        batch = cls.__new__(cls)
        batch.names, batch.values, batch.lists = names, values, lists
        return batch

    @classmethod
    def of_one(cls, x: dict[Any, float]) -> Batch:
        """A batch of one example, from `FeatureIndex.taken`."""
        return cls.of(list(x), np.array([list(x.values())], float))

    def _take_matrix(self, matrix: Any) -> None:
        if isinstance(matrix, np.ma.MaskedArray):
            matrix = np.ma.filled(matrix.astype(object), None)
        if matrix.dtype.kind in "mM":  # those in nanoseconds would pass for numbers
            matrix = self.given = matrix.astype(str)
        self.values = self._floats(np.asarray(matrix))  # a subclass may redefine `*` and indexing

    def _take_columns(self, seen: Any) -> None:
        self.all_numbers, self.values = False, np.empty(seen.shape)
        for place in range(len(self.names)):
            self.values[:, place] = _of_list(seen[:, place].to_list())

    def _take_sparse(self, X: Any) -> None:
        matrix = self.sparse = csr_of(X)
        starts, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        self.lists = Lists(starts, columns, self._floats(matrix.data))

    def _floats(self, values: Any) -> Any:
        """Numbers as compiled code takes them: float64, C-contiguous; NaN for what is no number."""
        self.all_numbers = values.dtype.kind in NUMBER_KINDS
        if not self.all_numbers:
            return _of_list(values.ravel()).reshape(values.shape)
        with np.errstate(over="ignore"):  # of a longer type than float64
            return np.require(values, np.float64, ["C", "A"])

    def __len__(self) -> int:
        return len(self.values) if self.lists is None else len(self.lists)

    @property
    def numbers(self) -> Any:
        """All cells; of a sparse batch those with an entry."""
        return self.values if self.lists is None else self.lists.values

    def with_numbers(self, numbers: Any) -> Batch:
        """The same with other numbers in these cells."""
        found = copy.copy(self)
        found.__dict__.pop("bad", None)
        if self.lists is None:
            found.values = numbers
        else:
            found.lists = Lists(self.lists.starts, self.lists.places, numbers)
        return found

    def name_at(self, cell: tuple[Any, ...]) -> Any:
        """The name of the column of a cell of `numbers`."""
        return self.names[cell[1] if self.lists is None else self.lists.places[cell]]

    # bad cells

    @functools.cached_property
    def bad(self) -> Any:
        """Which examples hold a bad cell."""
        if self.lists is None:
            return ~np.isfinite(self.values).all(axis=1)
        found, starts = np.zeros(len(self), bool), self.lists.starts
        some = self.lists.values[starts[0] : starts[-1]]  # the lists may be a part of others
        found[self.lists.owners[~np.isfinite(some)]] = True
        return found

    def first_bad(self, t: int) -> tuple[Any, Any]:
        """(feature, value) of the first bad value of example t, which has one."""
        return next(item for item in self.example(t).items() if as_float(item[1]) is None)

    def refuse_bad(self, missing_too: bool = True) -> None:
        """Raise for the first bad value; with missing_too=False for one that does not stand for a missing one."""
        for t in np.flatnonzero(self.bad).tolist():
            for name, value in self.example(t).items():
                if missing_too or not is_missing(value):
                    number(name, value)

    def checked(self, predicted: bool = False) -> Batch:
        """The batch, if no cell is bad. predicted: missing values count as 0."""
        good = np.isfinite(self.numbers)
        if good.all():
            return self
        if not (predicted and self.all_numbers):
            self.refuse_bad(missing_too=not predicted)
        return self.with_numbers(np.where(good, self.numbers, 0.0))

    # as examples

    def example(self, t: int) -> dict[Any, Any]:
        """Example t as River's dict, with bad values as they came; of a sparse one the present features only."""
        if self.lists is not None:
            some = slice(*self.lists.starts[t : t + 2])
            columns = self.lists.places[some].tolist()
            values = (self.sparse.data if self.bad[t] else self.lists.values)[some].tolist()
            return {
                self.names[column]: value for column, value in zip(columns, values, strict=True)
            }
        row: Any = self.values[t].tolist()
        if self.bad[t]:
            row = self.given[t].tolist() if self.frame is None else self.frame.seen.row(t)
        return dict(zip(self.names, row, strict=True))

    def dicts(self) -> Iterator[dict[Any, Any]]:
        """The examples as River's dicts."""
        return map(self.example, range(len(self)))

    # as rows and lists of a model

    def part(self, start: int, stop: int) -> Batch:
        """The examples from start to stop, as a batch."""
        some = slice(start, stop)
        if stop - start == len(self):
            return self
        if self.lists is None:
            return Batch.of(self.names, self.values[some])
        return Batch.of(self.names, None, self.lists[some])

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

    def matrix(self) -> Any:
        """All examples as a matrix of float64."""
        return self.values if self.lists is None else self.lists.table(len(self.names))

    @functools.cached_property
    def columns_in_use(self) -> list[int]:
        """All columns; of a sparse batch those that have an entry."""
        if self.lists is None:
            return list(range(len(self.names)))
        starts, used = self.lists.starts, np.zeros(len(self.names), bool)
        used[self.lists.places[starts[0] : starts[-1]]] = True
        found: list[int] = np.flatnonzero(used).tolist()
        return found

    def names_in_use(self) -> list[Any]:
        """The names of these columns."""
        return [self.names[column] for column in self.columns_in_use]

    def scaled(self, features: FeatureIndex) -> Batch:
        """The batch with numbers times the scales of their features. Raises for a product that is not finite."""
        if not features.scaled:
            return self
        factors = features.factors(self.names)
        with np.errstate(over="ignore"):
            found = self.numbers * (factors if self.lists is None else factors[self.lists.places])
        for cell in np.argwhere(~np.isfinite(found))[:1]:
            features.reject({self.name_at(tuple(cell)): float(self.numbers[tuple(cell)])})
        return self.with_numbers(found)

    def known(self, features: FeatureIndex, as_lists: bool) -> Any:
        """The batch as rows of all known features; or as lists, if it may be, where these are shorter or names unknown."""
        if self.lists is None and features.in_place(self.names):
            return self.values
        places, get = np.full(len(self.names), -1), features.places.get
        places[self.columns_in_use] = [get(name, -1) for name in self.names_in_use()]
        shorter = features.width > FEW_COLUMNS * len(self.names) or (places < 0).any()
        if as_lists and (self.lists is not None or shorter):
            lists = Lists.of_table(self.values) if self.lists is None else self.lists
            first, last = lists.starts[0], lists.starts[-1]
            found, values = places[lists.places[first:last]], lists.values[first:last]
            return Lists(lists.starts - first, found, values)
        rows = np.zeros((len(self), features.width))
        rows[:, places[places >= 0]] = self.matrix()[:, places >= 0]
        return rows

    # in the user's kind of container

    def some(self, kept: Any = None) -> Any:
        """These good examples, or all, which are then good, with numbers only."""
        if kept is None:
            if self.sparse is not None or (self.all_numbers and self.frame is not None):
                return self.given
            kept = np.arange(len(self))
        if self.sparse is not None:
            return chosen(self.sparse if self.frame is None else self.given, kept)
        if self.frame is None:
            return self.values[kept]
        rows = chosen(self.given, kept)
        if self.all_numbers:
            return rows
        columns = dict(zip(self.names, self.values[kept].T, strict=True))
        return dataframe.to_native_frame(columns, like=dataframe.into_frame(rows))

    def repaired(self, known: dict[Any, float]) -> Any:
        """All examples with known values, or NaN, in place of bad ones."""
        numbers = self.numbers.copy()
        bad = np.argwhere(~np.isfinite(numbers))
        for cell in map(tuple, bad):
            numbers[cell] = known.get(self.name_at(cell), np.nan)
        if self.lists is None:
            columns = dict(zip(self.names, numbers.T, strict=True))
            return numbers if self.frame is None else self.frame.table(columns)
        matrix = self.sparse
        found = type(matrix)((numbers, matrix.indices, matrix.indptr), shape=matrix.shape)
        if self.frame is None:
            return found
        return type(self.given).sparse.from_spmatrix(found, self.given.index, self.given.columns)

    def series(self, values: Any, name: str | None) -> Any:
        """Values as a series of the same library, or the array itself."""
        return values if self.frame is None else self.frame.series(values, name)

    def table(self, columns: dict[Any, Any]) -> Any:
        """Named columns as a frame of the same library, or a dict of arrays."""
        return columns if self.frame is None else self.frame.table(columns)


def batch_of(X: Any, predicted: bool = False) -> Batch:
    """A checked batch of the examples of a user, or what is a batch already."""
    return X if isinstance(X, Batch) else Batch(X).checked(predicted)


def _of_list(values: Any) -> Any:
    read = map(as_float, values)
    return np.array([np.nan if value is None else value for value in read], np.float64)

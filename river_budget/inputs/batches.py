"""Batches: many examples from frames, arrays and sparse matrices, as rows or as lists of
numbers.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..parameters import NUMBER_KINDS, is_missing, number
from .features import FeatureIndex
from .frames import Frame, csr_of, floats, writable
from .lists import Lists

ROWS_OF_A_PART = 2**10  # about a millisecond: between parts other threads get their turn
FEW_COLUMNS = 4  # a batch with less than 1 / FEW_COLUMNS of the known features becomes lists


class Batch:
    """Many examples, as a user gives them. Some may have a cell that is not a finite number: models
    take what is `checked`.
    """

    frame: Frame | None = None
    sparse: Any = None  # the examples as CSR, if they came as a sparse matrix or frame
    # the same with columns as places; else a matrix of float64, with NaN in place of what is no
    # number
    rows: Any
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
    def of(cls, names: list[Any], rows: Any, frame: Frame | None = None) -> Batch:
        """A batch from a matrix of float64, or lists, that have been checked, and the names of its
        columns.

        frame: in which the examples came.
        """
        batch = cls.__new__(cls)
        batch.names, batch.rows, batch.frame = names, rows, frame
        return batch

    @classmethod
    def of_one(cls, x: dict[Any, float]) -> Batch:
        """A batch of one example, from `FeatureIndex.checked_copy`."""
        return cls.of(list(x), np.array([list(x.values())], float))

    def _take_matrix(self, matrix: Any) -> None:
        if isinstance(matrix, np.ma.MaskedArray):
            matrix = np.ma.filled(matrix.astype(object), None)
        if matrix.dtype.kind in "mM":  # those in nanoseconds would pass for numbers
            matrix = self.given = matrix.astype(str)
        self.rows = self._floats(np.asarray(matrix))  # a subclass may redefine `*` and indexing

    def _take_columns(self, seen: Any) -> None:
        self.all_numbers, self.rows = False, np.empty(seen.shape)
        for place in range(len(self.names)):
            self.rows[:, place] = floats(seen[:, place].to_list())

    def _take_sparse(self, X: Any) -> None:
        matrix = self.sparse = csr_of(X)
        starts, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        self.rows = Lists(starts, columns, writable(self._floats(matrix.data)))

    def _floats(self, values: Any) -> Any:
        self.all_numbers = values.dtype.kind in NUMBER_KINDS
        return floats(values) if self.all_numbers else floats(values.ravel()).reshape(values.shape)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def listed(self) -> bool:
        """Whether the rows are lists of present features."""
        return isinstance(self.rows, Lists)

    @property
    def numbers(self) -> Any:
        """All cells; of a sparse batch those with an entry."""
        return self.rows.values if self.listed else self.rows

    def with_numbers(self, numbers: Any) -> Batch:
        """The same with other numbers in these cells."""
        found = copy.copy(self)
        found.__dict__.pop("bad", None)
        found.rows = Lists(self.rows.starts, self.rows.places, numbers) if self.listed else numbers
        return found

    # bad cells

    @functools.cached_property
    def bad(self) -> Any:
        """Which examples hold a bad cell."""
        if not self.listed:
            return ~np.isfinite(self.rows).all(axis=1)
        found, lists = np.zeros(len(self), bool), self.rows
        found[lists.owners[~np.isfinite(lists.values[lists.entries])]] = True
        return found

    def refuse_bad(self, missing_too: bool = True) -> None:
        """Raise for the first bad value; with missing_too=False for one that does not stand for a
        missing one.
        """
        for t in np.flatnonzero(self.bad).tolist():
            for name, value in self.example(t).items():
                if missing_too or not is_missing(value):
                    number(name, value)

    def checked(self, predicted: bool = False) -> Batch:
        """The batch, if no cell is bad. predicted: missing values count as 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = self.numbers.sum()
        if np.isfinite(total):  # then every cell is, which takes longer to see one by one
            return self
        good = np.isfinite(self.numbers)
        if good.all():
            return self
        if not (predicted and self.all_numbers):
            self.refuse_bad(missing_too=not predicted)
        return self.with_numbers(np.where(good, self.numbers, 0.0))

    # as examples

    def example(self, t: int) -> dict[Any, Any]:
        """Example t as River's dict, with bad values as they came; of a sparse one the present
        features only.
        """
        if self.listed:
            some = self.rows[t : t + 1].entries
            values = (self.sparse.data if self.bad[t] else self.rows.values)[some].tolist()
            columns = self.rows.places[some].tolist()
            return dict(zip(map(self.names.__getitem__, columns), values, strict=True))
        row: Any = self.rows[t].tolist()
        if self.bad[t]:
            row = self.given[t].tolist() if self.frame is None else self.frame.seen.row(t)
        return dict(zip(self.names, row, strict=True))

    def dicts(self) -> Iterator[dict[Any, Any]]:
        """The examples as River's dicts."""
        return map(self.example, range(len(self)))

    def as_given(self) -> Iterator[dict[Any, Any]]:
        """The examples with the values of their frame: whole numbers, booleans, text and dates stay
        what they are.

        A missing value is None, as encoders and imputers of River expect it.
        """
        if self.frame is None or self.sparse is not None or not len(self.names):
            return self.dicts()
        columns = self.frame.lists()
        return (dict(zip(self.names, row, strict=True)) for row in zip(*columns, strict=True))

    # as rows and lists of a model

    def part(self, start: int, stop: int) -> Batch:
        """The examples from start to stop, as a batch."""
        return self if stop - start == len(self) else Batch.of(self.names, self.rows[start:stop])

    def parts(self, entries: int) -> Iterator[tuple[int, Batch]]:
        """(number of its first example, part) of parts with at most `entries` entries, as a sparse
        matrix may contain very many new names.
        """
        first, n = 0, len(self)
        while first < n:
            last = first + ROWS_OF_A_PART
            if self.listed:
                starts = self.rows.starts
                within = int(np.searchsorted(starts, starts[first] + entries, "right")) - 1
                last = min(max(within, first + 1), last)
            yield first, self.part(first, min(last, n))
            first = last

    def matrix(self) -> Any:
        """All examples as a matrix of float64."""
        return self.rows.table(len(self.names)) if self.listed else self.rows

    @functools.cached_property
    def columns_in_use(self) -> list[int]:
        """All columns; of a sparse batch those that have an entry."""
        if not self.listed:
            return list(range(len(self.names)))
        used = np.zeros(len(self.names), bool)
        used[self.rows.places[self.rows.entries]] = True
        found: list[int] = np.flatnonzero(used).tolist()
        return found

    def names_in_use(self) -> list[Any]:
        """The names of these columns."""
        return [self.names[column] for column in self.columns_in_use]

    def scaled(self, features: FeatureIndex) -> Batch:
        """The batch with numbers times the scales of their features. Raises for a product that is
        not finite.
        """
        factors = features.factors(self.names)
        if factors is None:
            return self
        with np.errstate(over="ignore"):
            found = self.numbers * (factors[self.rows.places] if self.listed else factors)
        scaled = self.with_numbers(found)
        for t in np.flatnonzero(scaled.bad)[:1]:
            features.values_of(self.example(t))  # raises
        return scaled

    def fits(self, features: FeatureIndex) -> bool:
        """Whether it is a matrix whose columns are the known features, in the order of their
        places.
        """
        return (
            not self.listed and features.width == len(self.names) and features.in_rows == self.names
        )

    def known(self, features: FeatureIndex, as_lists: bool) -> Any:
        """The batch as rows of all known features; or as lists, if it may be, where these are
        shorter or names unknown.
        """
        if self.fits(features):
            return self.rows
        places, get = np.full(len(self.names), -1), features.places.get
        places[self.columns_in_use] = [get(name, -1) for name in self.names_in_use()]
        shorter = features.width > FEW_COLUMNS * len(self.names) or (places < 0).any()
        if as_lists and (self.listed or shorter):
            lists = self.rows if self.listed else Lists.of_table(self.rows)
            some = lists.entries
            return Lists(lists.starts - some.start, places[lists.places[some]], lists.values[some])
        rows = np.zeros((len(self), features.width))
        rows[:, places[places >= 0]] = self.matrix()[:, places >= 0]
        return rows

    # in the user's kind of container

    def series(self, values: Any, name: str | None) -> Any:
        """Values as a series of the same library, or the array itself."""
        return values if self.frame is None else self.frame.series(values, name)

    def check_series(self, values: Iterable[Any]) -> None:
        """Raise if `series` could not hold these values: before anything is learned."""
        if self.frame is not None:
            self.frame.check_series(list(values))

    def table(self, columns: dict[Any, Any]) -> Any:
        """Named columns as a frame of the same library, or a dict of arrays."""
        return columns if self.frame is None else self.frame.table(columns)


def batch_of(X: Any, predicted: bool = False) -> Batch:
    """A checked batch of the examples of a user, or what is a batch already."""
    return X if isinstance(X, Batch) else Batch(X).checked(predicted)

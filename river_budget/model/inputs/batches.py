"""Convert batches (frames, arrays, sparse matrices) to rows or lists, and results to series and frames."""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.examples.finite import first_bad_row
from ...parameters import NUMBER_KINDS, is_missing, number
from .features import FeatureIndex
from .frames import Frame
from .lists import Lists

DOUBLE = np.dtype(np.float64)
ROWS_OF_A_PART = 2**10  # about a millisecond: between parts other threads get their turn
FEW_COLUMNS = 4  # a batch with less than 1 / FEW_COLUMNS of the known features becomes lists


class Batch:
    """A batch of examples: a matrix, from a frame or a 2-D array, or lists, from a sparse matrix.

    All numbers are checked to be finite before a model is touched, but with checked=False, for scalers. predicted: the
    examples are only scored, and missing values count as 0.
    """

    # the examples, with columns as places, if they come as a sparse matrix
    lists: Lists | None = None
    given: Any = None  # else the matrix

    def __init__(self, X: Any, predicted: bool = False, checked: bool = True):
        self.frame: Frame | None = None
        self._read(X, predicted)
        if self.lists is None and checked:
            self._check(predicted)

    def _read(self, X: Any, predicted: bool) -> None:
        if isinstance(X, np.ndarray):
            if X.ndim != 2:
                raise ValueError(f"an array of examples must have 2 dimensions, not {X.ndim}")
            self.names: list[Any] = list(range(X.shape[1]))
            self.given = _numbers(X, predicted)
        elif hasattr(X, "tocsr") and getattr(X, "ndim", 2) == 2:  # of scipy, if it is installed
            self._read_sparse(X, predicted)
        else:
            self.frame = Frame(X)
            self.names = self.frame.names
            values = self.frame.sparse()
            if values is not None:
                self._read_sparse(values, predicted)
                return
            values = self.frame.matrix()
            if values is None:
                self.given = _checked_columns(self.frame, predicted)
            else:
                self.given = _numbers(values, predicted)

    def _check(self, predicted: bool) -> None:
        """Check that all numbers are finite: others are an error, or become 0 if the batch is only scored."""
        bad = first_bad_row(_as_writable(self.given))
        if bad >= 0 and predicted:
            self.given = np.nan_to_num(self.given, nan=0.0, posinf=0.0, neginf=0.0)
        elif bad >= 0:
            for name, value in zip(self.names, self.given[bad], strict=True):
                number(name, float(value))

    def check_scaled(self, features: FeatureIndex) -> None:
        """Raise for a number whose product with the scale of its feature is not finite."""
        if features.scaled:
            self._scaled_lists(features)

    def _read_sparse(self, X: Any, predicted: bool) -> None:
        """Take the rows of a sparse matrix, with each column at most once in a row."""
        matrix = csr_of(X)
        if self.frame is None:
            self.names = list(range(matrix.shape[1]))
        values = matrix.data
        if values.dtype.kind not in NUMBER_KINDS:
            read = number_or_zero if predicted else number
            values = [
                read(self.names[column], value)
                for column, value in zip(matrix.indices.tolist(), values.tolist(), strict=True)
            ]
        values = np.require(values, np.float64, ["C", "A"])
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad) and predicted:
            values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
        elif len(bad):
            number(self.names[int(matrix.indices[bad[0]])], float(values[bad[0]]))
        self.lists = Lists(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), values)

    @classmethod
    def of(cls, names: list[Any], values: Any) -> Batch:
        """A batch from a matrix of float64 that has been checked, and the names of its columns."""
        batch = cls.__new__(cls)
        batch.frame, batch.names, batch.given = None, names, values
        return batch

    @functools.cached_property
    def _table(self) -> Any:
        assert self.lists is not None
        return self.lists.table(len(self.names))

    @property
    def values(self) -> Any:
        """The batch as a matrix of finite numbers."""
        return self.given if self.lists is None else self._table

    def __len__(self) -> int:
        return len(self.given) if self.lists is None else len(self.lists)

    # for models

    def dicts(self) -> Iterator[dict[Any, Any]]:
        """The examples as River's dicts; for a sparse matrix with the present features only."""
        if self.lists is None:
            for row in self.values.tolist():
                yield dict(zip(self.names, row, strict=True))
            return
        columns, values = self.lists.places, self.lists.values
        for first, last in itertools.pairwise(self.lists.starts.tolist()):
            names = [self.names[column] for column in columns[first:last].tolist()]
            yield dict(zip(names, values[first:last].tolist(), strict=True))

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
        if not features.scaled:
            return self.values
        with np.errstate(over="ignore"):
            scaled = self.values * features.factors(self.names)
        bad = first_bad_row(scaled)
        if bad >= 0:
            features.reject(dict(zip(self.names, self.values[bad].tolist(), strict=True)))
        return scaled

    def _scaled_lists(self, features: FeatureIndex) -> Lists:
        """The sparse matrix as lists, with values times the scales of their features."""
        if self.lists is None:
            return Lists.of_table(self.scaled_values(features) if features.scaled else self.values)
        if not features.scaled:
            return self.lists
        lists = self.lists
        with np.errstate(over="ignore"):
            values = lists.values * features.factors(self.names)[lists.places]
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            place = int(bad[0])
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

    def part(self, start: int, stop: int) -> Batch:
        """The examples from start to stop, as a batch."""
        if stop - start == len(self):
            return self
        part = Batch.__new__(Batch)
        part.frame, part.names = self.frame, self.names
        if self.lists is None:
            part.given = self.given[start:stop]
        else:
            part.lists = self.lists[start:stop]
        return part

    # for users

    def series(self, values: Any, name: str | None) -> Any:
        """Values in the user's kind of container: a series of the same library, or the array itself."""
        return values if self.frame is None else self.frame.series(values, name)

    def table(self, columns: dict[Any, Any]) -> Any:
        """Named columns in the user's kind of container: a frame of the same library, or a dict of arrays."""
        return columns if self.frame is None else self.frame.table(columns)


def csr_of(X: Any) -> Any:
    """A sparse matrix as CSR, with each column at most once in a row.

    Refuses one with invalid indexes: scipy would read and write outside its arrays.
    """
    if hasattr(X, "check_format"):
        if (X.indptr[1:] < X.indptr[:-1]).any():  # check_format does not always find this
            raise ValueError("a sparse matrix must have an indptr that does not decrease")
        X.check_format(full_check=True)
    matrix = X.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def number_or_zero(feature: Any, value: Any) -> float:
    """The value of a feature as a float; 0 for a missing one."""
    return 0.0 if is_missing(value) else number(feature, value)


def _numbers(values: Any, predicted: bool) -> Any:
    """Convert to a matrix that compiled code takes: float64, C-contiguous."""
    if type(values) is np.ndarray and values.dtype is DOUBLE and values.flags.carray:
        return values
    if np.ma.is_masked(values):
        raise ValueError("an array of examples must hold a number everywhere, not masked values")
    plain = np.asarray(values)  # a subclass may redefine `*` and indexing
    return np.require(_of_numbers(plain, predicted), np.float64, ["C", "A"])


def _as_writable(values: Any) -> Any:
    """A writable view of the same memory, as compiled code has one type for all arrays.

    Compiled code only reads these values.
    """
    if not values.size:
        return np.empty(values.shape)
    if values.flags.writeable:
        return values
    memory = (ctypes.c_char * values.nbytes).from_address(values.ctypes.data)
    return np.frombuffer(memory, np.float64).reshape(values.shape)


def _of_numbers(values: Any, predicted: bool) -> Any:
    """Convert a matrix to one of a numeric type, value by value if necessary."""
    if values.dtype.kind in NUMBER_KINDS:
        return values
    read = number_or_zero if predicted else number
    checked = [[read(column, value) for column, value in enumerate(row)] for row in values]
    return np.array(checked, float).reshape(values.shape)


def _checked_columns(frame: Frame, predicted: bool) -> Any:
    """Convert a frame with columns of other than numeric types, value by value."""
    values, read = np.empty(frame.seen.shape), number_or_zero if predicted else number
    for column, name in enumerate(frame.names):
        values[:, column] = [read(name, value) for value in frame.seen[:, column].to_list()]
    return values

"""Read many examples from frames, arrays and sparse matrices, in which some cells may be no finite numbers."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from river.utils import dataframe

from ...parameters import NUMBER_KINDS, as_float, is_missing, number
from .frames import Frame
from .lists import Lists


class Cells:
    """The cells of many examples, and which examples hold a bad one: no finite number."""

    frame: Frame | None = None
    sparse: Any = None  # the examples as CSR, if they came as a sparse matrix or frame
    lists: Lists | None = None  # the same, with columns as places and numbers as in `values`
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

    @functools.cached_property
    def bad(self) -> Any:
        """Which examples hold a bad cell."""
        if self.lists is None:
            return ~np.isfinite(self.values).all(axis=1)
        found = np.zeros(len(self), bool)
        found[self.lists.owners[~np.isfinite(self.lists.values)]] = True
        return found

    def __len__(self) -> int:
        return len(self.values) if self.lists is None else len(self.lists)

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

    def first_bad(self, t: int) -> tuple[Any, Any]:
        """(feature, value) of the first bad value of example t, which has one."""
        return next(item for item in self.example(t).items() if as_float(item[1]) is None)

    def refuse_bad(self, missing_too: bool = True) -> None:
        """Raise for the first bad value; with missing_too=False for one that does not stand for a missing one."""
        for t in np.flatnonzero(self.bad).tolist():
            for name, value in self.example(t).items():
                if missing_too or not is_missing(value):
                    number(name, value)

    def dicts(self) -> Iterator[dict[Any, Any]]:
        """The examples as River's dicts."""
        return map(self.example, range(len(self)))

    def matrix(self) -> Any:
        """All examples as a matrix of float64."""
        return self.values if self.lists is None else self.lists.table(len(self.names))

    def last(self) -> dict[Any, float]:
        """The last value of each feature, of examples that are all good."""
        if self.sparse is None:
            return dict(zip(self.names, self.values[-1].tolist(), strict=True))
        found: dict[Any, float] = {}
        for x in self.dicts():
            found.update(x)
        return found

    def whole(self) -> Any:
        """All examples, if they are good, in the user's kind of container, which holds numbers only."""
        if self.sparse is not None or (self.all_numbers and self.frame is not None):
            return self.given
        return self.some(np.arange(len(self)))

    def some(self, kept: Any) -> Any:
        """These good examples in the user's kind of container, which holds numbers only."""
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
        """All examples in the user's kind of container, with known values, or NaN, in place of bad ones."""
        values = (self.values if self.lists is None else self.lists.values).copy()
        bad = ~np.isfinite(values)
        columns = np.nonzero(bad)[1] if self.lists is None else self.lists.places[bad]
        values[bad] = [known.get(self.names[column], np.nan) for column in columns.tolist()]
        if self.lists is None:
            columns = dict(zip(self.names, values.T, strict=True))
            return values if self.frame is None else self.frame.table(columns)
        matrix = self.sparse
        found = type(matrix)((values, matrix.indices, matrix.indptr), shape=matrix.shape)
        if self.frame is None:
            return found
        return type(self.given).sparse.from_spmatrix(found, self.given.index, self.given.columns)

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


def chosen(given: Any, kept: Any) -> Any:
    """The rows of a frame or matrix, or the values of a column, at these places."""
    if isinstance(given, (list, tuple)):
        return [given[t] for t in kept.tolist()]
    if hasattr(given, "take") and not isinstance(given, np.ndarray):  # pandas and pyarrow
        return given.take(kept)
    return given[kept]


def as_list(values: Any) -> list[Any]:
    """The values of a column as Python's."""
    for method in ("tolist", "to_pylist", "to_list"):  # of numpy and pandas, of pyarrow, of polars
        if hasattr(values, method):
            found: list[Any] = getattr(values, method)()
            return found
    return list(values)


def _of_list(values: Any) -> Any:
    read = map(as_float, values)
    return np.array([np.nan if value is None else value for value in read], np.float64)

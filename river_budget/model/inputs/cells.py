"""Read frames, arrays and sparse matrices in which some cells are no finite numbers, as a guard sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from river.utils import dataframe

from ...parameters import NUMBER_KINDS, as_float
from .batches import csr_of
from .frames import Frame


class Cells:
    """The cells of many examples, and which examples hold a bad one: no finite number."""

    sparse: Any = None  # the examples as CSR, if they came as a sparse matrix or frame
    values: Any = None  # else as a matrix of float64, with NaN in place of what is no number

    def __init__(self, X: Any):
        self.given, self.frame, self.all_numbers = X, None, True
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
            sparse = self.frame.sparse()
            if sparse is not None:
                self._take_sparse(sparse)
                return
            matrix = self.frame.matrix()
            if matrix is None:
                self._take_columns(self.frame.seen)
            else:
                self._take_matrix(matrix)

    def _take_matrix(self, matrix: Any) -> None:
        if isinstance(matrix, np.ma.MaskedArray):
            matrix = np.ma.filled(matrix.astype(object), None)
        matrix = np.asarray(matrix)
        self.all_numbers = matrix.dtype.kind in NUMBER_KINDS
        self.values = _floats(matrix)
        self.bad = ~np.isfinite(self.values).all(axis=1)

    def _take_columns(self, seen: Any) -> None:
        self.all_numbers = False
        self.values = np.empty(seen.shape)
        for place in range(len(self.names)):
            self.values[:, place] = _of_list(seen[:, place].to_list())
        self.bad = ~np.isfinite(self.values).all(axis=1)

    def _take_sparse(self, X: Any) -> None:
        self.sparse = csr_of(X)
        entries = np.flatnonzero(~np.isfinite(_floats(self.sparse.data)))
        self.bad = np.zeros(self.sparse.shape[0], bool)
        self.bad[np.searchsorted(self.sparse.indptr, entries, "right") - 1] = True

    def __len__(self) -> int:
        return len(self.bad)

    def example(self, t: int) -> dict[Any, Any]:
        """Example t as River's dict, with bad values as they came; of a sparse one the present features only."""
        if self.sparse is not None:
            some = slice(self.sparse.indptr[t], self.sparse.indptr[t + 1])
            columns, values = self.sparse.indices[some].tolist(), self.sparse.data[some].tolist()
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

    def dicts(self) -> Iterator[dict[Any, Any]]:
        """The examples as River's dicts."""
        return map(self.example, range(len(self)))

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
        if self.sparse is not None:
            return self._repaired_sparse(known)
        values = self.values.copy()
        for place, name in enumerate(self.names):
            values[~np.isfinite(values[:, place]), place] = known.get(name, np.nan)
        if self.frame is None:
            return values
        return self.frame.table(dict(zip(self.names, values.T, strict=True)))

    def _repaired_sparse(self, known: dict[Any, float]) -> Any:
        matrix, values = self.sparse, _floats(self.sparse.data).copy()
        bad = np.flatnonzero(~np.isfinite(values))
        columns = matrix.indices[bad].tolist()
        values[bad] = [known.get(self.names[column], np.nan) for column in columns]
        found = type(matrix)((values, matrix.indices, matrix.indptr), shape=matrix.shape)
        if self.frame is None:
            return found
        return type(self.given).sparse.from_spmatrix(found, self.given.index, self.given.columns)

    def series(self, values: Any, name: str | None) -> Any:
        """Values for all examples, in the user's kind of container."""
        return values if self.frame is None else self.frame.series(values, name)

    def table(self, columns: dict[Any, Any]) -> Any:
        """Named columns in the user's kind of container."""
        return columns if self.frame is None else self.frame.table(columns)


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


def _floats(values: Any) -> Any:
    """An array as float64, with NaN for what is no finite number."""
    if values.dtype.kind in NUMBER_KINDS:
        with np.errstate(over="ignore"):  # of a longer type than float64
            return np.asarray(values, np.float64)
    return _of_list(values.ravel().tolist()).reshape(values.shape)


def _of_list(values: list[Any]) -> Any:
    read = map(as_float, values)
    return np.array([np.nan if value is None else value for value in read], np.float64)

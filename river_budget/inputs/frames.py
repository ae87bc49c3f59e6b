"""Read frames and series (pandas' directly, others by narwhals, which takes longer than learning
ten rows), and CSR.
"""

from __future__ import annotations

import sys
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from river.utils import dataframe

from ..parameters import NUMBER_KINDS, as_float, is_missing

FLOAT_TYPES = np.dtype(np.float64), np.dtype(np.float32)


def is_of_pandas(given: Any, kind: str) -> bool:
    """Whether this is exactly pandas' DataFrame or Series, no subclass. pandas need not be
    installed.
    """
    return type(given) is getattr(sys.modules.get("pandas"), kind, None)


def _of_arrow(given: Any, kind: str) -> bool:
    """Whether this is one of pyarrow's objects of this kind. pyarrow need not be installed."""
    found = getattr(sys.modules.get("pyarrow"), kind, None)
    return found is not None and isinstance(given, found)


def _kind(value: Any) -> str:
    """The kind of a value, in words for an error."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _no_frame(X: Any) -> TypeError:
    """The error for examples that are no frame: it says which forms are accepted."""
    if type(X).__name__ == "LazyFrame":
        return TypeError("a LazyFrame has no rows yet: X.collect() computes them")
    forms, advice = "examples must come as a frame, a 2-D array or a sparse matrix, not as", ""
    if isinstance(X, (list, tuple)):
        is_of_dicts = bool(X) and isinstance(X[0], dict)
        advice = (
            " of dicts: pandas.DataFrame(X).fillna(0.0) is a frame of them, and learn_one takes "
            "them one by one"
            if is_of_dicts
            else ": numpy.array(X, float) is an array"
        )
    return TypeError(f"{forms} {_kind(X)}{advice}")


def _no_column(y: Any, what: str) -> TypeError:
    """The error for targets or weights that are no column."""
    if type(y).__name__ == "LazyFrame":
        return TypeError(f"{what} must be one column, not a LazyFrame, which has no rows yet")
    advice = ""
    columns = list(getattr(y, "column_names", getattr(y, "columns", ())))
    if columns:
        advice = f": take one of its columns, such as y[{columns[0]!r}]"
    return TypeError(f"{what} must be a list, an array or a series, not {_kind(y)}{advice}")


class Frame:
    """A user's frame, converted to narwhals only if needed."""

    __slots__ = ("_seen", "names", "native")

    def __init__(self, native: Any):
        if _of_arrow(native, "RecordBatch"):
            native = sys.modules["pyarrow"].Table.from_batches([native])
        self.native = native
        self._seen: Any = None
        if is_of_pandas(native, "DataFrame"):
            self.names = native.columns.tolist()
            if len(set(self.names)) == len(self.names):
                return
        # narwhals refuses objects that are no frames, and duplicate names; its own frames pass
        self.native, self.names = self.seen.to_native(), list(self.seen.columns)

    @property
    def seen(self) -> Any:
        """The frame as narwhals' type."""
        if self._seen is None:
            try:
                self._seen = dataframe.into_frame(self.native)
            except TypeError:
                raise _no_frame(self.native) from None
        return self._seen

    @property
    def is_pandas_like(self) -> bool:
        return self._seen is None or self._seen.implementation.is_pandas_like()

    def sparse(self) -> Any:
        """A sparse matrix, if all columns of a pandas frame are sparse with fill value 0; else
        None.
        """
        kinds = list(getattr(self.native, "dtypes", ())) if self.is_pandas_like else []
        if not kinds or not all(
            type(kind).__name__ == "SparseDtype" and kind.fill_value == 0 for kind in kinds
        ):
            return None
        return self.native.sparse.to_coo()

    def matrix(self) -> Any:
        """The values as a matrix, if all columns have numeric types; else None."""
        if self.is_pandas_like:
            values = self.native.to_numpy()  # faster than asking for the type of each column
            if values.dtype.kind in NUMBER_KINDS:
                return values
        if all(kind.is_numeric() or kind == nw.Boolean for kind in self.seen.schema.values()):
            return dataframe.to_numpy(self.seen)
        return None

    def lists(self) -> list[list[Any]]:
        """The values of each column as they are, and None for a missing one."""
        places = range(len(self.names))
        if is_of_pandas(self.native, "DataFrame"):
            columns = [self.native.iloc[:, at].tolist() for at in places]
        else:
            columns = [self.seen[:, at].to_list() for at in places]
        return [[None if is_gap(value) else value for value in column] for column in columns]

    def series(self, values: Any, name: Any) -> Any:
        """A series of the frame's own library."""
        if is_of_pandas(self.native, "DataFrame"):
            return sys.modules["pandas"].Series(values, self.native.index, name=name)
        if values.dtype == object and not self.is_pandas_like:
            return self._series_of(values.tolist(), name)
        return dataframe.to_native_series(values, name=name, like=self.seen)

    def _series_of(self, values: list[Any], name: Any) -> Any:
        """A series of objects. polars takes those of several types only where it is told."""
        try:
            return dataframe.to_native_series(values, name=name, like=self.seen)
        except (TypeError, ValueError, OverflowError) as error:
            if self.seen.implementation.is_polars():
                polars = sys.modules["polars"]
                return polars.Series(name or "", values, dtype=polars.Object)
            kinds = ", ".join(sorted({type(value).__name__ for value in values}))
            raise TypeError(
                f"values of the types {kinds} make no column of this frame's library: {error}"
            ) from None

    def check_series(self, values: list[Any]) -> None:
        """Raise if a series cannot hold any of these values."""
        if not self.is_pandas_like:
            self._series_of(values, None)

    def table(self, columns: dict[Any, Any]) -> Any:
        """A frame of the same library, from named columns."""
        if columns:
            return dataframe.to_native_frame(columns, like=self.seen)
        native = self.native  # no columns, as no label is known: keep the rows
        return native.iloc[:, :0] if hasattr(native, "iloc") else self.seen.select().to_native()


def column_of(series: Any, what: str) -> tuple[Any, Any]:
    """(values, name) of a series: an array if they are numbers or booleans and none is missing, or
    a list.

    what: a name for it, in errors.
    """
    if is_of_pandas(series, "Series") and isinstance(series.dtype, np.dtype):
        values = series.to_numpy()
        if values.dtype.kind in "biu" or (
            values.dtype in FLOAT_TYPES and not np.isnan(values).any()
        ):
            return values, series.name
    if _of_arrow(series, "Array"):
        series = sys.modules["pyarrow"].chunked_array([series])
    try:
        seen = dataframe.into_series(series)
    except TypeError:
        raise _no_column(series, what) from None
    if seen.dtype.is_numeric() or seen.dtype == nw.Boolean:
        values = seen.to_numpy()
        if values.dtype.kind in "biu" or not seen.is_null().any():
            return values, seen.name
    return seen.to_list(), seen.name


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


def is_gap(value: Any) -> bool:
    """Whether a cell of a frame is empty: infinity is none."""
    return is_missing(value) and not (isinstance(value, float) and value == value)


def floats(values: Any) -> Any:
    """Values as compiled code takes them: float64, C-contiguous; NaN for what is no number."""
    if isinstance(values, np.ndarray) and values.dtype.kind in NUMBER_KINDS:
        with np.errstate(over="ignore"):  # of a longer type than float64
            return np.require(values, np.float64, ["C", "A"])
    read = map(as_float, values)
    return np.array([np.nan if value is None else value for value in read], np.float64)


def writable(array: Any) -> Any:
    """The array, or a copy if it is read-only, for which numba has a type of its own."""
    return array if array.flags.writeable else array.copy()


def as_list(values: Any) -> list[Any]:
    """The values of a column as Python's."""
    for method in ("tolist", "to_pylist", "to_list"):  # of numpy and pandas, of pyarrow, of polars
        if hasattr(values, method):
            found: list[Any] = getattr(values, method)()
            return found
    return list(values)

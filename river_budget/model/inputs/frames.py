"""Frames and series: those of pandas at once, all others by narwhals, which takes longer than to learn ten rows."""

from __future__ import annotations

import sys
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from river.utils import dataframe

NUMBERS = "biuf"  # kinds of numpy's types
FLOATS = np.dtype(np.float64), np.dtype(np.float32)


def is_of_pandas(given: Any, kind: str) -> bool:
    """Whether this is a DataFrame or a Series of pandas itself, which need not be there; not of a subclass."""
    return type(given) is getattr(sys.modules.get("pandas"), kind, None)


class Frame:
    """A frame as it has come, and as narwhals sees it where somebody asks for that."""

    __slots__ = ("_seen", "names", "native")

    def __init__(self, native: Any):
        self.native = native
        self._seen: Any = None
        if is_of_pandas(native, "DataFrame"):
            self.names = native.columns.tolist()
            if len(set(self.names)) == len(self.names):
                return
        # narwhals refuses what is no frame, or has a name twice, and takes what is its own already
        self.native, self.names = self.seen.to_native(), list(self.seen.columns)

    @property
    def seen(self) -> Any:
        if self._seen is None:
            self._seen = dataframe.into_frame(self.native)
        return self._seen

    @property
    def is_pandas_like(self) -> bool:
        return self._seen is None or self._seen.implementation.is_pandas_like()

    def sparse(self) -> Any:
        """A sparse matrix, if all columns of a pandas frame are sparse and what is left out in them is 0."""
        kinds = list(getattr(self.native, "dtypes", ())) if self.is_pandas_like else []
        if not kinds or not all(
            type(kind).__name__ == "SparseDtype" and kind.fill_value == 0 for kind in kinds
        ):
            return None
        return self.native.sparse.to_coo()

    def matrix(self) -> Any:
        """The values of a frame whose columns are all numbers by type, or None."""
        if self.is_pandas_like:
            values = self.native.to_numpy()  # says at once what most frames are
            if values.dtype.kind in NUMBERS:
                return values
        if all(kind.is_numeric() or kind == nw.Boolean for kind in self.seen.schema.values()):
            return dataframe.to_numpy(self.seen)
        return None

    def series(self, values: Any, name: Any) -> Any:
        """Values in the form of the frame, a native series."""
        if is_of_pandas(self.native, "DataFrame"):
            return sys.modules["pandas"].Series(values, self.native.index, name=name)
        if values.dtype == object and not self.is_pandas_like:
            values = values.tolist()
        return dataframe.to_native_series(values, name=name, like=self.seen)

    def table(self, columns: dict[Any, Any]) -> Any:
        """Named columns in the form of the frame."""
        if columns:
            return dataframe.to_native_frame(columns, like=self.seen)
        native = self.native  # no label is known
        return native.iloc[:, :0] if hasattr(native, "iloc") else self.seen.select().to_native()


def column_of(series: Any) -> tuple[Any, Any]:
    """A series as an array if it holds numbers or booleans and nothing is missing, else as a list; and its name."""
    if is_of_pandas(series, "Series") and isinstance(series.dtype, np.dtype):
        values = series.to_numpy()
        if values.dtype.kind in "biu" or (values.dtype in FLOATS and not np.isnan(values).any()):
            return values, series.name
    seen = dataframe.into_series(series)
    if seen.dtype.is_numeric() or seen.dtype == nw.Boolean:
        values = seen.to_numpy()
        if values.dtype.kind in "biu" or not seen.is_null().any():
            return values, seen.name
    return seen.to_list(), seen.name

"""From River's examples to rows of numbers, and back to River's series.

A feature keeps its place in the row for life. A missing feature is 0. New features of one example get
their places in sorted order, so the order of a dict never matters.
"""

from __future__ import annotations

import array
import itertools
import math
import operator
import struct
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from river.utils import dataframe

from ..core.rows import first_bad_row
from ..parameters import as_float


def number(feature: Any, value: Any) -> float:
    """The value of a feature as a float, or an error that names both."""
    result = as_float(value)
    if result is None:
        raise ValueError(
            f"feature {feature!r} must be a finite number, not {value!r}{_advice(value)}"
        )
    return result


def _advice(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return ": text needs an encoder in front, such as preprocessing.OneHotEncoder()"
    if is_missing(value):
        return ": rb.Guard('skip') in front leaves such examples out, an imputer fills gaps"
    return ""


def is_missing(value: Any) -> bool:
    """Whether a value says that there is none: None, NaN, an infinity (of statistics that have seen nothing)."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, (float, np.floating)) and not math.isfinite(value)


def in_order(names: Iterable[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:  # names of several types
        return sorted(names, key=lambda name: (type(name).__name__, repr(name)))


def _few(names: list[Any]) -> Callable[[Any], Sequence[Any]]:
    """operator.itemgetter for at most one name: always a tuple."""
    return lambda x: tuple(x[name] for name in names)


class FeatureIndex:
    """Names of features and their places, and the factors by which some of them are multiplied."""

    def __init__(self, names: Iterable[Any] = (), scales: Mapping[Any, float] | None = None):
        self._places = {name: place for place, name in enumerate(names)}
        self._scales = None if scales is None else dict(scales)
        self._prepare()

    def _prepare(self) -> None:
        names = list(self._places)
        n = self._n = len(names)
        pack_into = struct.Struct(f"{n}d").pack_into
        get: Callable[[Any], Sequence[Any]] = operator.itemgetter(*names) if n > 1 else _few(names)
        scaled = self._scaled_places()

        def pack(x: dict[Any, Any], values: Any) -> bool:
            """Write an example of just the known features into a row; False if it has others.

            What is written is a number, but not checked to be finite: the passes do that.
            """
            if len(x) == n:
                try:
                    pack_into(values, 0, *get(x))
                    for place, factor in scaled:
                        values[place] *= factor
                    return True
                except KeyError:
                    return False
                except (struct.error, TypeError, OverflowError):
                    self.reject(x)
            return False

        self.pack = pack  # a closure: it is called for every example and looks nothing up

    def _scaled_places(self) -> list[tuple[int, float]]:
        scales, places = self._scales or {}, self._places
        return [(places[name], factor) for name, factor in scales.items() if name in places]

    def __getstate__(self) -> tuple[Any, ...]:
        return list(self._places), self._scales

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Any:
        return iter(self._places)

    @property
    def memory_usage(self) -> int:
        return sys.getsizeof(self._places) + sum(map(sys.getsizeof, self._places))

    def add(self, names: Iterable[Any]) -> None:
        for name in in_order(names):
            self._places[name] = len(self._places)
        self._prepare()

    def pack_some(self, x: dict[Any, Any], values: Any) -> bool:
        """The same for an example that lacks some of the known features."""
        if not self.knows(x):
            return False
        try:
            row = list(map(x.get, self._places, itertools.repeat(0.0)))
            if len(row) != len(values):  # a thread that learns has added one
                return False
            values[:] = memoryview(array.array("d", row))
            for place, factor in self._scaled_places():
                values[place] *= factor
        except (TypeError, OverflowError):
            self.reject(x)
        return True

    def reject(self, x: dict[Any, Any]) -> None:
        """Raise for the first feature that is not a finite number, if there is one."""
        for name, value in x.items():
            number(name, value)
        for name, factor in (self._scales or {}).items():
            if name in x and not math.isfinite(float(x[name]) * factor):
                raise ValueError(
                    f"feature {name!r} must be finite times its scale, not {x[name]!r}"
                )

    def present(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """The features of an example to be predicted that are there. Raises if there is no other fault in it."""
        found = {name: value for name, value in x.items() if not is_missing(value)}
        self.reject(x if len(found) == len(x) else found)
        return found

    def check(self, x: dict[Any, Any]) -> None:
        """As reject, quickly where all is well."""
        try:
            good = math.isfinite(sum(x.values()))
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:  # or the sum overflowed
            self.reject(x)

    def knows(self, x: dict[Any, Any]) -> bool:
        return x.keys() <= self._places.keys()

    def unknown(self, x: dict[Any, Any]) -> list[Any]:
        return in_order(x.keys() - self._places.keys())

    def row(self, x: dict[Any, Any]) -> Any:
        """A checked row of all known features, followed by the unknown ones in sorted order."""
        self.reject(x)
        known = [float(x.get(name, 0.0)) for name in self._places]
        row = np.array([known + [float(x[name]) for name in self.unknown(x)]])
        return row if self._scales is None else row * self._factors([*self, *self.unknown(x)])

    def _factors(self, names: list[Any]) -> Any:
        scales = self._scales or {}
        return np.array([scales.get(name, 1.0) for name in names], np.float64)

    def rows(self, batch: Batch) -> Any:
        """The rows of a batch, unknown features behind the known ones in sorted order."""
        places = dict(self._places)
        for name in in_order(set(batch.names) - places.keys()):
            places[name] = len(places)
        order = [places[name] for name in batch.names]
        if order == list(range(len(places))):
            rows = batch.values
        else:
            rows = np.zeros((len(batch), len(places)))
            rows[:, order] = batch.values
        return rows if self._scales is None else self._scaled(rows, list(places))

    def unscaled(self, columns: Any) -> Any:
        """Columns of stored rows, with the features as they came."""
        if self._scales is None:
            return columns
        return columns[: len(self)] / self._factors(list(self))[:, np.newaxis]

    def _scaled(self, rows: Any, names: list[Any]) -> Any:
        with np.errstate(over="ignore"):
            scaled = rows * self._factors(names)
        bad = first_bad_row(scaled)
        if bad >= 0:
            self.reject(dict(zip(names, rows[bad].tolist(), strict=True)))
        return scaled


class Batch:
    """Many examples: a matrix with names for its columns, from a frame or a 2-D array.

    `predicted`: they are not learned, and what is missing in them counts as 0.
    """

    def __init__(self, X: Any, predicted: bool = False):
        self.frame: Any = None
        if isinstance(X, np.ndarray):
            if X.ndim != 2:
                raise ValueError(f"an array of examples must have 2 dimensions, not {X.ndim}")
            self.names: list[Any] = list(range(X.shape[1]))
            self.values = _numbers(X, predicted)
        else:
            self.frame = dataframe.into_frame(X)
            self.names = list(self.frame.columns)
            values = _matrix(self.frame)
            if values is None:
                self.values = _checked_columns(self.frame, predicted)
            else:
                self.values = _numbers(values, predicted)
        bad = first_bad_row(self.values)
        if bad >= 0 and predicted:
            self.values = np.nan_to_num(self.values, nan=0.0, posinf=0.0, neginf=0.0)
        elif bad >= 0:
            for name, value in zip(self.names, self.values[bad], strict=True):
                number(name, float(value))

    @classmethod
    def of(cls, names: list[Any], values: Any) -> Batch:
        """A matrix of float64 that has been checked, with these names for its columns."""
        batch = cls.__new__(cls)
        batch.frame, batch.names, batch.values = None, names, values
        return batch

    def __len__(self) -> int:
        return len(self.values)

    def series(self, values: Any, name: str | None) -> Any:
        """Values in the form of the examples: a native series, or the array itself."""
        if self.frame is None:
            return values
        if values.dtype == object and not self.frame.implementation.is_pandas_like():
            values = values.tolist()
        return dataframe.to_native_series(values, name=name, like=self.frame)

    def table(self, columns: dict[Any, Any]) -> Any:
        """Named columns in the form of the examples; of an array, a dict of arrays."""
        if self.frame is None:
            return columns
        if not columns:  # no label is known
            native = self.frame.to_native()
            return (
                native.iloc[:, :0] if hasattr(native, "iloc") else self.frame.select().to_native()
            )
        return dataframe.to_native_frame(columns, like=self.frame)


def _matrix(frame: Any) -> Any:
    """The values of a frame whose columns are all numbers by type, or None."""
    if frame.implementation.is_pandas_like():
        values = frame.to_native().to_numpy()  # says at once what most frames are
        if values.dtype.kind in "biuf":
            return values
    if all(kind.is_numeric() or kind == nw.Boolean for kind in frame.schema.values()):
        return dataframe.to_numpy(frame)
    return None


def number_or_zero(feature: Any, value: Any) -> float:
    return 0.0 if is_missing(value) else number(feature, value)


def _numbers(values: Any, predicted: bool) -> Any:
    """As a matrix that compiled code takes: float64, rows in memory one after the other, writable."""
    if np.ma.is_masked(values):
        raise ValueError("an array of examples must hold a number everywhere, not masked values")
    if values.dtype.kind not in "biuf":
        read = number_or_zero if predicted else number
        checked = [[read(column, value) for column, value in enumerate(row)] for row in values]
        values = np.array(checked, float).reshape(values.shape)
    return np.require(values, np.float64, ["C", "A", "W"])


def _checked_columns(frame: Any, predicted: bool) -> Any:
    """A frame with columns that are not numbers by type: look at every value."""
    values, read = np.empty(frame.shape), number_or_zero if predicted else number
    for column, name in enumerate(frame.columns):
        values[:, column] = [read(name, value) for value in frame[:, column].to_list()]
    return values

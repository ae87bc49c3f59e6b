"""Panels and their lines, as a figure shows them, and the lines as arrays.

Values that an axis cannot show are NaN in the arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
TOO_FAR = 1e100  # larger values, and their inverses on log axes, are left out like infinite ones


@dataclass(frozen=True)
class Line:
    """One algorithm in one panel.

    Parameters
    ----------
    name
        What the legend says; also decides the colour.
    x, y
        The points. NaN interrupts the line.
    low, high
        The borders of the spread, both or neither.
    shape
        `"line"`, `"points"` for markers only, `"level"` for a horizontal line at `y[0]`.

    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    shape: str = "line"


@dataclass(frozen=True)
class Panel:
    """One pair of axes. With `percent`, the values of y are shares and shown as percent."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    log_x: bool = False
    log_y: bool = False
    percent: bool = False


class Curve(NamedTuple):
    """A line as arrays of the same length. Values that its axes cannot show are NaN."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    shape: str

    @property
    def empty(self) -> bool:
        return not self.shown.any()

    @property
    def shown(self) -> npt.NDArray[np.bool_]:
        return np.isfinite(self.x + self.y)


def curve_of(line: Line, panel: Panel) -> Curve:
    if line.shape not in ("line", "points", "level"):
        raise ValueError(f"{line.name}: shape={line.shape!r} is not line, points or level")
    if (line.low is None) != (line.high is None):
        raise ValueError(f"{line.name}: low and high come together")
    x, y = _numbers(line.x, panel.log_x), _numbers(line.y, panel.log_y)
    low = np.full_like(y, np.nan) if line.low is None else _numbers(line.low, panel.log_y)
    high = np.full_like(y, np.nan) if line.high is None else _numbers(line.high, panel.log_y)
    if line.shape == "level":  # it has no place of its own on the x axis
        y, low, high = y[:1], low[:1], high[:1]
        x = np.ones_like(y)
    if not x.size == y.size == low.size == high.size:
        raise ValueError(f"{line.name}: x, y, low and high differ in length")
    return Curve(x, y, low, high, line.shape)


def _numbers(values: Sequence[float], log: bool) -> Floats:
    array = np.array(values, dtype=float)
    within = np.abs(array) < TOO_FAR
    if log:
        within &= array > 1 / TOO_FAR
    return np.where(within, array, np.nan)

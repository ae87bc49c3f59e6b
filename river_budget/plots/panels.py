"""Panels and their lines, as input of a figure, and curves: the lines as arrays.

Values that an axis cannot show are NaN in the arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
COINCIDE = 0.012  # curves closer than this share of a panel's height look like one
TOO_FAR = 1e100  # larger values, and their inverses on log axes, are left out like infinite ones


@dataclass(frozen=True)
class Line:
    """One algorithm in one panel.

    Parameters
    ----------
    name
        The text of the legend, which also determines the colour.
    x, y
        The points. NaN interrupts the line.
    low, high
        The limits of the band, both or neither.
    points
        Whether there are markers only, and no line through them.

    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    points: bool = False


@dataclass(frozen=True)
class Panel:
    """One pair of axes. With `percent`, the values of y are shares, to be shown in percent."""

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
    points: bool

    @property
    def empty(self) -> bool:
        return not np.isfinite(self.x + self.y).any()


def _curve_of(line: Line, panel: Panel) -> Curve:
    if (line.low is None) != (line.high is None):
        raise ValueError(f"{line.name}: low and high come together")
    x, y = _numbers(line.x, panel.log_x), _numbers(line.y, panel.log_y)
    low = np.full_like(y, np.nan) if line.low is None else _numbers(line.low, panel.log_y)
    high = np.full_like(y, np.nan) if line.high is None else _numbers(line.high, panel.log_y)
    if not x.size == y.size == low.size == high.size:
        raise ValueError(f"{line.name}: x, y, low and high differ in length")
    return Curve(x, y, low, high, line.points)


def curves_of(panel: Panel) -> list[Curve]:
    return [_curve_of(line, panel) for line in panel.lines]


def _numbers(values: Sequence[float], log: bool) -> Floats:
    array = np.array(values, dtype=float)
    within = np.abs(array) < TOO_FAR
    if log:
        within &= array > 1 / TOO_FAR
    return np.where(within, array, np.nan)


def covered(panel: Panel) -> dict[int, int]:
    """{covered line: the first later line that covers it}, by index."""
    curves = curves_of(panel)
    values = [np.log10(curve.y) if panel.log_y else curve.y for curve in curves]
    finite = np.concatenate([np.empty(0), *(y[np.isfinite(y)] for y in values)])
    if not finite.size:
        return {}
    near = COINCIDE * float(finite.max() - finite.min())
    found = {}
    for i, first in enumerate(curves):
        for j in range(i + 1, len(curves)):
            points = first.points or curves[j].points
            if not points and _same(first.x, curves[j].x, values[i], values[j], near):
                found[i] = j
                break
    return found


def _same(x: Floats, other_x: Floats, y: Floats, other_y: Floats, near: float) -> bool:
    if len(x) < 2 or len(x) != len(other_x) or not np.array_equal(x, other_x, equal_nan=True):
        return False
    late = slice(len(x) // 10, None)  # without the start of a stream, where curves vary
    apart = np.abs(y[late] - other_y[late])
    return bool(np.isfinite(apart).any() and np.nanmax(apart) <= near)


def same_curves(panels: Sequence[Panel]) -> list[str]:
    """Notes of a legend on lines that look like one, with the panels if not in all."""
    found: dict[str, list[str]] = {}
    for panel in panels:
        for i, j in covered(panel).items():
            one, other = panel.lines[i], panel.lines[j]
            exact = np.array_equal(one.y, other.y, equal_nan=True)
            text = f"{one.name} {'=' if exact else '≈'} {other.name}: same curve"
            found.setdefault(text, []).append(panel.title)
    return [
        text + (f" in {', '.join(titles)}" if len(titles) < len(panels) else "")
        for text, titles in found.items()
    ]

"""Panels and their lines, as input of a figure."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Numbers = Any  # a sequence or an array
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
    x: Numbers
    y: Numbers
    low: Numbers = None
    high: Numbers = None
    points: bool = False

    @property
    def empty(self) -> bool:
        return not np.isfinite(np.add(self.x, self.y)).any()


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

    @functools.cached_property
    def curves(self) -> list[Line]:
        """The lines as arrays, with NaN for what the axes cannot show and for bands that there are
        not.
        """
        return [self._curve(line) for line in self.lines]

    def _curve(self, line: Line) -> Line:
        x, y = _numbers(line.x, self.log_x), _numbers(line.y, self.log_y)
        none = np.full_like(y, np.nan)
        low, high = (
            none if limit is None else _numbers(limit, self.log_y)
            for limit in (line.low, line.high)
        )
        return Line(line.name, x, y, low, high, line.points)


def _numbers(values: Numbers, log: bool) -> Floats:
    array = np.array(values, dtype=float)
    within = np.abs(array) < TOO_FAR
    if log:
        within &= array > 1 / TOO_FAR
    return np.where(within, array, np.nan)


def covered(panel: Panel) -> dict[int, int]:
    """{covered line: the first later line that covers it}, by index."""
    curves = panel.curves
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

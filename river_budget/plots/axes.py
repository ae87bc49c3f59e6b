"""Axes: which values they span, and how their numbers are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .panels import Curve, Floats, Panel

LONG = 25  # points of a curve over examples; a shorter line is a sweep, where each point counts
IGNORED = 0.02  # share of the x axis: a mistake rate over a handful of examples may be anything
BEGINNING = 0.1  # share of the x axis in which a curve settles ...
ROOM = 0.5  # ... and how much it may add to the height of the rest, above and below
MARGIN = 0.04
ALONE = 0.1  # share of itself that a single value gets on both sides
UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def load_matplotlib() -> Any:
    """The module matplotlib, with the parts used here. (pyplot would keep figures and choose a backend.)"""
    try:
        import matplotlib
        import matplotlib.figure
        import matplotlib.lines
        import matplotlib.style
        import matplotlib.ticker
    except ImportError as error:
        raise RuntimeError("figures need matplotlib: pip install matplotlib") from error
    return matplotlib


def pyplot() -> Any:
    """The module that shows figures in notebooks, and chooses a backend."""
    load_matplotlib()
    import matplotlib.pyplot

    return matplotlib.pyplot


def set_axes(axes: Any, panel: Panel, curves: Sequence[Curve]) -> None:
    """Give both axes their scale, limits and ticks."""
    places = [curve.x[curve.shown] for curve in curves if curve.shape != "level"]
    x = _scaled(np.concatenate([np.empty(0), *places]), panel.log_x)
    _set_axis(axes.xaxis, x, panel.log_x, short)
    number = percent_of if panel.percent else short
    highest = 1.0 if panel.percent else np.inf
    _set_axis(axes.yaxis, _heights(panel, curves), panel.log_y, number, highest)


def _set_axis(
    axis: Any,
    values: Floats,
    log: bool,
    number: Callable[[float], str],
    highest: float = np.inf,
) -> None:
    axis.axes.set(**{f"{axis.axis_name}scale": "log" if log else "linear"})
    axis.set_minor_formatter(load_matplotlib().ticker.NullFormatter())
    if not values.size:
        axis.set_ticks([])
        axis.set_ticks([], minor=True)
        return
    low, high = _limits(values, log, highest)
    axis.axes.set(**{f"{axis.axis_name}lim": (low, high)})
    axis.set_major_locator(_locator(np.log10(high / low) if log else 0.0))
    axis.set_major_formatter(lambda value, _: number(value))


# limits


def _heights(panel: Panel, curves: Sequence[Curve]) -> Floats:
    """The values that the y axis spans. The beginning of curves is cut off where it would squeeze the rest."""
    late, most, everything = (
        _scaled(_values_after(share, panel, curves), panel.log_y)
        for share in (BEGINNING, IGNORED, 0.0)
    )
    values = most if most.size else everything
    if late.size:
        room = ROOM * (late.max() - late.min())
        values = np.clip(values, late.min() - room, late.max() + room)
    return values


def _values_after(share: float, panel: Panel, curves: Sequence[Curve]) -> Floats:
    """All finite values of y and of the spread, without those in the first part of long curves."""
    parts = [np.empty(0)]
    for curve in curves:
        chosen = np.isfinite(curve.x)
        if np.count_nonzero(chosen) >= LONG:
            place = _scaled(curve.x, panel.log_x)
            chosen &= ~(place < np.nanmin(place) + share * np.ptp(place[chosen]))
        parts += [curve.y[chosen], curve.low[chosen], curve.high[chosen]]
    values = np.concatenate(parts)
    return values[np.isfinite(values)]


def _scaled(values: Floats, log: bool) -> Floats:
    """The values as distances on their axis."""
    return np.log10(values) if log else values


def _limits(values: Floats, log: bool, highest: float) -> tuple[float, float]:
    """The range of the values and a margin, without negative ones or those above the highest where none is."""
    first, last = float(values.min()), float(values.max())
    alone = ALONE * abs(last) or ALONE
    extra = MARGIN * (last - first) if last - first > 1e-9 * alone else alone
    low, high = first - extra, last + extra
    if log:
        return 10.0**low, 10.0**high
    return max(low, 0.0) if first > 0.0 else low, min(high, highest) if last < highest else high


# ticks


# How many decades a log axis spans at least, and what is labelled within each.
WITHIN = (
    (3.0, (1.0,)),
    (1.5, (1.0, 3.0)),
    (1.0, (1.0, 2.0, 5.0)),
    (0.4, (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)),
)


def _locator(decades: float) -> Any:
    """What chooses round numbers: in equal steps also where a log axis is short."""
    ticker = load_matplotlib().ticker
    for least, subs in WITHIN:
        if decades >= least:
            return ticker.LogLocator(subs=subs, numticks=6)
    return ticker.MaxNLocator(6, steps=[1, 2, 2.5, 5, 10])


def short(value: float) -> str:
    """10000 as 10k, 2500000 as 2.5M."""
    for unit, letter in UNITS:
        if unit <= abs(value) < 1e12:
            return f"{value / unit:.10g}{letter}"
    return f"{value:.10g}".replace("e-0", "e-").replace("e+", "e")


def percent_of(value: float) -> str:
    return f"{100 * value:.10g} %"

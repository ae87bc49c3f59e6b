"""Axes: which values they span, and where their ticks are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .panels import Curve, Floats, Panel

LONG = 25  # points of a curve over examples; a shorter line is a sweep, where each point counts
IGNORED = 0.02  # share of the x axis: a mistake rate over a handful of examples may be anything
BEGINNING = 0.1  # share of the x axis in which a curve settles ...
ROOM = 0.5  # ... and how much it may add to the height of the rest, above and below
MARGIN = 0.04

Limits = tuple[float, float]


def _x_limits(panel: Panel, curves: Iterable[Curve]) -> Limits | None:
    places = [curve.x[curve.shown] for curve in curves if curve.shape != "level"]
    return _widened(np.concatenate([np.empty(0), *places]), panel.log_x)


def _y_limits(panel: Panel, curves: Sequence[Curve]) -> Limits | None:
    """The range of all values. The beginning of curves is cut off where it would squeeze the rest."""
    late, most, everything = (
        scaled(_values_after(share, curves, panel.log_x), panel.log_y)
        for share in (BEGINNING, IGNORED, 0.0)
    )
    values = most if most.size else everything
    if late.size:
        room = ROOM * (late.max() - late.min())
        values = np.clip(values, late.min() - room, late.max() + room)
    values = unscaled(values, panel.log_y)
    limits = _widened(values, panel.log_y)
    return _possible(limits, values, panel.percent) if limits and not panel.log_y else limits


def _values_after(share: float, curves: Iterable[Curve], log_x: bool) -> Floats:
    """All finite values of y and of the spread, without those in the first part of long curves."""
    parts = [np.empty(0)]
    for curve in curves:
        chosen = np.isfinite(curve.x)
        if np.count_nonzero(chosen) >= LONG:
            place = scaled(curve.x, log_x)
            first, last = np.nanmin(place), np.nanmax(place)
            chosen &= ~(place < first + share * (last - first))
        parts += [curve.y[chosen], curve.low[chosen], curve.high[chosen]]
    values = np.concatenate(parts)
    return values[np.isfinite(values)]


def _widened(values: Floats, log: bool) -> Limits | None:
    """The range of the values and a margin; None without values."""
    if not values.size:
        return None
    places = scaled(values, log)
    low, high = float(places.min()), float(places.max())
    # A single value needs a range as well: a tenth of itself, or of a decade, on both sides.
    alone = 0.1 if log else 0.1 * abs(high) or 0.1
    extra = MARGIN * (high - low) if high - low > 1e-9 * alone else alone
    low, high = unscaled(np.array([low - extra, high + extra]), log).tolist()
    return low, high


def _possible(limits: Limits, values: Floats, percent: bool) -> Limits:
    """Limits without negative values, or shares above one, where the values have none."""
    low, high = limits
    low = 0.0 if low < 0.0 < values.min() else low
    high = 1.0 if percent and values.max() < 1.0 < high else high
    return low, high


def scaled(values: Floats, log: bool) -> Floats:
    """The values as distances on their axis."""
    return np.log10(values) if log else values


def unscaled(values: Floats, log: bool) -> Floats:
    return np.asarray(10.0**values) if log else values


# ticks

# Ever denser steps within a decade; the first one that gives enough ticks is taken.
STEPS = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))
FEWEST, MOST = 3, 7
UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def _ticks(limits: Limits, log: bool) -> list[float]:
    ticks = _log_ticks(*limits) if log else []
    if len(ticks) < 2:  # on a log axis too, when it spans less than two round numbers
        locator = load_matplotlib().ticker.MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10])
        ticks = [float(tick) for tick in locator.tick_values(*limits)]
    return [tick for tick in ticks if limits[0] <= tick <= limits[1]]


def _log_ticks(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = math.ceil((last - first) / MOST)
    powers = range(first - first % every, last + 1, every)
    ticks: list[float] = []
    for steps in STEPS:
        found = [_times_power(step, power) for power in powers for step in steps]
        found = [tick for tick in found if low <= tick <= high]
        if ticks and len(found) > MOST:
            break
        ticks = found
        if len(ticks) >= FEWEST:
            break
    return ticks


def _times_power(step: float, power: int) -> float:
    """step * 10**power, as the nearest float: 3 * 10**-1 would not be 0.3."""
    return float(f"{step}e{power}")


def short(value: float) -> str:
    """10000 as 10k, 2500000 as 2.5M."""
    if abs(value) < 1e12:
        for unit, letter in UNITS:
            if abs(value) >= unit:
                return f"{value / unit:.10g}{letter}"
    return f"{value:.10g}".replace("e-0", "e-").replace("e+", "e")


def percent_of(value: float) -> str:
    return f"{100 * value:.10g} %"


# on the axes of matplotlib


def load_matplotlib() -> Any:
    """The module matplotlib, with the parts used here. (pyplot would keep figures and choose a backend.)"""
    try:
        import matplotlib
        import matplotlib.backends.backend_agg
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
    _set_axis(axes.xaxis, _x_limits(panel, curves), panel.log_x, short)
    number = percent_of if panel.percent else short
    _set_axis(axes.yaxis, _y_limits(panel, curves), panel.log_y, number)


def _set_axis(axis: Any, limits: Limits | None, log: bool, number: Callable[[float], str]) -> None:
    ticker, which = load_matplotlib().ticker, axis.axis_name
    axis.axes.set(**{f"{which}scale": "log" if log else "linear"})
    axis.set_minor_formatter(ticker.NullFormatter())
    if limits is None:
        axis.set_major_locator(ticker.NullLocator())
        axis.set_minor_locator(ticker.NullLocator())
        return
    axis.axes.set(**{f"{which}lim": limits})
    ticks = _ticks(limits, log)
    axis.set_ticks(ticks, labels=[number(tick) for tick in ticks])

"""Scales, limits and ticks of a panel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .panels import TOO_FAR, Curve, Floats, Panel

LONG_CURVE = 25  # curves over examples have at least so many points; shorter ones are sweeps
BEGINNING = 0.1  # share of the x axis, at its start, that does not determine the y limits ...
EXTRA_HEIGHT = 0.5  # ... but may extend them by this share of their range, above and below
MARGIN = 0.04  # of the range of the values
MOST_TICKS = 8
STEPS = [1, 2, 2.5, 5, 10]  # steps between ticks of a linear axis, times a power of ten
MULTIPLES = (
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
    (1, 3),
    (1,),
)  # multiples of a power of ten with ticks on a log axis
UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def load_matplotlib() -> Any:
    """The module matplotlib, with the parts used here. (pyplot would keep every figure and choose a backend.)"""
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


def set_scales(axes: Any, panel: Panel) -> None:
    """Make both axes linear or logarithmic, before the lines are drawn."""
    axes.set_xscale("log" if panel.log_x else "linear")
    axes.set_yscale("log" if panel.log_y else "linear")
    axes.margins(MARGIN)


def set_limits(axes: Any, panel: Panel, curves: Sequence[Curve]) -> None:
    """Set the limits of the y axis, and choose the ticks, after the lines are drawn.

    Means over the first examples of a stream vary so much that they would make the rest of the curve flat.
    """
    low, high = axes.get_ylim()
    late = np.concatenate([np.empty(0), *(_late_values(curve, panel.log_x) for curve in curves)])
    if late.size:
        heights = np.log10(late) if panel.log_y else late
        extra = (EXTRA_HEIGHT + MARGIN) * np.ptp(heights)
        least, most = heights.min() - extra, heights.max() + extra
        if panel.log_y:
            least, most = 10.0**least, 10.0**most
        if most > least:
            low, high = max(low, least), min(high, most)
    if not panel.log_y and np.nanmin([np.inf, *late]) >= 0.0:
        low = max(low, 0.0)
    axes.set_ylim(low, min(high, 1.0) if panel.percent else high)
    x = [curve.x[curve.shown] for curve in curves if curve.shape != "level"]
    _set_ticks(axes.xaxis, panel.log_x, short, np.concatenate([np.empty(0), *x]))
    _set_ticks(axes.yaxis, panel.log_y, percent_of if panel.percent else short, late)


def _late_values(curve: Curve, log_x: bool) -> Floats:
    """All finite values of y and of the spread, except at the start of a long curve."""
    chosen = np.isfinite(curve.x)
    if np.count_nonzero(chosen) >= LONG_CURVE:
        place = np.log10(curve.x) if log_x else curve.x
        chosen &= place >= np.nanmin(place) + BEGINNING * np.ptp(place[chosen])
    values = np.concatenate([curve.y[chosen], curve.low[chosen], curve.high[chosen]])
    finite: Floats = values[np.isfinite(values)]
    return finite


def _set_ticks(axis: Any, log: bool, text_of: Any, values: Floats) -> None:
    """Choose ticks that reach the largest value, and the format of their numbers."""
    ticker, (low, high) = load_matplotlib().ticker, axis.get_view_interval()
    if log and high > 3.0 * low:
        locators = [
            ticker.LogLocator(subs=multiples, numticks=MOST_TICKS) for multiples in MULTIPLES
        ]
    else:
        locators = [ticker.MaxNLocator(n, steps=STEPS) for n in (6, 7, 5, 4)]
    ends = [_end(locator, low, high, values) for locator in locators]
    best = int(np.argmin(ends))
    if ends[best] < math.inf:
        axis.axes.set(**{f"{axis.axis_name}lim": (low, ends[best])})
    axis.set_major_locator(locators[best])
    axis.set_major_formatter(lambda value, _: text_of(value))
    axis.set_minor_formatter(ticker.NullFormatter())


def _end(locator: Any, low: float, high: float, values: Floats) -> float:
    """Where an axis ends with a tick at its largest value or above; infinity for too few ticks or too many."""
    near = 1e-9 * (high - low)
    largest = min(high, float(np.max(values, initial=low))) - near
    ticks = locator.tick_values(low, high)
    end = max(high, float(np.min(ticks[ticks >= largest], initial=TOO_FAR)))
    ticks = locator.tick_values(low, end)  # a longer axis may have fewer ticks
    seen = ticks[(ticks >= low) & (ticks <= end + near)]
    return end if 3 <= len(seen) <= MOST_TICKS and seen[-1] >= largest else math.inf


def short(value: float) -> str:
    """10000 as 10k, 2500000 as 2.5M."""
    for unit, letter in UNITS:
        if unit <= abs(value) < 1e12:
            return f"{value / unit:.10g}{letter}"
    return f"{value:.10g}".replace("e-0", "e-").replace("e+", "e")


def percent_of(value: float) -> str:
    """0.125 as 12.5 %."""
    return f"{100 * value:.10g} %"

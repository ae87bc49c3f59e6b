"""Curves as PNG files: panels in a grid, one legend for all of them.

Needs matplotlib, which nothing else here does, so it is imported when a figure is made.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .line_styles import LineStyle, line_styles_of

__all__ = ["Line", "Panel", "draw", "figure_of"]

Floats = npt.NDArray[np.float64]


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


def draw(
    path: str | Path, panels: Sequence[Panel], *, title: str = "", columns: int | None = None
) -> None:
    """Write a PNG file. The same panels give the same bytes, whatever the reader's matplotlib settings.

    Parameters
    ----------
    path
        The file. Its folder is made when it is missing.
    panels
        Row by row. Without any, the figure says that there is no data.
    title
        Above all panels.
    columns
        Panels side by side; by default at most three.

    """
    with _matplotlib().style.context("default"):  # and the reader's settings again afterwards
        figure = figure_of(panels, title=title, columns=columns)
        figure.canvas.draw()
        pixels = np.array(figure.canvas.buffer_rgba())
    _write(Path(path), pixels)


def _write(path: Path, pixels: npt.NDArray[np.uint8]) -> None:
    """With a palette, which looks the same and makes the file three times smaller."""
    from PIL import Image  # comes with matplotlib

    image = Image.fromarray(pixels).convert("RGB").quantize(PALETTE)
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, format="PNG", dpi=(DPI, DPI), optimize=True)


def _matplotlib() -> Any:
    """matplotlib with the parts used here. Not pyplot, which keeps figures and picks a backend."""
    try:
        import matplotlib
        import matplotlib.backends.backend_agg
        import matplotlib.figure
        import matplotlib.lines
        import matplotlib.style
        import matplotlib.ticker
    except ImportError as error:
        raise RuntimeError("figures need matplotlib: pip install 'river-budget[plots]'") from error
    return matplotlib


# Numbers of a line

TOO_FAR = 1e100  # larger values, and their inverses on log axes, are left out like infinite ones


class Curve(NamedTuple):
    """A line as arrays of the same length. What its axes cannot show is NaN."""

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


def _curve(line: Line, panel: Panel) -> Curve:
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


# Limits

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
    """All values, except where the wild beginning of curves would squeeze the rest."""
    late, most, everything = (
        _scaled(_values_after(share, curves, panel.log_x), panel.log_y)
        for share in (BEGINNING, IGNORED, 0.0)
    )
    values = most if most.size else everything
    if late.size:
        room = ROOM * (late.max() - late.min())
        values = np.clip(values, late.min() - room, late.max() + room)
    values = _unscaled(values, panel.log_y)
    limits = _widened(values, panel.log_y)
    return _possible(limits, values, panel.percent) if limits and not panel.log_y else limits


def _values_after(share: float, curves: Iterable[Curve], log_x: bool) -> Floats:
    """All finite values of y and of the spread, without those in the first part of long curves."""
    parts = [np.empty(0)]
    for curve in curves:
        chosen = np.isfinite(curve.x)
        if np.count_nonzero(chosen) >= LONG:
            place = _scaled(curve.x, log_x)
            first, last = np.nanmin(place), np.nanmax(place)
            chosen &= ~(place < first + share * (last - first))
        parts += [curve.y[chosen], curve.low[chosen], curve.high[chosen]]
    values = np.concatenate(parts)
    return values[np.isfinite(values)]


def _widened(values: Floats, log: bool) -> Limits | None:
    """The range of the values and a margin; None without values."""
    if not values.size:
        return None
    scaled = _scaled(values, log)
    low, high = float(scaled.min()), float(scaled.max())
    # A single value needs a range as well: a tenth of itself, or of a decade, on both sides.
    alone = 0.1 if log else 0.1 * abs(high) or 0.1
    extra = MARGIN * (high - low) if high - low > 1e-9 * alone else alone
    low, high = _unscaled(np.array([low - extra, high + extra]), log).tolist()
    return low, high


def _possible(limits: Limits, values: Floats, percent: bool) -> Limits:
    """The margin does not suggest negative values, or shares above one, when there are none."""
    low, high = limits
    low = 0.0 if low < 0.0 < values.min() else low
    high = 1.0 if percent and values.max() < 1.0 < high else high
    return low, high


def _scaled(values: Floats, log: bool) -> Floats:
    """The values as distances on their axis."""
    return np.log10(values) if log else values


def _unscaled(values: Floats, log: bool) -> Floats:
    return np.asarray(10.0**values) if log else values


# Ticks

# Ever denser steps within a decade; the first one that gives enough ticks is taken.
STEPS = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))
FEWEST, MOST = 3, 7
UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def _ticks(limits: Limits, log: bool) -> list[float]:
    ticks = _log_ticks(*limits) if log else []
    if len(ticks) < 2:  # on a log axis too, when it spans less than two round numbers
        locator = _matplotlib().ticker.MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10])
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


def _short(value: float) -> str:
    """10000 as 10k, 2500000 as 2.5M."""
    if abs(value) < 1e12:
        for unit, letter in UNITS:
            if abs(value) >= unit:
                return f"{value / unit:.10g}{letter}"
    return f"{value:.10g}".replace("e-0", "e-").replace("e+", "e")


def _percent(value: float) -> str:
    return f"{100 * value:.10g} %"


# Drawing

DPI = 110
PALETTE = 256  # colours
PANEL = (3.7, 2.8)  # inches
ONLY_PANEL = (6.0, 4.2)
TITLE, TEXT, SMALL = 12.0, 9.5, 8.5  # points
LETTER = 0.5 / 72  # inches per point of size: the width of a letter, on average
AXES = 0.75  # share of a panel that its axes take
LEGEND_LINE = 0.2  # inches
GAP = 0.15  # inches beside the legend
THICK, THIN = 1.5, 1.2  # points
MARKER, SIZES = 5.0, dict.fromkeys("^v<>dph", 6.0) | dict.fromkeys("PX", 6.5) | {"*": 8.0}  # points
BAND = 0.15  # opacity
MARKS = 5  # markers on a long line
EVERY_POINT = 12  # a line of up to so many points has a marker on each


def figure_of(panels: Sequence[Panel], *, title: str = "", columns: int | None = None) -> Any:
    """The figure that `draw` writes, as an object of matplotlib."""
    matplotlib = _matplotlib()
    panels = list(panels) or [Panel("", "", "", [])]
    columns = min(columns or _columns(len(panels)), len(panels))
    rows = math.ceil(len(panels) / columns)
    size = ONLY_PANEL if len(panels) == 1 else PANEL
    width, height = size[0] * columns, size[1] * rows
    figure = matplotlib.figure.Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06, wspace=0.04, hspace=0.04)

    curves = [[_curve(line, panel) for line in panel.lines] for panel in panels]
    shapes = _shapes(chain.from_iterable(panel.lines for panel in panels), chain(*curves))
    line_styles = line_styles_of(shapes)
    for i, panel in enumerate(panels):
        axes = figure.add_subplot(rows, columns, i + 1)
        _label(axes, panel, size)
        _set_axes(axes, panel, curves[i])
        _draw_lines(axes, panel, curves[i], line_styles)

    beside = _add_legend(figure, line_styles, shapes)
    figure.set_size_inches(width + beside, height)
    if title:
        middle = 0.5 * width / (width + beside)
        figure.suptitle(_wrapped(title, width, TITLE), x=middle, fontsize=TITLE)
    return figure


def _columns(n_panels: int) -> int:
    return {1: 1, 2: 2, 4: 2}.get(n_panels, 3)


def _shapes(lines: Iterable[Line], curves: Iterable[Curve]) -> dict[str, set[str]]:
    """The names in the order of their first line that has anything to show, with all their shapes."""
    shapes: dict[str, set[str]] = {}
    for line, curve in zip(lines, curves, strict=True):
        if not curve.empty:
            shapes.setdefault(line.name, set()).add(line.shape)
    return shapes


def _wrapped(text: str, inches: float, size: float) -> str:
    return textwrap.fill(text, max(int(inches / (size * LETTER)), 10))


def _label(axes: Any, panel: Panel, size: tuple[float, float]) -> None:
    width, height = (AXES * side for side in size)
    axes.set_title(_wrapped(panel.title, width, TEXT), fontsize=TEXT, fontweight="bold")
    axes.set_xlabel(_wrapped(panel.x_label, width, TEXT), fontsize=TEXT)
    axes.set_ylabel(_wrapped(panel.y_label, height, TEXT), fontsize=TEXT)
    axes.tick_params(which="both", labelsize=SMALL, color="0.6")
    axes.grid(True, color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[:].set_color("0.6")
    axes.spines[["top", "right"]].set_visible(False)


def _set_axes(axes: Any, panel: Panel, curves: Sequence[Curve]) -> None:
    _set_axis(axes.xaxis, _x_limits(panel, curves), panel.log_x, _short)
    number = _percent if panel.percent else _short
    _set_axis(axes.yaxis, _y_limits(panel, curves), panel.log_y, number)


def _set_axis(axis: Any, limits: Limits | None, log: bool, number: Callable[[float], str]) -> None:
    ticker, which = _matplotlib().ticker, axis.axis_name
    axis.axes.set(**{f"{which}scale": "log" if log else "linear"})
    axis.set_minor_formatter(ticker.NullFormatter())
    if limits is None:
        axis.set_major_locator(ticker.NullLocator())
        axis.set_minor_locator(ticker.NullLocator())
        return
    axis.axes.set(**{f"{which}lim": limits})
    ticks = _ticks(limits, log)
    axis.set_ticks(ticks, labels=[number(tick) for tick in ticks])


def _draw_lines(
    axes: Any, panel: Panel, curves: Sequence[Curve], line_styles: dict[str, LineStyle]
) -> None:
    order = list(line_styles)
    for line, curve in zip(panel.lines, curves, strict=True):
        if curve.empty:
            continue
        line_style = line_styles[line.name]
        _draw_spread(axes, curve, line_style)
        if curve.shape == "level":
            axes.axhline(curve.y[0], zorder=1.9, **_drawn(line_style, {"level"}))
        else:
            shift = order.index(line.name) / len(order)
            marks = _marked_points(curve, panel.log_x, shift)
            axes.plot(curve.x, curve.y, markevery=marks, **_drawn(line_style, {curve.shape}))
    if all(curve.empty for curve in curves):
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", color="0.4")


def _draw_spread(axes: Any, curve: Curve, line_style: LineStyle) -> None:
    if np.isnan(curve.high).all():
        return
    low = curve.low
    if axes.get_yscale() == "log":  # which may not show the lower border: then down to the frame
        low = np.where(np.isnan(low), axes.get_ylim()[0], low)
    band = {"color": line_style.colour, "alpha": BAND, "linewidth": 0, "zorder": 1.5}
    if curve.shape == "level":
        axes.axhspan(low[0], curve.high[0], **band)
    elif curve.shape == "line":
        axes.fill_between(curve.x, low, curve.high, **band)
    else:
        axes.vlines(curve.x, low, curve.high, color=line_style.colour, linewidth=THIN, zorder=1.5)


def _marked_points(curve: Curve, log_x: bool, shift: float) -> list[int]:
    """Which points get a marker: few of a long line, and not those of the other lines."""
    shown = np.flatnonzero(curve.shown)
    if curve.shape == "line" and shown.size > EVERY_POINT:
        place = _scaled(curve.x[shown], log_x)
        parts = (np.arange(MARKS) + shift) / MARKS
        wanted = place.min() + parts * (place.max() - place.min())
        shown = shown[np.unique(np.abs(place[:, None] - wanted).argmin(axis=0))]
    return [int(index) for index in shown]


def _drawn(line_style: LineStyle, shapes: set[str]) -> dict[str, Any]:
    """What matplotlib is told about a line of these shapes."""
    return {
        "color": line_style.colour,
        "linestyle": (0, line_style.dashes) if line_style.dashes else "-",
        "linewidth": 0 if shapes == {"points"} else THIN if shapes == {"level"} else THICK,
        "marker": "" if shapes == {"level"} else line_style.marker,
        "markersize": SIZES.get(line_style.marker, MARKER) + (1.5 if shapes == {"points"} else 0.0),
        "markeredgecolor": "white",  # separates markers that touch
        "markeredgewidth": 0.5,
    }


def _add_legend(
    figure: Any, line_styles: dict[str, LineStyle], shapes: dict[str, set[str]]
) -> float:
    """One legend on the right, each name once. Returns the width to add to the figure."""
    if not line_styles:
        return 0.0
    line = _matplotlib().lines.Line2D
    handles = [
        line([], [], label=name, **_drawn(line_styles[name], shapes[name])) for name in line_styles
    ]
    per_column = int(figure.get_figheight() / LEGEND_LINE) - 2
    legend = figure.legend(
        handles=handles,
        loc="outside right center",
        ncols=math.ceil(len(handles) / per_column),
        fontsize=TEXT,
        handlelength=3.6,
        frameon=False,
    )
    return float(legend.get_window_extent().width / figure.dpi) + GAP

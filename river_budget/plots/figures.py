"""Curves in panels with one legend for all panels, as a PNG file or on given axes.

matplotlib is an optional dependency, so it is imported when a figure is made.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .line_styles import LineStyle, line_styles_of
from .panels import Floats, Line, Panel, covered, same_curves

__all__ = ["Line", "Panel", "draw", "figure_of"]

DPI = 110
PANEL = (3.7, 2.8)  # inches
ONLY_PANEL = (6.0, 4.2)
TITLE, TEXT, SMALL = 12.0, 9.5, 8.5  # points
LETTER = 0.5 / 72  # inches per point of size: the width of a letter, on average
LEGEND_LINE = 0.2  # inches
LEGEND_LETTERS = 40  # of a legend line that says which lines coincide
LOG = ", log scale"
GAP = 0.15  # inches beside the legend
THICK, THIN = 1.5, 1.2  # points
MARKER = 6.0  # points
BAND = 0.15  # opacity
BORDER, PALE = 2.5, 0.45  # a covered line is so many points wider, with this opacity
MARKS = 5  # markers on a line of more than MARKED points
MARKED = 12  # a line of up to so many points has a marker on each

LONG_CURVE = 25  # curves over examples have at least so many points; shorter ones are sweeps
BEGINNING = 0.1  # share of the x axis, at its start, that does not determine the y limits ...
EXTRA_HEIGHT = 0.5  # ... but may extend them by this share of their range, above and below
ROOM_FOR_NAMES, BESIDE = 0.15, 7.0  # of the axes, where names stand at points; points between both
MARGIN = 0.04  # of the range of the values
MOST_TICKS = 8
STEPS = [1, 2, 2.5, 5, 10]  # steps between ticks of a linear axis, times a power of ten
# multiples of a power of ten with ticks on a log axis of up to so many powers of ten; shorter ones
# have steps
MULTIPLES = ((1.0, (1, 1.5, 2, 3, 5, 7)), (2.0, (1, 2, 5)), (3.5, (1, 3)), (np.inf, (1,)))
SHORTEST_LOG = 0.5  # powers of ten
UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))

Styles = dict[str, LineStyle]


def load_matplotlib() -> Any:
    """The module matplotlib, with the parts used here. (pyplot would keep every figure and choose a
    backend.)
    """
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


def draw(
    path: str | Path, panels: Sequence[Panel], *, title: str = "", columns: int | None = None
) -> None:
    """Write a PNG file that does not depend on the user's matplotlib settings.

    Panels stand row by row under the title, by default at most three side by side; without panels,
    the figure says that there is no data. Creates the folder of the file if it does not exist.
    """
    with load_matplotlib().style.context("default"):  # the user's settings return afterwards
        figure = figure_of(panels, title=title, columns=columns)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="png")


def figure_of(panels: Sequence[Panel], *, title: str = "", columns: int | None = None) -> Any:
    """The figure that `draw` writes, as an object of matplotlib."""
    figure = load_matplotlib().figure.Figure(dpi=DPI)
    _fill(figure, panels, title, columns)
    return figure


def on_axes(panel: Panel, axes: Any) -> Any:
    """Draw one panel on these axes; if None, on those of a new pyplot figure."""
    if axes is None:
        figure = pyplot().figure(dpi=DPI)
        _fill(figure, [panel])
        return figure.axes[0]
    styles = _styles_of([panel])
    _draw_panel(axes, panel, styles)
    if styles and not _has_labels(panel):
        axes.legend(handles=_handles([panel], styles), fontsize=SMALL, frameon=False)
    return axes


def _fill(
    figure: Any, panels: Sequence[Panel], title: str = "", columns: int | None = None
) -> None:
    """Draw panels into an empty figure, and set its size."""
    panels = list(panels) or [Panel("", "", "", [])]
    columns = min(columns or (2 if len(panels) == 4 else 3), len(panels))
    rows = math.ceil(len(panels) / columns)
    width, height = ONLY_PANEL if len(panels) == 1 else (PANEL[0] * columns, PANEL[1] * rows)
    figure.set_size_inches(width, height)
    figure.set_layout_engine("constrained", w_pad=0.06, h_pad=0.06, wspace=0.04, hspace=0.04)
    styles = _styles_of(panels)
    for i, panel in enumerate(panels):
        _draw_panel(figure.add_subplot(rows, columns, i + 1), panel, styles)
    beside = 0.0
    if styles and not all(map(_has_labels, panels)):
        handles = _handles(panels, styles)
        lines = sum(1 + handle.get_label().count("\n") for handle in handles)
        legend = figure.legend(
            handles=handles,
            loc="outside right center",
            ncols=math.ceil(lines / (int(height / LEGEND_LINE) - 2)),
            fontsize=TEXT,
            handlelength=3.6,
            frameon=False,
        )
        beside = legend.get_window_extent().width / figure.dpi + GAP
        figure.set_size_inches(width + beside, height)
    if title:
        middle = 0.5 * width / (width + beside)
        figure.suptitle(_wrapped(title, width, TITLE), x=middle, fontsize=TITLE)


def _styles_of(panels: Sequence[Panel]) -> Styles:
    """The style of each name that has a line with points."""
    return line_styles_of(
        curve.name for panel in panels for curve in panel.curves if not curve.empty
    )


def _handles(panels: Sequence[Panel], styles: Styles) -> list[Any]:
    """The entries of a legend: each name in its own style, and notes on lines that coincide."""
    points = {line.name: line.points for panel in panels for line in panel.lines}
    line = load_matplotlib().lines.Line2D
    names = [line([], [], label=name, **_drawn(styles[name], points[name])) for name in styles]
    notes = [textwrap.fill(text, LEGEND_LETTERS) for text in same_curves(panels)]
    return names + [line([], [], label=note, linestyle="") for note in notes]


def _draw_panel(axes: Any, panel: Panel, styles: Styles) -> None:
    axes.set_xscale("log" if panel.log_x else "linear")
    axes.set_yscale("log" if panel.log_y else "linear")
    axes.margins(MARGIN)
    _label(axes, panel)
    order, below = list(styles), covered(panel)
    for i, curve in enumerate(panel.curves):
        if curve.empty:
            continue
        style = styles[curve.name]
        _draw_spread(axes, curve, style)
        drawn = _drawn(style, curve.points)
        if not curve.points and curve.x.size > MARKED:  # not where others have markers
            drawn["markevery"] = (order.index(curve.name) / len(order) / MARKS, 1.0 / MARKS)
        if i in below:
            width = THICK + BORDER * _depth(i, below)
            drawn |= {"linewidth": width, "alpha": PALE, "linestyle": "-", "zorder": 1.8}
        axes.plot(curve.x, curve.y, **drawn)
    if all(curve.empty for curve in panel.curves):
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", color="0.4")
    else:
        _set_limits(axes, panel)
        if _has_labels(panel):
            _label_points(axes, panel, styles)


def _has_labels(panel: Panel) -> bool:
    """Whether names stand at the points instead of in a legend: where there is one point for
    each.
    """
    return bool(panel.lines) and all(line.points and len(line.x) == 1 for line in panel.lines)


def _label_points(axes: Any, panel: Panel, styles: Styles) -> None:
    """Write each name beside its point, on the side where there is room."""
    axes.margins(ROOM_FOR_NAMES)
    axes.autoscale_view()
    for curve in panel.curves:
        if not curve.empty:
            place = axes.transLimits.transform(axes.transScale.transform((curve.x[0], curve.y[0])))
            left = place[0] > 0.5
            axes.annotate(
                curve.name,
                (curve.x[0], curve.y[0]),
                xytext=(-BESIDE if left else BESIDE, 0.0),
                textcoords="offset points",
                ha="right" if left else "left",
                va="center",
                fontsize=SMALL,
                color=styles[curve.name].colour,
            )


def _label(axes: Any, panel: Panel) -> None:
    box, dpi = axes.get_window_extent(), axes.figure.dpi
    width, height = box.width / dpi, box.height / dpi
    axes.set_title(_wrapped(panel.title, width, TEXT), fontsize=TEXT, fontweight="bold")
    axes.set_xlabel(_wrapped(panel.x_label + LOG * panel.log_x, width, TEXT), fontsize=TEXT)
    axes.set_ylabel(_wrapped(panel.y_label + LOG * panel.log_y, height, TEXT), fontsize=TEXT)
    axes.tick_params(which="both", labelsize=SMALL, color="0.6")
    axes.grid(True, color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[:].set_color("0.6")
    axes.spines[["top", "right"]].set_visible(False)


def _wrapped(text: str, inches: float, size: float) -> str:
    return textwrap.fill(text, max(int(inches / (size * LETTER)), 10))


def _depth(i: int, below: dict[int, int]) -> int:
    """The number of lines drawn over this one."""
    return 1 + _depth(below[i], below) if i in below else 0


def _draw_spread(axes: Any, curve: Line, style: LineStyle) -> None:
    if np.isnan(curve.high).all():
        return
    # a log axis cannot show a lower border of 0 or less, and draws from 0 as from the frame
    low = np.nan_to_num(curve.low) if axes.get_yscale() == "log" else curve.low
    band = {"color": style.colour, "alpha": BAND, "linewidth": 0, "zorder": 1.5}
    if curve.points:
        axes.vlines(curve.x, low, curve.high, color=style.colour, linewidth=THIN, zorder=1.5)
    else:
        axes.fill_between(curve.x, low, curve.high, **band)


def _drawn(style: LineStyle, points: bool) -> dict[str, Any]:
    """The options of matplotlib for a line, or for points."""
    return {
        "color": style.colour,
        "linestyle": (0, style.dashes) if style.dashes else "-",
        "linewidth": 0 if points else THICK,
        "marker": style.marker,
        "markersize": MARKER + (1.5 if points else 0.0),
        "markeredgecolor": "white",  # separates markers that touch
        "markeredgewidth": 0.5,
    }


def _set_limits(axes: Any, panel: Panel) -> None:
    """Set the limits of the y axis, and choose the ticks, after the lines are drawn.

    Means over the first examples of a stream vary so much that they would make the rest of the
    curve flat.
    """
    low, high = axes.get_ylim()
    late = np.concatenate([_late_values(curve, panel.log_x) for curve in panel.curves])
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
    _set_ticks(axes.xaxis, panel.log_x, short)
    _set_ticks(axes.yaxis, panel.log_y, percent_of if panel.percent else short)


def _late_values(curve: Line, log_x: bool) -> Floats:
    """All finite values of y and of the spread, except at the start of a long curve."""
    chosen = np.isfinite(curve.x)
    if np.count_nonzero(chosen) >= LONG_CURVE:
        place = np.log10(curve.x) if log_x else curve.x
        chosen &= place >= np.nanmin(place) + BEGINNING * np.ptp(place[chosen])
    values = np.concatenate([curve.y[chosen], curve.low[chosen], curve.high[chosen]])
    finite: Floats = values[np.isfinite(values)]
    return finite


def _set_ticks(axis: Any, log: bool, text_of: Callable[[float], str]) -> None:
    """Choose a few ticks, and the format of their numbers."""
    ticker, (low, high) = load_matplotlib().ticker, axis.get_view_interval()
    powers = math.log10(high / low) if log else 0.0
    if powers > SHORTEST_LOG:
        multiples = next(found for most, found in MULTIPLES if powers <= most)
        axis.set_major_locator(ticker.LogLocator(subs=multiples, numticks=MOST_TICKS))
    else:
        axis.set_major_locator(ticker.MaxNLocator(6, steps=STEPS))
    axis.set_major_formatter(lambda value, _: text_of(value))
    axis.set_minor_formatter(ticker.NullFormatter())


def short(value: float) -> str:
    """10000 as 10k, 2500000 as 2.5M."""
    for unit, letter in UNITS:
        if unit <= abs(value) < 1e12:
            return f"{value / unit:.10g}{letter}"
    return f"{value:.10g}".replace("e-0", "e-").replace("e+", "e")


def percent_of(value: float) -> str:
    """0.125 as 12.5 %."""
    return f"{100 * value:.10g} %"

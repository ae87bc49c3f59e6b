"""Curves in panels with one legend for all panels, as a PNG file or on given axes.

matplotlib is an optional dependency, so it is imported when a figure is made.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .axes import load_matplotlib, pyplot, set_limits, set_scales
from .line_styles import LineStyle, line_styles_of
from .panels import Curve, Line, Panel, covered, curves_of, same_curves

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

Styles = dict[str, LineStyle]


def draw(
    path: str | Path, panels: Sequence[Panel], *, title: str = "", columns: int | None = None
) -> None:
    """Write a PNG file that does not depend on the user's matplotlib settings.

    Panels stand row by row under the title, by default at most three side by side; without panels, the figure
    says that there is no data. Creates the folder of the file if it does not exist.
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
    if styles:
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
    if styles:
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
        line.name
        for panel in panels
        for line, curve in zip(panel.lines, curves_of(panel), strict=True)
        if not curve.empty
    )


def _handles(panels: Sequence[Panel], styles: Styles) -> list[Any]:
    """The entries of a legend: each name in its own style, and notes on lines that coincide."""
    shapes = {line.name: line.shape for panel in panels for line in panel.lines}
    line = load_matplotlib().lines.Line2D
    return [
        line([], [], label=name, **_drawn(style, shapes[name])) for name, style in styles.items()
    ] + [
        line([], [], label=textwrap.fill(text, LEGEND_LETTERS), linestyle="")
        for text in same_curves(panels)
    ]


def _draw_panel(axes: Any, panel: Panel, styles: Styles) -> None:
    curves = curves_of(panel)
    set_scales(axes, panel)
    _label(axes, panel)
    order, below = list(styles), covered(panel)
    for i, (line, curve) in enumerate(zip(panel.lines, curves, strict=True)):
        if curve.empty:
            continue
        style = styles[line.name]
        _draw_spread(axes, curve, style)
        drawn = _drawn(style, curve.shape)
        if curve.shape == "level":
            axes.axhline(curve.y[0], zorder=1.9, **drawn)
            continue
        if curve.shape == "line" and curve.x.size > MARKED:  # not where others have markers
            drawn["markevery"] = (order.index(line.name) / len(order) / MARKS, 1.0 / MARKS)
        if line.marker:
            drawn["marker"] = line.marker
        if i in below:
            width = THICK + BORDER * _depth(i, below)
            drawn |= {"linewidth": width, "alpha": PALE, "linestyle": "-", "zorder": 1.8}
        axes.plot(curve.x, curve.y, **drawn)
    if all(curve.empty for curve in curves):
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", color="0.4")
    else:
        set_limits(axes, panel, curves)


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


def _draw_spread(axes: Any, curve: Curve, style: LineStyle) -> None:
    if np.isnan(curve.high).all():
        return
    # a log axis cannot show a lower border of 0 or less, and draws from 0 as from the frame
    low = np.nan_to_num(curve.low) if axes.get_yscale() == "log" else curve.low
    band = {"color": style.colour, "alpha": BAND, "linewidth": 0, "zorder": 1.5}
    if curve.shape == "level":
        axes.axhspan(low[0], curve.high[0], **band)
    elif curve.shape == "line":
        axes.fill_between(curve.x, low, curve.high, **band)
    else:
        axes.vlines(curve.x, low, curve.high, color=style.colour, linewidth=THIN, zorder=1.5)


def _drawn(style: LineStyle, shape: str) -> dict[str, Any]:
    """The options of matplotlib for a line of this shape."""
    points, level = shape == "points", shape == "level"
    return {
        "color": style.colour,
        "linestyle": (0, style.dashes) if style.dashes else "-",
        "linewidth": 0 if points else THIN if level else THICK,
        "marker": "" if level else style.marker,
        "markersize": MARKER + (1.5 if points else 0.0),
        "markeredgecolor": "white",  # separates markers that touch
        "markeredgewidth": 0.5,
    }

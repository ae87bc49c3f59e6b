"""Curves as PNG files: panels in a grid, one legend for all of them.

matplotlib is an extra, so it is imported when a figure is made.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .axes import load_matplotlib, pyplot, scaled, set_axes
from .line_styles import LineStyle, line_styles_of
from .panels import Curve, Line, Panel, covered, curve_of

__all__ = ["Line", "Panel", "draw", "figure_of"]


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
    with load_matplotlib().style.context("default"):  # and the reader's settings again afterwards
        figure = figure_of(panels, title=title, columns=columns)
        figure.canvas.draw()
        pixels = np.array(figure.canvas.buffer_rgba())
    _write(Path(path), pixels)


def _write(path: Path, pixels: npt.NDArray[np.uint8]) -> None:
    """Write with a palette: the picture looks the same, and the file is three times smaller."""
    from PIL import Image  # comes with matplotlib

    image = Image.fromarray(pixels).convert("RGB").quantize(PALETTE)
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, format="PNG", dpi=(DPI, DPI), optimize=True)


# drawing

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
BORDER, PALE = 2.5, 0.45  # points that a line is wider than what covers it, and its opacity
MARKS = 5  # markers on a long line
EVERY_POINT = 12  # a line of up to so many points has a marker on each


def figure_of(panels: Sequence[Panel], *, title: str = "", columns: int | None = None) -> Any:
    """The figure that `draw` writes, as an object of matplotlib."""
    matplotlib = load_matplotlib()
    figure = matplotlib.figure.Figure(dpi=DPI)
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    fill(figure, panels, title=title, columns=columns)
    return figure


def fill(
    figure: Any, panels: Sequence[Panel], *, title: str = "", columns: int | None = None
) -> None:
    """Draw panels into an empty figure, which gets the size that they need."""
    panels = list(panels) or [Panel("", "", "", [])]
    columns = min(columns or _columns(len(panels)), len(panels))
    rows = math.ceil(len(panels) / columns)
    size = ONLY_PANEL if len(panels) == 1 else PANEL
    width, height = size[0] * columns, size[1] * rows
    figure.set_size_inches(width, height)
    figure.set_layout_engine("constrained")
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06, wspace=0.04, hspace=0.04)

    curves = [[curve_of(line, panel) for line in panel.lines] for panel in panels]
    shapes = _shapes(chain.from_iterable(panel.lines for panel in panels), chain(*curves))
    line_styles = line_styles_of(shapes)
    for i, panel in enumerate(panels):
        _draw_panel(figure.add_subplot(rows, columns, i + 1), panel, curves[i], line_styles, size)

    beside = _add_legend(figure, line_styles, shapes)
    figure.set_size_inches(width + beside, height)
    if title:
        middle = 0.5 * width / (width + beside)
        figure.suptitle(_wrapped(title, width, TITLE), x=middle, fontsize=TITLE)


def on_axes(panel: Panel, axes: Any) -> Any:
    """Draw one panel on the axes of a reader, or without any on those of a new figure of pyplot."""
    if axes is None:
        figure = pyplot().figure(dpi=DPI)
        fill(figure, [panel])
        return figure.axes[0]
    curves = [curve_of(line, panel) for line in panel.lines]
    shapes = _shapes(panel.lines, curves)
    line_styles = line_styles_of(shapes)
    place = axes.get_position()
    inches = axes.figure.get_size_inches()
    _draw_panel(
        axes, panel, curves, line_styles, (place.width * inches[0], place.height * inches[1])
    )
    if line_styles:
        axes.legend(handles=_handles(line_styles, shapes), fontsize=SMALL, frameon=False)
    return axes


def _draw_panel(
    axes: Any,
    panel: Panel,
    curves: Sequence[Curve],
    line_styles: dict[str, LineStyle],
    size: tuple[float, float],
) -> None:
    _label(axes, panel, size)
    set_axes(axes, panel, curves)
    _draw_lines(axes, panel, curves, line_styles)


def _columns(n_panels: int) -> int:
    return {1: 1, 2: 2, 4: 2}.get(n_panels, 3)


def _shapes(lines: Iterable[Line], curves: Iterable[Curve]) -> dict[str, set[str]]:
    """For each name the shapes of its lines, in the order of the first lines that are not empty."""
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


def _draw_lines(
    axes: Any, panel: Panel, curves: Sequence[Curve], line_styles: dict[str, LineStyle]
) -> None:
    order, below = list(line_styles), covered(panel)
    for i, (line, curve) in enumerate(zip(panel.lines, curves, strict=True)):
        if curve.empty:
            continue
        line_style = line_styles[line.name]
        _draw_spread(axes, curve, line_style)
        if curve.shape == "level":
            axes.axhline(curve.y[0], zorder=1.9, **_drawn(line_style, {"level"}))
        else:
            shift = order.index(line.name) / len(order)
            marks = _marked_points(curve, panel.log_x, shift)
            own = line_style._replace(marker=line.marker or line_style.marker)
            drawn = _drawn(own, {curve.shape})
            if i in below:
                width = THICK + BORDER * _depth(i, below)
                drawn |= {"linewidth": width, "alpha": PALE, "linestyle": "-", "zorder": 1.8}
            axes.plot(curve.x, curve.y, markevery=marks, **drawn)
    if all(curve.empty for curve in curves):
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", color="0.4")


def _depth(i: int, below: dict[int, int]) -> int:
    """How many lines cover this one, one above the other."""
    return 1 + _depth(below[i], below) if i in below else 0


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
        place = scaled(curve.x[shown], log_x)
        parts = (np.arange(MARKS) + shift) / MARKS
        wanted = place.min() + parts * (place.max() - place.min())
        shown = shown[np.unique(np.abs(place[:, None] - wanted).argmin(axis=0))]
    return [int(index) for index in shown]


def _drawn(line_style: LineStyle, shapes: set[str]) -> dict[str, Any]:
    """The options of matplotlib for a line of these shapes."""
    return {
        "color": line_style.colour,
        "linestyle": (0, line_style.dashes) if line_style.dashes else "-",
        "linewidth": 0 if shapes == {"points"} else THIN if shapes == {"level"} else THICK,
        "marker": "" if shapes == {"level"} else line_style.marker,
        "markersize": SIZES.get(line_style.marker, MARKER) + (1.5 if shapes == {"points"} else 0.0),
        "markeredgecolor": "white",  # separates markers that touch
        "markeredgewidth": 0.5,
    }


def _handles(line_styles: dict[str, LineStyle], shapes: dict[str, set[str]]) -> list[Any]:
    """What a legend shows for each name."""
    line = load_matplotlib().lines.Line2D
    return [
        line([], [], label=name, **_drawn(line_styles[name], shapes[name])) for name in line_styles
    ]


def _add_legend(
    figure: Any, line_styles: dict[str, LineStyle], shapes: dict[str, set[str]]
) -> float:
    """One legend on the right, each name once. Returns the width to add to the figure."""
    if not line_styles:
        return 0.0
    handles = _handles(line_styles, shapes)
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

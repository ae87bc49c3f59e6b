"""Figures: what they show, whatever the reader's settings."""

from __future__ import annotations

import math
import runpy
import sys

import numpy as np
import pytest

from river_budget.plots import figures, panels
from river_budget.plots.figures import Line, Panel, draw, figure_of, short
from river_budget.plots.line_styles import KNOWN

pytest.importorskip("matplotlib", reason="figures need matplotlib: the extra `plots`")

NAN = float("nan")
RACE = [*KNOWN][:12] + [f"method {i}" for i in range(12)]


def curve(name="Forgetron", n=40, end=0.2):
    """A mistake rate that starts anywhere and settles at `end`."""
    x = np.arange(1, n + 1) * 1000
    y = end + 0.5 * np.exp(-np.arange(n) / (0.02 * n))
    return Line(name, x.tolist(), y.tolist(), (y - 0.01).tolist(), (y + 0.01).tolist())


def panel(*lines, **options):
    return Panel("a9a", "examples", "mistakes so far", lines, **options)


def axes_of(*lines, **options):
    return figure_of([panel(*lines, **options)]).axes[0]


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def labels(axis):
    """The labels that are seen."""
    low, high = axis.get_view_interval()
    labels = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [label.get_text() for place, label in labels if low <= place <= high]


def line_styles(axes):
    return [(line.get_color(), line._unscaled_dash_pattern) for line in axes.lines]


# Files


def test_a_file_looks_the_same_whatever_the_settings(tmp_path):
    import matplotlib
    from matplotlib.image import imread

    panels = [panel(curve("SBP"), curve("unknown", end=0.3), percent=True)] * 2
    draw(tmp_path / "first.png", panels)
    with matplotlib.rc_context({"font.size": 20, "lines.linestyle": ":", "axes.facecolor": "red"}):
        draw(tmp_path / "second.png", panels)
        assert matplotlib.rcParams["font.size"] == 20
    assert np.array_equal(imread(tmp_path / "first.png"), imread(tmp_path / "second.png"))


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RuntimeError, match="pip install matplotlib"):
        draw(tmp_path / "none.png", [])


def test_the_module_itself_loads_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.warns(RuntimeWarning, match="found in sys.modules"):  # as it is loaded already
        assert "draw" in runpy.run_module(figures.__name__)


# Curves that coincide


def test_a_covered_curve_shows_as_a_border_and_both_are_named():
    same, other = curve("Perceptron"), curve("Projectron")
    far = curve("BPA", end=0.4)
    axes = axes_of(same, far, other)
    widths = [line.get_linewidth() for line in axes.lines]
    assert widths == [figures.THICK + figures.BORDER, figures.THICK, figures.THICK]
    assert axes.lines[0].get_alpha() == figures.PALE
    assert panels.covered(panel(same, far, other)) == {0: 2}
    near = Line("Projectron", same.x, [y + 1e-4 for y in same.y])
    assert legend_of(axes.figure)[3:] == ["Perceptron = Projectron: same curve"]
    assert legend_of(figure_of([panel(same, near), Panel("", "", "", [far])]))[3:] == [
        "Perceptron ≈ Projectron: same curve in\na9a"
    ]


def test_curves_that_differ_visibly_or_have_other_points_do_not_coincide():
    assert panels.covered(panel(curve("a"), curve("b", end=0.3))) == {}
    assert panels.covered(panel(curve("a", n=40), curve("b", n=41))) == {}
    wild = curve("b")
    early = Line("b", wild.x, [0.9, 0.9, *wild.y[2:]], wild.low, wild.high)
    assert panels.covered(panel(curve("a"), early)) == {0: 1}  # only the beginning differs


# Legend and line styles


def test_the_legend_has_each_name_once_in_order_of_appearance():
    first, other, last = (
        curve(name, end=e) for name, e in (("SBP", 0.2), ("SVC", 0.3), ("KNN", 0.4))
    )
    panels = [panel(first, other), panel(other, last, first)]
    assert legend_of(figure_of(panels)) == ["SBP", "SVC", "KNN"]


@pytest.mark.parametrize("n", [1, 4])
def test_the_legend_covers_no_panel(n):
    figure = figure_of([panel(*map(curve, RACE))] * n, title="A long title " * 10)
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert all(not legend.overlaps(axes.get_tightbbox()) for axes in figure.axes)
    assert not legend.overlaps(figure._suptitle.get_window_extent())
    assert legend.x1 <= figure.bbox.x1
    assert legend.y0 >= 0


def test_twenty_four_names_all_look_different():
    curves = [curve(name, end=0.1 + 0.02 * i) for i, name in enumerate(RACE)]
    assert len(set(line_styles(axes_of(*curves)))) == 24


def test_no_two_known_names_look_alike():
    pairs = {(style.colour, style.dashes) for style in KNOWN.values()}
    assert len(pairs) == len(KNOWN)


def test_a_name_may_say_more_behind_a_comma_but_never_looks_like_another():
    alone = line_styles(axes_of(curve("FOGD, ECE 3 %")))
    assert alone == line_styles(axes_of(curve("FOGD")))
    both = line_styles(axes_of(curve("FOGD"), curve("FOGD, twice as large")))
    assert both[0] == alone[0] != both[1]


# Axes


@pytest.mark.parametrize("log_x", [False, True])
@pytest.mark.parametrize("log_y", [False, True])
def test_axes_are_logarithmic_on_request(log_x, log_y):
    axes = axes_of(curve(), log_x=log_x, log_y=log_y)
    assert axes.get_xscale() == ("log" if log_x else "linear")
    assert axes.get_yscale() == ("log" if log_y else "linear")
    assert axes.get_xlabel() == "examples" + ", log scale" * log_x
    assert axes.get_ylabel() == "mistakes so far" + ", log scale" * log_y


def test_thousands_and_percent():
    axes = axes_of(Line("SBP", [100, 1e4, 1e6], [0.0, 0.125, 0.25]), log_x=True, percent=True)
    assert labels(axes.xaxis) == ["100", "1k", "10k", "100k", "1M"]
    assert labels(axes.yaxis) == ["0 %", "5 %", "10 %", "15 %", "20 %", "25 %"]


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.09, 0.3), (0.0912, 0.0935), (0.21, 0.29), (0.12, 0.44), (1e-6, 1e9), (3, 400), (1, 1e7)],
)
def test_a_log_axis_of_any_length_has_some_labels_and_not_many(low, high):
    axis = axes_of(Line("SBP", [1, 2], [low, high]), log_y=True).yaxis
    assert 2 <= len(labels(axis)) <= 8
    assert all(labels(axis))
    assert not any(label.get_text() for label in axis.get_minorticklabels())


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (250, "250"), (1500, "1.5k"), (2.5e6, "2.5M"), (-3e9, "-3G"), (1e-5, "1e-5")],
)
def test_short_numbers(value, text):
    assert short(value) == text


@pytest.mark.parametrize("n", [40, 1000])
def test_a_wild_beginning_does_not_squeeze_the_rest(n):
    wild = curve(n=n)
    assert max(wild.y) > 0.69
    low, high = axes_of(wild).get_ylim()
    assert 0.15 < low < 0.19
    assert 0.21 < high < 0.3


def test_every_point_of_a_sweep_is_within_the_limits():
    low, high = axes_of(Line("FOGD", [1, 100, 200, 400], [0.9, 0.2, 0.1, 0.1])).get_ylim()
    assert low < 0.1
    assert high > 0.9


def test_a_margin_suggests_no_impossible_shares():
    axes = axes_of(Line("SBP", [1, 2], [0.01, 0.99]), percent=True)
    assert axes.get_ylim() == (0.0, 1.0)


# Lines


def test_on_a_log_axis_a_spread_below_zero_goes_down_to_the_frame():
    axes = axes_of(Line("SBP", [1, 2], [0.1, 0.2], [-0.1, 0.1], [0.3, 0.3]), log_y=True)
    (band,) = axes.collections
    assert band.get_paths()[0].vertices[:, 1].min() <= axes.get_ylim()[0]
    assert axes.get_ylim()[0] > 0.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "lines",
    [
        [],
        [Line("SBP", [], [])],
        [Line("SBP", [1, 2], [NAN, NAN])],
        [Line("SBP", [1], [0.5])],
        [Line("SBP", [0, 1, 2], [-1, 0, 0])],
        [Line("SBP", [1, 2, 3], [1, NAN, math.inf], [NAN, 0, 1], [2, 2, 1e300])],
        [Line("SBP", [1, 2], [1e300, 1e-320])],
        [Line("SVC", [], [], points=True)],
        [Line("SBP", range(60), [0.5] * 2 + [NAN] * 58)],
    ],
)
def test_strange_lines_are_drawn(lines, log):
    figure_of([panel(*lines, log_x=log, log_y=log, percent=True)]).draw_without_rendering()


def test_an_empty_panel_says_so():
    (text,) = axes_of().texts
    assert text.get_text() == "no data"

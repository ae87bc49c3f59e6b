"""Decision surfaces: the predictions of a model over a plane of two features, and its support
vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from river import base

from ..inputs.features import in_order
from ..inputs.targets import Labels
from ..wrappers.nested import before_last, is_model, last_step
from .figures import DPI, ONLY_PANEL, SMALL, TEXT, load_matplotlib, pyplot
from .line_styles import BLUE, COLOURS, GREY, VERMILLION
from .running import Example, Floats

POINTS = 1000  # examples of the stream to show
MARGIN = 0.05  # of the range of the points
PALETTE = (BLUE, VERMILLION, *COLOURS[2:])
LARGEST = 90.0  # area of the vector with the largest coefficient, in square points
TINT = 0.25  # opacity of a region
SMOOTH = 24  # levels of a colour map
HALF = 0.5  # score at the threshold of a detector
COLUMNS = 4  # of the legend
PROBES = (0.0, 1.0, 2.0)  # to test whether each feature is scaled alone


def decision_surface(
    model: Any,
    stream: Iterable[Example] = (),
    *,
    features: Sequence[Any] | None = None,
    limits: tuple[float, float, float, float] | None = None,
    resolution: int = 120,
    vectors: bool = True,
    ax: Any = None,
) -> Any:
    """The predictions of a trained model over the plane of two features, and its support vectors.

    Regions have the colour of the predicted class; for a regressor or an anomaly detector, the
    colour shows the predicted number, and a line shows where the score of a detector of this
    package is .5. Rings are support vectors, with a size by coefficient and the colour of their
    class. Small dots are the examples of `stream`.

    Not for more than two features: a plane through many dimensions shows hardly anything of them.
    Support vectors appear only if the steps before the model scale each feature without the others,
    as River's scalers do.

    Parameters
    ----------
    model
        A River model or pipeline that has learned examples of two features. It only predicts.
    stream
        Examples (x, y) to show, at most 1000 of them. They also determine the limits of the figure.
    features
        The names of the two features, that of the horizontal axis first. None: those of the first
        example of `stream`, or of the model if it is one of this package.
    limits
        The limits of the figure: left, right, bottom, top. None: around the examples and vectors.
    resolution
        The number of grid points along each axis.
    vectors
        Whether to show support vectors.
    ax
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    The axes.

    Examples
    --------

    >>> from river import datasets, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier(20, rb.kernels.RBF(2.0))
    >>> examples = list(datasets.Bananas())[:500]
    >>> for x, y in examples:
    ...     model.learn_one(x, y)
    >>> ax = rb.plots.decision_surface(model, examples, resolution=20)
    >>> sum(len(part.get_offsets()) for part in ax.collections if part.get_label() == "vectors")
    20

    References
    ----------
    [^1]: The guide, [choosing a kernel](guide/choosing_a_kernel.md).

    """
    points, last = list(islice(stream, POINTS)), last_step(model)[1]
    names = _two_features(last, points, features)
    stored = _vectors(model, names) if vectors else []
    if ax is None:
        ax = pyplot().figure(figsize=ONLY_PANEL, dpi=DPI, layout="constrained").add_subplot()
    places = [[x.get(name, 0.0) for name in names] for x, _ in points]
    box = limits or _around(np.array([*places, *(place for place, _ in stored)], float))
    plane = Plane(names, *(np.linspace(*ends, resolution) for ends in (box[:2], box[2:])))
    if isinstance(model, base.Classifier):
        colours = _draw_regions(ax, model, last, plane, [label for _, label in points])
    else:
        colours = {}
        _draw_levels(ax, model, last, plane)
    _draw_points(ax, points, places, colours)
    _draw_vectors(ax, stored, colours, getattr(last, "_labels", None))
    _add_legend(ax, colours, bool(stored))
    ax.set(xlim=box[:2], ylim=box[2:])
    ax.set_xlabel(f"feature {names[0]}", fontsize=TEXT)
    ax.set_ylabel(f"feature {names[1]}", fontsize=TEXT)
    ax.tick_params(labelsize=SMALL, color="0.6")
    ax.spines[:].set_color("0.6")
    return ax


# the plane


def _two_features(
    last: Any, points: Sequence[Example], features: Sequence[Any] | None
) -> list[Any]:
    if features is None:
        known = list(points[0][0]) if points else in_order(last._features) if is_model(last) else []
        if len(known) != 2:
            raise ValueError(
                f"there must be two features to show, not {len(known)}: features=(...) names them"
            )
        return known
    if len(features) != 2:
        raise ValueError(f"features must be two names, not {features!r}")
    return list(features)


def _around(places: Floats) -> tuple[float, float, float, float]:
    if not len(places):
        raise ValueError("limits must be given where there are no examples and no support vectors")
    low, high = places.min(axis=0), places.max(axis=0)
    extra = MARGIN * (high - low) + (high == low)
    left, bottom = (low - extra).tolist()
    right, top = (high + extra).tolist()
    return left, right, bottom, top


class Plane(NamedTuple):
    """The names of two features, and the places of the grid along both axes."""

    names: Sequence[Any]
    x: Floats
    y: Floats

    def predictions(self, ask: Callable[[dict[Any, Any]], Any]) -> Any:
        """The predictions at every point of the grid, a row for each y."""
        found = np.empty((len(self.y), len(self.x)), object)
        for i, b in enumerate(self.y.tolist()):
            for j, a in enumerate(self.x.tolist()):
                found[i, j] = ask({self.names[0]: a, self.names[1]: b})
        return found


def _draw_regions(
    ax: Any, model: Any, last: Any, plane: Plane, labels: Iterable[Any]
) -> dict[Any, str]:
    """Colour the predicted classes. Returns the colour of each."""
    found = plane.predictions(model.predict_one)
    order = in_order({*found.flat, *labels})
    colours = {label: PALETTE[i % len(PALETTE)] for i, label in enumerate(order)}
    numbers = _numbers(found, order.index)
    if len(order) == 2 and is_model(last):  # draw the boundary between grid points too
        sure = plane.predictions(model.predict_proba_one)
        numbers = _numbers(sure, lambda shares: shares.get(order[1], 0.0))
    edges = np.arange(len(order) + 1) - 0.5
    ax.contourf(plane.x, plane.y, numbers, edges, colors=[*colours.values()], alpha=TINT)
    for border in edges[1:-1]:
        sides = numbers if len(order) == 2 else np.where(numbers < border, border - 1, border + 1)
        ax.contour(plane.x, plane.y, sides, [border], colors=GREY, linewidths=0.8)
    return colours


def _numbers(found: Any, number: Callable[[Any], float]) -> Floats:
    return np.array([number(each) for each in found.flat], float).reshape(found.shape)


def _draw_levels(ax: Any, model: Any, last: Any, plane: Plane) -> None:
    """Colour the predicted numbers, and draw the line above which our detectors call an example
    unusual.
    """
    detector = hasattr(last, "score_one")
    ask = model.score_one if detector else model.predict_one
    values = plane.predictions(ask).astype(float)
    shades = ax.contourf(plane.x, plane.y, values, SMOOTH, cmap="cividis")
    bar = ax.figure.colorbar(shades, ax=ax, ticks=load_matplotlib().ticker.MaxNLocator(10))
    bar.set_label("anomaly score" if detector else "prediction", fontsize=TEXT)
    bar.ax.tick_params(labelsize=SMALL)
    if detector and is_model(last) and values.min() < HALF < values.max():
        bar.add_lines(
            ax.contour(plane.x, plane.y, values, [HALF], colors=VERMILLION, linewidths=1.5)
        )
        bar.set_label("anomaly score; unusual beyond the line of .5", fontsize=TEXT)


def _draw_points(
    ax: Any, points: Sequence[Example], places: Sequence[Any], colours: dict[Any, str]
) -> None:
    if points:
        columns = np.array(places, float).T
        of_points = [colours.get(label, "white") for _, label in points]
        ax.scatter(*columns, s=3, c=of_points, alpha=0.6, linewidths=0, label="examples")


# support vectors

Stored = list[tuple[list[float], Any]]  # positions in the user's units, and coefficients


def _vectors(model: Any, names: Sequence[Any]) -> Stored:
    last = last_step(model)[1]
    if not hasattr(last, "support_vectors"):
        return []
    images = [before_last(model, dict.fromkeys(names, value)) for value in PROBES]
    lines = []
    for name in names:
        if any(name not in image for image in images):
            return []
        zero, one, two = (image[name] for image in images)
        if one == zero or abs(two - 2.0 * one + zero) > 1e-9 * abs(one - zero):
            return []
        lines.append((zero, one - zero))
    return [
        (
            [
                (vector["features"].get(name, 0.0) - shift) / slope
                for name, (shift, slope) in zip(names, lines, strict=True)
            ],
            vector["coefficients"],
        )
        for vector in last.support_vectors()
    ]


def _draw_vectors(ax: Any, stored: Stored, colours: dict[Any, str], labels: Labels | None) -> None:
    if not stored:
        return
    known = labels.known if labels is not None and len(labels.known) == 2 else [None, None]
    signs = [colours.get(label, "black") for label in known]  # of the two classes
    sizes, edges = [], []
    for _, coefficients in stored:
        if isinstance(coefficients, dict):
            label = max(coefficients, key=lambda key: coefficients[key])
            sizes.append(abs(coefficients[label]))
            edges.append(colours.get(label, "black"))
        else:
            sizes.append(abs(coefficients))
            edges.append(signs[coefficients > 0.0])
    areas = LARGEST * np.array(sizes) / (max(sizes) or 1.0)
    columns = np.array([place for place, _ in stored], float).T
    options = {"facecolors": "none", "linewidths": 1.4, "label": "vectors"}
    ax.scatter(*columns, s=np.maximum(areas, 6.0), edgecolors=edges, **options)


def _add_legend(ax: Any, colours: dict[Any, str], rings: bool) -> None:
    line = load_matplotlib().lines.Line2D
    dot = {"marker": "s", "linestyle": "", "alpha": 2.0 * TINT}
    handles = [line([], [], color=c, label=str(name), **dot) for name, c in colours.items()]
    if rings:
        ring = {"marker": "o", "markerfacecolor": "none", "linestyle": ""}
        handles.append(line([], [], color="black", label="support vector", **ring))
    if handles:
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12), "frameon": False}
        ax.legend(handles=handles, fontsize=SMALL, ncols=COLUMNS, columnspacing=1.2, **below)

"""What a model has learned: which features matter, which experts it trusts, and how wide its
intervals are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from river import base

from ..parameters import whole
from ..wrappers.nested import last_step
from .figures import load_matplotlib, on_axes
from .panels import Line, Panel
from .running import Example, in_orders

POINTS = 100  # of a curve


def importances(model: Any, *, features: int = 20, ax: Any = None) -> Any:
    """Bars that show which features an `AutoKernel` finds most important.

    Not for a cause: of two features that say the same, one may have all the weight.

    Parameters
    ----------
    model
        An `AutoKernelClassifier` or `AutoKernelRegressor` that has learned, or a pipeline that ends
        in one.
    features
        The largest number of features to show, the most important ones.
    ax
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    The axes.

    Examples
    --------

    >>> from river import datasets
    >>> import river_budget as rb

    >>> model = rb.AutoKernelClassifier(seed=1)
    >>> for x, y in datasets.Phishing():
    ...     model.learn_one(x, y)
    >>> ax = rb.plots.importances(model, features=3)
    >>> len(ax.patches)
    3

    References
    ----------
    [^1]: The guide, [explaining](guide/explaining.md).

    """
    whole(1)("features", features)
    found = _auto(model).importances()
    if not found:
        raise ValueError("model has learned nothing, so no feature has an importance")
    chosen = sorted(found.items(), key=lambda part: part[1])[-features:]
    axes = on_axes(Panel("importances", "weight in distances", "", []), ax)
    for text in list(axes.texts):
        text.remove()
    axes.barh(range(len(chosen)), [share for _, share in chosen], color="tab:blue")
    axes.set_yticks(range(len(chosen)), [str(name) for name, _ in chosen])
    axes.set_xlim(0.0, 1.05 * max(share for _, share in chosen) or 1.0)
    axes.xaxis.set_major_locator(load_matplotlib().ticker.MaxNLocator(6))
    return axes


def experts(
    model: Any, stream: Iterable[Example], *, examples: int | None = None, ax: Any = None
) -> Any:
    """What an `AutoKernel` trusts along a stream: the weight of each of its experts.

    Not for comparing experts by their errors: one with a small weight may only say the same as
    another.

    Parameters
    ----------
    model
        An `AutoKernelClassifier` or `AutoKernelRegressor`, or a pipeline that ends in one. It is
        cloned.
    stream
        A River dataset or another iterable of (x, y). It must end.
    examples
        The largest number of examples; None: all.
    ax
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    The axes.

    Examples
    --------

    >>> from river import datasets
    >>> import river_budget as rb

    >>> ax = rb.plots.experts(rb.AutoKernelClassifier(seed=1), datasets.Phishing())
    >>> len(ax.lines)  # one for each expert
    8

    References
    ----------
    [^1]: The guide, [explaining](guide/explaining.md).

    """
    clone = model.clone()
    auto = _auto(clone)
    (rows,) = in_orders(stream, 1, examples)
    marks = {round(at) for at in np.linspace(1, len(rows), min(POINTS, len(rows)))}
    at: list[int] = []
    weights: dict[str, list[float]] = {}
    for number, (x, y) in enumerate(rows, 1):
        clone.learn_one(x, y)
        if number in marks:
            for expert in auto.experts():
                known = weights.setdefault(expert["name"], [0.0] * len(at))
                known.append(float(expert["weight"]))
            at.append(number)
            for known in weights.values():  # of experts that a model of words has no more
                known += [0.0] * (len(at) - len(known))
    lines = [Line(name, at, values) for name, values in weights.items()]
    return on_axes(Panel("trust in experts", "examples", "weight", lines), ax)


def intervals(
    model: Any,
    stream: Iterable[Example],
    *,
    share: float = 0.9,
    examples: int | None = None,
    last: int = 200,
    ax: Any = None,
) -> Any:
    """Targets, predictions and intervals of a regressor along the end of a stream.

    Every example is predicted, in its order, before it is learned. The title says how many of all
    targets lay in their interval.

    Not for models without distributions: `AutoKernelRegressor` has them.

    Parameters
    ----------
    model
        An `AutoKernelRegressor`, or a pipeline that ends in one. It is cloned.
    stream
        A River dataset or another iterable of (x, y). It must end.
    share
        The share of targets that an interval should hold.
    examples
        The largest number of examples; None: all.
    last
        How many of the last examples are shown.
    ax
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    The axes.

    Examples
    --------

    >>> from river import datasets
    >>> import river_budget as rb

    >>> ax = rb.plots.intervals(rb.AutoKernelRegressor(seed=1), datasets.TrumpApproval())
    >>> ax.get_title()
    '... % of targets in their interval of 90 %'

    References
    ----------
    [^1]: The guide, [regression](guide/regression.md).

    """
    whole(1)("last", last)
    if not 0.0 < share < 1.0:
        raise ValueError(f"share must be a number between 0 and 1, not {share!r}")
    clone = model.clone()
    if not isinstance(_auto(clone), base.Regressor):
        raise ValueError("model must be an AutoKernelRegressor, which has intervals")
    (rows,) = in_orders(stream, 1, examples)
    found, inside = [], 0
    for x, y in rows:
        guess = clone.predict_one(x, with_dist=True)
        within = guess.interval(share)
        inside += within.lower <= y <= within.upper
        found.append((guess.mu, within.lower, within.upper, y))
        clone.learn_one(x, y)
    mean, low, high, target = np.array(found[-last:], float).T
    at = np.arange(len(rows) - len(mean), len(rows)) + 1
    lines = [
        Line("prediction", at, mean, low, high),
        Line("target", at, target, points=True),
    ]
    title = (
        f"{100.0 * inside / len(rows):.1f} % of targets in their interval of {100.0 * share:g} %"
    )
    return on_axes(Panel(title, "example", "target", lines), ax)


def _auto(model: Any) -> Any:
    """The AutoKernel at the end of a pipeline."""
    last = last_step(model)[1]
    if not hasattr(last, "experts"):
        raise ValueError(f"model must end in an AutoKernel, not in {type(last).__name__}")
    return last

"""Error along a stream, and error against the budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..parameters import optional, whole
from ..wrappers.nested import changed, last_step
from .figures import on_axes
from .panels import Line, Panel
from .running import (
    Example,
    Floats,
    Models,
    error_label,
    errors_of,
    in_orders,
    is_regressor,
    named,
    predict_and_learn,
)

POINTS = 40  # points of a curve
SIZES = {
    "budget": "budget",
    "window": "window",
    "n_components": "components",
}  # names of these parameters in labels


def mistake_curve(
    models: Models,
    stream: Iterable[Example],
    *,
    orders: int = 5,
    examples: int | None = None,
    window: int | None = None,
    log_y: bool = False,
    ax: Any = None,
) -> Any:
    """The share of mistakes along a stream: of all examples so far, or of the latest ones.

    Every example is predicted before it is learned. The line is the mean over several orders of the
    examples, and the band around it one standard deviation on both sides: if bands overlap, the
    models do not differ significantly. In regression it shows the mean absolute error.

    Not for streams in an order of time, by default: shuffling removes their drift, so set
    `orders=1` for them, and a `window`, as a mean over all of the past hides recent changes.

    Parameters
    ----------
    models
        A River model, several, or a dict from names to models. Clones of them learn.
    stream
        A River dataset or another iterable of (x, y). It must end.
    orders
        The number of shuffled orders. 1: only the order of the stream, without a band. A
        dataset of `river_budget.datasets` has orders of its own, those of the papers.
    examples
        The largest number of examples of each order; None: all.
    window
        The number of latest examples to take the mean of; None: all so far.
    log_y
        Whether the axis of errors is logarithmic, which separates the best models.
    ax
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    The axes.

    Examples
    --------

    >>> from river import datasets, linear_model, preprocessing
    >>> import river_budget as rb

    >>> models = [
    ...     preprocessing.StandardScaler() | model
    ...     for model in (linear_model.LogisticRegression(), rb.BSGDClassifier())
    ... ]
    >>> ax = rb.plots.mistake_curve(models, datasets.Bananas(), orders=2, examples=500)
    >>> linear, kernel = (line.get_ydata()[-1] for line in ax.lines)
    >>> bool(kernel < linear - 0.1)
    True

    References
    ----------
    [^1]: The guide, [choosing a model](guide/choosing_a_model.md).

    """
    return on_axes(curve_panel(models, stream, orders, examples, log_y, window=window), ax)


def curve_panel(
    models: Models,
    stream: Iterable[Example],
    orders: int,
    examples: int | None,
    log_y: bool = False,
    title: str = "",
    window: int | None = None,
) -> Panel:
    """The panel that `mistake_curve` draws."""
    optional(whole(1))("window", window)
    entries = named(models)
    regression = is_regressor(entries)
    tables: dict[str, list[Floats]] = {name: [] for name in entries}
    at = np.empty(0, int)
    for rows in in_orders(stream, orders, examples):
        at = np.unique(len(rows) * np.arange(1, POINTS + 1) // POINTS)
        at = at[at > 0]
        for name, model in entries.items():
            _, guesses = predict_and_learn(model.clone(), rows)
            total = np.cumsum([0.0, *errors_of(guesses, rows, regression)])
            start = np.zeros_like(at) if window is None else np.maximum(at - window, 0)
            tables[name].append((total[at] - total[start]) / (at - start))
    past = "so far" if window is None else f"in the last {window:,} examples"
    label = f"{error_label(regression)} {past}"
    lines = [banded(name, at.tolist(), np.array(table)) for name, table in tables.items()]
    return Panel(title, "examples", label, lines, log_y=log_y, percent=not regression)


def banded(name: str, x: Sequence[float], table: Floats) -> Line:
    """The mean of the rows of a table, with one standard deviation on both sides if there are
    several.
    """
    mean = table.mean(axis=0)
    if len(table) == 1:
        return Line(name, x, mean.tolist())
    deviation = table.std(axis=0, ddof=1)
    return Line(name, x, mean.tolist(), (mean - deviation).tolist(), (mean + deviation).tolist())


def budget_sweep(
    models: Models,
    stream: Iterable[Example],
    *,
    budgets: Sequence[int] = (10, 20, 50, 100, 200),
    orders: int = 5,
    examples: int | None = None,
    ax: Any = None,
) -> Any:
    """The error over the whole stream against the budget.

    Where the line is flat, a smaller budget is as accurate and faster. Bands are one standard
    deviation over the orders of the examples.

    Not for choosing the budget of a model that you then measure on the same stream: its error would
    be too low.

    Parameters
    ----------
    models
        River models, as `mistake_curve` takes them, that have a `budget`, a `window` or
        `n_components`; alone or at the end of a pipeline.
    stream
        A River dataset or another iterable of (x, y). It must end.
    budgets
        The sizes to try.
    orders
        The number of shuffled orders. 1: only the order of the stream, without a band.
    examples
        The largest number of examples of each order; None: all.
    ax
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    The axes.

    Examples
    --------

    >>> from river import datasets, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.BSGDClassifier(kernel=rb.kernels.RBF(2.0))
    >>> ax = rb.plots.budget_sweep(
    ...     model, datasets.Bananas(), budgets=[5, 100], orders=2, examples=500
    ... )
    >>> few, many = ax.lines[0].get_ydata()
    >>> bool(many < few)
    True

    References
    ----------
    [^1]: The guide, [choosing a model](guide/choosing_a_model.md).

    """
    entries = named(models)
    regression, budgets = is_regressor(entries), sorted(set(budgets))
    found: dict[str, list[list[float]]] = {name: [] for name in entries}
    for rows in in_orders(stream, orders, examples):
        for name, model in entries.items():
            means = []
            for budget in budgets:
                _, guesses = predict_and_learn(resized(model, name, budget), rows)
                means.append(float(errors_of(guesses, rows, regression).mean()))
            found[name].append(means)
    lines = [banded(name, budgets, np.array(table)) for name, table in found.items()]
    sizes, label = sizes_of(entries), error_label(regression)
    return on_axes(
        Panel("", sizes, label, lines, log_x=len(budgets) > 1, percent=not regression), ax
    )


def sizes_of(models: Mapping[str, Any]) -> str:
    """The label for the sizes of these models: `budget (FOGD: components)`."""
    words = {name: SIZES[size_parameter(last_step(m)[1], name)] for name, m in models.items()}
    first = next(iter(words.values()))
    others = ", ".join(f"{name}: {word}" for name, word in words.items() if word != first)
    return f"{first} ({others})" if others else first


def size_parameter(model: Any, name: str) -> str:
    """The parameter that limits the size of a model."""
    for parameter in SIZES:
        if parameter in model._get_params():
            return parameter
    raise ValueError(f"models: {name} has no budget, window or n_components")


def resized(model: Any, name: str, size: int) -> Any:
    """A clone of a model whose last step has another budget."""
    path, last = last_step(model)
    return changed(model, f"{path}__{size_parameter(last, name)}".lstrip("_"), size)

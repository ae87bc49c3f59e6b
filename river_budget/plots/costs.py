"""Scatter plots of error against time, or against memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..wrappers.nested import steps_of
from .figures import on_axes
from .panels import Line, Panel
from .running import (
    Example,
    Models,
    error_label,
    errors_of,
    in_orders,
    is_regressor,
    memory,
    named,
    predict_and_learn,
    warm_up,
)

UNTIMED = 300  # examples to learn before times are measured, so that all code is compiled
TIME, MEMORY = "µs per example", "kB"


def error_against_time(
    models: Models,
    stream: Iterable[Example],
    *,
    orders: int = 1,
    examples: int | None = None,
    ax: Any = None,
) -> Any:
    """Error against time: a point for each model, at its microseconds per example and its error.

    Time is that of `predict_one` and `learn_one` together, measured after code has been compiled. A
    model to the lower left of another one is both faster and more accurate on this stream.

    Not for small differences: other work on the machine changes times by a tenth and more. Nor for
    whole frames (`learn_many`), which take a fraction of this time.

    Parameters
    ----------
    models
        River models, as `mistake_curve` takes them.
    stream
        A River dataset or another iterable of (x, y). It must end.
    orders
        The number of orders in which examples are learned; 1: the order of the stream. More orders
        give bands of errors.
    examples
        The largest number of examples of each order; None: all.
    ax
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    The axes.

    Examples
    --------

    >>> from river import datasets, neighbors, preprocessing
    >>> import river_budget as rb

    >>> models = {
    ...     "KNN": preprocessing.StandardScaler() | neighbors.KNNClassifier(),
    ...     "BSGD": preprocessing.StandardScaler() | rb.BSGDClassifier(),
    ... }
    >>> ax = rb.plots.error_against_time(models, datasets.Phishing(), examples=300)
    >>> ax.get_title()
    'predict + learn, dicts of 9 features, StandardScaler'

    References
    ----------
    [^1]: The guide, [choosing a model](guide/choosing_a_model.md).

    """
    return _draw(models, stream, TIME, orders, examples, ax)


def error_against_memory(
    models: Models,
    stream: Iterable[Example],
    *,
    orders: int = 1,
    examples: int | None = None,
    ax: Any = None,
) -> Any:
    """Error against memory: a point for each model, at its kilobytes and its error.

    Memory is that of the model after the stream, with all objects that it refers to.

    Not for the memory of a process: Python, River and compiled code take far more than most models.

    Parameters
    ----------
    models
        River models, as `mistake_curve` takes them.
    stream
        A River dataset or another iterable of (x, y). It must end.
    orders
        The number of orders in which examples are learned; 1: the order of the stream. More orders
        give bands of errors.
    examples
        The largest number of examples of each order; None: all.
    ax
        Axes to draw on; None: those of a new figure.

    Returns
    -------
    The axes.

    Examples
    --------

    >>> from river import datasets
    >>> import river_budget as rb

    >>> models = {f"budget {b}": rb.BSGDClassifier(budget=b) for b in (10, 100)}
    >>> ax = rb.plots.error_against_memory(models, datasets.Phishing(), examples=300)
    >>> small, large = (line.get_xdata()[0] for line in ax.lines)
    >>> bool(small < large)
    True

    References
    ----------
    [^1]: The guide, [choosing a model](guide/choosing_a_model.md).

    """
    return _draw(models, stream, MEMORY, orders, examples, ax)


def _draw(
    models: Models, stream: Iterable[Example], cost: str, orders: int, examples: int | None, ax: Any
) -> Any:
    entries = named(models)
    regression = is_regressor(entries)
    costs: dict[str, list[float]] = {name: [] for name in entries}
    errors: dict[str, list[float]] = {name: [] for name in entries}
    for k, rows in enumerate(in_orders(stream, orders, examples)):
        for name, model in entries.items():
            if k == 0:
                warm_up(model, rows[:UNTIMED])
            clone = model.clone()
            seconds, guesses = predict_and_learn(clone, rows)
            costs[name].append(1e6 * seconds / len(rows) if cost == TIME else memory(clone) / 1000)
            errors[name].append(float(errors_of(guesses, rows, regression).mean()))
    label = error_label(regression)
    title = ("predict + learn, " if cost == TIME else "") + path_of(entries, rows)
    return on_axes(cost_panel(title, cost, costs, label, errors, not regression), ax)


def path_of(models: Mapping[str, Any], rows: Sequence[Example]) -> str:
    """What the times include, for the title: the calls, the features, the common steps of
    pipelines.
    """
    most = max(len(x) for x, _ in rows)
    steps = {name: steps_of(model)[:-1] for name, model in models.items()}
    front = ", ".join(dict.fromkeys(type(step).__name__ for own in steps.values() for step in own))
    bare = ", ".join(name for name, own in steps.items() if not own)
    without = f" (not {bare})" if bare else ""
    return f"dicts of {most} features, " + (front + without if front else "no scaler")


def cost_panel(
    title: str,
    cost: str,
    costs: Mapping[str, Sequence[float]],
    label: str,
    errors: Mapping[str, Sequence[float]],
    percent: bool = True,
) -> Panel:
    """A point for every name: the median of its costs, and the mean of its errors."""
    lines = []
    for name, values in errors.items():
        x, mean = [float(np.median(costs[name]))], float(np.mean(values))
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        band: dict[str, Any] = {"low": [mean - spread], "high": [mean + spread]} if spread else {}
        lines.append(Line(name, x, [mean], points=True, **band))
    log_y = min(line.y[0] for line in lines) > 0.0
    return Panel(title, cost, label, lines, log_x=True, log_y=log_y, percent=percent)

"""The accuracy of every estimator with default parameters: `StandardScaler | model()` on small
streams.

Regressors stand inside a TargetStandardScaler. Every example is predicted before it is learned.
Models for two classes learn each class against the rest.

The best over the grid is the best result of the model with eight widths and three steps, on that
same stream: an upper bound of what tuning could gain.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from river import linear_model

import river_budget as rb
from river_budget import datasets
from river_budget.experiments.auto import auto, auto_streams
from river_budget.experiments.common.results import one_by_one, play
from river_budget.experiments.common.scores import UNSCORED_ROWS
from river_budget.experiments.common.tables import Table
from river_budget.experiments.race.curve import CLASSIFIERS, REGRESSORS, seeded

WIDTHS = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
STEP_FACTORS = (1 / 3, 1.0, 3.0)  # factors on the default step
# streams, and how many of their first examples; files without an order are shuffled
CLASSIFICATION = {
    "phishing": None,
    "bananas": None,
    "image-segments": None,
    "elec2": 10_000,
    "waveform": 5000,
}
REGRESSION = {
    "trump": None,
    "chick": None,
    "friedman": 3000,
    "housing": 3000,
    "abalone": 3000,
    "cadata": 3000,
}
STREAMS = CLASSIFICATION | REGRESSION
STEP_PARAMETERS = ("learning_rate", "C", "slack")  # varies the first of these that a model has
CAPTION = {
    True: (
        "Right predictions in %, each made before the example is learned: StandardScaler | "
        "model(), no settings."
    ),
    False: (
        f"R2 after the first {UNSCORED_ROWS} examples: TargetStandardScaler(StandardScaler | "
        "model()), no settings."
    ),
}
GRID_CAPTION = (
    "In brackets the best with one of 8 widths (gamma .02 to 4) and, where the model has a step, "
    "one of 3 (a third "
    "of it, itself, three times as much), chosen with hindsight on each stream."
)


@functools.cache
def examples_of(name: str) -> list[Any]:
    """The examples of a stream."""
    if name == "waveform":  # that of 1984 with 21 features, as in the papers
        return list(datasets.Waveform(STREAMS[name], seed=0))
    return auto_streams.examples_of(name, STREAMS[name], 0)


def measure(model: Any, name: str) -> float:
    """The accuracy in %, or R2, of a clone of a model on a stream."""
    model, stream, regression = model.clone(), examples_of(name), name in REGRESSION
    if not regression:
        model = auto.for_labels(model, len({y for _, y in stream}) <= 2)
    pipeline = rb.StandardScaler() | model
    if regression:
        pipeline = rb.TargetStandardScaler(pipeline)
    right = 1.0 - play(name, "", pipeline, stream, regression, shares=False).error
    return right if regression else 100.0 * right


def linear(name: str) -> Any:
    """River's linear model for a stream."""
    if name in REGRESSION:
        return linear_model.LinearRegression()
    several = len({y for _, y in examples_of(name)}) > 2
    return linear_model.SoftmaxRegression() if several else linear_model.LogisticRegression()


def settings(kind: Any) -> list[Any]:
    """The model with every setting of the grid."""
    usual, names = seeded(kind), kind._parameters()
    step = next((name for name in STEP_PARAMETERS if name in names and getattr(usual, name)), None)
    rates = [{step: factor * getattr(usual, step)} for factor in STEP_FACTORS] if step else [{}]
    return [
        seeded(kind, kernel=rb.kernels.RBF(width), **rate) for width in WIDTHS for rate in rates
    ]


def at_hand(name: str) -> bool:
    """Whether a stream can be read without a download."""
    return auto_streams.STREAMS[name].ready


def table(classification: bool, grid: bool = False, names: Sequence[str] | None = None) -> Table:
    """(header, lines): a line for each estimator, after River's linear model, and a column for each
    stream.

    A star marks estimators whose docstring says "Kept for comparison".
    """
    streams = [name for name in (CLASSIFICATION if classification else REGRESSION) if at_hand(name)]
    streams = [name for name in streams if names is None or name in names]
    kinds = CLASSIFIERS if classification else REGRESSORS
    digits = 1 if classification else 3

    def line(label: str, kind: Any) -> list[str]:
        cells = [label]
        for name in streams:
            text = f"{measure(seeded(kind) if kind else linear(name), name):.{digits}f}"
            if grid and kind:
                best = max(measure(model, name) for model in settings(kind))
                text += f" ({best:.{digits}f})"
            cells.append(text)
        return cells

    labels: dict[str, Any] = {"LogisticRegression" if classification else "LinearRegression": None}
    for name, kind in kinds.items():
        labels[name + (" *" if "Kept for comparison" in (kind.__doc__ or "") else "")] = kind
    tasks = {label: functools.partial(line, label, kind) for label, kind in labels.items()}
    return ["model", *streams], one_by_one("defaults", tasks) if streams else []

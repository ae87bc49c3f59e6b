"""AutoKernel compared with River's models, all with default parameters.

Every model predicts an example before it learns it. River's models have a StandardScaler in front, and linear and
nearest-neighbour regression a TargetStandardScaler around; KNN stores 1000 rows. Ours have nothing in front.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from river import forest, linear_model, naive_bayes, neighbors, preprocessing, tree

import river_budget as rb

from ...plots.costs import TIME, cost_panel
from ...plots.panels import Panel
from ...plots.running import memory, predict_and_learn
from ...progress import Progress
from ..common.console import check_names, say_missing
from ..common.tables import Table
from .auto_streams import GENERATED_ROWS, STREAMS, Examples, examples_of

STREAM_EXAMPLES = 3000
UNSCORED_EXAMPLES = 50  # first examples of regression that do not count
LEAST_PROBABILITY = 1e-6  # probabilities are clamped to it in logarithms
CALIBRATION_BINS = 10  # of the expected calibration error
KNN_ROWS = 1000  # that KNN stores


USUAL = [name for name, stream in STREAMS.items() if stream.usual]


def chosen_streams(named: Sequence[str] | None, usual: Sequence[str]) -> list[str]:
    """The named streams, or else the usual ones, that are at hand."""
    check_names(named or (), list(STREAMS), "stream")
    names = named or usual
    say_missing([name for name in names if not STREAMS[name].ready])
    return [name for name in names if STREAMS[name].ready]


def scaled(model: Any) -> Any:
    """A StandardScaler in front of a model."""
    return preprocessing.StandardScaler() | model


def both_scaled(model: Any) -> Any:
    """`scaled` for regression, inside a TargetStandardScaler."""
    return preprocessing.TargetStandardScaler(scaled(model))


def _knn(kind: Any) -> Any:
    """A model of nearest neighbours that searches the last rows."""
    return kind(engine=neighbors.LazySearch(KNN_ROWS))


Makers = dict[str, Callable[[int, bool], Any]]  # from a seed, and whether there are two classes

CLASSIFIERS: Makers = {
    "AutoKernel": lambda seed, two: rb.AutoKernelClassifier(seed=seed),
    "LogisticRegression": lambda seed, two: scaled(
        linear_model.LogisticRegression() if two else linear_model.SoftmaxRegression()
    ),
    "NaiveBayes": lambda seed, two: scaled(naive_bayes.GaussianNB()),  # type: ignore[no-untyped-call]
    "HAT": lambda seed, two: scaled(tree.HoeffdingAdaptiveTreeClassifier(seed=seed)),
    "KNN": lambda seed, two: scaled(_knn(neighbors.KNNClassifier)),
    "ARF": lambda seed, two: scaled(forest.ARFClassifier(seed=seed)),
}
REGRESSORS: Makers = {
    "AutoKernel": lambda seed, two: rb.AutoKernelRegressor(seed=seed),
    "LinearRegression": lambda seed, two: both_scaled(linear_model.LinearRegression()),
    "HAT": lambda seed, two: scaled(tree.HoeffdingAdaptiveTreeRegressor(seed=seed)),
    "KNN": lambda seed, two: both_scaled(_knn(neighbors.KNNRegressor)),
    "ARF": lambda seed, two: scaled(forest.ARFRegressor(seed=seed)),
}
CAPTION = {
    False: (
        "Each example is predicted before it is learned, nothing is set; a star marks the best of a stream. ECE: by how "
        f"much the probability of the predicted class is off, in {CALIBRATION_BINS} bins. River's models have a StandardScaler in "
        f"front, KNN stores {KNN_ROWS} rows. Times are wall times of predict_proba_one and learn_one."
    ),
    True: (
        f"The same for numbers, after the first {UNSCORED_EXAMPLES} examples. Linear regression and KNN stand inside a "
        "TargetStandardScaler. Times are wall times of predict_one and learn_one."
    ),
}
MODELS = list(dict.fromkeys([*CLASSIFIERS, *REGRESSORS]))


@dataclass(frozen=True)
class Result:
    """The result of one model on one stream.

    `error` is the share of wrong predictions, or 1 - R2 in regression; `loss` the mean log loss, or the mean absolute
    error; `off` the expected calibration error, NaN in regression.
    """

    data: str
    model: str
    regression: bool
    error: float
    loss: float
    off: float
    microseconds: float
    bytes: int


def measure(
    data: str, model: str, examples: int | None, seed: int, generated: int = GENERATED_ROWS
) -> Result:
    """Measure one model on one stream."""
    stream, regression = examples_of(data, examples, seed, generated), STREAMS[data].regression
    two = len({y for _, y in stream[:500]}) <= 2
    made = (REGRESSORS if regression else CLASSIFIERS)[model](seed, two)
    if model == "AutoKernel":  # compile it, or load it
        predict_and_learn(made.clone(), stream[:5], probabilities=not regression)
    seconds, found = predict_and_learn(made, stream, probabilities=not regression)
    outcome = (_numbers if regression else _classes)(stream, found)
    microseconds = 1e6 * seconds / len(stream)
    return Result(data, model, regression, *outcome, microseconds, memory(made))


def _classes(stream: Examples, found: list[dict[Any, float]]) -> tuple[float, float, float]:
    """(error, log loss, expected calibration error)"""
    losses, sure, right = [], [], []
    for (_, y), shares in zip(stream, found, strict=True):
        label = max(shares, key=shares.__getitem__) if shares else None
        share = min(max(shares.get(y, 0.0), LEAST_PROBABILITY), 1.0 - LEAST_PROBABILITY)
        losses.append(-math.log(share))
        sure.append(shares[label] if shares else 0.0)
        right.append(label == y)
    place = np.minimum((np.array(sure) * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    gaps = np.bincount(place, np.array(right, float) - np.array(sure), CALIBRATION_BINS)
    off = float(np.abs(gaps).sum() / len(sure))
    return 1.0 - float(np.mean(right)), float(np.mean(losses)), off


def _numbers(stream: Examples, found: list[float]) -> tuple[float, float, float]:
    """(1 - R2, mean absolute error, NaN)"""
    y = np.array([y for _, y in stream], float)[UNSCORED_EXAMPLES:]
    guesses = np.array(found)[UNSCORED_EXAMPLES:]
    unexplained = float(np.mean((y - guesses) ** 2) / np.var(y))
    return unexplained, float(np.mean(np.abs(y - guesses))), math.nan


def compare(
    data: Sequence[str],
    models: Sequence[str] | None = None,
    *,
    examples: int | None = STREAM_EXAMPLES,
    generated: int = GENERATED_ROWS,
    seed: int = 1,
    progress: bool = True,
) -> list[Result]:
    """Measure these models, or all, on these streams."""
    tasks = [
        (name, model)
        for name in data
        for model in (REGRESSORS if STREAMS[name].regression else CLASSIFIERS)
        if models is None or model in models
    ]
    results = []
    with Progress(len(tasks), "auto", enabled=progress) as bar:
        for name, model in tasks:
            bar.show(f"{model} on {name}")
            results.append(measure(name, model, examples, seed, generated))
            bar.advance(f"{model} on {name}")
    return results


def rows(results: Sequence[Result], regression: bool) -> Table:
    """(header, lines), a line for every stream and model. A star marks the best of a stream."""
    chosen = [result for result in results if result.regression == regression]
    best = {r.data: min(o.error for o in chosen if o.data == r.data) for r in chosen}
    lines = []
    for r in chosen:
        star = "*" if r.error == best[r.data] else ""
        error = f"{1.0 - r.error:.3f}" if regression else f"{100 * r.error:.2f}"
        loss = f"{r.loss:.4g}" if regression else f"{r.loss:.3f}"
        off = [] if regression else [f"{100 * r.off:.1f}"]
        costs = [f"{r.microseconds:.0f}", f"{r.bytes / 1000:.0f}"]
        lines.append([r.data, r.model, star + error, loss, *off, *costs])
    figures = ["R2", "MAE"] if regression else ["error %", "log loss", "ECE %"]
    return ["data", "model", *figures, "µs/example", "kB"], lines


def panels(results: Sequence[Result]) -> list[Panel]:
    """Mean error against mean time: a point for every model.

    An error larger than that of the mean counts as that of the mean, or one stream would hide all others.
    """
    found = []
    for regression, label in ((False, "wrong"), (True, "unexplained variance")):
        chosen = [result for result in results if result.regression == regression]
        costs: dict[str, list[float]] = {}
        errors: dict[str, list[float]] = {}
        for model in dict.fromkeys(result.model for result in chosen):
            own = [result for result in chosen if result.model == model]
            costs[model] = [float(np.mean([result.microseconds for result in own]))]
            errors[model] = [float(np.mean([min(result.error, 1.0) for result in own]))]
        if errors:
            streams = len({result.data for result in chosen})
            title = f"mean over {streams} streams of dicts, predict + learn; "
            title += "all but AutoKernel scaled"
            found.append(cost_panel(title, TIME, costs, label, errors))
    return found

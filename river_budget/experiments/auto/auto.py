"""AutoKernel compared with River's models, all with default parameters.

Every model predicts an example before it learns it. River's models have a StandardScaler in front,
and linear and nearest-neighbour regression a TargetStandardScaler around; KNN stores 1000 rows.
Ours have nothing in front.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from river import forest, linear_model, multiclass, naive_bayes, neighbors, preprocessing, tree

import river_budget as rb

from ...plots.costs import TIME, cost_panel
from ...plots.panels import Panel
from ..common.console import check_names, say_missing
from ..common.results import COSTS, Result, costs, one_by_one, play, starred
from ..common.scores import CALIBRATION_BINS, UNSCORED_ROWS
from ..common.tables import Table
from .auto_streams import GENERATED_ROWS, STREAMS, examples_of

STREAM_EXAMPLES = 3000
KNN_ROWS = 1000  # that KNN stores


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


def for_labels(model: Any, two: bool) -> Any:
    """A model for two labels, or for more: models that are binary only are wrapped."""
    algorithm = getattr(model, "algorithm", None)
    return (
        model
        if two or not (algorithm and algorithm.binary)
        else multiclass.OneVsRestClassifier(model)
    )


def has_two_labels(stream: Sequence[Any]) -> bool:
    """Whether the first examples of a stream are of no more than two classes."""
    return len({y for _, y in stream[:500]}) <= 2


def linear(two: bool) -> Any:
    """River's linear classifier for two labels, or for more."""
    return linear_model.LogisticRegression() if two else linear_model.SoftmaxRegression()


def knn(kind: Any) -> Any:
    """A model of nearest neighbours that searches the last rows."""
    return kind(engine=neighbors.LazySearch(KNN_ROWS))


Makers = dict[str, Callable[[int, bool], Any]]  # from a seed, and whether there are two classes

CLASSIFIERS: Makers = {
    "AutoKernel": lambda seed, two: rb.AutoKernelClassifier(seed=seed),
    "LogisticRegression": lambda seed, two: scaled(linear(two)),
    "NaiveBayes": lambda seed, two: scaled(naive_bayes.GaussianNB()),  # type: ignore[no-untyped-call]
    "HAT": lambda seed, two: scaled(tree.HoeffdingAdaptiveTreeClassifier(seed=seed)),
    "KNN": lambda seed, two: scaled(knn(neighbors.KNNClassifier)),
    "ARF": lambda seed, two: scaled(forest.ARFClassifier(seed=seed)),
}
REGRESSORS: Makers = {
    "AutoKernel": lambda seed, two: rb.AutoKernelRegressor(seed=seed),
    "LinearRegression": lambda seed, two: both_scaled(linear_model.LinearRegression()),
    "HAT": lambda seed, two: scaled(tree.HoeffdingAdaptiveTreeRegressor(seed=seed)),
    "KNN": lambda seed, two: both_scaled(knn(neighbors.KNNRegressor)),
    "ARF": lambda seed, two: scaled(forest.ARFRegressor(seed=seed)),
}
CAPTION = {
    False: (
        "Each example is predicted before it is learned, nothing is set; a star marks the best of "
        "a stream. ECE: by how "
        f"much the probability of the predicted class is off, in {CALIBRATION_BINS} bins. River's "
        "models have a StandardScaler in "
        f"front, KNN stores {KNN_ROWS} rows. Times are wall times of predict_proba_one and "
        "learn_one."
    ),
    True: (
        f"The same for numbers, after the first {UNSCORED_ROWS} examples. Linear regression and "
        "KNN stand inside a "
        "TargetStandardScaler. Times are wall times of predict_one and learn_one."
    ),
}
MODELS = list(dict.fromkeys([*CLASSIFIERS, *REGRESSORS]))
EXPERTS = list(dict.fromkeys([*rb.AutoKernelClassifier._experts, *rb.AutoKernelRegressor._experts]))
WITHOUT = "AutoKernel without "  # and the name of an expert


def makers_of(regression: bool, without: Sequence[str] = ()) -> Makers:
    """All models, and AutoKernel without each of these experts."""
    kind: Any = rb.AutoKernelRegressor if regression else rb.AutoKernelClassifier
    makers = dict(REGRESSORS if regression else CLASSIFIERS)
    for expert in without:
        if expert in kind._experts:
            fewer: Any = type(kind.__name__, (kind,), {"_without": frozenset({expert})})
            makers[WITHOUT + expert] = lambda seed, two, kind=fewer: kind(seed=seed)  # type: ignore[misc]
    return makers


def compare(
    data: Sequence[str],
    models: Sequence[str] | None = None,
    *,
    without: Sequence[str] = (),
    examples: int | None = STREAM_EXAMPLES,
    generated: int = GENERATED_ROWS,
    seed: int = 1,
) -> list[Result]:
    """Measure these models, or all, on these streams, and AutoKernel without each of some
    experts.
    """

    def result(name: str, model: str, make: Callable[[int, bool], Any]) -> Result:
        stream = examples_of(name, examples, seed, generated)
        made = make(seed, has_two_labels(stream))
        return play(name, model, made, stream, STREAMS[name].regression)

    tasks = {
        f"{model} on {name}": functools.partial(result, name, model, make)
        for name in data
        for model, make in makers_of(STREAMS[name].regression, without).items()
        if models is None or model in models or model.startswith(WITHOUT)
    }
    return one_by_one("auto", tasks)


def rows(results: Sequence[Result], regression: bool) -> Table:
    """(header, lines), a line for every stream and model. A star marks the best of a stream."""
    lines, text = [], starred(results)
    for r in results:
        if r.regression == regression:
            loss = (
                [f"{r.loss:.4g}"]
                if regression
                else [f"{r.loss:.3f}", f"{100 * r.calibration_error:.1f}"]
            )
            lines.append([r.data, r.model, text(r), *loss, *costs([r])])
    figures = ["R2", "MAE"] if regression else ["error %", "log loss", "ECE %"]
    return ["data", "model", *figures, *COSTS], lines


def panels(results: Sequence[Result]) -> list[Panel]:
    """Mean error against mean time: a point for every model.

    An error larger than that of the mean counts as that of the mean, or one stream would hide all
    others.
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

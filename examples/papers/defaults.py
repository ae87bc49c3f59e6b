"""The accuracy of every estimator with default parameters: `StandardScaler | model()` on small streams.

Regressors stand inside a TargetStandardScaler. Every example is predicted before it is learned, and scaled by the
statistics of the examples so far, as in a River pipeline; the results are the same, but all rows are learned in one
call. Models for two classes learn each class against the rest, and the highest score is predicted.

The best over the grid is the best result of the model with eight widths and three steps, on that same stream:
an upper bound of what tuning could gain.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from river import datasets as river_datasets
from river import linear_model, stats
from river.datasets import synth

import river_budget as rb
from river_budget import datasets
from river_budget.experiments.common import stored
from river_budget.experiments.common.tables import Table
from river_budget.experiments.race.curve import CLASSIFIERS, REGRESSORS, seeded
from river_budget.model.inputs.batches import Batch
from river_budget.progress import Progress

Stream = tuple[Any, Any]
WIDTHS = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
STEP_FACTORS = (1 / 3, 1.0, 3.0)  # factors on the default step
UNSCORED_EXAMPLES = 50  # examples that R2 leaves out
SHUFFLED_ROWS = 3000  # rows of the datasets without an order, which are shuffled
CAPTION = {
    True: "Right predictions in %, each made before the example is learned: StandardScaler | model(), no settings.",
    False: f"R2 after the first {UNSCORED_EXAMPLES} examples: TargetStandardScaler(StandardScaler | model()), no settings.",
}
GRID_CAPTION = (
    "In brackets the best with one of 8 widths (gamma .02 to 4) and, where the model has a step, one of 3 (a third "
    "of it, itself, three times as much), chosen with hindsight on each stream."
)


def _matrix(stream: Iterable[Any]) -> Stream:
    """Examples as a matrix, features in the order of their names, and targets."""
    examples = list(stream)
    rows = [[float(x[name]) for name in sorted(x)] for x, _ in examples]
    return np.array(rows), np.array([y for _, y in examples])


def _river(name: str) -> Stream:
    """A dataset that comes with River."""
    return _matrix(getattr(river_datasets, name)())


def _stored(name: str) -> Stream:
    """Some rows of a dataset without an order, shuffled."""
    X, y = datasets.load(name).arrays()
    order = np.random.default_rng(0).permutation(len(X))[:SHUFFLED_ROWS]
    return X[order], y[order]


def _electricity() -> Stream:
    """The first rows of Elec2."""
    X, y = datasets.Electricity().arrays()
    return X[:10_000], y[:10_000]


CLASSIFICATION: dict[str, Callable[[], Stream]] = {
    "phishing": lambda: _river("Phishing"),
    "bananas": lambda: _river("Bananas"),
    "image-segments": lambda: _river("ImageSegments"),
    "elec2": _electricity,
    "waveform": lambda: datasets.Waveform(5000, seed=0).arrays(),
}
REGRESSION: dict[str, Callable[[], Stream]] = {
    "trump": lambda: _river("TrumpApproval"),
    "chick": lambda: _river("ChickWeights"),
    "friedman": lambda: _matrix(synth.Friedman(seed=0).take(SHUFFLED_ROWS)),
    "housing": lambda: _stored("housing"),
    "abalone": lambda: _stored("abalone"),
    "cadata": lambda: _stored("cadata"),
}
STREAMS = CLASSIFICATION | REGRESSION
FILES = ("elec2", "housing", "abalone", "cadata")  # datasets whose files may be missing
STEP_PARAMETERS = ("learning_rate", "C", "slack")  # varies the first of these that a model has


class Scaled:
    """A stream as a pipeline sees it: row 2 t to predict example t, row 2 t + 1 to learn it."""

    def __init__(self, name: str):
        X, self.y = STREAMS[name]()
        n, self.d = X.shape
        self.classification = name in CLASSIFICATION
        self.rows = np.empty((2 * n, self.d))
        mean, var = np.zeros(self.d), np.zeros(self.d)
        for t, x in enumerate(np.asarray(X, float)):
            self.rows[2 * t] = _standardised(x, mean, var)
            before = mean
            mean = mean + (x - mean) / (t + 1)
            var = var + ((x - before) * (x - mean) - var) / (t + 1)
            self.rows[2 * t + 1] = _standardised(x, mean, var)
        self.weights = np.tile([0.0, 1.0], n)
        self.targets, self.means, self.deviations = np.repeat(self.y, 2), np.zeros(n), np.zeros(n)
        if not self.classification:
            self._scale_targets()

    def _scale_targets(self) -> None:
        """Scale each target by the mean and deviation of those before and itself."""
        seen: Any = stats.Var()
        self.targets = np.zeros(2 * len(self.y))
        for t, y in enumerate(self.y.tolist()):
            self.means[t], self.deviations[t] = seen.mean.get(), seen.get() ** 0.5
            seen.update(y)
            deviation = seen.get() ** 0.5
            scaled = (y - seen.mean.get()) / deviation if deviation else 0.0
            self.targets[2 * t : 2 * t + 2] = scaled

    def quality(self, predictions: Any) -> float:
        """Right predictions in %, or R2."""
        if self.classification:
            return 100.0 * float(np.mean(predictions == self.y))
        return determination(predictions * self.deviations + self.means, self.y)


def determination(predictions: Any, y: Any) -> float:
    """R2, without the first examples."""
    late, y = predictions[UNSCORED_EXAMPLES:], y[UNSCORED_EXAMPLES:].astype(float)
    return 1.0 - float(np.sum((late - y) ** 2) / np.sum((y - y.mean()) ** 2))


def _standardised(x: Any, mean: Any, var: Any) -> Any:
    """(x - mean) / deviation, or 0 where the deviation is 0."""
    return np.divide(x - mean, np.sqrt(var), out=np.zeros(len(x)), where=var > 0.0)


@functools.cache
def scaled(name: str) -> Scaled:
    """The scaled stream, computed once."""
    return Scaled(name)


def measure(model: Any, name: str) -> float:
    """The accuracy in %, or R2, of a model on a stream."""
    stream = scaled(name)
    if getattr(model, "_binary", False) and len(np.unique(stream.y)) > 2:
        return stream.quality(_one_against_the_rest(model, stream))
    found = model.predict_then_learn_many(stream.rows, stream.targets, stream.weights)
    return stream.quality(found[::2])


def _one_against_the_rest(model: Any, stream: Scaled) -> Any:
    """Labels predicted by a binary model for each class."""
    labels, scores = list(dict.fromkeys(stream.y.tolist())), []
    for label in labels:
        one = model.clone({"classes": (False, True)})
        found = np.empty((len(stream.rows), 1))
        rows = one.rows_of(Batch(stream.rows))
        one.run_pass(rows, np.where(stream.targets == label, 1.0, -1.0), stream.weights, found)
        scores.append(found[::2, 0])
    return np.array(labels)[np.argmax(scores, axis=0)]


def linear(name: str) -> float:
    """The accuracy in %, or R2, of River's linear model on a stream."""
    stream = scaled(name)
    if not stream.classification:
        model: Any = linear_model.LinearRegression()
    elif len(np.unique(stream.y)) > 2:
        model = linear_model.SoftmaxRegression()
    else:
        model = linear_model.LogisticRegression()
    examples, predictions = [dict(enumerate(row)) for row in stream.rows.tolist()], []
    targets = stream.targets[1::2].tolist()
    for x, x_to_learn, y in zip(examples[::2], examples[1::2], targets, strict=True):
        predictions.append(model.predict_one(x))
        model.learn_one(x_to_learn, y)
    return stream.quality(np.array(predictions))


def settings(kind: Any) -> list[Any]:
    """The model with every setting of the grid."""
    usual, names = seeded(kind), kind.parameters()
    step = next((name for name in STEP_PARAMETERS if name in names and getattr(usual, name)), None)
    rates = [{step: factor * getattr(usual, step)} for factor in STEP_FACTORS] if step else [{}]
    return [
        seeded(kind, kernel=rb.kernels.RBF(width), **rate) for width in WIDTHS for rate in rates
    ]


def at_hand(name: str) -> bool:
    """Whether a stream can be read without a download."""
    return name not in FILES or stored.at_hand(name)


def table(
    classification: bool, grid: bool = False, names: Sequence[str] | None = None, jobs: int = 2
) -> Table:
    """(header, lines): a line for each estimator, after River's linear model, and a column for each stream.

    A star marks estimators whose docstring says "Kept for comparison".
    """
    streams = [name for name in (CLASSIFICATION if classification else REGRESSION) if at_hand(name)]
    streams = [name for name in streams if names is None or name in names]
    kinds = CLASSIFIERS if classification else REGRESSORS
    lines = [["LogisticRegression" if classification else "LinearRegression"]]
    lines[0] += [_text(linear(name), classification) for name in streams]
    with Progress(len(kinds), "defaults") as bar, ThreadPoolExecutor(jobs) as pool:
        for name, kind in kinds.items():
            mark = " *" if "Kept for comparison" in (kind.__doc__ or "") else ""
            found = list(pool.map(lambda s, kind=kind: measure(seeded(kind), s), streams))
            texts = [_text(value, classification) for value in found]
            if grid:
                texts = [
                    f"{text} ({_text(_best(kind, stream, pool), classification)})"
                    for text, stream in zip(texts, streams, strict=True)
                ]
            lines.append([name + mark, *texts])
            bar.advance(name)
    return ["model", *streams], lines


def _best(kind: Any, stream: str, pool: ThreadPoolExecutor) -> float:
    """The best result over the grid."""
    return max(pool.map(lambda model: measure(model, stream), settings(kind)))


def _text(value: float, classification: bool) -> str:
    """Accuracies with one digit, R2 with three."""
    return f"{value:.1f}" if classification else f"{value:.3f}"

"""The comparisons of `river-budget speed`: our models, in turns with those of other packages.

Its streams are arrays with two classes, or artificial ones of the same shape where no file is at
hand.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from river import feature_extraction, linear_model

import river_budget as rb

from ... import datasets
from ...maintenance import Project, RemoveOldest, RemoveRandom, RemoveSmallest
from .timing import Comparison, Run

Examples = list[tuple[dict[int, float], Any]]
Make = Callable[[rb.kernels.Kernel], Any]
SKLEARN_ROWS = 1000  # rows that scikit-learn gets at once
SKLEARN, PRODUCTS = "scikit-learn", "rbf_kernel(X, V) @ a"
LOGISTIC, SAMPLER = "LogisticRegression", "RBFSampler(100), linear"

# the streams


@dataclass(frozen=True)
class Stream:
    """Rows and labels."""

    name: str
    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.y)


def waveform(n: int) -> Stream:
    """The first class of Waveform against the others."""
    X, y = datasets.Waveform(n, seed=0).arrays()
    return Stream("waveform, d=21", X, y == 0)


def a9a(n: int) -> Stream:
    """Adult, features -1, 0 and 1."""
    X, y = _rows(datasets.A9a(), n, 14)
    return Stream("a9a, d=123", np.sign(X), y)


def cod_rna(n: int) -> Stream:
    """Every feature with mean 0 and standard deviation 1."""
    X, y = _rows(datasets.CodRNA(), n, 8)
    return Stream("cod-rna, d=8", (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12), y)


def mnist(n: int) -> Stream:
    """The even digits against the odd ones."""
    X, y = _rows(datasets.MnistTest(), n, 151)
    return Stream("mnist, d=780", X, y % 2 == 0)


STREAMS: dict[str, tuple[Callable[[int], Stream], Any]] = {
    "waveform": (waveform, None),
    "a9a": (a9a, datasets.A9a),
    "cod-rna": (cod_rna, datasets.CodRNA),
    "mnist": (mnist, datasets.MnistTest),
}


def missing(names: list[str]) -> list[str]:
    """The streams that are artificial here, as their files are missing."""
    return [
        name
        for name in names or STREAMS
        if (kind := STREAMS[name][1]) is not None and not kind().at_hand
    ]


def _rows(dataset: Any, n: int, present: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """n random rows; if the file is missing, artificial ones with `present` numbers per row."""
    rng = np.random.default_rng(0)
    if dataset.at_hand:
        X, y = dataset.arrays()
        chosen = rng.permutation(len(y))[:n]
        return np.ascontiguousarray(X[chosen]), y[chosen]
    d = dataset.n_features
    X = rng.random((n, d)) * (rng.random((n, d)) < present / d)
    slopes = rng.normal(size=(2, d)) / np.sqrt(present)
    a, b = 4.0 * slopes @ X.T
    return X, a * b > np.median(a * b)


# the models

LEARNERS: dict[str, Make] = {
    "BSGD merge": lambda k: rb.BSGDClassifier(100, k),
    "BSGD remove smallest": lambda k: rb.BSGDClassifier(100, k, RemoveSmallest()),
    "Projectron": lambda k: rb.ProjectronClassifier(100, k),
}
MORE_LEARNERS: dict[str, Make] = {
    "BSGD remove oldest": lambda k: rb.BSGDClassifier(100, k, RemoveOldest()),
    "BSGD remove random": lambda k: rb.BSGDClassifier(100, k, RemoveRandom(), seed=1),
    "BSGD project": lambda k: rb.BSGDClassifier(100, k, Project()),
    "RBP": lambda k: rb.RBPClassifier(100, k, seed=1),
    "Forgetron": lambda k: rb.ForgetronClassifier(100, k),
    "BudgetPerceptron": lambda k: rb.BudgetPerceptronClassifier(100, k),
    "BOGD": lambda k: rb.BOGDClassifier(100, k, seed=1),
    "NORMA": lambda k: rb.NORMAClassifier(100, k),
    "BPA": lambda k: rb.BPAClassifier(100, k),
    "Projectron++": lambda k: rb.ProjectronPPClassifier(100, k),
}


def kernel_for(stream: Stream) -> rb.kernels.RBF:
    """RBF with the width 1 / number of features."""
    return rb.kernels.RBF(1.0 / stream.X.shape[1])


def learning(make: Make, stream: Stream) -> Run:
    """Learn all rows."""
    kernel = kernel_for(stream)
    return lambda: make(kernel).learn_many(stream.X, stream.y)


def scoring(model: Any, X: Any) -> Run:
    """Score all rows."""
    return lambda: model.predict_many(X)


def sklearn_learning(stream: Stream, kind: str, n: int) -> Run | None:
    """n random features, or landmarks, and a linear model over them, in batches."""
    try:
        from sklearn import kernel_approximation, linear_model
    except ImportError:
        return None
    X, y, gamma = stream.X, stream.y, 1.0 / stream.X.shape[1]
    features = getattr(kernel_approximation, kind)(gamma=gamma, n_components=n, random_state=0)
    features.fit(X[:SKLEARN_ROWS])

    def run() -> object:
        model = linear_model.SGDClassifier()
        for i in range(0, len(X), SKLEARN_ROWS):
            rows = features.transform(X[i : i + SKLEARN_ROWS])
            model.partial_fit(rows, y[i : i + SKLEARN_ROWS], classes=[False, True])
        return model

    return run


# the comparisons


def learn_and_score(stream: Stream, complete: bool) -> Iterator[Comparison]:
    """Compare on arrays with scikit-learn: learning with as many features as our budget, scoring
    with its kernel.
    """
    large: dict[str, Make] = {"BSGD merge": lambda k: rb.BSGDClassifier(500, k)}
    small = LEARNERS | MORE_LEARNERS if complete else LEARNERS
    for budget, learners in ((100, small), (500, large)):
        model = rb.BSGDClassifier(budget, kernel_for(stream))
        model.learn_many(stream.X, stream.y)
        ours = {f"{name}, B={budget}": learning(make, stream) for name, make in learners.items()}
        comparison = Comparison(stream.name, len(stream))
        comparison.against(SKLEARN, sklearn_learning(stream, "RBFSampler", budget), ours)
        yield comparison.against(PRODUCTS, *scorings(model, stream.X))


def scorings(model: Any, X: Any) -> tuple[Run | None, dict[str, Run]]:
    """Score rows by scikit-learn's kernel, if it is installed, and by the model."""
    ours = {f"score, B={model.budget}": scoring(model, X)}
    try:
        from sklearn.metrics.pairwise import rbf_kernel
    except ImportError:
        return None, ours
    stored, gamma = model.support_vectors(), model.kernel.gamma
    names = range(X.shape[1])
    V = np.array([[vector["features"].get(i, 0.0) for i in names] for vector in stored])
    a = np.array([vector["coefficients"] for vector in stored])
    return (lambda: rbf_kernel(X, V, gamma) @ a), ours


def features_of_scikit_learn(stream: Stream) -> Iterator[Comparison]:
    """Compare FOGD and NOGD with scikit-learn with as many random features and landmarks."""
    fogd = {"FOGD, D=400": learning(lambda k: rb.FOGDClassifier(400, k, seed=1), stream)}
    nogd = {"NOGD, B=100": learning(lambda k: rb.NOGDClassifier(100, k), stream)}
    for kind, n, ours in (("RBFSampler", 400, fogd), ("Nystroem", 100, nogd)):
        yield Comparison(stream.name, len(stream)).against(
            SKLEARN, sklearn_learning(stream, kind, n), ours
        )


def large_products(complete: bool) -> Iterator[Comparison]:
    """Compare where matrix products gain most: with many features and a large support."""
    rng = np.random.default_rng(0)
    for budget in (1000, 4000) if complete else (1000,):
        X = rng.normal(size=(2000 + budget, 100))
        model = rb.BSGDClassifier(budget, rb.kernels.RBF(0.01), RemoveOldest())
        model.learn_many(X[:-2000], rng.random(budget) < 0.5)
        yield Comparison("made up, d=100", 2000).against(PRODUCTS, *scorings(model, X[-2000:]))


def predict_and_learn(model: Any, examples: Examples) -> Run:
    """Predict and learn every example, in two calls."""

    def run() -> None:
        new = model.clone()
        for x, y in examples:
            new.predict_one(x)
            new.learn_one(x, y)

    return run


def predict_then_learn(model: Any, examples: Examples) -> Run:
    """Predict and learn every example, in one call."""

    def run() -> None:
        learn = model.clone().predict_then_learn_one
        for x, y in examples:
            learn(x, y)

    return run


def one_by_one(stream: Stream, complete: bool) -> Iterator[Comparison]:
    """Compare on dicts with River's models: linear ones, and random features with a linear model
    behind them.
    """
    n = max(len(stream) // 10, 100)
    rows = [dict(enumerate(x)) for x in stream.X[:n].tolist()]
    examples = list(zip(rows, stream.y[:n].tolist(), strict=True))
    learners = LEARNERS | MORE_LEARNERS if complete else LEARNERS
    models = {f"{name}, B=100": make(kernel_for(stream)) for name, make in learners.items()}
    ours = {f"dicts: {name}": predict_and_learn(model, examples) for name, model in models.items()}
    ours |= {
        f"dicts, in one call: {name}": predict_then_learn(model, examples)
        for name, model in models.items()
        if hasattr(model, "predict_then_learn_one") and (complete or "merge" in name)
    }
    theirs = predict_and_learn(linear_model.LogisticRegression(), examples)
    yield Comparison(stream.name, n).against(LOGISTIC, theirs, ours)
    examples = examples[: max(n // 5, 50)]
    sampler = feature_extraction.RBFSampler(n_components=100, seed=1)
    waves = rb.RandomFourier(100, kernel_for(stream), seed=1)
    pipelines = [features | linear_model.LogisticRegression() for features in (sampler, waves)]
    theirs, run = (predict_and_learn(pipeline, examples) for pipeline in pipelines)
    ours = {"dicts: RandomFourier(100), linear": run}
    yield Comparison(stream.name, len(examples)).against(SAMPLER, theirs, ours)


def few_rows(stream: Stream) -> Iterator[Comparison]:
    """Compare learn_many of ten rows at a time: on arrays with scikit-learn, on frames with
    River.
    """
    starts = range(0, min(len(stream), 3000) - 9, 10)
    rows = slice(0, starts[-1] + 10)

    def each(model: Any, X: Any, y: Any, method: str = "learn_many", **options: Any) -> Run:
        learn, batches = getattr(model, method), [(X[i : i + 10], y[i : i + 10]) for i in starts]
        return lambda: [learn(X, y, **options) for X, y in batches]

    def comparison(name: str, theirs_name: str, theirs: Run, X: Any, y: Any) -> Comparison:
        model = rb.BSGDClassifier(100, kernel_for(stream))
        model.learn_many(stream.X, stream.y)
        ours = {name: each(model, X, y)}
        return Comparison(stream.name, 10 * len(starts)).against(theirs_name, theirs, ours)

    with contextlib.suppress(ImportError):
        model = importlib.import_module("sklearn.linear_model").SGDClassifier()
        theirs = each(model, stream.X, stream.y, "partial_fit", classes=[False, True])
        name = "ten rows at a time, B=100"
        yield comparison(name, "SGDClassifier, linear", theirs, stream.X, stream.y)
    with contextlib.suppress(ImportError):
        pandas = importlib.import_module("pandas")
        X = pandas.DataFrame(stream.X[rows]).rename(columns=lambda i: f"x{i}")
        y = pandas.Series(stream.y[rows])
        theirs = each(linear_model.LogisticRegression(), X, y)
        yield comparison("ten rows of a frame, B=100", LOGISTIC, theirs, X, y)


def many_models(stream: Stream) -> Iterator[Comparison]:
    """Compare a thousand models, which learn fifty rows each in turn, with one model that learns
    all rows.
    """
    starts = list(itertools.islice(itertools.cycle(range(0, len(stream) - 49, 50)), 1000))
    turns = [(stream.X[i : i + 50], stream.y[i : i + 50]) for i in starts]

    def run(models: list[Any]) -> Run:
        def learn() -> None:
            for model, (X, y) in zip(models, turns, strict=True):
                model.learn_many(X, y)

        return learn

    kernel = kernel_for(stream)
    many = [rb.BSGDClassifier(20, kernel) for _ in turns]
    one = [rb.BSGDClassifier(20, kernel)] * len(turns)
    ours = {"1000 models in turns of 50 rows, B=20": run(many)}
    yield Comparison(stream.name, 50 * len(turns)).against("one model", run(one), ours)


def comparisons(stream: Stream, complete: bool) -> Iterator[Comparison]:
    """All comparisons on a stream; those with dicts and small batches on waveform alone."""
    yield from learn_and_score(stream, complete)
    yield from features_of_scikit_learn(stream)
    if stream.name.startswith("waveform"):
        yield from one_by_one(stream, complete)
        yield from few_rows(stream)
        yield from many_models(stream)

"""Speed, as ratios in one run against what you could install instead: scikit-learn and River.

Arrays: microseconds per example of `predict_then_learn_many` (which also gives the prediction of every example
before it is learned) against scikit-learn's RBFSampler or Nystroem + SGDClassifier, with as many features as our
budget, in batches of 1000. River: predict_one and learn_one on dicts, against River's models.
Medians of several runs that take turns. Set RIVER_BUDGET_DATA to a folder with a9a.xz to add that set.
"""

from __future__ import annotations

import lzma
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from river import feature_extraction, linear_model
from sklearn.base import BaseEstimator
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier

import river_budget as rb

Data = tuple[np.ndarray, np.ndarray]
Make = Callable[[rb.kernels.Kernel], Any]


def waveform(n: int, seed: int = 0) -> Data:
    """Breiman's waveforms: 21 noisy features, standardised; one class against the two others."""
    rng = np.random.default_rng(seed)
    places = np.arange(1, 22)
    bumps = [np.maximum(6 - abs(places - centre), 0) for centre in (11, 15, 7)]
    first, second = (
        np.array([bumps[0], bumps[0], bumps[1]]),
        np.array([bumps[1], bumps[2], bumps[2]]),
    )
    kind, share = rng.integers(0, 3, n), rng.random((n, 1))
    X = share * first[kind] + (1 - share) * second[kind] + rng.normal(size=(n, 21))
    return (X - X.mean(axis=0)) / X.std(axis=0), kind == 0


def a9a(n: int) -> Data | None:
    path = Path(os.environ.get("RIVER_BUDGET_DATA", "")) / "a9a.xz"
    if not path.is_file():
        return None
    with lzma.open(path) as file:
        X, y = load_svmlight_file(file, n_features=123)
    return X.toarray()[:n], y[:n] > 0


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def race(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int
) -> tuple[float, float]:
    """Median seconds of both, after a round to warm up."""
    ours(), theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def arrays(
    X: np.ndarray, y: np.ndarray, make: Make, features: BaseEstimator, repeats: int
) -> tuple[float, float]:
    """Our model against scikit-learn's features and linear model, in batches of 1000."""
    kernel = rb.kernels.RBF(1 / X.shape[1])
    features.set_params(gamma=kernel.gamma, random_state=0).fit(X[:1000])

    def ours() -> object:
        return make(kernel).predict_then_learn_many(X, y)

    def theirs() -> object:
        model = SGDClassifier()
        for i in range(0, len(X), 1000):
            model.partial_fit(
                features.transform(X[i : i + 1000]), y[i : i + 1000], classes=[False, True]
            )
        return model

    return race(ours, theirs, repeats)


def dicts(
    X: np.ndarray, y: np.ndarray, ours: Any, theirs: Any, repeats: int
) -> tuple[float, float]:
    stream = [(dict(enumerate(x)), bool(label)) for x, label in zip(X.tolist(), y, strict=True)]

    def run(prototype: Any) -> Callable[[], object]:
        def learn() -> None:
            model = prototype.clone()
            for x, label in stream:
                model.predict_one(x)
                model.learn_one(x, label)

        return learn

    return race(run(ours), run(theirs), repeats)


# our model, and the features whose number matches its size
ARRAYS: dict[str, tuple[Make, BaseEstimator]] = {
    "BSGD, budget 100": (lambda k: rb.BSGDClassifier(100, k), RBFSampler(n_components=100)),
    "BSGD, budget 500": (lambda k: rb.BSGDClassifier(500, k), RBFSampler(n_components=500)),
    "FOGD, 400 components": (
        lambda k: rb.FOGDClassifier(400, k, seed=1),
        RBFSampler(n_components=400),
    ),
    "NOGD, budget 100": (lambda k: rb.NOGDClassifier(100, k), Nystroem(n_components=100)),
}
OTHERS: dict[str, Make] = {
    "RBP": lambda k: rb.RBPClassifier(100, k, seed=1),
    "Forgetron": lambda k: rb.ForgetronClassifier(100, k),
    "CKS": lambda k: rb.BudgetPerceptronClassifier(100, k),
    "BOGD": lambda k: rb.BOGDClassifier(100, k, seed=1),
    "NORMA": lambda k: rb.NORMAClassifier(100, k),
    "BPA": lambda k: rb.BPAClassifier(100, k),
    "Projectron": lambda k: rb.ProjectronClassifier(100, k),
    "Projectron++": lambda k: rb.ProjectronPPClassifier(100, k),
}
DICTS: dict[str, tuple[Make, str]] = {
    "BSGD, budget 100": (lambda k: rb.BSGDClassifier(100, k), "LogisticRegression"),
    "FOGD, 100 components": (lambda k: rb.FOGDClassifier(100, k, seed=1), "LogisticRegression"),
    "RandomFourier(100) | linear": (
        lambda k: rb.RandomFourier(100, k, seed=1) | linear_model.LogisticRegression(),
        "RBFSampler(100) | linear",
    ),
}


def theirs_of(name: str) -> Any:
    linear = linear_model.LogisticRegression()
    if name == "LogisticRegression":
        return linear
    return feature_extraction.RBFSampler(n_components=100, seed=1) | linear


def show(label: str, ours: float, theirs: float, n: int, name: str) -> None:
    print(f"{label:53}{1e6 * ours / n:8.2f}{1e6 * theirs / n:8.2f}{ours / theirs:7.2f}   {name}")


def main(n: int = 20_000, repeats: int = 5) -> None:
    print(f"{'':53}{'ours':>8}{'theirs':>8}{'ratio':>7}   (microseconds per example)")
    sets = {"waveform, 21 features": waveform(n), "a9a, 123 features": a9a(n)}
    for data_name, data in sets.items():
        for name, (make, features) in ARRAYS.items() if data is not None else ():
            a, b = arrays(*data, make, features, repeats)
            show(f"arrays, {data_name}, {name}", a, b, n, "scikit-learn")
    name, data = next((k, v) for k, v in reversed(sets.items()) if v is not None)
    for other, make in OTHERS.items():
        a, b = arrays(*data, make, RBFSampler(n_components=100), repeats)
        show(f"arrays, {name}, {other}, budget 100", a, b, n, "scikit-learn")
    m = n // 10
    X, y = waveform(m)
    for name, (make, theirs) in DICTS.items():
        kernel = rb.kernels.RBF(1 / 21)
        a, b = dicts(X, y, make(kernel), theirs_of(theirs), repeats)
        show(f"dicts, 21 features, {name}", a, b, m, theirs)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

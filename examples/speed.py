"""Speed, as ratios in one run against what you could install instead: scikit-learn and River.

Arrays: microseconds per example of `predict_then_learn_many` (which also gives the prediction of every example
before it is learned) against scikit-learn's RBFSampler + SGDClassifier with as many random features as our
budget, in batches of 1000. River: predict_one and learn_one on dicts against LogisticRegression.
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

import numpy as np
from river import linear_model
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier

import river_budget as rb

Data = tuple[np.ndarray, np.ndarray]


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


def arrays(X: np.ndarray, y: np.ndarray, budget: int, repeats: int) -> tuple[float, float]:
    gamma = 1 / X.shape[1]

    def ours() -> object:
        model = rb.BSGDClassifier(budget, kernel=rb.kernels.RBF(gamma), l2=1e-4)
        return model.predict_then_learn_many(X, y)

    def theirs() -> object:
        features = RBFSampler(gamma=gamma, n_components=budget, random_state=0).fit(X[:1])
        model = SGDClassifier()
        for i in range(0, len(X), 1000):
            model.partial_fit(
                features.transform(X[i : i + 1000]), y[i : i + 1000], classes=[False, True]
            )
        return model

    return race(ours, theirs, repeats)


def dicts(X: np.ndarray, y: np.ndarray, budget: int, repeats: int) -> tuple[float, float]:
    stream = [(dict(enumerate(x)), bool(label)) for x, label in zip(X.tolist(), y, strict=True)]

    def run(make: Callable[[], object]) -> Callable[[], object]:
        def learn() -> None:
            model = make()
            for x, label in stream:
                model.predict_one(x)
                model.learn_one(x, label)

        return learn

    kernel = rb.kernels.RBF(1 / X.shape[1])
    ours = run(lambda: rb.BSGDClassifier(budget, kernel=kernel, l2=1e-4))
    return race(ours, run(linear_model.LogisticRegression), repeats)


def main(n: int = 20_000, repeats: int = 5) -> None:
    sets = {"waveform, 21 features": waveform(n), "a9a, 123 features": a9a(n)}
    print(f"{'':44}{'ours':>8}{'theirs':>8}{'ratio':>7}   (microseconds per example)")
    for name, data in sets.items():
        for budget in (100, 500) if data is not None else ():
            a, b = arrays(*data, budget, repeats)
            label = f"arrays, {name}, budget {budget}"
            print(f"{label:44}{1e6 * a / n:8.2f}{1e6 * b / n:8.2f}{a / b:7.2f}   scikit-learn")
    m = n // 4
    X, y = waveform(m)
    a, b = dicts(X, y, 100, repeats)
    label = "dicts, 21 features, budget 100"
    print(f"{label:44}{1e6 * a / m:8.2f}{1e6 * b / m:8.2f}{a / b:7.2f}   LogisticRegression")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

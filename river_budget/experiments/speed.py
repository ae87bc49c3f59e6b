"""Speed, as ratios in one run against what you could install instead: scikit-learn and River.

Arrays: microseconds per example of `predict_then_learn_many` (which also gives the prediction of every example
before it is learned) against scikit-learn's RBFSampler or Nystroem + SGDClassifier, with as many features as our
budget, in batches of 1000. River: predict_one and learn_one on dicts, against River's models.
Medians of several runs that take turns. Adult takes part where its file is at hand.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy.typing as npt
from river import feature_extraction, linear_model

import river_budget as rb

from .. import datasets

CAPTION = (
    "Medians of {repeats} runs that take turns. Arrays: predict_then_learn_many of ours against RBFSampler or Nystroem "
    "and SGDClassifier, with as many features as our budget, in batches of 1000. Dicts: predict_one and learn_one. "
    "A ratio below 1: ours is faster."
)
Data = tuple[npt.NDArray[Any], npt.NDArray[Any]]
Make = Callable[[rb.kernels.Kernel], Any]


def scikit_learn(name: str) -> Any:
    """One of its classes: it is an extra."""
    try:
        from sklearn import kernel_approximation, linear_model
    except ImportError:
        raise RuntimeError("this comparison needs scikit-learn: pip install scikit-learn") from None
    return getattr(kernel_approximation, name, None) or getattr(linear_model, name)


def data_of(n: int) -> dict[str, Data]:
    """n examples of each set; adult only where it is at hand."""
    X, y = datasets.Waveform(n, seed=0).arrays()
    found = {"waveform, 21 features": (X, y == 0)}
    adult = datasets.A9a()
    if adult.at_hand:
        X, y = adult.part("a9a")
        found["a9a, 123 features"] = (X[:n], y[:n])
    return found


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def in_turns(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int
) -> tuple[float, float]:
    """Median seconds of both, run in turn after one round that does not count."""
    ours(), theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def arrays(data: Data, make: Make, kind: str, n: int, repeats: int) -> tuple[float, float]:
    """Our model against n features of scikit-learn and its linear model, in batches of 1000."""
    X, y = data
    kernel = rb.kernels.RBF(1 / X.shape[1])
    features = scikit_learn(kind)(gamma=kernel.gamma, n_components=n, random_state=0).fit(X[:1000])
    linear = scikit_learn("SGDClassifier")

    def ours() -> object:
        return make(kernel).predict_then_learn_many(X, y)

    def theirs() -> object:
        model = linear()
        for i in range(0, len(X), 1000):
            model.partial_fit(
                features.transform(X[i : i + 1000]), y[i : i + 1000], classes=[False, True]
            )
        return model

    return in_turns(ours, theirs, repeats)


def dicts(data: Data, ours: Any, theirs: Any, repeats: int) -> tuple[float, float]:
    X, y = data
    stream = [(dict(enumerate(x)), bool(label)) for x, label in zip(X.tolist(), y, strict=True)]

    def run(prototype: Any) -> Callable[[], object]:
        def learn() -> None:
            model = prototype.clone()
            for x, label in stream:
                model.predict_one(x)
                model.learn_one(x, label)

        return learn

    return in_turns(run(ours), run(theirs), repeats)


# our model, and scikit-learn's features in a number that matches its size
ARRAYS: dict[str, tuple[Make, str, int]] = {
    "BSGD, budget 100": (lambda k: rb.BSGDClassifier(100, k), "RBFSampler", 100),
    "BSGD, budget 500": (lambda k: rb.BSGDClassifier(500, k), "RBFSampler", 500),
    "FOGD, 400 components": (lambda k: rb.FOGDClassifier(400, k, seed=1), "RBFSampler", 400),
    "NOGD, budget 100": (lambda k: rb.NOGDClassifier(100, k), "Nystroem", 100),
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


def speed(n: int = 20_000, repeats: int = 5) -> None:
    """Print the table."""
    print(f"{'':53}{'ours':>8}{'theirs':>8}{'ratio':>7}   (microseconds per example)")
    sets = data_of(n)
    for data_name, data in sets.items():
        for name, (make, kind, features) in ARRAYS.items():
            a, b = arrays(data, make, kind, features, repeats)
            show(f"arrays, {data_name}, {name}", a, b, len(data[1]), "scikit-learn")
    data_name, data = list(sets.items())[-1]
    for name, make in OTHERS.items():
        a, b = arrays(data, make, "RBFSampler", 100, repeats)
        show(f"arrays, {data_name}, {name}, budget 100", a, b, len(data[1]), "scikit-learn")
    m = max(n // 10, 100)
    X, y = datasets.Waveform(m, seed=0).arrays()
    for name, (make, theirs) in DICTS.items():
        a, b = dicts((X, y == 0), make(rb.kernels.RBF(1 / 21)), theirs_of(theirs), repeats)
        show(f"dicts, 21 features, {name}", a, b, m, theirs)
    print(f"\n{CAPTION.format(repeats=repeats)}")

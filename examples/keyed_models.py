"""A model for each of 100 keys: rows per second in this process, and in two processes of Ray.

    python examples/keyed_models.py [rows]

The first half of the rows fills the models; the second half is measured, in chunks of 2,000 rows. Where learning a
row takes a few microseconds, sending it costs more than the second process gains.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd

import river_budget as rb
from river_budget.distributed import KeyedModels

CHUNK = 2000
KERNEL = rb.kernels.RBF(0.1)
MODELS = {
    "BSGD, budget 1000": rb.BSGDClassifier(1000, KERNEL, seed=1),
    "BSGD, budget 50": rb.BSGDClassifier(50, KERNEL, seed=1),
    "Perceptron, budget 50": rb.RBPClassifier(50, KERNEL, seed=1),
}


def examples(n: int, keys: int) -> tuple[pd.DataFrame, pd.Series]:
    """Ten features, and a curved boundary that is another one for each key."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(n, 10))
    X = pd.DataFrame(values, columns=[f"x{i}" for i in range(10)])
    X["key"] = rng.integers(keys, size=n)
    return X, pd.Series((values[:, :5] ** 2).sum(axis=1) > 4.0 + X["key"] % 3, name="y")


def speed(model: rb.BSGDClassifier, X: pd.DataFrame, y: pd.Series, backend: str) -> float:
    """Rows per second."""
    half = len(X) // 2
    with KeyedModels(model, key="key", shards=2, backend=backend) as models:
        models.predict_then_learn_many(X[:half], y[:half])
        begin = time.perf_counter()
        for start in range(half, len(X), CHUNK):
            models.predict_then_learn_many(X[start : start + CHUNK], y[start : start + CHUNK])
        return (len(X) - half) / (time.perf_counter() - begin)


def main(n: int = 400_000, keys: int = 100, backends: tuple[str, ...] = ("serial", "ray")) -> None:
    X, y = examples(n, keys)
    print(f"{'rows per second':24}{backends[0]:>12}{backends[1]:>12}{'ratio':>8}")
    for name, model in MODELS.items():
        one, two = (speed(model, X, y, backend) for backend in backends)
        print(f"{name:24}{one:12,.0f}{two:12,.0f}{two / one:8.2f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""One model for each of 100 keys: rows per second in this process, and in two processes on Ray.

    python examples/keyed_models.py [rows [rows of a chunk]]

The first half of the rows fills the models. The second half is timed in chunks, three times, and
the best time counts. One process sends the rows, so two more on two cores learn at most twice as
many. They gain more if a row takes longer to learn, if chunks are larger, and if the sender waits
less often for predictions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import river_budget as rb
from river_budget.distributed import KeyedModels

TIMES = 3
KERNEL = rb.kernels.RBF(0.02)
MODELS = (
    ("BSGD, 1000", 50, rb.BSGDClassifier(1000, KERNEL, seed=1)),
    ("BSGD, 1000", 20, rb.BSGDClassifier(1000, KERNEL, seed=1)),
    ("BSGD, 50", 10, rb.BSGDClassifier(50, KERNEL, seed=1)),
    ("Perceptron, 50", 10, rb.RBPClassifier(50, KERNEL, seed=1)),
)
Chunks = list[tuple[pd.DataFrame, pd.Series]]


def examples(n: int, chunk: int, keys: int, features: int) -> Chunks:
    """A boundary that is curved, and another one for each key."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(n, features))
    X = pd.DataFrame(values, columns=[f"x{i}" for i in range(features)])
    X["key"] = rng.integers(keys, size=n)
    y = pd.Series((values**2).sum(axis=1) > features - 2.0 + X["key"] % 3, name="y")
    return [(X[start : start + chunk], y[start : start + chunk]) for start in range(0, n, chunk)]


def learn_many(models: KeyedModels, chunks: Chunks) -> None:
    """Waits for shards that lag behind only."""
    for X, y in chunks:
        models.learn_many(X, y)


def predict_then_learn_chunks(models: KeyedModels, chunks: Chunks) -> None:
    """Sends the next chunk, and then waits for the predictions of the one before."""
    for _ in models.predict_then_learn_chunks(chunks):
        pass


def predict_then_learn_many(models: KeyedModels, chunks: Chunks) -> None:
    """Waits for the predictions of every chunk."""
    for X, y in chunks:
        models.predict_then_learn_many(X, y)


WAYS = (learn_many, predict_then_learn_chunks, predict_then_learn_many)


def speeds(model: Any, chunks: Chunks, backend: str) -> Iterator[float]:
    """Rows per second, for each way to learn."""
    half = len(chunks) // 2
    with KeyedModels(model, key="key", shards=2, backend=backend) as models:
        learn_many(models, chunks[:half])
        for way in WAYS:
            seconds = []
            for _ in range(TIMES):
                models.flush()
                begin = time.perf_counter()
                way(models, chunks[half:])
                models.flush()
                seconds.append(time.perf_counter() - begin)
            yield sum(len(y) for _, y in chunks[half:]) / min(seconds)


def main(
    n: int = 400_000,
    chunk: int = 10_000,
    keys: int = 100,
    backends: tuple[str, ...] = ("serial", "ray"),
) -> None:
    print(
        f"{'rows per second of models with a budget':60}{backends[0]:>12}{backends[1]:>12}{'ratio':>8}"  # noqa: E501
    )
    for name, features, model in MODELS:
        chunks = examples(n, chunk, keys, features)
        one, two = (list(speeds(model, chunks, backend)) for backend in backends)
        for way, before, after in zip(WAYS, one, two, strict=True):
            title = f"{name}, {features} features, {way.__name__}"
            print(f"{title:60}{before:12,.0f}{after:12,.0f}{after / before:8.2f}", flush=True)


if __name__ == "__main__":
    import ray

    ray.init()
    main(*map(int, sys.argv[1:]))

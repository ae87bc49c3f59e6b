"""Kernels for linear models: what a joint map of features can do that waves over single features
cannot.

XOR: the label says whether two numbers have different signs, so neither of them alone says
anything. Bananas ships with River: two curved clusters. Each example is predicted before it is
learned.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from typing import Any

from river import base, datasets, feature_extraction, linear_model, metrics, optim, preprocessing

import river_budget as rb

Stream = list[tuple[dict[Any, float], bool]]


def xor(n: int) -> Stream:
    rng = random.Random(42)
    pairs = [(rng.uniform(-1, 1), rng.uniform(-1, 1)) for _ in range(n)]
    return [({"a": a, "b": b}, (a > 0) != (b > 0)) for a, b in pairs]


def models() -> Iterable[tuple[str, base.Classifier]]:
    kernel = rb.kernels.RBF(2.0)
    maps = {
        "no map": None,
        "River's RBFSampler": feature_extraction.RBFSampler(gamma=2.0, seed=1),
        "rb.RBFSampler": rb.RBFSampler(gamma=2.0, seed=1),
        "rb.RandomFourier, Laplacian": rb.RandomFourier(100, rb.kernels.Laplacian(1.0), seed=1),
        "rb.Nystroem": rb.Nystroem(100, kernel=kernel),
    }
    for name, features in maps.items():
        linear = linear_model.LogisticRegression(optim.SGD(0.5))
        yield f"{name} | LogisticRegression", linear if features is None else features | linear
    yield "rb.FOGDClassifier", rb.FOGDClassifier(100, kernel, seed=1)
    yield "rb.NOGDClassifier", rb.NOGDClassifier(100, kernel, rank=40)


def accuracy(model: Any, stream: Stream) -> float:
    metric = metrics.Accuracy()
    for x, y in stream:
        metric.update(y, model.predict_one(x))
        model.learn_one(x, y)
    return metric.get()


def main(n: int = 5000) -> None:
    streams = {"XOR": xor(n), "Bananas": list(datasets.Bananas())[:n]}
    print(f"{'accuracy':50}" + "".join(f"{name:>9}" for name in streams) + "   us/example")
    for label, model in models():
        pipeline = preprocessing.StandardScaler() | model
        accuracy(pipeline.clone(), streams["XOR"][:300])  # compile or load before the clock runs
        start = time.perf_counter()
        found = [accuracy(pipeline.clone(), stream) for stream in streams.values()]
        each = (time.perf_counter() - start) / sum(map(len, streams.values()))
        print(f"{label:50}" + "".join(f"{a:9.1%}" for a in found) + f"{1e6 * each:13.0f}")


if __name__ == "__main__":
    main()

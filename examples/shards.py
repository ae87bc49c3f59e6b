"""What learning in shards costs in accuracy, and what time it gains.

    python examples/shards.py [examples] [shards] [ray or serial]

One process learns all examples; then several learn one part each and are merged at the end, or
repeatedly. Accuracy is measured on examples that no model has learned. The seconds include the
start of the workers, which load the package and make their own examples, but not the start of Ray.
"""

from __future__ import annotations

import functools
import sys
import time
from typing import Any

import numpy as np
from river import preprocessing

import river_budget as rb
from river_budget.datasets import Checkerboard, Waveform
from river_budget.distributed import train_shards

BOARD = rb.BSGDClassifier(200, rb.kernels.RBF(5.0), seed=1)
WAVES = rb.BSGDClassifier(200, rb.kernels.RBF(0.05), seed=1)
WORK: dict[str, Any] = {
    "checkerboard, each shard sees all of it": (BOARD, Checkerboard, False),
    "checkerboard, each shard sees a strip of it": (BOARD, Checkerboard, True),
    "waves, scaled, example by example": (preprocessing.StandardScaler() | WAVES, Waveform, False),
}


def part(data: Any, n: int, strips: bool, shards: int, shard: int) -> tuple[Any, Any]:
    """The examples of one shard: so many of the stream, or those between two values of the first
    feature.
    """
    X, y = data(n, seed=1).arrays()
    order = np.arange(n)
    if strips:
        order = np.argsort(X[:, 0])
    rows = np.sort(np.array_split(order, shards)[shard])
    return X[rows], y[rows]


def accuracy(model: Any, data: Any) -> float:
    """The share of examples that are predicted right."""
    right = [model.predict_one(x) == y for x, y in data(20_000, seed=2)]
    return float(np.mean(right))


def main(n: int = 1_000_000, shards: int = 2, backend: str = "ray") -> None:
    print(f"{n:,} examples{'accuracy':>30}{'seconds':>10}")
    plans = [("one process", 1, None, "serial")] + [
        (f"{shards} shards, merged {when}", shards, sync_every, backend)
        for when, sync_every in (
            ("at the end", None),
            (f"every {n // 20:,}", n // 20),
            (f"every {n // 200:,}", n // 200),
        )
    ]
    for name, (model, data, strips) in WORK.items():
        print(name)
        for plan, parts, sync_every, where in plans:
            make = functools.partial(part, data, n, strips, parts)
            streams = [functools.partial(make, shard) for shard in range(parts)]
            begin = time.perf_counter()
            learned = train_shards(model, streams, sync_every, backend=where)
            seconds = time.perf_counter() - begin
            print(f"  {plan:34}{accuracy(learned, data):10.2%}{seconds:10.1f}", flush=True)


if __name__ == "__main__":
    if sys.argv[3:] != ["serial"]:
        import ray

        ray.init()
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])

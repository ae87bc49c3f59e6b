"""Thirty-two settings over one stream: one after the other, then several at once with Ray.

    python examples/sweep.py [examples] [workers]

Both print the same table. The seconds with Ray include the start of the workers.
"""

from __future__ import annotations

import sys
import time

from river import metrics, preprocessing

import river_budget as rb
from river_budget.datasets import Waveform
from river_budget.distributed import sweep

GRID = {
    "BSGDClassifier": {
        "budget": [50, 100, 200, 400],
        "kernel": [rb.kernels.RBF(0.02), rb.kernels.RBF(0.05)],
        "l2": [1e-5, 1e-4, 1e-3, 1e-2],
    }
}


def main(n: int = 100_000, workers: int = 2, backends: tuple[str, ...] = ("serial", "ray")) -> None:
    model = preprocessing.StandardScaler() | rb.BSGDClassifier(seed=1)
    stream = list(Waveform(n, seed=1))
    seconds, tables = [], []
    for backend in backends:
        begin = time.perf_counter()
        found = sweep(model, GRID, stream, metrics.Accuracy(), backend=backend, workers=workers)
        tables.append(found.table())
        seconds.append(time.perf_counter() - begin)
        best = found.best()
        print(f"{backend:8}{seconds[-1]:8.1f} s, best {best.name}: {best.value:.2%}")
    print(f"{seconds[0] / seconds[1]:.2f} times as fast, equal tables: {tables[0] == tables[1]}")


if __name__ == "__main__":
    import ray

    ray.init()
    main(*map(int, sys.argv[1:]))

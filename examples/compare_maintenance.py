"""What to do with one support vector too many? All strategies on the same stream.

Every model makes its prediction before it learns the example (progressive validation). The stream
is a 4 x 4 checkerboard, which needs many support vectors, with one label in twenty flipped.
"""

from __future__ import annotations

import time

import numpy as np

import river_budget as rb

STRATEGIES = {
    "forget the oldest": rb.maintenance.RemoveOldest(),
    "forget a random one": rb.maintenance.RemoveRandom(),
    "forget the smallest": rb.maintenance.RemoveSmallest(),
    "merge two": rb.maintenance.Merge(),
    "merge three": rb.maintenance.Merge(arity=3),
    "merge five": rb.maintenance.Merge(arity=5),
    "project": rb.maintenance.Project(),
}


def checkerboard(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    y = np.floor(4 * X).sum(axis=1) % 2 == 1
    return X, y ^ (rng.random(n) < 0.05)


def main(n: int = 50_000, budget: int = 60) -> None:
    X, y = checkerboard(n, seed=1)
    kernel = rb.kernels.RBF(30.0)
    for maintenance in STRATEGIES.values():  # compile or load before the clock runs
        rb.BSGDClassifier(budget=5, kernel=kernel, maintenance=maintenance).learn_many(
            X[:50], y[:50]
        )
    print(f"{n} examples, budget {budget}, 5 % of the labels are wrong")
    print(f"{'strategy':22}{'accuracy':>10}{'us/example':>12}{'bytes':>9}")
    for name, maintenance in STRATEGIES.items():
        model = rb.BSGDClassifier(budget, kernel, maintenance, l2=1e-4, seed=1)
        start = time.perf_counter()
        predictions = model.predict_then_learn_many(X, y)
        seconds = time.perf_counter() - start
        accuracy = np.mean(predictions == y)
        print(f"{name:22}{accuracy:10.1%}{1e6 * seconds / n:12.2f}{model.memory_usage:9}")


if __name__ == "__main__":
    main()

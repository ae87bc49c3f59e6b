"""A stream whose features appear and disappear: an absent feature counts as 0.

Machines report their sensors irregularly. A new sensor is installed after a third of the stream,
and an old one breaks after two thirds. The model continues with the sensors that are left.
"""

from __future__ import annotations

import math
import random

from river import metrics

import river_budget as rb


def readings(n: int, seed: int):
    """Two sensors at a time out of three; the machine fails where their product is positive."""
    rng = random.Random(seed)
    for t in range(n):
        heat, load = rng.uniform(-1, 1), rng.uniform(-1, 1)
        x = {"heat": heat, "load": load}
        if t >= n / 3:
            x["vibration"] = load + rng.gauss(0, 0.05)
        if t >= 2 * n / 3:
            del x["load"]
        yield x, heat * load > 0


def main(n: int = 9000) -> None:
    model = rb.BSGDClassifier(budget=60, kernel=rb.kernels.RBF(4.0), l2=1e-3)
    accuracy = metrics.Accuracy()
    for t, (x, y) in enumerate(readings(n, seed=3), start=1):
        y_pred = model.predict_one(x)
        if y_pred is not None:
            accuracy.update(y, y_pred)
        model.learn_one(x, y)
        if t % (n // 9) == 0:
            names = sorted({name for v in model.support_vectors() for name in v["features"]})
            print(f"after {t:5} readings of {', '.join(sorted(x)):24} {accuracy}, knows {names}")
            accuracy = metrics.Accuracy()
    assert math.isfinite(model.decision_function_one({"heat": 0.5}))


if __name__ == "__main__":
    main()

"""How wide a kernel should be: a rule by the number of features against a rule by the distances in
the data.

gamma = c / d, or gamma = 2 c / m, where m is the median squared distance of the first examples
behind a scaler. For independent features m is 2 d, and the rules agree. We choose the best c with
hindsight, one for all streams and models, and ask which rule loses less by using the same c
everywhere.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from papers import defaults
from scipy.spatial.distance import pdist

import river_budget as rb

MULTIPLES = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)
FIRST = (20, 100, 500)  # examples whose distances are taken
CLASSIFIERS = ("BSGD", "FOGD", "NOGD", "BPA", "KernelOGD", "Projectron")
REGRESSORS = ("BSGD", "FOGD", "NOGD", "KernelOGD", "Projectron")


def width(stream: str, first: int | None, c: float) -> float:
    """gamma by the number of features, or by the median distance of the first examples."""
    examples = defaults.examples_of(stream)
    if first is None:
        return c / len(examples[0][0])
    scaler, rows = rb.StandardScaler(), []
    for x, _ in examples[:first]:
        scaler.learn_one(x)
        rows.append(list(scaler.transform_one(x).values()))
    return 2.0 * c / float(np.median(pdist(rows, "sqeuclidean")))


def quality(kind: Any, streams: list[str], first: int | None, c: float) -> float:
    """Right predictions in %, or R2, on average; what explodes counts as -1."""
    found = []
    for stream in streams:
        model = defaults.seeded(kind, kernel=rb.kernels.RBF(width(stream, first, c)))
        found.append(max(defaults.measure(model, stream), -1.0))
    return float(np.mean(found))


def main(names: list[str] | None = None, kinds: list[str] | None = None) -> None:
    for classification in (True, False):
        known = defaults.CLASSIFICATION if classification else defaults.REGRESSION
        table = defaults.CLASSIFIERS if classification else defaults.REGRESSORS
        models = kinds or (CLASSIFIERS if classification else REGRESSORS)
        streams = [s for s in known if defaults.at_hand(s) and (names is None or s in names)]
        if not streams:
            continue
        digits = 2 if classification else 3
        print(f"{'right, %' if classification else 'R2'} on {', '.join(streams)}")
        print(f"{'c':28}" + "".join(f"{c:>8.4g}" for c in MULTIPLES) + "    best")
        for first in (None, *FIRST):
            rule = "c / d" if first is None else f"2 c / median of {first}"
            rows = {n: [quality(table[n], streams, first, c) for c in MULTIPLES] for n in models}
            rows["all"] = np.mean(list(rows.values()), axis=0).tolist()
            for name, row in rows.items():
                values = "".join(f"{value:8.{digits}f}" for value in [*row, max(row)])
                print(f"{rule:20} {name:7}{values}"[:100])


if __name__ == "__main__":
    main(sys.argv[1:] or None)

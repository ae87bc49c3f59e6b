"""A paper's figure with River's own evaluation, and the digits of the paper's table at the end of
each curve.

The data is german, 1000 credit applications, in the 20 orders that the authors of the 2016 paper
published. Each application is predicted before it is learned (progressive validation). The paper's
table 5 prints the share of mistakes after the last one; `python examples/papers table 2016-table-5
--data german` measures it over arrays.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from river import evaluate, metrics

import river_budget as rb
from river_budget import datasets
from river_budget.plots.figures import draw
from river_budget.plots.panels import Line, Panel

KERNEL = rb.kernels.RBF.from_width(8)
CLASSES = (False, True)  # known from the start, so that the first application is judged too
MODELS = {  # as table 5 has them, with what it prints
    "Perceptron": (rb.KernelPerceptronClassifier(KERNEL, classes=CLASSES), "35.2 ± 0.9"),
    "Forgetron": (rb.ForgetronClassifier(100, KERNEL, classes=CLASSES), "38.1 ± 0.9"),
    "BPA": (rb.BPAClassifier(100, KERNEL, 1.0, "simple", classes=CLASSES), "33.9 ± 0.9"),
    "NOGD": (rb.NOGDClassifier(100, KERNEL, learning_rate=0.2, classes=CLASSES), "30.4 ± 0.8"),
}
STEP = 25  # examples between two points of a curve


def mistakes(model: Any, dataset: Any) -> tuple[list[int], list[float]]:
    """After how many examples, and which share of them was judged wrongly."""
    at, shares = [], []
    for checkpoint in evaluate.iter_progressive_val_score(
        dataset, model, metrics.Accuracy(), step=STEP
    ):
        at.append(checkpoint["Step"])
        shares.append(1.0 - checkpoint["Accuracy"].get())
    return at, shares


def main(orders: int = 20, plot: str | None = None) -> None:
    german, lines = datasets.German(), []
    print(f"{'mistakes on german, %':24}{'here':>14}{'printed':>14}")
    for name, (model, printed) in MODELS.items():
        runs = [mistakes(model.clone(), german.in_order(k)) for k in range(orders)]
        table = np.array([shares for _, shares in runs])
        mean, deviation = table.mean(axis=0), table.std(axis=0, ddof=1)
        low, high = (mean - deviation).tolist(), (mean + deviation).tolist()
        lines.append(Line(name, runs[0][0], mean.tolist(), low, high))
        here = f"{100 * mean[-1]:.2f} ± {100 * deviation[-1]:.2f}"
        print(f"{name:24}{here:>14}{printed:>14}")
    if plot:
        draw(plot, [Panel("german", "examples", "mistakes so far", lines, percent=True)])
        print(f"drawn: {plot}")


if __name__ == "__main__":
    main(plot=sys.argv[1] if len(sys.argv) > 1 else None)

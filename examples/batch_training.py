"""Kernel machines that see all examples from the start: test error against the number of kernel
evaluations.

    python examples/batch_training.py [figure.png]

The batch Perceptron (SBP) searches for an example that its model needs, which costs a row of kernel
values. The others take examples at random or in order. This is the beginning of figure 2 of the
2012 paper. The data is adult (a9a), or made-up questionnaires if that file is missing and cannot be
downloaded.
"""

from __future__ import annotations

import sys

import numpy as np
from papers.rivals.batch_methods import SETTINGS, Point, Split, adult, lines

from river_budget import datasets
from river_budget.plots.figures import draw
from river_budget.plots.panels import Line, Panel


def questionnaires(n: int, n_test: int, seed: int = 0) -> Split:
    """As adult is: 14 questions, one column per answer, and a quarter of the people are
    positive.
    """
    rng = np.random.default_rng(seed)
    answers = (9 * rng.random((n + n_test, 14)) ** 2).astype(int)
    X = np.eye(9)[answers].reshape(len(answers), -1)
    score = X @ rng.normal(size=X.shape[1]) + 1.5 * rng.normal(size=len(X))
    y = score > np.quantile(score, 0.75)
    return X[:n], y[:n], X[n:], y[n:]


def load(made_up: int) -> tuple[str, Split]:
    try:
        return "a9a", adult()
    except datasets.DatasetUnavailable:
        print("a9a is not here and cannot be fetched: made-up questionnaires instead")
        return "questionnaires", questionnaires(made_up, made_up // 2)


def show(found: dict[str, list[Point]]) -> None:
    print(f"{'method':20}{'kernel evaluations':>20}{'test error':>12}")
    for name, points in found.items():
        for point in points:
            print(f"{name:20}{point.evaluations:20,}{point.error:12.1%}")


def main(path: str | None = None, rows: int = 1000, passes: int = 2, made_up: int = 8000) -> None:
    """rows: how many rows of the kernel matrix to go. made_up: the number of made-up examples."""
    name, data = load(made_up)
    found = lines(False, 1, data, SETTINGS[False], rows=rows, passes=passes)
    show(found)
    if path is not None:
        curves = [
            Line(method, [p.evaluations for p in points], [p.error for p in points])
            for method, points in found.items()
        ]
        draw(path, [Panel(name, "kernel evaluations", "test error", curves, True, percent=True)])
        print(f"drawn to {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])

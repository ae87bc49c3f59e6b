"""O. Dekel, S. Shalev-Shwartz, Y. Singer. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 2005.

Figure 2: mistakes over budgets, Forgetron against CKS, with the kernel (1 + a.b)^5. The paper prints no digits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np

import river_budget as rb

from ...plots.panels import Panel
from ..records import Cell, Record, by_column, last_value, sweep
from ..store import Store
from ..tasks import Task

KERNEL = rb.kernels.Polynomial(5, 1.0, 1.0)
BUDGETS = {
    "a9a": (500, 1000, 2000, 3000, 4000, 6000),
    "mnist-test": (200, 400, 700, 1000, 1400, 1800),
}
REPEATS = {"a9a": 1, "mnist-test": 6}


def halves(n: int) -> list[tuple[int, ...]]:
    """n of the 126 ways to split the digits into two sets of five."""
    ways = [way for way in itertools.combinations(range(10), 5) if 0 in way]
    chosen = np.random.default_rng(0).permutation(len(ways))[:n]
    return [ways[i] for i in chosen]


def cells() -> Iterator[Cell]:
    for data, budgets in BUDGETS.items():
        models = {
            "Forgetron": rb.ForgetronClassifier(kernel=KERNEL),
            "CKS": rb.BudgetPerceptronClassifier(kernel=KERNEL),
        }
        settings = [
            (f"{row} {budget}", model.clone({"budget": budget}))
            for row, model in models.items()
            for budget in budgets
        ]
        for row, model in [*settings, ("Perceptron 0", rb.KernelPerceptronClassifier(KERNEL))]:
            tasks = []
            for i, way in enumerate(halves(REPEATS[data])):
                options = (("positive", way),) if data == "mnist-test" else ()
                tasks.append(Task("progressive", data, i, model, options))
            yield Cell(row, data, tuple(tasks), scale=100.0)


def panels(record: Record, store: Store) -> Iterable[Panel]:
    for data, cells in by_column(record).items():
        lines = []
        for name in ("Forgetron", "CKS", "Perceptron"):
            of_row = [cell for cell in cells if cell.row.split()[0] == name]
            shape = "level" if name == "Perceptron" else "line"
            lines += sweep(name, of_row, store, budget_of, last_value, shape)
        if lines:
            yield Panel(data, "budget", "mistakes", lines, percent=True)


def budget_of(cell: Cell) -> float:
    return float(cell.row.split()[1])


def records() -> list[Record]:
    return [
        Record(
            "2005-figure-2",
            "Forgetron and CKS over budgets, kernel (1 + a.b)^5",
            "mistakes, %",
            2,
            tuple(cells()),
            "a9a is the adult data; the paper has a version of 200,000 rows, and 60,000 digits of MNIST where "
            "10,000 are at hand. Forgetron normalises this kernel, as its proof needs k(x, x) <= 1.",
            panels,
        )
    ]

"""A. Cotter, S. Shalev-Shwartz, N. Srebro. The kernelized stochastic batch Perceptron. ICML 2012.

Figure 2: test error on adult against the number of kernel evaluations, with and without a bias.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import river_budget as rb

from ...plots.panels import Line, Panel
from ..records import Cell, Record, measurements
from ..store import Store
from ..tasks import Task
from ..verdicts import Printed

REPEATS = 3
TITLES = {False: "without a bias", True: "with a bias"}


def cells() -> Iterator[Cell]:
    for bias in (False, True):
        options = (("bias", bias),)
        model = rb.SBPClassifier(slack=0.05, fit_bias=bias)
        tasks = tuple(Task("batch", "a9a", i, model, options) for i in range(REPEATS))
        printed = Printed("15.0") if bias else None
        yield Cell(f"SBP {TITLES[bias]}", "a9a", tasks, printed, 100.0)


def panels(record: Record, store: Store) -> Iterable[Panel]:
    """The mean over the repeats at every number of iterations."""
    for cell in record.cells:
        done = [measurement["lines"] for measurement in measurements(cell, store)]
        lines = []
        for name in done[0] if done else ():
            runs = [measurement[name] for measurement in done]
            evaluations = [
                sum(points) / len(points) for points in zip(*(r[0] for r in runs), strict=True)
            ]
            errors = [
                sum(points) / len(points) for points in zip(*(r[1] for r in runs), strict=True)
            ]
            lines.append(Line(name, evaluations, errors))
        if lines:
            yield Panel(cell.row[4:], "kernel evaluations", "test error", lines, True, percent=True)


def records() -> list[Record]:
    return [
        Record(
            "2012-figure-2",
            "Test error on adult against kernel evaluations",
            "test error, %",
            1,
            tuple(cells()),
            "a9a and its test file. A row of kernel values counts as many evaluations as it has entries.",
            panels,
        )
    ]

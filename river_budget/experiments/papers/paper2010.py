"""Z. Wang, K. Crammer, S. Vucetic. Multi-class Pegasos on a budget. ICML 2010.

Features have mean 0 and standard deviation 1, and l2 = 1e-4. A model learns for one pass, then its accuracy is measured
on held-out examples. For every cell the width is the best of {1, 4, 16, 64} / number of features, as in the paper,
chosen on two orders of the examples that the tables do not use.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import river_budget as rb

from ..records.findings import Claim, Finding, percent
from ..records.records import CHOSEN, Cell, Record, by_column, curves, last, spread
from ..records.store import Store
from ..records.tasks import Task
from ..records.verdicts import Printed

REPEATS = {"letter": 30}  # orders; its last iterates scatter by 2 points. Others: 5
STRATEGIES = {
    "merge": rb.maintenance.Merge(),
    "merge, eq. (21)": rb.maintenance.Merge(objective="eq21"),
    "project": rb.maintenance.Project(),
    "random": rb.maintenance.RemoveRandom(),
    "smallest": rb.maintenance.RemoveSmallest(),
}
# (data, budget): the paper's figures for merging (by its eq. 21), projection, removal of a random vector and of the
# smallest; then the widths for all of STRATEGIES, in units of 1 / number of features, from the paper's grid of 1, 4,
# 16, 64. 2 is its 4 if its kernel was that of the authors' toolbox, exp(-gamma |x - z|^2 / 2)
PRINTED_TABLE_1 = {
    ("usps", 100): ("92.0 0.2", "90.5 0.4", "78.3 1.5", "78.6 4.0", (1, 1, 1, 16, 4)),
    ("usps", 500): ("93.9 0.3", "92.4 0.4", "88.5 0.6", "89.4 0.6", (4, 1, 4, 4, 4)),
    ("letter", 100): ("72.0 1.3", "76.3 0.9", "39.9 1.8", "41.7 0.7", (2, 1, 1, 16, 16)),
    ("letter", 500): ("89.5 0.3", "87.3 0.6", "68.1 0.8", "68.5 1.1", (4, 4, 4, 64, 16)),
    ("waveform", 100): ("85.9 0.6", "85.0 0.4", "79.1 0.7", "79.1 2.9", (1, 1, 1, 4, 4)),
    ("waveform", 500): ("86.9 0.1", "86.1 0.2", "82.7 0.6", "82.9 1.0", (1, 4, 4, 4, 4)),
    ("checkerboard", 100): ("99.5 0.1", "98.2 0.3", "83.6 1.0", "83.9 1.1", (16,) * 5),
    ("checkerboard", 500): ("99.8 0.0", "99.0 0.2", "90.3 0.4", "90.9 0.5", (64,) * 5),
}
# (data, budget): Projectron++ as printed; then the width, and the threshold that gives about `budget` vectors
PRINTED_PROJECTRON = {
    ("usps", 100): ("81.1 3.2", 1, 0.918),
    ("usps", 500): ("92.0 0.5", 4, 0.3),
    ("letter", 100): ("46.3 1.8", 1, 0.642),
    ("letter", 500): ("76.6 1.1", 4, 0.8697),
    ("waveform", 100): ("80.7 0.8", 1, 0.784),
    ("waveform", 500): ("83.5 0.5", 1, 0.506),
    ("checkerboard", 100): ("96.9 0.4", 16, 0.214),
    ("checkerboard", 500): ("98.2 0.3", 64, 0.00295),
}
# Without a budget: the printed figure, the width, and the number of examples (0: all)
WITHOUT_BUDGET = {
    "usps": ("94.2 0.3", 4, 0),
    "letter": ("95.7 0.1", 16, 0),
    "waveform": ("86.1 0.6", 4, 100_000),
    "checkerboard": ("99.2 0.1", 64, 200_000),
}
STOPPED_AFTER = {
    "waveform": "140,000",
    "checkerboard": "540,000",
}  # examples that the paper learned in 3000 s
COVERTYPE = {  # budget: merge, project, random, smallest, Projectron++
    100: ("72.0 0.2", "70.1 0.6", "58.1 0.7", "57.5 2.4", "62.5 3.1"),
    500: ("76.8 0.2", "74.9 0.2", "61.6 0.7", "62.3 1.1", "67.3 2.9"),
}
N_FEATURES = {"usps": 256, "letter": 16, "waveform": 21, "checkerboard": 2}
PAPER_EXAMPLES = {"waveform": 2_000_000, "checkerboard": 10_000_000}  # examples in the paper
MOST_EXAMPLES, SLOW_EXAMPLES = 2_000_000, 200_000  # limits of time; for slow strategies
CURVE_ORDERS, CURVE_EXAMPLES = 5, 500_000  # of the curves in the figures
UNLIMITED_EXAMPLES = 20_000  # of a curve without a budget, as its time grows with the square
HELD_OUT = {"usps": 2000, "letter": 1000, "waveform": 20_000, "checkerboard": 20_000}
SPLIT_REMARKS = {
    "usps": "2,000 of the training file held out, as the test file is not at hand",
    "letter": "1,000 of the training file held out, so 14,000 to learn from; the paper has 16,000",
}


def options(
    data: str, n: int, curve: bool = False, scoring: bool = True
) -> tuple[tuple[str, object], ...]:
    """Options of the protocol for a dataset."""
    found: list[tuple[str, object]] = [("held_out", HELD_OUT[data])]
    found += [("standardise", True)] if data not in PAPER_EXAMPLES else [("n", n)]
    found += [("curve", True)] if curve else []
    return (*found, ("scoring", False)) if not scoring else tuple(found)


def model(data: str, budget: int | None, strategy: str | None, width: float) -> rb.BSGDClassifier:
    """Pegasos as in the paper."""
    kernel = rb.kernels.RBF(width / N_FEATURES[data])
    maintenance = None if strategy is None else STRATEGIES[strategy]
    return rb.BSGDClassifier(budget, kernel, maintenance, l2=1e-4, learning_rate=None)


def size(data: str, budget: int, strategy: str) -> int:
    """The number of examples: two million, except for strategies that are slow with a large budget."""
    if data not in PAPER_EXAMPLES:
        return 0
    return (
        SLOW_EXAMPLES
        if budget == 500 and strategy in ("merge, eq. (21)", "project")
        else MOST_EXAMPLES
    )


def table_1() -> Iterator[Cell]:
    """All cells of table 1."""
    for (data, budget), (merge, project, random, smallest, widths) in PRINTED_TABLE_1.items():
        figures = ("", merge, project, random, smallest)
        for strategy, figure, width in zip(STRATEGIES, figures, widths, strict=True):
            n = size(data, budget, strategy)
            made = model(data, budget, strategy, width)
            where = options(data, n, scoring=n != PAPER_EXAMPLES.get(data))
            repeats = range(REPEATS.get(data, 5))
            tasks = tuple(Task("holdout", data, i, made, where) for i in repeats)
            yield cell(strategy, data, budget, tasks, figure, remark_of(data, n))
        yield projectron(data, budget)
    yield from unlimited()
    yield from covertype()


def cell(
    row: str, data: str, budget: int | None, tasks: tuple[Task, ...], figure: str, remark: str
) -> Cell:
    """A cell with its note."""
    column = data if budget is None else f"{data}, B = {budget}"
    note = NOTES.get((row, data)) or NOTES.get(data, "")
    printed = Printed(*figure.split()) if figure else None
    return Cell(row, column, tasks, printed, 100.0, None, note, remark, CHOSEN)


def remark_of(data: str, n: int) -> str:
    """How our data differ from the paper's."""
    if data not in PAPER_EXAMPLES:
        return SPLIT_REMARKS.get(data, "")
    return (
        f"{n:,} examples; the paper has {PAPER_EXAMPLES[data]:,}"
        if n < PAPER_EXAMPLES[data]
        else ""
    )


def projectron(data: str, budget: int) -> Cell:
    """Projectron++ without a budget, with a threshold that gives about `budget` vectors."""
    figure, width, threshold = PRINTED_PROJECTRON[data, budget]
    kernel = rb.kernels.RBF(width / N_FEATURES[data])
    made = rb.ProjectronPPClassifier(None, kernel, threshold)
    where = options(data, SLOW_EXAMPLES, scoring=False)
    tasks = tuple(Task("holdout", data, i, made, where) for i in range(5))
    remark = "; ".join(filter(None, [remark_of(data, SLOW_EXAMPLES), f"threshold {threshold:g}"]))
    return cell("Projectron++", data, budget, tasks, figure, remark)


def unlimited() -> Iterator[Cell]:
    """Pegasos without a budget."""
    for data, (figure, width, n) in WITHOUT_BUDGET.items():
        made, where = model(data, None, None, width), options(data, n, scoring=False)
        tasks = tuple(Task("holdout", data, i, made, where) for i in range(2 if n else 5))
        remark = f"{n:,} examples; the paper stopped after {STOPPED_AFTER.get(data)}" if n else ""
        yield cell("no budget", data, None, tasks, figure, remark or remark_of(data, 0))


def covertype() -> Iterator[Cell]:
    """The printed figures on covertype, whose data is not available."""
    missing = "covtype is not at hand, and so no widths were chosen for it"
    rows = ("merge, eq. (21)", "project", "random", "smallest", "Projectron++")
    figures = [
        (row, f"covertype, B = {budget}", figure)
        for budget, printed in COVERTYPE.items()
        for row, figure in zip(rows, printed, strict=True)
    ]
    for row, column, figure in [*figures, ("no budget", "covertype", "81.1 0.1")]:
        yield Cell(row, column, (), Printed(*figure.split()), 100.0, missing=missing)


# Known causes of differences: by row and dataset, or by dataset.
SAME_CLASS_NOTE = "ours projects on all vectors, that of the paper on those of the same class only"
NOTES: dict[object, str] = {
    "usps": "the paper's test file is another one, which most find harder",
    "letter": "few test examples, and last iterates scatter by two points",
    "waveform": "how the paper drew and split its examples is not stated",
    "checkerboard": "the paper does not describe its board (4 x 4 here), and has more examples",
    **{("Projectron++", data): SAME_CLASS_NOTE for data in ("usps", "letter", "waveform")},
}

CURVE_STRATEGIES = ("merge", "project", "random", "smallest")
CURVE_NAMES = {"merge": "BSGD-merge", "project": "BSGD-project", "random": "BSGD-random"} | {
    "smallest": "BSGD-remove",
    "none": "BSGD without budget",
}


def evolution(
    data: str, budgets: tuple[int, ...] = (100,), which: tuple[str, ...] = CURVE_STRATEGIES
) -> Iterator[Cell]:
    """Accuracy and time along the stream, each strategy at its own width, and without a budget."""
    for budget in budgets:
        widths = dict(zip(STRATEGIES, PRINTED_TABLE_1[data, budget][4], strict=True))
        for strategy in which:
            n = SLOW_EXAMPLES if strategy == "project" and budget > 100 else CURVE_EXAMPLES
            made = model(data, budget, strategy, widths[strategy])
            where = options(data, n, curve=True, scoring=False)
            tasks = tuple(Task("holdout", data, i, made, where) for i in range(CURVE_ORDERS))
            name = CURVE_NAMES[strategy] + (f", B = {budget}" if len(budgets) > 1 else "")
            yield Cell(name, data, tasks, scale=100.0)
    made = model(data, None, None, WITHOUT_BUDGET[data][1])
    where = options(data, UNLIMITED_EXAMPLES, curve=True, scoring=False)
    tasks = tuple(Task("holdout", data, i, made, where) for i in range(CURVE_ORDERS))
    yield Cell(CURVE_NAMES["none"], data, tasks, scale=100.0)


# Claims of the figures


def keeps_up(record: Record, store: Store) -> Finding | None:
    """Whether merging and projection end above both removals, and no lower than without a budget."""
    found = {cell.row: last(cell, store) for cell in record.cells}
    names = ("BSGD-merge", "BSGD-project", "BSGD-random", "BSGD-remove", CURVE_NAMES["none"])
    if None in (values := [found.get(name) for name in names]):
        return None
    merge, project, random, smallest, unlimited = values  # type: ignore[misc]
    good = min(merge, project) > max(random, smallest)  # type: ignore[operator, type-var]
    good &= merge >= unlimited - 0.005  # type: ignore[operator]
    text = ", ".join(
        f"{name} {percent(value or 0.0)}" for name, value in zip(names, values, strict=True)
    )
    return Finding(good, f"at the end {text} (this one after {UNLIMITED_EXAMPLES:,} examples)")


def slope(record: Record, store: Store, row: str) -> float | None:
    """The exponent p where seconds grow as examples^p, over the second half of the points."""
    for cells in by_column(record).values():
        for one in cells:
            line = spread(one, store, "seconds") if one.row == row else None
            if line is not None and len(line.x) > 2:
                half = slice(len(line.x) // 2, None)
                x, y = np.log(line.x[half]), np.log(np.maximum(line.y[half], 1e-4))
                return float(np.polyfit(x, y, 1)[0])
    return None


def linear_time(record: Record, store: Store) -> Finding | None:
    """Whether seconds grow at most linearly with a budget, and faster without one."""
    rows = [cell.row for cell in record.cells]
    slopes = {row: found for row in rows if (found := slope(record, store, row)) is not None}
    if len(slopes) < 2 or CURVE_NAMES["none"] not in slopes:
        return None
    limited = [value for row, value in slopes.items() if row != CURVE_NAMES["none"]]
    good = max(limited) < 1.15 and slopes[CURVE_NAMES["none"]] > max(limited)
    text = ", ".join(f"{row} {value:.2f}" for row, value in slopes.items())
    return Finding(good, f"time grows with the power of the number of examples: {text}")


KEEPS_UP = Claim(
    "merging and projection follow the model without a budget and in the end pass it; removal stays below.",
    keeps_up,
)
LINEAR = Claim("with a budget time grows no faster than linearly, without one faster.", linear_time)


def along_the_stream(number: int, title: str, data: str) -> Record:
    """A figure of accuracies along the stream."""
    return Record(
        f"2010-figure-{number}",
        f"Accuracy on {title} along the stream, B = 100",
        "accuracy, %",
        1,
        tuple(evolution(data)),
        f"Every strategy at its own width, that of table 1; {CURVE_EXAMPLES:,} examples, five orders.",
        panels=curves("accuracy", log_x=True, percent=True),
        claims=(KEEPS_UP,),
    )


def records() -> list[Record]:
    """Table 1 and the three figures."""
    return [
        Record(
            "2010-table-1",
            "Budget maintenance for Pegasos with several classes",
            "accuracy, %",
            1,
            tuple(table_1()),
            "The paper merges by its eq. (21); `merge`, our default, minimises the degradation itself. "
            "Widths were chosen for every cell from the paper's grid 1, 4, 16, 64 / number of "
            "features, in two orders that the table does not use. Projectron++ has no budget but a threshold, at which "
            "it ends with about B vectors, found in the same two orders. l2 is the paper's.",
        ),
        along_the_stream(1, "the Checkerboard", "checkerboard"),
        along_the_stream(2, "Waveform", "waveform"),
        Record(
            "2010-figure-3",
            "Time for learning Waveform",
            "accuracy, %",
            1,
            tuple(evolution("waveform", (100, 500), ("merge", "project"))),
            panels=curves("seconds", "seconds", log_x=True, log_y=True),
            alone=True,
            claims=(LINEAR,),
        ),
    ]

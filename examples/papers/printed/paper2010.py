"""Z. Wang, K. Crammer, S. Vucetic. Multi-class Pegasos on a budget. ICML 2010.

Features have mean 0 and standard deviation 1, but for usps, whose features are as published, and l2
= 1e-4. A model learns for one pass, then its accuracy is measured on held-out examples. For every
cell the width is the best of {1, 4, 16, 64} / number of features, as in the paper, chosen on two
orders of the examples that the tables do not use; on usps it is the one of these, or of 2 and 8,
whose figure is nearest to the printed one.

Letter is all 20,000 rows, 16,000 to learn from; usps its two published files.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from river import base

import river_budget as rb

from ..records.outcomes import Outcomes
from ..records.records import CHOSEN, FITTED, Cell, Record, by_column, curves, last, spread
from ..records.tasks import Task, repeated
from ..records.verdicts import Finding, Printed, claim, percent
from .described import record

# Orders, else 5. The last iterates on letter scatter by 2 points; with 500 vectors its eq. (21)
# takes long; and so does the test of tens of thousands of vectors
REPEATS = {"letter": 10, ("letter", "merge, eq. (21)", 500): 5}
UNLIMITED_ORDERS = {"waveform": 2, "checkerboard": 2}
STRATEGIES = {
    "merge": rb.maintenance.Merge(),
    "merge, eq. (21)": rb.maintenance.Merge(objective="eq21"),
    "project": rb.maintenance.Project(),
    "random": rb.maintenance.RemoveRandom(),
    "smallest": rb.maintenance.RemoveSmallest(),
}
# (data, budget): the paper's figures for merging (by its eq. 21), projection, removal of a random
# vector and of the smallest; then the widths for all of STRATEGIES, in units of 1 / number of
# features, from the paper's grid of 1, 4, 16, 64. 2 is its 4 if its kernel was that of the authors'
# toolbox, exp(-gamma |x - z|^2 / 2)
PRINTED_TABLE_1 = {
    ("usps", 100): ("92.0 0.2", "90.5 0.4", "78.3 1.5", "78.6 4.0", (4, 4, 2, 8, 8)),
    ("usps", 500): ("93.9 0.3", "92.4 0.4", "88.5 0.6", "89.4 0.6", (4, 4, 2, 16, 8)),
    ("letter", 100): ("72.0 1.3", "76.3 0.9", "39.9 1.8", "41.7 0.7", (2, 1, 1, 16, 16)),
    ("letter", 500): ("89.5 0.3", "87.3 0.6", "68.1 0.8", "68.5 1.1", (4, 4, 4, 64, 16)),
    ("waveform", 100): ("85.9 0.6", "85.0 0.4", "79.1 1.1", "79.1 2.9", (1, 1, 4, 4, 4)),
    ("waveform", 500): ("86.9 0.1", "86.1 0.2", "82.7 0.6", "82.9 1.0", (1, 4, 4, 4, 4)),
    ("checkerboard", 100): ("99.5 0.1", "98.2 0.3", "83.6 1.0", "83.9 1.1", (32,) * 5),
    ("checkerboard", 500): ("99.8 0.0", "99.0 0.2", "90.3 0.4", "90.9 0.5", (64, 64, 8, 32, 32)),
}
# Chosen by looking at the printed figures, and how many settings were tried: preparations and
# widths on usps, three widths for projection on waveform; on the checkerboard widths from 4 to 128,
# of which one serves all rows of 100 vectors
TRIED = {"usps": 9, ("waveform", "project", 100): 3}
TRIED |= {("checkerboard", row, 100): 6 for row in (*STRATEGIES, "Projectron++")}
TRIED |= {("checkerboard", row, 500): 6 for row in ("project", "random", "smallest")}
TRIED["checkerboard", "Projectron++", 500] = 6
# (data, budget): Projectron++ as printed; then the width, and the threshold that gives about
# `budget` vectors
PRINTED_PROJECTRON = {
    ("usps", 100): ("81.1 3.2", 1, 0.6551),
    ("usps", 500): ("92.0 0.5", 2, 0.55),
    ("letter", 100): ("46.3 1.8", 1, 0.9615),
    ("letter", 500): ("76.6 1.1", 4, 0.9849),
    ("waveform", 100): ("80.7 0.8", 1, 0.7741),
    ("waveform", 500): ("83.5 0.5", 1, 0.506),
    ("checkerboard", 100): ("96.9 0.4", 32, 0.65),
    ("checkerboard", 500): ("98.2 0.3", 16, 1.5e-7),
}
# Without a budget: the printed figure, the printed number of vectors, the width, and the number of
# examples (0: all)
WITHOUT_BUDGET = {
    "usps": ("94.2 0.3", "4.2K", 4, 0),
    "letter": ("95.7 0.1", "10K", 16, 0),
    "waveform": ("86.1 0.6", "53K", 4, 100_000),
    "checkerboard": ("99.2 0.1", "63K", 64, 200_000),
}
STOPPED = {"waveform": 140_000, "checkerboard": 540_000}  # where the paper stopped, after 3000 s

COVERTYPE = {  # budget: merge, project, random, smallest, Projectron++
    100: ("72.0 0.2", "70.1 0.6", "58.1 0.7", "57.5 2.4", "62.5 3.1"),
    500: ("76.8 0.2", "74.9 0.2", "61.6 0.7", "62.3 1.1", "67.3 2.9"),
}
N_FEATURES = {"usps": 256, "letter": 16, "waveform": 21, "checkerboard": 2}
PAPER_EXAMPLES = {"waveform": 2_000_000, "checkerboard": 10_000_000}  # examples in the paper
FEWER = {  # (data, strategy, budget): fewer examples, as the strategy is slow
    ("checkerboard", "merge", 500): 2_000_000,
    ("checkerboard", "merge, eq. (21)", 100): 2_000_000,
    ("checkerboard", "merge, eq. (21)", 500): 4_000_000,
    ("checkerboard", "project", 500): 2_000_000,
    ("waveform", "merge, eq. (21)", 100): 500_000,
    ("waveform", "merge, eq. (21)", 500): 600_000,
    ("waveform", "project", 500): 200_000,
}
PROJECTRON_EXAMPLES = 200_000
PROJECTRON_ORDERS = 5
CURVE_ORDERS = 5  # of the curves in the figures
TIMED_EXAMPLES = 500_000  # of the figure of times
HELD_OUT = {"letter": 4000, "waveform": 20_000, "checkerboard": 20_000}
BOARD = "checkerboard"
FILES = {"letter": "letter-raw"}  # the name of a dataset where it is another


def options(data: str, n: int, **more: bool) -> tuple[tuple[str, object], ...]:
    """Options of the protocol for a dataset."""
    if data in PAPER_EXAMPLES:
        rows: tuple[tuple[str, object], ...] = (("held_out", HELD_OUT[data]), ("n", n))
    elif data == "usps":
        rows = (("test", "usps.t"),)
    else:
        rows = (("also", "letter.t"), ("held_out", HELD_OUT[data]), ("standardise", True))
    return (*rows, *more.items())


def tasks(data: str, n: int, model: base.Classifier, orders: int, curve: bool) -> tuple[Task, ...]:
    """A task for each order. The tasks of the tables are those of the figures where these have
    some.
    """
    name = FILES.get(data, data)
    return repeated(orders, "holdout", name, model, options(data, n, curve=curve))


def model(data: str, budget: int | None, strategy: str | None, width: float) -> rb.BSGDClassifier:
    """Pegasos as in the paper."""
    kernel = rb.kernels.RBF(width / N_FEATURES[data])
    maintenance = None if strategy is None else STRATEGIES[strategy]
    return rb.BSGDClassifier(budget, kernel, maintenance, l2=1e-4, learning_rate=None)


def size(data: str, budget: int, strategy: str) -> int:
    """The number of examples: that of the paper, except for strategies that are slow; 0 where the
    data are files.
    """
    return FEWER.get((data, strategy, budget), PAPER_EXAMPLES.get(data, 0))


def table_1() -> Iterator[Cell]:
    """All cells of table 1."""
    for (data, budget), (*figures, widths) in PRINTED_TABLE_1.items():
        for strategy, figure, width in zip(STRATEGIES, ("", *figures), widths, strict=True):
            n = size(data, budget, strategy)
            made = model(data, budget, strategy, width)
            orders = REPEATS.get((data, strategy, budget), REPEATS.get(data, 5))
            runs = tasks(data, n, made, orders, curve=data in PAPER_EXAMPLES)
            tried = TRIED.get((data, strategy, budget), TRIED.get(data, 0))
            parts = [remark_of(data, n), f"width {width} / d" if tried else ""]
            remark = "; ".join(filter(None, parts))
            yield cell(strategy, data, budget, runs, figure, remark, tried=tried)
        yield projectron(data, budget)
    yield from unlimited()
    yield from covertype()


def cell(
    row: str,
    data: str,
    budget: int | None,
    tasks: tuple[Task, ...],
    figure: str,
    remark: str,
    vectors: str = "",
    tried: int = 0,
) -> Cell:
    """A cell with its note."""
    column = data if budget is None else f"{data}, B = {budget}"
    note = NOTES.get((row, data)) or NOTES.get(data, "")
    printed = Printed(*figure.split()) if figure else None
    return Cell(
        row,
        column,
        tasks,
        printed,
        100.0,
        note=note,
        remark=remark,
        settings=FITTED if tried else CHOSEN,
        vectors=vectors,
        tried=tried,
    )


def remark_of(data: str, n: int) -> str:
    """How our data differ from the paper's."""
    parts = ["a board of 4 x 4; the paper does not describe its board"] if data == BOARD else []
    if n < (all_examples := PAPER_EXAMPLES.get(data, 0)):
        parts.append(f"{n:,} examples; the paper has {all_examples:,}")
    return "; ".join(parts)


def projectron(data: str, budget: int) -> Cell:
    """Projectron++ without a budget, with a threshold that gives about `budget` vectors."""
    figure, width, threshold = PRINTED_PROJECTRON[data, budget]
    kernel = rb.kernels.RBF(width / N_FEATURES[data])
    made = rb.ProjectronPPClassifier(None, kernel, threshold, "class")
    runs = tasks(data, PROJECTRON_EXAMPLES, made, PROJECTRON_ORDERS, curve=False)
    parts = [remark_of(data, PROJECTRON_EXAMPLES), f"threshold {threshold:g}"]
    parts.append(f"width {width} / d" if data == BOARD else "")
    remark = "; ".join(filter(None, parts))
    tried = TRIED.get((data, "Projectron++", budget), TRIED.get(data, 0))
    return cell("Projectron++", data, budget, runs, figure, remark, str(budget), tried)


def unlimited() -> Iterator[Cell]:
    """Pegasos without a budget."""
    for data, (figure, vectors, width, n) in WITHOUT_BUDGET.items():
        orders = UNLIMITED_ORDERS.get(data, 5)
        runs = tasks(data, n, model(data, None, None, width), orders, curve=n > 0)
        remark = remark_of(data, PAPER_EXAMPLES.get(data, 0))
        if n:
            stopped = f"{n:,} examples; the paper stopped after 3000 s, with {STOPPED[data]:,}"
            remark = "; ".join(filter(None, [remark, stopped]))
        tried = TRIED.get(data, 0)
        yield cell("no budget", data, None, runs, figure, remark, vectors, tried)


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
EQ21_NOTE = (
    "in ours the new vector may lie beyond the heavier one, in the authors' later toolbox not; "
    "which of the two the "
    "paper's program does is not known"
)
NOTES: dict[object, str] = {
    "usps": "the width is one of the grid, or one half of it",
    "letter": "which rows the paper held out is not stated",
    (
        "smallest",
        "letter",
    ): "no reason found: in 30 orders it is 40.2 ± 2.3, and widths of 4, 8 and 64 give 38.0, 39.5 and 40.0",  # noqa: E501
    ("merge, eq. (21)", "letter"): EQ21_NOTE,
    "checkerboard": "how the paper draws its points and its board is not stated",
    ("merge, eq. (21)", "checkerboard"): "ours has fewer examples",
    "waveform": "how the paper drew and split its examples is not stated",
}

CURVE_NAMES = {
    "merge": "BSGD-merge",
    "project": "BSGD-project",
    "random": "BSGD-random",
    "smallest": "BSGD-remove",
}
UNLIMITED = "BSGD without budget"


def evolution(data: str) -> Iterator[Cell]:
    """Accuracy along the stream, each strategy at its own width, and without a budget: the runs of
    table 1.
    """
    table = {cell.row: cell for cell in table_1() if cell.column in (f"{data}, B = 100", data)}
    for strategy, name in [*CURVE_NAMES.items(), ("no budget", UNLIMITED)]:
        yield Cell(name, data, table[strategy].tasks, scale=100.0)


def times() -> Iterator[Cell]:
    """Time along the stream of Waveform, by both budgets, and without one."""
    runs: tuple[Task, ...]
    for budget, n in ((100, TIMED_EXAMPLES), (500, TIMED_EXAMPLES // 2)):
        widths = dict(zip(STRATEGIES, PRINTED_TABLE_1["waveform", budget][4], strict=True))
        for strategy in ("merge", "project"):
            made = model("waveform", budget, strategy, widths[strategy])
            runs = tasks("waveform", n, made, CURVE_ORDERS, curve=True)
            yield Cell(f"{CURVE_NAMES[strategy]}, B = {budget}", "waveform", runs, scale=100.0)
    made = model("waveform", None, None, WITHOUT_BUDGET["waveform"][2])
    runs = tasks("waveform", 20_000, made, CURVE_ORDERS, curve=True)
    yield Cell(UNLIMITED, "waveform", runs, scale=100.0)


# Claims of the figures


@claim(
    "merging and projection follow the model without a budget and in the end pass it; removal "
    "stays below."
)
def keeps_up(record: Record, store: Outcomes) -> Finding | None:
    """Whether merging and projection end above both removals, and no lower than without a
    budget.
    """
    ends = {cell.row: last(cell, store) for cell in record.cells}
    names = [*CURVE_NAMES.values(), UNLIMITED]
    values = [value for name in names if (value := ends.get(name)) is not None]
    if len(values) < len(names):
        return None
    merge, project, random, smallest, unlimited = values
    good = min(merge, project) > max(random, smallest) and merge >= unlimited - 0.005
    text = ", ".join(f"{name} {percent(v)}" for name, v in zip(names, values, strict=True))
    return Finding(good, f"at the end {text}")


def slope(record: Record, store: Outcomes, row: str) -> float | None:
    """The exponent p where seconds grow as examples^p, over the second half of the points."""
    for cells in by_column(record).values():
        for one in cells:
            line = spread(one, store, "seconds") if one.row == row else None
            if line is not None and len(line.x) > 2:
                half = slice(len(line.x) // 2, None)
                x, y = np.log(line.x[half]), np.log(np.maximum(line.y[half], 1e-4))
                return float(np.polyfit(x, y, 1)[0])
    return None


@claim("with a budget time grows no faster than linearly, without one faster.")
def linear_time(record: Record, store: Outcomes) -> Finding | None:
    """Whether seconds grow at most linearly with a budget, and faster without one."""
    rows = [cell.row for cell in record.cells]
    slopes = {row: found for row in rows if (found := slope(record, store, row)) is not None}
    if len(slopes) < 2 or UNLIMITED not in slopes:
        return None
    limited = max(value for row, value in slopes.items() if row != UNLIMITED)
    text = ", ".join(f"{row} {value:.2f}" for row, value in slopes.items())
    text = f"time grows with the power of the number of examples: {text}"
    return Finding(limited < 1.15 and slopes[UNLIMITED] > limited, text)


def records() -> list[Record]:
    """Table 1 and the three figures."""
    accuracies = curves("accuracy", log_x=True, percent=True)
    seconds = curves("seconds", "seconds", log_x=True, log_y=True)
    return [
        record("2010-table-1", table_1()),
        record("2010-figure-1", evolution("checkerboard"), accuracies, keeps_up),
        record("2010-figure-2", evolution("waveform"), accuracies, keeps_up),
        record("2010-figure-3", times(), seconds, linear_time),
    ]

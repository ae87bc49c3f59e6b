"""Z. Wang, K. Crammer, S. Vucetic. Multi-class Pegasos on a budget. ICML 2010.

Features have mean 0 and standard deviation 1, and l2 = 1e-4. A model learns for one pass, then its accuracy is measured
on held-out examples. For every cell the width is the best of {1, 4, 16, 64} / number of features, as in the paper,
chosen on two orders of the examples that the tables do not use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np

import river_budget as rb

from ..records.records import CHOSEN, Cell, Record, by_column, curves, last, spread
from ..records.tasks import Store, Task, repeated
from ..records.verdicts import Finding, Printed, claim, percent
from .described import record

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
STOPPED_AFTER = {"waveform": "140,000", "checkerboard": "540,000"}  # in the paper, by 3000 s
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


def options(data: str, n: int, **more: bool) -> tuple[tuple[str, object], ...]:
    """Options of the protocol for a dataset."""
    rows = ("n", n) if data in PAPER_EXAMPLES else ("standardise", True)
    return (("held_out", HELD_OUT[data]), rows, *more.items())


def model(data: str, budget: int | None, strategy: str | None, width: float) -> rb.BSGDClassifier:
    """Pegasos as in the paper."""
    kernel = rb.kernels.RBF(width / N_FEATURES[data])
    maintenance = None if strategy is None else STRATEGIES[strategy]
    return rb.BSGDClassifier(budget, kernel, maintenance, l2=1e-4, learning_rate=None)


def size(data: str, budget: int, strategy: str) -> int:
    """The number of examples: two million, except for strategies that are slow with a large budget."""
    if data not in PAPER_EXAMPLES:
        return 0
    slow = budget == 500 and strategy in ("merge, eq. (21)", "project")
    return SLOW_EXAMPLES if slow else MOST_EXAMPLES


def table_1() -> Iterator[Cell]:
    """All cells of table 1."""
    for (data, budget), (merge, project, random, smallest, widths) in PRINTED_TABLE_1.items():
        figures = ("", merge, project, random, smallest)
        for strategy, figure, width in zip(STRATEGIES, figures, widths, strict=True):
            n = size(data, budget, strategy)
            made = model(data, budget, strategy, width)
            unscored = {"scoring": False} if n == PAPER_EXAMPLES.get(data) else {}
            where = options(data, n, **unscored)
            tasks = repeated(REPEATS.get(data, 5), "holdout", data, made, where)
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
    all_examples = PAPER_EXAMPLES[data]
    return f"{n:,} examples; the paper has {all_examples:,}" if n < all_examples else ""


def projectron(data: str, budget: int) -> Cell:
    """Projectron++ without a budget, with a threshold that gives about `budget` vectors."""
    figure, width, threshold = PRINTED_PROJECTRON[data, budget]
    kernel = rb.kernels.RBF(width / N_FEATURES[data])
    made = rb.ProjectronPPClassifier(None, kernel, threshold)
    tasks = repeated(5, "holdout", data, made, options(data, SLOW_EXAMPLES, scoring=False))
    remark = "; ".join(filter(None, [remark_of(data, SLOW_EXAMPLES), f"threshold {threshold:g}"]))
    return cell("Projectron++", data, budget, tasks, figure, remark)


def unlimited() -> Iterator[Cell]:
    """Pegasos without a budget."""
    for data, (figure, width, n) in WITHOUT_BUDGET.items():
        made, where = model(data, None, None, width), options(data, n, scoring=False)
        tasks = repeated(2 if n else 5, "holdout", data, made, where)
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

CURVE_NAMES = {
    "merge": "BSGD-merge",
    "project": "BSGD-project",
    "random": "BSGD-random",
    "smallest": "BSGD-remove",
}
UNLIMITED = "BSGD without budget"


def evolution(
    data: str, budgets: Collection[int] = (100,), which: Iterable[str] = CURVE_NAMES
) -> Iterator[Cell]:
    """Accuracy and time along the stream, each strategy at its own width, and without a budget."""
    for budget in budgets:
        widths = dict(zip(STRATEGIES, PRINTED_TABLE_1[data, budget][4], strict=True))
        for strategy in which:
            n = SLOW_EXAMPLES if strategy == "project" and budget > 100 else CURVE_EXAMPLES
            made = model(data, budget, strategy, widths[strategy])
            where = options(data, n, curve=True, scoring=False)
            tasks = repeated(CURVE_ORDERS, "holdout", data, made, where)
            name = CURVE_NAMES[strategy] + (f", B = {budget}" if len(budgets) > 1 else "")
            yield Cell(name, data, tasks, scale=100.0)
    made = model(data, None, None, WITHOUT_BUDGET[data][1])
    where = options(data, UNLIMITED_EXAMPLES, curve=True, scoring=False)
    tasks = repeated(CURVE_ORDERS, "holdout", data, made, where)
    yield Cell(UNLIMITED, data, tasks, scale=100.0)


# Claims of the figures


@claim(
    "merging and projection follow the model without a budget and in the end pass it; removal stays below."
)
def keeps_up(record: Record, store: Store) -> Finding | None:
    """Whether merging and projection end above both removals, and no lower than without a budget."""
    ends = {cell.row: last(cell, store) for cell in record.cells}
    names = [*CURVE_NAMES.values(), UNLIMITED]
    values = [value for name in names if (value := ends.get(name)) is not None]
    if len(values) < len(names):
        return None
    merge, project, random, smallest, unlimited = values
    good = min(merge, project) > max(random, smallest) and merge >= unlimited - 0.005
    text = ", ".join(f"{name} {percent(v)}" for name, v in zip(names, values, strict=True))
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


@claim("with a budget time grows no faster than linearly, without one faster.")
def linear_time(record: Record, store: Store) -> Finding | None:
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
    times = curves("seconds", "seconds", log_x=True, log_y=True)
    both_budgets = evolution("waveform", (100, 500), ("merge", "project"))
    return [
        record("2010-table-1", table_1()),
        record("2010-figure-1", evolution("checkerboard"), accuracies, keeps_up),
        record("2010-figure-2", evolution("waveform"), accuracies, keeps_up),
        record("2010-figure-3", both_budgets, times, linear_time),
    ]

"""J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016.

Sigma = 8 for all. Mistakes, and squared errors, are counted before each example is learned, in 20 orders of the
examples: the authors' own for german, dna and housing. Their step for FOGD is ours / D, as they do not
divide the features by sqrt(D).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...common.stored import dataset, first_at_hand
from ...records.findings import Claim
from ...records.records import FITTED, STATED, Cell, Panels, Record, curves
from ...records.tasks import Task
from . import claims
from .models import binary, fitted_multiclass, fitted_regression, multiclass, regression
from .notes import EXACT_5, EXACT_7, EXACT_9, MATCH_5, MATCH_7, MATCH_9, NOTES, REMARKS, TABLE_NOTES
from .printed import printed_table
from .sweeps import budget_panels, sweep_of_budgets, sweep_of_features, sweep_panels
from .table_3 import table_3

# Where the mirror's name of a set is another one, or a part of it may be all that is at hand.
STORED_NAMES: dict[str, tuple[str, ...]] = {
    "mnist": ("mnist-test",),
    "kddcup99": ("kddcup99-10pct",),
    "poker": ("poker-test", "poker"),
    "w8a": ("w8a", "w8a-train"),
}

REPEATS = 20
LARGE_DATASET = 100_000  # examples, from which models without a budget run in fewer repeats
FEWER_REPEATS = 5
REPEATS_OF_HUGE = {"kddcup99-10pct": {"OGD": 1}}  # minutes for each order


def stored(column: str) -> str:
    """The dataset for a column of a table; of poker and w8a what the paper has, if it is there."""
    return first_at_hand(*STORED_NAMES.get(column, (column,)))


def repeats_of(row: str, data: str) -> int:
    """How many orders a row is measured on: fewer where an order takes minutes."""
    if data in REPEATS_OF_HUGE:
        return REPEATS_OF_HUGE[data].get(row, FEWER_REPEATS)
    return (
        FEWER_REPEATS
        if row in claims.UNLIMITED and dataset(data).n_samples > LARGE_DATASET
        else REPEATS
    )


def table(
    number: int,
    models: Callable[[str], dict[str, Any]],
    scale: float,
    possible: dict[str, set[tuple[str, str]]],
    fitted: Callable[[str, str], bool],
) -> Iterator[Cell]:
    """The cells of table 5, 7 or 9."""
    printed = printed_table(number)
    for column in dict.fromkeys(column for _, column in printed):
        data = stored(column)
        for row, model in models(data).items():
            place = (row, column)
            if place not in printed:
                continue
            repeats = repeats_of(row, data)
            tasks = tuple(Task("progressive", data, i, model) for i in range(repeats))
            remarks = [REMARKS.get(data, ""), REMARKS.get(place, "")]
            if repeats < REPEATS:
                remarks.append(f"{repeats} orders only" if repeats > 1 else "one order only")
            yield Cell(
                row,
                column,
                tasks,
                printed[place],
                scale,
                next((word for word, places in possible.items() if place in places), None),
                NOTES.get(place, ""),
                "; ".join(filter(None, remarks)),
                FITTED if fitted(row, data) else STATED,
            )


MISTAKES, SQUARED = ("mistakes, %", 2), ("squared error", 5)  # units, and digits to print


def table_record(number: int, title: str, unit: tuple[str, int], cells: Iterable[Cell]) -> Record:
    """One of the tables, with its note."""
    return Record(f"2016-table-{number}", title, *unit, tuple(cells), TABLE_NOTES[number])


def figure(
    number: int,
    title: str,
    unit: tuple[str, int],
    cells: Iterable[Cell],
    panels: Panels,
    claims: tuple[Claim, ...],
    note: str = "",
    columns: int | None = None,
) -> Record:
    """One of the figures. The printed figures belong to the tables."""
    plain = tuple(Cell(c.row, c.column, c.tasks, scale=c.scale) for c in cells)
    name = f"2016-figure-{number}"
    return Record(name, title, *unit, plain, note, panels, columns=columns, claims=claims)


def records() -> list[Record]:
    """The tables 3, 5, 7 and 9, and all figures."""
    exact_5, exact_7, exact_9 = (
        {"EXACT": exact, "MATCH": match}
        for exact, match in ((EXACT_5, MATCH_5), (EXACT_7, MATCH_7), (EXACT_9, MATCH_9))
    )
    five = [*table(5, binary, 100.0, exact_5, lambda row, data: False)]
    seven = [*table(7, multiclass, 100.0, exact_7, fitted_multiclass)]
    nine = [*table(9, regression, 1.0, exact_9, fitted_regression)]
    pass_title = "One pass over a training set, then its test set"
    return [
        table_record(3, pass_title, ("accuracy, %", 2), table_3()),
        table_record(5, "Binary classification", MISTAKES, five),
        table_record(7, "Classification into several classes", MISTAKES, seven),
        table_record(9, "Regression", SQUARED, nine),
        *figures(seven, nine),
    ]


def figures(seven: list[Cell], nine: list[Cell]) -> Iterator[Record]:
    """The figures, those along the stream from the cells of tables 7 and 9."""
    mistakes = curves("mistakes so far", log_y=True, percent=True)
    errors = curves("squared error so far", log_y=True)
    times = curves("seconds", "seconds", log_y=True)
    title = "Mistakes of the learners of table 7 along the stream"
    yield figure(1, title, MISTAKES, seven, mistakes, claims.MISTAKES)
    title = "Time that the learners of table 7 take"
    yield figure(2, title, MISTAKES, seven, times, claims.TIMES)
    title, cells = "The number of features of FOGD and NOGD, B = 200", sweep_of_features()
    yield figure(3, title, MISTAKES, cells, sweep_panels, claims.FEATURES, columns=2)
    note = "a9a stands in for KDDCUP08, which is published to registered users only."
    cells = sweep_of_budgets()
    yield figure(4, "The budget", MISTAKES, cells, budget_panels, claims.BUDGETS, note, 2)
    title = "Squared error of the learners of table 9 along the stream"
    yield figure(5, title, SQUARED, nine, errors, claims.LOSSES)
    title = "Time that the learners of table 9 take"
    yield figure(6, title, SQUARED, nine, times, claims.TIMES_OF_REGRESSION)

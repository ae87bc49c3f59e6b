"""The figures of the paper of 2016: along the stream, over the number of features and over budgets;
their claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from statistics import median
from typing import Any

import river_budget as rb
from river_budget.plots.panels import Line, Panel

from ..records.outcomes import Outcomes
from ..records.records import (
    Cell,
    Record,
    by_column,
    by_setting,
    curves,
    last,
    level,
    sweep,
)
from ..records.tasks import repeated
from ..records.verdicts import Claim, Finding, claim, percent, share_of
from .described import record
from .paper2016 import (
    FOGD_STEP,
    KERNEL,
    UNLIMITED,
    WIDTH,
    binary,
    fogd,
    multiclass,
    regression,
    table,
)

REPEATS = 5
FOGD_FACTORS = (0.5, 1, 2, 3, 4, 5, 6, 8, 10)
NOGD_FACTORS = (0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
FEATURE_DATA = ("dna", "satimage", "usps", "letter", "shuttle")
WITHOUT_BUDGET = ("Perceptron", "OGD")  # of figure 4, as levels
BUDGETS = (25, 50, 100, 200, 300, 400, 500)
BUDGET_DATA = {"codrna": binary, "a9a": binary, "usps": multiclass, "acoustic": multiclass}
BUDGET_ROWS = (
    "RBP",
    "Forgetron",
    "Projectron",
    "Projectron++",
    "BPA",
    "BOGD",
    "BOGD++",
    "FOGD",
    "NOGD",
)
OURS = ("FOGD", "NOGD")  # the learners that the paper proposes
SPANNING = ("Projectron", "Projectron++", *OURS)
QUANTITIES = {"values": "mistakes", "seconds": "seconds"}  # what to draw, and its label


# Figures 3 and 4: cells and panels


def sweep_of_features() -> Iterator[Cell]:
    """Cells of figure 3."""
    for data in FEATURE_DATA:
        step, kernel = FOGD_STEP.get(data, 0.005), WIDTH.get(data, KERNEL)
        models: dict[str, Any] = {
            f"FOGD {factor:g}": fogd(rb.FOGDClassifier, round(200 * factor), step, kernel)
            for factor in FOGD_FACTORS
        }
        models |= {
            f"NOGD {factor:g}": rb.NOGDClassifier(200, kernel, round(200 * factor), 0.5)
            for factor in NOGD_FACTORS
        }
        for row, model in models.items():
            yield Cell(row, data, repeated(REPEATS, "progressive", data, model), scale=100.0)


def panel(title: str, x_label: str, what: str, lines: list[Line]) -> Panel:
    """Mistakes, or seconds on a log axis, over a setting."""
    seconds = what == "seconds"
    return Panel(title, x_label, QUANTITIES[what], lines, False, seconds, not seconds)


def feature_panels(record: Record, store: Outcomes) -> Iterable[Panel]:
    """Mistakes and seconds over the number of features."""
    for row, symbol in (("FOGD", "D / B"), ("NOGD", "rank / B")):
        for what in QUANTITIES:
            lines = []
            for data, cells in by_column(record).items():
                starting = [cell for cell in cells if cell.row.startswith(row)]
                lines += sweep(data, starting, store, what)
            yield panel(row, symbol, what, lines)


def sweep_of_budgets() -> Iterator[Cell]:
    """Cells of figure 4; FOGD has four features for each vector, NOGD a fifth of the budget as
    rank.
    """
    for data, models in BUDGET_DATA.items():
        made = models(data)
        for row in WITHOUT_BUDGET:
            tasks = repeated(REPEATS, "progressive", data, made[row])
            yield Cell(f"{row} 0", data, tasks, scale=100.0)
        made["BOGD++"] = made["BOGD"].clone({"removal": "random", "sampling": "nonuniform"})
        step = made["FOGD"].learning_rate / made["FOGD"].n_components
        for row in BUDGET_ROWS:
            for budget in BUDGETS:
                n = 4 * budget
                size = {"n_components": n, "learning_rate": n * step}
                model = made[row].clone(size if row == "FOGD" else {"budget": budget})
                tasks = repeated(REPEATS, "progressive", data, model)
                yield Cell(f"{row} {budget}", data, tasks, scale=100.0)


def of_row(cells: Iterable[Cell], row: str) -> list[Cell]:
    """The cells of one learner with all its budgets."""
    return [cell for cell in cells if cell.row.split()[0] == row]


def budget_panels(record: Record, store: Outcomes) -> Iterable[Panel]:
    """Mistakes and seconds over budgets."""
    for data, cells in by_column(record).items():
        for what in QUANTITIES:
            lines = []
            for row in BUDGET_ROWS:
                lines += sweep(row, of_row(cells, row), store, what)
            for row in WITHOUT_BUDGET if lines else ():
                lines += level(sweep(row, of_row(cells, row), store, what), lines)
            if lines:
                yield panel(data, "budget (FOGD: 4 components for each)", what, lines)


# Claims


def ends(cells: Iterable[Cell], store: Outcomes, what: str = "values") -> dict[str, float]:
    """The last figure of every row that is measured."""
    found = {cell.row: last(cell, store, what) for cell in cells}
    return {row: value for row, value in found.items() if value is not None}


def best_of(
    rows: tuple[str, ...], what: str = "values", besides: tuple[str, ...] = ()
) -> Callable[[Record, Outcomes], Finding | None]:
    """Whether the smallest figure, but for some rows, is one of these rows', on more than half of
    the sets.
    """

    def check(record: Record, store: Outcomes) -> Finding | None:
        winners = {}
        for data, cells in by_column(record).items():
            found = {r: v for r, v in ends(cells, store, what).items() if r not in besides}
            if len(found) > 1:
                winners[data] = min(found, key=found.__getitem__)
        if not winners:
            return None
        others = [f"{row} on {data}" for data, row in winners.items() if row not in rows]
        good = len(winners) - len(others)
        best = f", and best is {', '.join(others)}" if others else ""
        return Finding(2 * good > len(winners), f"{good} of {len(winners)} sets{best}")

    return check


@claim("learners with a budget take less time than the Perceptron and OGD without one.")
def budget_saves_time(record: Record, store: Outcomes) -> Finding | None:
    """Whether the median learner with a budget takes less time than all without."""
    pairs = []
    for data, cells in by_column(record).items():
        found = ends(cells, store, "seconds")
        without = [v for row, v in found.items() if row in UNLIMITED]
        limited = [v for row, v in found.items() if row not in UNLIMITED]
        if without and limited:
            pairs.append((data, median(limited) < min(without)))
    return share_of(pairs, "the middle one of those with a budget is faster than all without on")


@claim(
    "more features mean fewer mistakes, and beyond 5 waves or a rank of .1 per vector of the "
    "budget little is "
    "gained."
)
def more_features_help(record: Record, store: Outcomes) -> Finding | None:
    """Whether mistakes fall up to the paper's threshold, and fall less beyond it."""
    pairs = []
    for data, cells in by_column(record).items():
        found = ends(cells, store)
        for row, first, knee, most in (("FOGD", 0.5, 5, 10), ("NOGD", 0.025, 0.1, 0.4)):
            values = [found.get(f"{row} {factor:g}") for factor in (first, knee, most)]
            if None not in values:
                low, middle, high = values
                early, late = low - middle, middle - high  # type: ignore[operator]
                pairs.append((f"{row} on {data}", early > 0.0 and late < early))
    return share_of(pairs)


@claim("a larger budget means fewer mistakes.")
def larger_budget_helps(record: Record, store: Outcomes) -> Finding | None:
    """Whether the largest budget makes fewer mistakes than the smallest."""
    pairs = []
    for data, rows in _curves(record, store).items():
        pairs += [(f"{row} on {data}", b[max(b)] < b[min(b)]) for row, b in rows.items()]
    return share_of(pairs)


@claim("the Projectrons, FOGD and NOGD are best for most cases, above all at small budgets.")
def spanning_wins_small(record: Record, store: Outcomes) -> Finding | None:
    """Whether at the smallest budget one of the Projectrons, FOGD or NOGD makes the fewest
    mistakes.
    """
    parts, good = [], True
    for data, rows in _curves(record, store).items():
        small = {row: b[min(b)] for row, b in rows.items()}
        winner = min(small, key=small.__getitem__)
        good &= winner in SPANNING
        parts.append(f"{winner} on {data} ({percent(small[winner])})")
    return Finding(good, "best at the smallest budget are " + ", ".join(parts)) if parts else None


def _curves(record: Record, store: Outcomes) -> dict[str, dict[str, dict[int, float]]]:
    """{data: {row: {budget: the figure}}}, for the datasets with measurements."""
    found = {}
    for data, cells in by_column(record).items():
        limited = [cell for cell in cells if cell.row.split()[0] not in WITHOUT_BUDGET]
        found[data] = by_setting(limited, store)
    return {data: rows for data, rows in found.items() if rows}


FEWEST_MISTAKES = Claim(
    "FOGD or NOGD makes the fewest mistakes of the learners with a budget on most sets.",
    best_of(OURS, besides=UNLIMITED),
)
LEAST_TIME = Claim(
    "FOGD takes the least time of all, as MATLAB spreads its matrix products over six cores (in "
    "C++ the paper "
    "finds NOGD faster).",
    best_of(("FOGD",), "seconds"),
)
SMALLEST_ERROR = Claim(
    "FOGD or NOGD has the smallest squared error of the learners with a budget on most sets.",
    best_of(OURS, besides=UNLIMITED),
)
LEAST_TIME_OF_REGRESSION = Claim("FOGD takes the least time of all.", best_of(("FOGD",), "seconds"))


def unprinted(cells: Iterable[Cell]) -> list[Cell]:
    """The cells that a table prints, for a figure: printed numbers are in the tables only."""
    return [Cell(c.row, c.column, c.tasks, scale=c.scale) for c in cells if c.printed]


def records() -> list[Record]:
    """The figures, those along the stream from the cells of tables 7 and 9."""
    seven = unprinted(table(7, multiclass, 100.0))
    nine = unprinted(table(9, regression, 1.0))
    mistakes = curves("mistakes so far", log_y=True, percent=True)
    errors = curves("squared error so far", log_y=True)
    times = curves("seconds", "seconds", log_y=True)
    features, budgets = sweep_of_features(), sweep_of_budgets()
    return [
        record("2016-figure-1", seven, mistakes, FEWEST_MISTAKES),
        record("2016-figure-2", seven, times, budget_saves_time, LEAST_TIME),
        record("2016-figure-3", features, feature_panels, more_features_help),
        record("2016-figure-4", budgets, budget_panels, larger_budget_helps, spanning_wins_small),
        record("2016-figure-5", nine, errors, SMALLEST_ERROR),
        record("2016-figure-6", nine, times, LEAST_TIME_OF_REGRESSION),
    ]

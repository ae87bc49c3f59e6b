"""Figures 3 and 4 of the paper of 2016: the effect of the number of features, and of the budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import river_budget as rb

from ....plots.panels import Line, Panel
from ...records.records import Cell, Record, by_column, sweep
from ...records.store import Store
from ...records.tasks import Task
from .models import FOGD_STEP, KERNEL, binary, fogd, multiclass

FOGD_FACTORS = (0.5, 1, 2, 3, 4, 5, 6, 8, 10)
NOGD_FACTORS = (0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
FEATURE_DATA = ("dna", "satimage", "usps", "letter", "shuttle")
FEATURE_REPEATS = 5
BUDGETS = (25, 50, 100, 200, 300, 400, 500)
BUDGET_DATA = {"codrna": binary, "a9a": binary, "usps": multiclass, "acoustic": multiclass}
BUDGET_ROWS = [
    "RBP",
    "Forgetron",
    "Projectron",
    "Projectron++",
    "BPA",
    "BOGD",
    "BOGD++",
    "FOGD",
    "NOGD",
]
BUDGET_REPEATS = 5


def sweep_of_features() -> Iterator[Cell]:
    """Cells of figure 3."""
    for data in FEATURE_DATA:
        step = FOGD_STEP.get(data, 0.005)
        settings: list[tuple[str, float, Any]] = [
            ("FOGD", factor, fogd(rb.FOGDClassifier, round(200 * factor), step))
            for factor in FOGD_FACTORS
        ]
        settings += [
            ("NOGD", factor, rb.NOGDClassifier(200, KERNEL, round(200 * factor), 0.5))
            for factor in NOGD_FACTORS
        ]
        for row, factor, model in settings:
            tasks = tuple(Task("progressive", data, i, model) for i in range(FEATURE_REPEATS))
            yield Cell(f"{row} {factor:g}", data, tasks, scale=100.0)


QUANTITIES = {"values": "mistakes", "seconds": "seconds"}  # what to draw, and its label


def panel(title: str, x_label: str, what: str, lines: list[Line]) -> Panel:
    """Mistakes, or seconds on a log axis, over a setting."""
    seconds = what == "seconds"
    return Panel(title, x_label, QUANTITIES[what], lines, False, seconds, not seconds)


def sweep_panels(record: Record, store: Store) -> Iterable[Panel]:
    """Mistakes and seconds over the number of features."""
    for row, symbol in (("FOGD", "D / B"), ("NOGD", "rank / B")):
        for what in QUANTITIES:
            lines = []
            for data, cells in by_column(record).items():
                of_row = [cell for cell in cells if cell.row.startswith(row)]
                lines += sweep(data, of_row, store, what)
            yield panel(row, symbol, what, lines)


def with_budget(model: Any, row: str, budget: int) -> Any:
    """The model with another budget; FOGD with four features for each vector."""
    if row == "FOGD":
        n = 4 * budget
        step = model.learning_rate / model.n_components
        return model.clone({"n_components": n, "learning_rate": n * step})
    return model.clone({"budget": budget})


def sweep_of_budgets() -> Iterator[Cell]:
    """Cells of figure 4."""
    for data, models in BUDGET_DATA.items():
        made = models(data)
        made["BOGD++"] = made["BOGD"].clone({"removal": "random", "sampling": "nonuniform"})
        for row in BUDGET_ROWS:
            for budget in BUDGETS:
                model = with_budget(made[row], row, budget)
                tasks = tuple(Task("progressive", data, i, model) for i in range(BUDGET_REPEATS))
                yield Cell(f"{row} {budget}", data, tasks, scale=100.0)


def budget_panels(record: Record, store: Store) -> Iterable[Panel]:
    """Mistakes and seconds over budgets."""
    for data, cells in by_column(record).items():
        for what in QUANTITIES:
            lines = []
            for row in BUDGET_ROWS:
                of_row = [cell for cell in cells if cell.row.split()[0] == row]
                lines += sweep(row, of_row, store, what)
            if lines:
                yield panel(data, "budget (FOGD: 4 components for each)", what, lines)

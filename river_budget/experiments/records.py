"""Records: the tables and figures of papers, cell by cell, and the measurements for each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..plots.panels import Line, Panel
from .store import Measurement, Store
from .tasks import Task, dataset
from .verdicts import Printed, verdict, worse

AUTHORS_REPEATS = 20


@dataclass(frozen=True)
class Cell:
    """One figure: an algorithm on a dataset, as the paper prints it, and the tasks that repeat it."""

    row: str
    column: str
    tasks: tuple[Task, ...]
    printed: Printed | None = None
    scale: float = 1.0  # printed figure = scale * the last value of a measurement
    expected: str | None = None  # the least verdict that is known to be possible
    note: str = ""  # about this cell: differences from the paper, and their known causes

    @property
    def data(self) -> str:
        return self.tasks[0].data if self.tasks else self.column


@dataclass(frozen=True)
class Row:
    """A cell with its measurements."""

    cell: Cell
    runs: int
    mean: float
    deviation: float
    seconds: float
    verdict: str

    @property
    def short(self) -> bool:
        """Whether the verdict is worse than is known to be possible."""
        return (
            self.cell.expected is not None
            and self.verdict != ""
            and worse(self.verdict, self.cell.expected)
        )


Panels = Callable[["Record", Store], Iterable[Panel]]


@dataclass(frozen=True)
class Record:
    """One table or figure."""

    name: str
    title: str
    unit: str
    digits: int
    cells: tuple[Cell, ...]
    note: str = ""
    panels: Panels | None = field(default=None, compare=False)
    alone: bool = False  # runs one task at a time, as it measures times

    @property
    def kind(self) -> str:
        return self.name.split("-")[1]

    def tasks(self) -> list[Task]:
        """All tasks, once each."""
        return list({task.key: task for cell in self.cells for task in cell.tasks}.values())

    def only(self, data: Iterable[str], repeats: int | None) -> Record:
        """The part that is about these datasets, with at most so many repeats."""
        wanted = set(data)
        cells = tuple(
            Cell(**(vars(cell) | {"tasks": cell.tasks[:repeats]}))
            for cell in self.cells
            if cell.data in wanted
        )
        return Record(**(vars(self) | {"cells": cells}))

    def datasets(self) -> list[str]:
        return list(dict.fromkeys(cell.data for cell in self.cells))


def measurements(cell: Cell, store: Store) -> list[Measurement]:
    """The measurements of its finished tasks."""
    found = (store.get(task.key) for task in cell.tasks)
    return [measurement for measurement in found if measurement is not None]


def is_exact(cell: Cell) -> bool:
    """Whether the cell holds no randomness: it has all of the authors' orders, and its model draws nothing."""
    chance = "seed" in cell.tasks[0].model._get_params() and not _draws_nothing(cell.tasks[0].model)
    return len(cell.tasks) == AUTHORS_REPEATS and not chance


def _draws_nothing(model: Any) -> bool:
    """Whether a model that takes a seed makes no use of it."""
    maintenance = type(getattr(model, "maintenance", None)).__name__
    takes_strategy = hasattr(model, "maintenance") and maintenance != "RemoveRandom"
    return takes_strategy or getattr(model, "removal", None) == "oldest"


def measured(cell: Cell, store: Store) -> Row | None:
    done = measurements(cell, store)
    if not done:
        return None
    values = cell.scale * np.array([measurement["values"][-1] for measurement in done])
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    seconds = float(np.median([measurement["seconds"][-1] for measurement in done]))
    word = ""
    if cell.printed is not None:
        exact = is_exact(cell) and len(done) == len(cell.tasks) and authors_orders(cell.data)
        word = verdict(float(values.mean()), deviation, len(values), cell.printed, exact)
    return Row(cell, len(done), float(values.mean()), deviation, seconds, word)


def authors_orders(data: str) -> bool:
    return bool(getattr(dataset(data), "authors_orders", False))


def rows(record: Record, store: Store) -> list[Row]:
    found = (measured(cell, store) for cell in record.cells)
    return [row for row in found if row is not None]


# Curves.


def spread(cell: Cell, store: Store, what: str = "values") -> Line | None:
    """The mean over the repeats at every point of the curve, with one standard deviation on both sides.

    Of times the median: other work on the machine makes some of them too long.
    """
    done = [o for o in measurements(cell, store) if isinstance(o[what], list)]
    if not done:
        return None
    table, x = np.array([measurement[what] for measurement in done]), done[0]["at"]
    if what == "seconds":
        return Line(cell.row, x, np.median(table, axis=0).tolist())
    mean = table.mean(axis=0)
    deviation = table.std(axis=0, ddof=1) if len(table) > 1 else np.zeros_like(mean)
    low, high = mean - deviation, mean + deviation
    return Line(cell.row, x, mean.tolist(), low.tolist(), high.tolist())


def by_column(record: Record) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in record.cells:
        groups.setdefault(cell.column, []).append(cell)
    return groups


def curves(
    y_label: str,
    what: str = "values",
    *,
    log_x: bool = False,
    log_y: bool = False,
    percent: bool = False,
) -> Panels:
    """One panel for every dataset, one curve for every algorithm."""

    def panels(record: Record, store: Store) -> Iterable[Panel]:
        for column, cells in by_column(record).items():
            lines = [line for cell in cells if (line := spread(cell, store, what)) is not None]
            if lines:
                yield Panel(column, "examples", y_label, lines, log_x, log_y, percent)

    return panels


def last(cell: Cell, store: Store, what: str) -> float | None:
    """The mean of the last values of the repeats, or of their seconds."""
    done = measurements(cell, store)
    return float(np.mean([measurement[what][-1] for measurement in done])) if done else None


def sweep(
    name: str,
    cells: Iterable[Cell],
    store: Store,
    x_of: Callable[[Cell], float],
    y_of: Callable[[Cell, Store], float | None],
    shape: str = "line",
) -> list[Line]:
    """A line through the finished ones of cells that differ in one setting, x. No line if none is finished."""
    found = [(x_of(cell), y_of(cell, store)) for cell in cells]
    points = [(x, y) for x, y in found if y is not None]
    return (
        [Line(name, [x for x, _ in points], [y for _, y in points], shape=shape)] if points else []
    )


def last_value(cell: Cell, store: Store) -> float | None:
    return last(cell, store, "values")


def last_seconds(cell: Cell, store: Store) -> float | None:
    return last(cell, store, "seconds")

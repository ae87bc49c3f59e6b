"""Records: the tables and figures of papers, cell by cell, and the measurements for each cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from river_budget.plots.panels import Line, Panel

from .outcomes import Outcomes
from .stored import dataset
from .tasks import Measurement, Task
from .verdicts import ORDER, OTHER, Claim, Measured, Printed, undecided, verdict

AUTHORS_REPEATS = 20

# Where the parameters of a cell come from.
STATED = "paper"  # the paper states them, or the programs that its authors published
CHOSEN = "ours"  # we chose them, on data or orders that the table does not use
FITTED = "fitted"  # we chose one of them so that it gives the printed figure
SETTINGS = {
    STATED: "stated in the paper, in its list of values, or in the programs that its authors published",  # noqa: E501
    CHOSEN: "chosen by us, on data or orders that the table does not use",
    FITTED: "at least one of them was chosen as it gives the printed figure, so the verdict says the less. Behind it "  # noqa: E501
    "stands how many settings were tried, where that was counted. Where validation chooses "
    "another, its figure and "
    "verdict stand under `beside`",
}
NOT_YET = "not measured yet"


@dataclass(frozen=True)
class Cell:
    """One figure: an algorithm on a dataset, as the paper prints it, and the tasks that repeat
    it.
    """

    row: str
    column: str
    tasks: tuple[Task, ...]
    printed: Printed | None = None
    scale: float = 1.0  # printed figure = scale * the last value of a measurement
    expected: str | None = None  # the least verdict that is known to be possible
    note: str = ""  # the known causes of a difference, printed if there is one
    remark: str = ""  # what differs from the paper, always printed
    other: str = (
        ""  # how and why our data are not the paper's, always printed; then there is no verdict
    )
    settings: str = STATED  # where the parameters come from
    missing: str = ""  # the reason if we have no figure
    # whose figure and verdict stand beside: what validation chooses where other parameters fit the
    # printed figure better, or another form of the algorithm; and in words what it is
    beside: tuple[Task, ...] = ()
    beside_is: str = ""
    vectors: str = ""  # the printed number of support vectors
    tried: int = 0  # of a fitted cell: how many settings were looked at; 0: not counted

    @property
    def data(self) -> str:
        """The dataset of the cell's tasks; none if it has no tasks."""
        return self.tasks[0].data if self.tasks else ""


@dataclass(frozen=True)
class Row:
    """A cell with its measurements. Without any, `runs` is 0 and the figures are NaN."""

    cell: Cell
    runs: int
    mean: float
    deviation: float
    seconds: float
    verdict: str
    by_rule: str = (
        ""  # the verdict that the figures alone would give, where `verdict` is OTHER or ONE RUN
    )
    beside: Measured | None = None  # the figure of `cell.beside`
    beside_verdict: str = ""
    vectors: float = math.nan  # the mean number of support vectors

    @property
    def short(self) -> bool:
        """Whether the verdict is worse than is known to be possible."""
        if self.cell.expected is None or self.verdict not in ORDER:
            return False
        return ORDER.index(self.verdict) > ORDER.index(self.cell.expected)


Panels = Callable[["Record", Outcomes], Iterable[Panel]]


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
    columns: int | None = None  # panels side by side
    claims: tuple[Claim, ...] = field(default=(), compare=False)  # what the paper's figure shows

    @property
    def kind(self) -> str:
        """ "table" or "figure"."""
        return "table" if self.panels is None else "figure"

    @property
    def paper(self) -> str:
        """The year of the paper."""
        return self.name[:4]

    def tasks(self) -> list[Task]:
        """All tasks, once each."""
        tasks = (task for cell in self.cells for task in (*cell.tasks, *cell.beside))
        return list({task.key: task for task in tasks}.values())

    def only(self, data: Iterable[str], repeats: int | None) -> Record:
        """The part of the record on these datasets, with at most `repeats` repeats."""
        wanted = set(data)
        return self._with(cell for cell in self.cells if cell.data in wanted).at_most(repeats)

    def at_most(self, repeats: int | None) -> Record:
        """The record with at most `repeats` repeats."""
        return self._with(
            replace(cell, tasks=cell.tasks[:repeats], beside=cell.beside[:repeats])
            for cell in self.cells
        )

    def available(self, ready: Callable[[Task], bool]) -> Record:
        """The record where a cell without available data has a note instead of tasks."""
        return self._with(
            cell
            if all(map(ready, cell.tasks[:1]))
            else replace(cell, tasks=(), beside=(), missing=f"{cell.data} is not at hand")
            for cell in self.cells
        )

    def _with(self, cells: Iterable[Cell]) -> Record:
        """The same record with other cells."""
        return replace(self, cells=tuple(cells))

    def datasets(self) -> list[str]:
        """The datasets that tasks need."""
        return list(dict.fromkeys(cell.data for cell in self.cells if cell.tasks))


def measurements(cell: Cell, store: Outcomes) -> list[Measurement]:
    """The measurements of a cell's finished tasks."""
    return finished(cell.tasks, store)


def finished(tasks: Iterable[Task], store: Outcomes) -> list[Measurement]:
    """The measurements of those of the tasks that are finished."""
    found = (store.get(task.key) for task in tasks)
    return [measurement for measurement in found if measurement is not None]


def mean_of(done: list[Measurement], scale: float) -> Measured:
    """Mean and deviation of the last values of several runs."""
    values = scale * np.array([measurement["values"][-1] for measurement in done])
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return Measured(float(values.mean()), deviation, len(values))


def is_exact(cell: Cell) -> bool:
    """Whether the cell holds no randomness: it has all of the authors' orders, and its model draws
    nothing.
    """
    model = cell.tasks[0].model
    maintenance = type(getattr(model, "maintenance", None)).__name__
    takes_strategy = hasattr(model, "maintenance") and maintenance != "RemoveRandom"
    seed_matters = not takes_strategy and getattr(model, "removal", None) != "oldest"
    chance = "seed" in model._get_params() and seed_matters
    return len(cell.tasks) == AUTHORS_REPEATS and not chance


def measured(cell: Cell, store: Outcomes, unit: str) -> Row:
    """A cell with its mean, deviation, fewest seconds and verdict."""
    done = measurements(cell, store)
    if not done:
        return Row(cell, 0, math.nan, math.nan, math.nan, "")
    ours = mean_of(done, cell.scale)
    seconds = min(finals(cell, store, "seconds"))  # other work on the machine can only add
    word = instead = ""
    if cell.printed is not None:
        own_orders = getattr(dataset(cell.data), "authors_orders", False)
        exact = is_exact(cell) and len(done) == len(cell.tasks) and bool(own_orders)
        word = verdict(ours, cell.printed, unit, exact)
        instead = undecided(ours, cell.printed, unit, cell.other)
    vectors = float(np.mean([float(run.get("support") or math.nan) for run in done]))
    words = (instead, word) if instead else (word, "")
    row = Row(cell, ours.runs, ours.mean, ours.deviation, seconds, *words, vectors=vectors)
    if cell.printed is None or not (others := finished(cell.beside, store)):
        return row
    other = mean_of(others, cell.scale)
    word = OTHER if cell.other else verdict(other, cell.printed, unit, False)
    return replace(row, beside=other, beside_verdict=word)


def rows(record: Record, store: Outcomes) -> list[Row]:
    """A row for every cell that is measured or that the paper prints."""
    found = (measured(cell, store, record.unit) for cell in record.cells)
    return [row for row in found if row.runs or row.cell.printed is not None]


# Curves.


def spread(cell: Cell, store: Outcomes, what: str = "values") -> Line | None:
    """A line with the spread of the repeats at every point of the curve."""
    done = [o for o in measurements(cell, store) if isinstance(o[what], list)]
    if not done:
        return None
    return spread_line(cell.row, done[0]["at"], [measurement[what] for measurement in done], what)


def spread_line(name: str, x: Any, runs: Any, what: str = "values") -> Line:
    """A line through the points x, from several runs."""
    return Line(name, x, *(values.tolist() for values in _with_spread(runs, what)))


def _with_spread(runs: Any, what: str) -> tuple[Any, Any, Any]:
    """(y, low, high) over several runs: the mean, and one standard deviation on both sides.

    For seconds: the least, and the median as upper limit, as other work on the machine makes some
    longer.
    """
    table = np.array(runs)
    if what == "seconds":
        least = table.min(axis=0)
        return least, least, np.median(table, axis=0)
    mean = table.mean(axis=0)
    deviation = table.std(axis=0, ddof=1) if len(table) > 1 else np.zeros_like(mean)
    return mean, mean - deviation, mean + deviation


def by_column(record: Record) -> dict[str, list[Cell]]:
    """The cells of every column."""
    groups: dict[str, list[Cell]] = {}
    for cell in record.cells:
        groups.setdefault(cell.column, []).append(cell)
    return groups


def curves(y_label: str, what: str = "values", **axes: bool) -> Panels:
    """One panel for every dataset, one curve for every algorithm; `axes` as in `Panel`."""

    def panels(record: Record, store: Outcomes) -> Iterable[Panel]:
        for column, cells in by_column(record).items():
            lines = [line for cell in cells if (line := spread(cell, store, what)) is not None]
            if lines:
                yield Panel(column, "examples", y_label, lines, **axes)

    return panels


def finals(cell: Cell, store: Outcomes, what: str = "values") -> list[float]:
    """The last value, or the seconds, of every finished run."""
    return [float(measurement[what][-1]) for measurement in measurements(cell, store)]


def last(cell: Cell, store: Outcomes, what: str = "values") -> float | None:
    """The mean of the last values of the repeats; for seconds the least."""
    done = finals(cell, store, what)
    if not done:
        return None
    return min(done) if what == "seconds" else float(np.mean(done))


def setting(cell: Cell) -> float:
    """The setting of a cell in a sweep: the end of its row's name."""
    return float(cell.row.split()[-1])


def by_setting(cells: Iterable[Cell], store: Outcomes) -> dict[str, dict[int, float]]:
    """{algorithm: {setting: last value}} of the measured cells."""
    found: dict[str, dict[int, float]] = {}
    for cell in cells:
        value = last(cell, store)
        if value is not None:
            found.setdefault(cell.row.split()[0], {})[int(setting(cell))] = value
    return found


def sweep(
    name: str,
    cells: Iterable[Cell],
    store: Outcomes,
    what: str = "values",
    *,
    x_of: Callable[[Cell], float] = setting,
    y_of: Callable[[Cell, Outcomes, str], list[float]] = finals,
) -> list[Line]:
    """A line through cells that differ in one setting, x; none if no cell is finished."""
    found = [(x_of(cell), y_of(cell, store, what)) for cell in cells]
    points = [(x, *map(float, _with_spread(y, what))) for x, y in found if y]
    if not points:
        return []
    x, y, low, high = map(list, zip(*points, strict=True))
    return [Line(name, x, y, low, high)]


def level(found: Iterable[Line], others: Sequence[Line]) -> list[Line]:
    """A line through one point, which has no setting, as a level below or above these."""
    places = [place for line in others for place in line.x]
    ends = [min(places, default=0.0), max(places, default=1.0)]
    return [
        Line(one.name, ends, [*one.y] * 2, [*(one.low or one.y)] * 2, [*(one.high or one.y)] * 2)
        for one in found
    ]

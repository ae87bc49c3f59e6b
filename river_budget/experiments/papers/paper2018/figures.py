"""The panels of the figures of the paper of 2018, their claims, and how to check these on our measurements."""

from __future__ import annotations

from collections.abc import Iterable

from ....plots.panels import Line, Panel
from ...records.findings import Claim, Finding, percent, share_of
from ...records.records import Cell, Record, by_column, finals, last, measurements, sweep
from ...records.store import Store

LIBSVM = "LIBSVM"


def place(cell: Cell) -> tuple[int, int]:
    """(M, B) of a cell."""
    arity, budget = cell.row.split()
    return int(arity[2:]), int(budget[2:])


def shares_of_merging(cell: Cell, store: Store, what: str = "seconds") -> list[float]:
    """The share of a pass that is spent on keeping the budget, for every run.

    That is the time by which learning exceeds scoring the same examples. Of several scoring times the least counts,
    as other work on the machine can only add to them.
    """
    done = measurements(cell, store)
    if not done:
        return []
    scoring = min(measurement["scoring"] for measurement in done)
    seconds = [measurement["seconds"][-1] for measurement in done]
    return [max(0.0, spent - scoring) / spent for spent in seconds]


def arity_of(cell: Cell) -> float:
    """M: the number of vectors merged at once."""
    return place(cell)[0]


def budget_of(cell: Cell) -> float:
    """The budget."""
    return place(cell)[1]


def share_panels(record: Record, store: Store) -> Iterable[Panel]:
    """The share of time spent on merging, over M."""
    for data, cells in by_column(record).items():
        lines = []
        for budget in (100, 500):
            chosen = [cell for cell in cells if place(cell)[1] == budget]
            name = f"B = {budget}"
            lines += sweep(name, chosen, store, "seconds", x_of=arity_of, y_of=shares_of_merging)
        if lines:
            yield Panel(data, "M", "share of time spent on merging", lines, percent=True)


def by_arity(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Cells with a budget, grouped by M."""
    groups: dict[str, list[Cell]] = {}
    for cell in sorted(budgeted(cells), key=place):
        groups.setdefault(f"M = {place(cell)[0]}", []).append(cell)
    return groups


def budgeted(cells: Iterable[Cell]) -> list[Cell]:
    """Cells with a budget: all but LIBSVM."""
    return [cell for cell in cells if cell.row != LIBSVM]


def budget_panels(record: Record, store: Store) -> Iterable[Panel]:
    """Accuracy and seconds over budgets, a line for every M."""
    for data, cells in by_column(record).items():
        for what, label in (("values", "test accuracy"), ("seconds", "seconds")):
            lines = []
            for name, chosen in by_arity(cells).items():
                lines += sweep(name, chosen, store, what, x_of=budget_of)
            seconds = label == "seconds"
            if not seconds:
                full = [cell for cell in cells if cell.row == LIBSVM]
                lines += sweep(LIBSVM, full, store, x_of=lambda cell: 0.0, shape="level")
            if lines:
                yield Panel(data, "budget", label, lines, False, seconds, not seconds)


BUDGET_SYMBOLS = "o^DvP*X"  # one symbol for each budget

Trade = dict[tuple[int, int], tuple[float, float]]  # (M, B): seconds, accuracy


def standard_error(runs: list[float]) -> float:
    """The standard error of the mean of several runs."""
    return (_variance(runs) / len(runs)) ** 0.5 if runs else 0.0


def trades(cells: Iterable[Cell], store: Store) -> Trade:
    """Seconds and accuracy of every finished setting."""
    found = {}
    for cell in budgeted(cells):
        seconds, accuracy = last(cell, store, "seconds"), last(cell, store)
        if seconds is not None and accuracy is not None:
            found[place(cell)] = seconds, accuracy
    return found


def pareto(found: Trade) -> list[tuple[int, int]]:
    """The settings on the Pareto front of seconds and accuracy, the fastest first."""
    front: list[tuple[int, int]] = []
    for setting in sorted(found, key=lambda setting: (found[setting][0], -found[setting][1])):
        if not front or found[setting][1] > found[front[-1]][1]:
            front.append(setting)
    return front


def trade_off_panels(record: Record, store: Store) -> Iterable[Panel]:
    """A colour for every M, a symbol and a thin line for every budget, and the best trade-offs."""
    for data, cells in by_column(record).items():
        found = trades(cells, store)
        if not found:
            continue
        budgets = sorted({b for _, b in found})
        symbols = dict(zip(budgets, BUDGET_SYMBOLS, strict=False))
        lines = []
        for budget in budgets:
            points = [found[setting] for setting in sorted(found) if setting[1] == budget]
            x, y = zip(*points, strict=True)
            lines.append(Line(f"B = {budget}", x, y, marker=symbols[budget]))
        front = [found[setting] for setting in pareto(found)]
        x, y = zip(*front, strict=True)
        lines.append(Line("best trade-offs", x, y))
        errors = {place(cell): standard_error(finals(cell, store)) for cell in budgeted(cells)}
        for (arity, budget), (spent, accuracy) in sorted(found.items()):
            low, high = (accuracy + sign * errors[arity, budget] for sign in (-1.0, 1.0))
            name, symbol = f"M = {arity}", symbols[budget]
            point = Line(name, [spent], [accuracy], [low], [high], "points", symbol)
            lines.append(point)
        yield Panel(data, "seconds", "test accuracy", lines, log_x=True, percent=True)


# Claims of the figures


def share_falls(record: Record, store: Store) -> Finding | None:
    """Whether the share at M = 11 is below that at M = 2."""
    parts, good = [], True
    for data, cells in by_column(record).items():
        for budget in (100, 500):
            shares = {
                place(cell)[0]: min(values)
                for cell in cells
                if place(cell)[1] == budget and (values := shares_of_merging(cell, store))
            }
            if {2, 11} <= shares.keys():
                good &= shares[11] < shares[2]
                two, eleven = percent(shares[2], 0), percent(shares[11], 0)
                parts.append(f"{two} to {eleven} on {data} with B = {budget}")
    return Finding(good, "from M = 2 to M = 11 it goes from " + ", ".join(parts)) if parts else None


def faster(record: Record, store: Store) -> Finding | None:
    """Whether M = 5 is faster than M = 2 at every budget."""
    pairs, ratios = [], []
    for data, cells in by_column(record).items():
        found = trades(cells, store)
        for budget in sorted({b for _, b in found}):
            if (2, budget) in found and (5, budget) in found:
                ratio = found[2, budget][0] / found[5, budget][0]
                ratios.append(ratio)
                pairs.append((f"{data} with B = {budget}", ratio > 1.0))
    finding = share_of(pairs)
    if finding is None:
        return None
    spread = f"M = 5 is {min(ratios):.1f} to {max(ratios):.1f} times as fast as M = 2"
    return Finding(finding.holds, f"{spread}, faster {finding.figures}")


def no_harm(record: Record, store: Store) -> Finding | None:
    """Whether a larger M loses accuracy beyond two standard errors of the difference, over all budgets of a set."""
    parts, good = [], True
    for data, cells in by_column(record).items():
        runs = {place(cell): finals(cell, store) for cell in budgeted(cells)}
        for arity in (3, 5):
            shared = [b for m, b in runs if m == arity and runs[m, b] and runs.get((2, b))]
            gains = [
                sum(runs[arity, b]) / len(runs[arity, b]) - sum(runs[2, b]) / len(runs[2, b])
                for b in shared
            ]
            if not gains:
                continue
            noise = [_variance(runs[m, b]) / len(runs[m, b]) for b in shared for m in (arity, 2)]
            error = 2.0 * sum(noise) ** 0.5 / len(shared)
            mean = sum(gains) / len(gains)
            good &= mean >= -error
            parts.append(
                f"{100 * mean:+.1f} ± {100 * error:.1f} points on {data} from M = 2 to {arity}"
            )
    text = ", ".join(parts) + " (mean over the budgets, two standard errors)"
    return Finding(good, text) if parts else None


def _variance(runs: list[float]) -> float:
    """The unbiased variance."""
    mean = sum(runs) / len(runs)
    return sum((run - mean) ** 2 for run in runs) / max(len(runs) - 1, 1)


def two_is_worst(record: Record, store: Store) -> Finding | None:
    """Whether no setting with M = 2 is on the Pareto front, except that with the largest budget."""
    for cells in by_column(record).values():
        found = trades(cells, store)
        pairs = {setting for setting in found if setting[0] == 2}
        if len(pairs) < 2 or len(found) == len(pairs):
            return None
        front = pareto(found)
        on = sorted(pairs & set(front))
        names = ", ".join(f"M = {m} with B = {b}" for m, b in front)
        text = f"{len(on)} of {len(pairs)} points of M = 2 are on the front, which is {names}"
        return Finding(on in ([], [(2, max(b for _, b in found))]), text)
    return None


SHARE = Claim(
    "the share of the time that merging takes falls as more are merged at once.", share_falls
)
FASTER = Claim("learning gets faster with M at every budget.", faster)
HARMLESS = Claim(
    "there is no systematic loss of accuracy from merging more than two at once.", no_harm
)
OFF_FRONT = Claim(
    "all trade-offs with M = 2 lie off the front of the best, but for the largest budget.",
    two_is_worst,
)

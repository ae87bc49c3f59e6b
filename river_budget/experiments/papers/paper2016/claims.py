"""The claims of the figures of the paper of 2016, and how to check them on our measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median

from ...records.findings import Claim, Finding, percent, share_of
from ...records.records import Cell, Record, by_column, by_setting, last
from ...records.store import Store

UNLIMITED = ("Perceptron", "OGD", "NORMA")
OURS = ("FOGD", "NOGD")  # the learners that the paper proposes
SPANNING = ("Projectron", "Projectron++", *OURS)


def ends(cells: Iterable[Cell], store: Store, what: str = "values") -> dict[str, float]:
    """The last figure of every row that is measured."""
    found = {cell.row: last(cell, store, what) for cell in cells}
    return {row: value for row, value in found.items() if value is not None}


def best_of(
    rows: tuple[str, ...], among: Callable[[str], bool], what: str = "values"
) -> Callable[[Record, Store], Finding | None]:
    """Whether the smallest figure is one of these rows', on more than half of the sets."""

    def check(record: Record, store: Store) -> Finding | None:
        winners = {}
        for data, cells in by_column(record).items():
            found = {row: v for row, v in ends(cells, store, what).items() if among(row)}
            if len(found) > 1:
                winners[data] = min(found, key=found.__getitem__)
        if not winners:
            return None
        others = [f"{row} on {data}" for data, row in winners.items() if row not in rows]
        good = len(winners) - len(others)
        text = f"{good} of {len(winners)} sets" + (
            f", and best is {', '.join(others)}" if others else ""
        )
        return Finding(2 * good > len(winners), text)

    return check


def budget_saves_time(record: Record, store: Store) -> Finding | None:
    """Whether the median learner with a budget takes less time than all without."""
    pairs = []
    for data, cells in by_column(record).items():
        found = ends(cells, store, "seconds")
        without = [v for row, v in found.items() if row in UNLIMITED]
        limited = [v for row, v in found.items() if row not in UNLIMITED]
        if without and limited:
            pairs.append((data, median(limited) < min(without)))
    return share_of(pairs, "the middle one of those with a budget is faster than all without on")


def more_features_help(record: Record, store: Store) -> Finding | None:
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


def larger_budget_helps(record: Record, store: Store) -> Finding | None:
    """Whether the largest budget makes fewer mistakes than the smallest."""
    pairs = []
    for data, rows in _curves(record, store).items():
        pairs += [(f"{row} on {data}", b[max(b)] < b[min(b)]) for row, b in rows.items()]
    return share_of(pairs)


def spanning_wins_small(record: Record, store: Store) -> Finding | None:
    """Whether at the smallest budget one of the Projectrons, FOGD or NOGD makes the fewest mistakes."""
    parts, good = [], True
    for data, rows in _curves(record, store).items():
        small = {row: b[min(b)] for row, b in rows.items()}
        winner = min(small, key=small.__getitem__)
        good &= winner in SPANNING
        parts.append(f"{winner} on {data} ({percent(small[winner])})")
    return Finding(good, "best at the smallest budget are " + ", ".join(parts)) if parts else None


def _curves(record: Record, store: Store) -> dict[str, dict[str, dict[int, float]]]:
    """{data: {row: {budget: the figure}}}, for the datasets with measurements."""
    found = {data: by_setting(cells, store) for data, cells in by_column(record).items()}
    return {data: rows for data, rows in found.items() if rows}


def limited(row: str) -> bool:
    """Whether a learner has a budget."""
    return row not in UNLIMITED


def everyone(row: str) -> bool:
    """All learners."""
    return True


MISTAKES = (
    Claim(
        "FOGD or NOGD makes the fewest mistakes of the learners with a budget on most sets.",
        best_of(OURS, limited),
    ),
)
TIMES = (
    Claim(
        "learners with a budget take less time than the Perceptron and OGD without one.",
        budget_saves_time,
    ),
    Claim(
        "FOGD takes the least time of all, as MATLAB spreads its matrix products over six cores (in C++ the paper "
        "finds NOGD faster).",
        best_of(("FOGD",), everyone, "seconds"),
    ),
)
FEATURES = (
    Claim(
        "more features mean fewer mistakes, and beyond 5 waves or a rank of .1 per vector of the budget little is "
        "gained.",
        more_features_help,
    ),
)
BUDGETS = (
    Claim("a larger budget means fewer mistakes.", larger_budget_helps),
    Claim(
        "the Projectrons, FOGD and NOGD are best for most cases, above all at small budgets.",
        spanning_wins_small,
    ),
)
LOSSES = (
    Claim(
        "FOGD or NOGD has the smallest squared error of the learners with a budget on most sets.",
        best_of(OURS, limited),
    ),
)
TIMES_OF_REGRESSION = (
    Claim("FOGD takes the least time of all.", best_of(("FOGD",), everyone, "seconds")),
)

"""Tables of the comparison with refitted batch learners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from river_budget._version import __version__
from river_budget.experiments.common.tables import Table, as_markdown

from .boosters import MADE, MIXTURES, ONE_BY_ONE, OURS, SINGLE_ROWS, USUAL, Settings
from .moa import Comparison
from .moa_report import by_learner, figure, of_kind, wide

CAPTION = {
    False: (
        "Wrong predictions in %, each made before the row is learned; bold is better than "
        "AutoKernel's."
    ),
    True: "The same for numbers: R2, after the first 50 rows.",
}
KINDS = {False: "labels", True: "numbers"}
NOTABLE = 0.95  # of AutoKernel's error: a lower one is listed as a loss


def summary(comparisons: Sequence[Comparison]) -> Table:
    """(header, lines), a line for every learner over all streams, with figures for labels and for
    numbers.
    """
    kinds = {one.regression: KINDS[one.regression] for one in comparisons}
    lines = []
    for learner, own in by_learner(comparisons).items():
        cells = []
        for regression in sorted(kinds):
            chosen = of_kind(own, regression)
            ratios = np.log([one.ratio for one in chosen])
            ahead = sum(one.ours < one.theirs for one in chosen)
            cells.append("" if learner == OURS else f"{ahead} of {len(chosen)}")
            cells += [f"{np.exp(middle(ratios)):.2f}" for middle in (np.mean, np.median)]
            cells.append(f"{median_time(chosen):.0f}")
        lines.append([learner, *cells])
    columns = [f"{OURS} ahead, {{}}", "error, mean", "median", "µs/row"]
    return ["learner", *(c.format(kinds[one]) for one in sorted(kinds) for c in columns)], lines


def median_time(own: Sequence[Comparison]) -> float:
    """The median of the microseconds for a row."""
    return float(np.median([one.their_microseconds for one in own]))


def losses(comparisons: Sequence[Comparison]) -> list[str]:
    """The streams where a single learner is clearly ahead of AutoKernel, the largest lead first,
    with both figures.
    """
    single = [one for one in comparisons if one.rival not in MIXTURES and one.ratio < NOTABLE]
    found = []
    for name in dict.fromkeys(one.data for one in sorted(single, key=lambda one: one.ratio)):
        best = min((one for one in single if one.data == name), key=lambda one: one.ratio)
        theirs, ours = (figure(error, best.regression) for error in (best.theirs, best.ours))
        kind = "R2 " if best.regression else ""
        found.append(f"{name} ({best.rival} {kind}{theirs}, {OURS} {ours})")
    return found


def made() -> str:
    """A sentence on how each learner is made."""
    return "; ".join(f"{name}: {MADE[name]}" for name in USUAL) + "."


def measured(
    comparisons: Sequence[Comparison],
    settings: Settings,
    machine: str,
    single: dict[str, float],
) -> str:
    """The measured part of the page that compares: settings, summaries, what is lost."""
    stopped = sum(one.cut for one in comparisons)
    most = "all rows" if settings.examples is None else f"at most {settings.examples:,} rows"
    times = ", ".join(f"{learner} {spent:.0f}" for learner, spent in single.items())
    parts = [
        f"Of each stream {most}, seed {settings.seed}; {stopped} of {len(comparisons)} runs were "
        "stopped after "
        f"{settings.limit:.0f} processor seconds. river_budget {__version__}, one thread, on "
        f"{machine}. Times are those of "
        "`predict_then_learn_many`, with a median over the streams. One row at a time, on "
        f"{SINGLE_ROWS:,} rows of {ONE_BY_ONE}, a row takes µs: {times}."
    ]
    ahead = "; ".join(losses(comparisons)) or "none"
    parts += [as_markdown(*summary(comparisons))]
    parts += [f"Streams where one of them, not mixed, is ahead by a twentieth and more: {ahead}."]
    return "\n\n".join(parts)


def streams(comparisons: Sequence[Comparison]) -> str:
    """The measured part of the page on boosters: how each learner is made, and all streams."""
    parts = [made()]
    for regression, word in ((False, "Wrong predictions in %"), (True, "R2")):
        others = [one for one in of_kind(comparisons, regression) if one.rival != OURS]
        if others:
            parts += [f"{word}:", as_markdown(*wide(others, regression))]
    return "\n\n".join(parts)

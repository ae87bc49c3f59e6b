"""Tables of the comparison with refitted batch learners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from river_budget._version import __version__
from river_budget.experiments.common.tables import Table, as_markdown

from .boosters import LEARNERS, MADE, MIXTURES, OURS, Settings
from .moa import Comparison
from .moa_report import by_learner, of_kind, wide

CAPTION = {
    False: "Wrong predictions in %, each made before the row is learned; bold is better than AutoKernel's.",
    True: "The same for numbers: R2, after the first 50 rows.",
}
NOTABLE = 0.95  # of AutoKernel's error: a lower one is listed as a loss


def summary(comparisons: Sequence[Comparison], regression: bool) -> Table:
    """(header, lines), a line for every learner over all streams of a kind."""
    lines = []
    for learner, own in by_learner(of_kind(comparisons, regression)).items():
        if learner == OURS:
            lines.append([learner, "", "1.00", "1.00", f"{median_time(own):.0f}"])
            continue
        ahead = sum(one.ours < one.theirs for one in own)
        ratios = np.array([one.ratio for one in own])
        figures = [f"{np.exp(np.log(ratios).mean()):.2f}", f"{np.median(ratios):.2f}"]
        lines.append([learner, f"{ahead} of {len(own)}", *figures, f"{median_time(own):.0f}"])
    kind = "R2" if regression else "errors"
    columns = [f"{OURS} ahead on", f"{kind}: geometric mean of multiples", "median", "µs/row"]
    return ["learner", *columns], lines


def median_time(own: Sequence[Comparison]) -> float:
    """The median of the microseconds for a row."""
    return float(np.median([one.their_microseconds for one in own]))


def losses(comparisons: Sequence[Comparison]) -> list[str]:
    """A line for each stream where a single learner is clearly ahead of AutoKernel, the largest lead first."""
    single = [one for one in comparisons if one.rival not in MIXTURES and one.ratio < NOTABLE]
    lines = []
    for name in dict.fromkeys(one.data for one in sorted(single, key=lambda one: one.ratio)):
        best = min((one for one in single if one.data == name), key=lambda one: one.theirs)
        theirs, ours = (
            f"R2 {1 - error:.3f}" if best.regression else f"{100 * error:.2f} %"
            for error in (best.theirs, best.ours)
        )
        lines.append(f"- {name}: {best.rival} {theirs}, {OURS} {ours}")
    return lines


def made() -> Table:
    """(header, lines): how each learner is made."""
    return ["learner", "made as"], [[name, MADE[name]] for name in LEARNERS]


def measured(comparisons: Sequence[Comparison], settings: Settings, machine: str) -> str:
    """The measured part of a page."""
    stopped = sum(one.cut for one in comparisons)
    most = "all rows" if settings.examples is None else f"at most {settings.examples:,} rows"
    parts = [
        f"Of each stream {most}, seed {settings.seed}; {stopped} of {len(comparisons)} runs were stopped after "
        f"{settings.limit:.0f} processor seconds. river_budget {__version__}, one thread, on {machine}."
    ]
    for regression, word in ((False, "Classification"), (True, "Regression")):
        if of_kind(comparisons, regression):
            n = len({one.data for one in of_kind(comparisons, regression)})
            parts += [f"{word}, {n} streams:", as_markdown(*summary(comparisons, regression))]
    parts += ["### Where one of them is ahead of AutoKernel by a twentieth and more"]
    parts += ["\n".join(losses(comparisons)) or "Nowhere.", "### Stream by stream"]
    for regression, word in ((False, "Wrong predictions in %"), (True, "R2")):
        if of_kind(comparisons, regression):
            others = [one for one in comparisons if one.rival != OURS]
            parts += [f"{word}:", as_markdown(*wide(others, regression))]
    return "\n\n".join([*parts, "### How they are made", as_markdown(*made())])

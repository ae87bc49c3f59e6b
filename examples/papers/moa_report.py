"""Tables and pictures of the comparison with MOA, and the measured part of a page of the guide."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence

import numpy as np

from river_budget.experiments.common.tables import Table, as_markdown
from river_budget.plots.costs import TIME, cost_panel
from river_budget.plots.panels import Line, Panel

from .moa import LEARNERS, Comparison

OURS = "AutoKernel"
CLOSEST = 6  # comparisons that a page lists if none is lost
TITLE = "AutoKernel beside MOA's learners, nothing set"
KINDS = {False: "wrong", True: "unexplained variance"}  # of errors, by Comparison.regression
MEASURED = "measured"  # the name of the part of a page
TIME_PICTURE, WINS_PICTURE = "moa_time.png", "moa_wins.png"
CAPTION = {
    False: (
        "Wrong predictions in % over the rows that both have seen, each made before the row is "
        "learned; a star marks the "
        "better of the two. Times are processor times of the learning thread. They exclude Java's "
        "compiler and garbage "
        "collector, and the conversion of rows for MOA."
    ),
    True: "The same for numbers: R2, after the first 50 rows.",
}


def of_kind(comparisons: Sequence[Comparison], regression: bool) -> list[Comparison]:
    """The comparisons in classification, or in regression."""
    return [one for one in comparisons if one.regression == regression]


def figure(error: float, regression: bool) -> str:
    """Format an error: percent of wrong predictions, or R2."""
    return f"{1.0 - error:.3f}" if regression else f"{100 * error:.2f}"


def rows(comparisons: Sequence[Comparison], regression: bool) -> Table:
    """(header, lines), a line for every stream and learner of MOA."""
    lines = []
    for one in of_kind(comparisons, regression):
        theirs, ours = figure(one.theirs, regression), figure(one.ours, regression)
        starred = [f"*{theirs}", ours] if one.theirs < one.ours else [theirs, f"*{ours}"]
        times = [f"{one.their_microseconds:.0f}", f"{one.our_microseconds:.0f}"]
        lines.append([one.data, one.rival, f"{one.rows} of {one.of}", *starred, *times])
    kind = "R2" if regression else "error %"
    columns = [f"{kind}, MOA's", f"{kind}, {OURS}", "µs/row, MOA's", f"µs/row, {OURS}"]
    return ["data", "learner", "rows", *columns], lines


def summary(comparisons: Sequence[Comparison]) -> Table:
    """(header, lines), a line for every learner of MOA, over all streams."""
    lines = []
    for rival, own in by_learner(comparisons).items():
        ahead = sum(one.ours < one.theirs for one in own)
        multiple, microseconds = overall(own)
        seen = sum(one.rows for one in own) / sum(one.of for one in own)
        figures = [f"{ahead} of {len(own)}", f"{multiple:.2f}", f"{microseconds:.0f}"]
        made = " behind ".join(f"`{step}`" for step in reversed(str(LEARNERS[rival]).split(" | ")))
        lines.append([rival, made, *figures, f"{100 * seen:.0f} %"])
    columns = [f"{OURS} ahead on", f"error, as a multiple of {OURS}'s", "µs/row", "rows seen"]
    return ["learner", "made as", *columns], lines


def overall(own: Sequence[Comparison]) -> tuple[float, float]:
    """(geometric mean of the ratios of errors, median of the microseconds per row)"""
    multiple = float(np.exp(np.mean(np.log([one.ratio for one in own]))))
    return multiple, float(np.median([one.their_microseconds for one in own]))


def wide(comparisons: Sequence[Comparison], regression: bool) -> Table:
    """(header, lines), a line for every stream and a column for every learner; bold is better than
    ours.
    """
    chosen = of_kind(comparisons, regression)
    rivals = list(dict.fromkeys(one.rival for one in chosen))
    lines = []
    for name in dict.fromkeys(one.data for one in chosen):
        own = {one.rival: one for one in chosen if one.data == name}
        first = next(iter(own.values()))
        cells = [_cell(own[rival]) if rival in own else "" for rival in rivals]
        lines.append([name, f"{first.of:,}", figure(first.whole, regression), *cells])
    return ["stream", "rows", OURS, *rivals], lines


def _cell(one: Comparison) -> str:
    """The result of a learner of MOA, and for a stopped run also ours on the same rows."""
    theirs = figure(one.theirs, one.regression)
    text = f"**{theirs}**" if one.theirs < one.ours else theirs
    return text + (f" ({figure(one.ours, one.regression)} at {one.rows:,})" if one.cut else "")


def losses(comparisons: Sequence[Comparison]) -> list[str]:
    """A sentence and a line for every comparison that AutoKernel loses, or for the closest ones if
    it loses none.
    """
    ordered = sorted(comparisons, key=lambda one: one.ratio)
    lost = [one for one in ordered if one.theirs < one.ours]
    if lost:
        first = f"{OURS} loses {len(lost)} of {len(ordered)} comparisons:"
    else:
        first = f"{OURS} loses none of {len(ordered)} comparisons. The closest:"
    return [first, "", *map(_line, lost or ordered[:CLOSEST])]


def _line(one: Comparison) -> str:
    """One comparison as an entry of a list."""
    theirs, ours = figure(one.theirs, one.regression), figure(one.ours, one.regression)
    kind = "R2" if one.regression else "%"
    return f"- {one.data}: {one.rival} {theirs}, {OURS} {ours} {kind}, after {one.rows:,} rows"


def by_learner(comparisons: Sequence[Comparison]) -> dict[str, list[Comparison]]:
    """The comparisons with each learner of MOA."""
    found: dict[str, list[Comparison]] = {}
    for one in comparisons:
        found.setdefault(one.rival, []).append(one)
    return found


def time_panels(comparisons: Sequence[Comparison]) -> list[Panel]:
    """Plot the error, divided by ours on the same rows, against time: a point for every learner."""
    found = []
    for regression, kind in KINDS.items():
        if chosen := of_kind(comparisons, regression):
            ours = float(np.median([one.our_microseconds for one in chosen]))
            points = {rival: overall(own) for rival, own in by_learner(chosen).items()}
            costs = {OURS: [ours]} | {rival: [spent] for rival, (_, spent) in points.items()}
            errors = {OURS: [1.0]} | {rival: [error] for rival, (error, _) in points.items()}
            title = f"mean over {len({one.data for one in chosen})} streams, predict + learn"
            label = f"{kind}, multiple of {OURS}'s"
            found.append(cost_panel(title, TIME, costs, label, errors, percent=False))
    return found


def wins_panels(comparisons: Sequence[Comparison]) -> list[Panel]:
    """Plot MOA's error against ours on the same rows: a point for every stream and learner."""
    found = []
    for regression, kind in KINDS.items():
        if chosen := of_kind(comparisons, regression):
            errors = [100 * min(error, 1.0) for one in chosen for error in (one.ours, one.theirs)]
            ends = [min(errors), max(errors)]
            lines = [Line(OURS, ends, ends)]
            for rival, own in by_learner(chosen).items():
                x, y = (
                    [100 * min(getattr(one, who), 1.0) for one in own] for who in ("ours", "theirs")
                )
                lines.append(Line(rival, x, y, points=True))
            title = f"{len({one.data for one in chosen})} streams: above the line {OURS} is ahead"
            labels = f"{OURS}, {kind}, %", f"MOA, {kind}, %"
            found.append(Panel(title, *labels, lines, log_x=True, log_y=True))
    return found


def measured(comparisons: Sequence[Comparison], how: Sequence[str]) -> str:
    """The measured part of a page: settings, summary, pictures, lost comparisons, and all
    streams.
    """
    parts = [" ".join(how), as_markdown(*summary(comparisons))]
    parts += [f"![error of {OURS} and MOA's learners against time]({TIME_PICTURE})"]
    parts += [f"![errors of MOA's learners against those of {OURS}]({WINS_PICTURE})"]
    parts += [f"## Where {OURS} loses", "\n".join(losses(comparisons)), "## Stream by stream"]
    for regression, word in ((False, "Wrong predictions in %"), (True, "R2")):
        table = wide(comparisons, regression)
        if table[1]:
            parts += [f"{word}:", as_markdown(*table)]
    return "\n\n".join(parts)


def fill(page: str | pathlib.Path, text: str, part: str = MEASURED) -> None:
    """Replace a part of a page, between two comments."""
    page = pathlib.Path(page)
    marks = re.compile(rf"(<!-- {part} -->\n).*?(<!-- end of {part} -->)", re.S)
    found = page.read_text()
    if not marks.search(found):
        raise LookupError(f"{page} has no line <!-- {part} --> before one <!-- end of {part} -->")
    page.write_text(marks.sub(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", found))

"""Time runs in turns, and compute the ratios of their times.

In every round all runs follow each other, so that a ratio compares times taken shortly after one another; the first
round does not count. Processor time is measured, which other programs change less than wall-clock time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Run = Callable[[], object]


@dataclass(frozen=True)
class Line:
    """Medians of microseconds per example, and of their ratios with the smallest and the largest."""

    what: str
    against: str
    data: str
    ours: float
    theirs: float
    ratio: float
    least: float
    most: float


@dataclass
class Comparison:
    """Runs over this number of examples, by name, and which of ours is compared with which of theirs."""

    data: str
    examples: int
    runs: dict[str, Run] = field(default_factory=dict)
    pairs: list[tuple[str, str]] = field(default_factory=list)

    def against(self, theirs: str, run: Run | None, ours: dict[str, Run]) -> Comparison:
        """Add a comparison of ours with theirs, if theirs is installed."""
        if run is not None:
            self.runs |= {theirs: run, **ours}
            self.pairs += [(name, theirs) for name in ours]
        return self

    def lines(self, repeats: int) -> list[Line]:
        """Time all runs in turns, and compare the pairs."""
        for run in self.runs.values():
            run()
        turns = [{name: seconds(run) for name, run in self.runs.items()} for _ in range(repeats)]
        found = []
        for ours, theirs in self.pairs:
            ratios = [turn[ours] / turn[theirs] for turn in turns]
            a, b = (
                1e6 * statistics.median(turn[name] for turn in turns) / self.examples
                for name in (ours, theirs)
            )
            ratio = statistics.median(ratios)
            found.append(Line(ours, theirs, self.data, a, b, ratio, min(ratios), max(ratios)))
        return found


def seconds(run: Run) -> float:
    """Seconds of the processor that a run takes; at least a nanosecond, as some clocks are coarse."""
    start = time.process_time()
    run()
    return max(time.process_time() - start, 1e-9)

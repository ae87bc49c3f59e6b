"""Time runs in turns, and compute the ratios of their times.

In every round all runs follow each other, so that a ratio compares times taken shortly after one
another; the first round does not count. Processor time is measured, which other programs change
less than wall-clock time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Run = Callable[[], object]


@dataclass
class Comparison:
    """Runs over this number of examples, by name, and which of ours is compared with which of
    theirs.
    """

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

    def rows(self, repeats: int) -> list[list[str]]:
        """Time all runs in turns: a row of the table for each pair, with medians, and the smallest
        and largest ratio.
        """
        for run in self.runs.values():
            run()
        turns = [{name: seconds(run) for name, run in self.runs.items()} for _ in range(repeats)]
        found = []
        for ours, theirs in self.pairs:
            ratios = [turn[ours] / turn[theirs] for turn in turns]
            times = [self._microseconds(turn[name] for turn in turns) for name in (ours, theirs)]
            spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
            found.append(
                [ours, self.data, *times, f"{statistics.median(ratios):.2f}", spread, theirs]
            )
        return found

    def _microseconds(self, spent: Iterable[float]) -> str:
        """The median of times per example, with two decimals, from ten on with one."""
        each = 1e6 * statistics.median(spent) / self.examples
        return f"{each:.2f}" if each < 10.0 else f"{each:.1f}"


def seconds(run: Run) -> float:
    """Seconds of the processor that a run takes; at least a nanosecond, as some clocks are
    coarse.
    """
    start = time.process_time()
    run()
    return max(time.process_time() - start, 1e-9)

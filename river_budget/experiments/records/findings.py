"""What a paper's figure shows, and whether ours shows it too: one sentence each, computed from the figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

HOLDS, FAILS, UNSEEN = WORDS = ("holds", "does not hold", "cannot be seen here")


class Finding(NamedTuple):
    """Whether a claim holds (None: what was measured does not tell), and the figures that say so."""

    holds: bool | None
    figures: str

    @property
    def word(self) -> str:
        """One of WORDS."""
        return UNSEEN if self.holds is None else HOLDS if self.holds else FAILS


@dataclass(frozen=True)
class Claim:
    """What the paper's figure shows, in a sentence, and how to see it in ours."""

    text: str
    check: Callable[[Any, Any], Finding | None]  # (record, store); None: nothing is measured

    def sentence(self, record: Any, store: Any) -> str:
        """The claim, whether ours shows it, and the figures."""
        finding = self.check(record, store)
        if finding is None:
            return f"In the paper: {self.text} That {UNSEEN}, as it is not measured."
        return f"In the paper: {self.text} {self._ours(finding)}: {finding.figures}."

    def _ours(self, finding: Finding) -> str:
        """The opening of the second sentence."""
        return f"That {UNSEEN}" if finding.holds is None else f"Here it {finding.word}"


def share_of(pairs: list[tuple[str, bool]], what: str = "in") -> Finding | None:
    """A finding about several cases: holds if it does in all."""
    if not pairs:
        return None
    bad = [name for name, good in pairs if not good]
    text = f"{what} {len(pairs) - len(bad)} of {len(pairs)} cases"
    return Finding(not bad, text + (f", not for {', '.join(bad)}" if bad else ""))


def percent(value: float, digits: int = 1) -> str:
    """A share as a percentage."""
    return f"{100.0 * value:.{digits}f} %"

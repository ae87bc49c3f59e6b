"""The claims of a paper's figures, and whether our measurements confirm them, as sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

HOLDS, FAILS, UNSEEN = WORDS = ("holds", "does not hold", "cannot be seen here")


class Finding(NamedTuple):
    """Whether a claim holds (None: the measurements do not tell), and the numbers that show it."""

    holds: bool | None
    figures: str

    @property
    def word(self) -> str:
        """One of WORDS."""
        return UNSEEN if self.holds is None else HOLDS if self.holds else FAILS


@dataclass(frozen=True)
class Claim:
    """A claim of a paper's figure in a sentence, and a function that checks it on our measurements."""

    text: str
    check: Callable[[Any, Any], Finding | None]  # of (record, store); None: nothing is measured yet

    def sentence(self, record: Any, store: Any) -> str:
        """The claim, whether our measurements confirm it, and the numbers."""
        finding = self.check(record, store)
        if finding is None:
            return f"In the paper: {self.text} That {UNSEEN}, as it is not measured."
        return f"In the paper: {self.text} {self._ours(finding)}: {finding.figures}."

    def _ours(self, finding: Finding) -> str:
        """The opening of the second sentence."""
        return f"That {UNSEEN}" if finding.holds is None else f"Here it {finding.word}"


def share_of(pairs: list[tuple[str, bool]], what: str = "in") -> Finding | None:
    """A finding about several cases: it holds if it holds in all of them."""
    if not pairs:
        return None
    bad = [name for name, good in pairs if not good]
    text = f"{what} {len(pairs) - len(bad)} of {len(pairs)} cases"
    return Finding(not bad, text + (f", not for {', '.join(bad)}" if bad else ""))


def percent(value: float, digits: int = 1) -> str:
    """A share as a percentage."""
    return f"{100.0 * value:.{digits}f} %"

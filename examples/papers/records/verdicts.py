"""How our figure compares with the printed one. Verdicts are computed from the figures by this
rule.

EXACT   no randomness, the authors' own data and orders: mean and standard deviation have the
        printed digits (some of the papers' tables are rounded, some cut off, so either will do)
MATCH   the means differ by no more than the printed standard deviation, and neither deviation is
        more than three times the other
CLOSE   the means differ by no more than twice that, or by no more than 2.5 % of the printed error:
        the mistakes, the squared error, or what an accuracy lacks to 100 %
NO      by more

Two words stand where figures cannot decide, and behind them, in brackets, the verdict that they
alone would give:

OTHER   our data are not the paper's, which can neither be had nor drawn again
ONE RUN the paper prints no deviation, so that its figure may be that of a single run; ours is larger than what MATCH
        allows, and the means differ by no more than two of ours

A printed deviation counts as half a unit of its figure's last digit at least, and where deviations
are compared as half a unit more or less. Where none is printed, .1 points take its place, or a
tenth of the printed error if that is less. Our own scatter never widens what EXACT, MATCH and CLOSE
allow. There it can only cost: where the standard error of our mean is larger than what MATCH
allows, MATCH becomes CLOSE. It does decide ONE RUN.
"""  # noqa: E501

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

EXACT, MATCH, CLOSE, NO = ORDER = ("EXACT", "MATCH", "CLOSE", "NO")
OTHER, ONE_RUN = NO_VERDICT = ("OTHER", "ONE RUN")
CLOSE_SHARE = 0.025  # of the printed error, for CLOSE
ASSUMED_POINTS = 0.1  # allowed where no deviation is printed ...
ASSUMED_SHARE = 0.1  # ... up to this share of the printed error
ALIKE = 3.0  # the largest ratio of two deviations, for MATCH
DEVIATIONS = 2.0  # of ours, by which means may differ for ONE RUN


@dataclass(frozen=True)
class Printed:
    """A figure as the paper prints it, to the last digit, its standard deviation, and the seconds
    it took.
    """

    mean: str
    deviation: str | None = None
    seconds: str | None = None

    def __str__(self) -> str:
        return self.mean if self.deviation is None else f"{self.mean} ± {self.deviation}"


@dataclass(frozen=True)
class Measured:
    """Our figure: mean and standard deviation of so many runs."""

    mean: float
    deviation: float
    runs: int

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / math.sqrt(self.runs) if self.runs > 1 else 0.0


def same_digits(value: float, printed: str) -> bool:
    """Whether a value, rounded or cut off, is the printed one."""
    exact = decimal.Decimal(repr(round(value, 12)))
    ways = (decimal.ROUND_HALF_EVEN, decimal.ROUND_HALF_UP, decimal.ROUND_DOWN)
    return any(exact.quantize(unit(printed), way) == decimal.Decimal(printed) for way in ways)


def unit(printed: str) -> decimal.Decimal:
    """One unit of the last digit."""
    return decimal.Decimal(1).scaleb(int(decimal.Decimal(printed).as_tuple().exponent))


def error_of(printed: Printed, measure: str) -> float:
    """The printed error: of an accuracy in per cent what it lacks to 100."""
    mean = float(printed.mean)
    return 100.0 - mean if "accuracy" in measure else abs(mean)


def allowance(printed: Printed, measure: str) -> float:
    """By how much the means of a MATCH may differ."""
    least = float(unit(printed.mean)) / 2.0
    if printed.deviation is not None:
        return max(float(printed.deviation), least)
    points = ASSUMED_POINTS if measure.endswith("%") else 0.0
    return max(min(points, ASSUMED_SHARE * error_of(printed, measure)), least)


def verdict(ours: Measured, printed: Printed, measure: str, exact: bool) -> str:
    """The verdict on our figure. `exact`: whether nothing is random, and data and orders are the
    authors' own.
    """
    if exact and printed.deviation is not None:
        pairs = (ours.mean, printed.mean), (ours.deviation, printed.deviation)
        if all(same_digits(value, digits) for value, digits in pairs):
            return EXACT
    difference = abs(ours.mean - float(printed.mean)) - 1e-9
    allowed = allowance(printed, measure)
    if difference <= allowed and ours.standard_error <= allowed and alike(ours, printed):
        return MATCH
    if difference <= max(2.0 * allowed, CLOSE_SHARE * error_of(printed, measure)):
        return CLOSE
    return NO


def alike(ours: Measured, printed: Printed) -> bool:
    """Whether neither deviation is more than three times the other; true if one of the two is not
    known.
    """
    if printed.deviation is None or ours.runs == 1:
        return True
    half = float(unit(printed.deviation)) / 2.0
    least, most = (float(printed.deviation) + sign * half for sign in (-1.0, 1.0))
    return ours.deviation <= ALIKE * most and least <= ALIKE * ours.deviation


def undecided(ours: Measured, printed: Printed, measure: str, other: str) -> str:
    """The word that stands where figures cannot decide; empty if they can. `other`: why the data
    are others.
    """
    if other:
        return OTHER
    difference = abs(ours.mean - float(printed.mean))
    wide = ours.deviation > allowance(printed, measure)
    near = difference <= DEVIATIONS * ours.deviation
    return ONE_RUN if printed.deviation is None and wide and near else ""


# The claims of figures

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
    """A claim of a paper's figure in a sentence, and a function that checks it on our
    measurements.
    """

    text: str
    check: Callable[[Any, Any], Finding | None]  # of (record, store); None: nothing is measured yet

    def sentence(self, record: Any, store: Any) -> str:
        """The claim, whether our measurements confirm it, and the numbers."""
        finding = self.check(record, store)
        if finding is None:
            return f"In the paper: {self.text} That {UNSEEN}, as it is not measured."
        opening = "That" if finding.holds is None else "Here it"
        return f"In the paper: {self.text} {opening} {finding.word}: {finding.figures}."


def claim(text: str) -> Callable[[Callable[[Any, Any], Finding | None]], Claim]:
    """A decorator that makes the claim with this text of a function that checks it."""
    return lambda check: Claim(text, check)


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

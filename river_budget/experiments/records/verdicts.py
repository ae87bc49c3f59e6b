"""How our figure compares with the printed one. Verdicts are computed from the figures by this rule.

EXACT   no randomness, the authors' own data and orders: mean and standard deviation have the printed digits
        (some of the papers' tables are rounded, some cut off, so either will do)
MATCH   the means differ by no more than the printed standard deviation
CLOSE   by no more than twice that, or by no more than 2.5 % of the printed error: the mistakes, the squared
        error, or what an accuracy lacks to 100 %
NO      by more

A printed deviation counts as half a unit of its figure's last digit at least. Where none is printed, .1 points
take its place, or a tenth of the printed error if that is less. Our own scatter never widens what is allowed. It
can only cost: where the standard error of our mean is larger than that, MATCH becomes CLOSE.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass

EXACT, MATCH, CLOSE, NO = ORDER = ("EXACT", "MATCH", "CLOSE", "NO")
CLOSE_SHARE = 0.025  # of the printed error, for CLOSE
ASSUMED_POINTS = 0.1  # allowed where no deviation is printed ...
ASSUMED_SHARE = 0.1  # ... up to this share of the printed error


@dataclass(frozen=True)
class Printed:
    """A figure as the paper prints it, to the last digit, its standard deviation, and the seconds it took."""

    mean: str
    deviation: str | None = None
    seconds: str | None = None


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
    """The verdict on our figure. `exact`: whether nothing is random, and data and orders are the authors' own."""
    if exact and printed.deviation is not None and _exact(ours, printed):
        return EXACT
    difference = abs(ours.mean - float(printed.mean)) - 1e-9
    allowed = allowance(printed, measure)
    if difference <= allowed:
        return MATCH if ours.standard_error <= allowed else CLOSE
    if difference <= max(2.0 * allowed, CLOSE_SHARE * error_of(printed, measure)):
        return CLOSE
    return NO


def _exact(ours: Measured, printed: Printed) -> bool:
    """Whether mean and deviation have the printed digits."""
    assert printed.deviation is not None
    return same_digits(ours.mean, printed.mean) and same_digits(ours.deviation, printed.deviation)


def worse(a: str, b: str) -> bool:
    """Whether verdict a is worse than b."""
    return ORDER.index(a) > ORDER.index(b)

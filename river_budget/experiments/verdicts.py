"""How our figure compares with the printed one. Verdicts are computed from the figures by this rule.

EXACT   no randomness, the authors' own data and orders: mean and standard deviation have the printed digits
        (some of the papers' tables are rounded, some cut off, so either will do)
MATCH   the means differ by no more than the printed standard deviation, or than two standard errors of ours
CLOSE   by no more than twice that, or by no more than 2.5 % of the printed figure
NO      by more
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass

EXACT, MATCH, CLOSE, NO = ORDER = ("EXACT", "MATCH", "CLOSE", "NO")
SHARE = 0.025


@dataclass(frozen=True)
class Printed:
    """A figure as the paper prints it, to the last digit, and its standard deviation."""

    mean: str
    deviation: str | None = None


def same_digits(value: float, printed: str) -> bool:
    """Whether a value, rounded or cut off, is the printed one."""
    unit = decimal.Decimal(printed).as_tuple().exponent
    step = decimal.Decimal(1).scaleb(int(unit))
    exact = decimal.Decimal(repr(round(value, 12)))
    ways = (decimal.ROUND_HALF_EVEN, decimal.ROUND_HALF_UP, decimal.ROUND_DOWN)
    return any(exact.quantize(step, way) == decimal.Decimal(printed) for way in ways)


def verdict(mean: float, deviation: float, runs: int, printed: Printed, exact: bool) -> str:
    """`exact`: whether nothing is random, and data and orders are the authors' own."""
    if exact and printed.deviation is not None and _exact(mean, deviation, printed):
        return EXACT
    difference = abs(mean - float(printed.mean))
    error = 2.0 * deviation / math.sqrt(runs) if runs > 1 else 0.0
    allowed = max(float(printed.deviation or 0.0), error)
    if difference <= allowed:
        return MATCH
    if difference <= max(2.0 * allowed, SHARE * abs(float(printed.mean))):
        return CLOSE
    return NO


def _exact(mean: float, deviation: float, printed: Printed) -> bool:
    assert printed.deviation is not None
    return same_digits(mean, printed.mean) and same_digits(deviation, printed.deviation)


def worse(a: str, b: str) -> bool:
    return ORDER.index(a) > ORDER.index(b)

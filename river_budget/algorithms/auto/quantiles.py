"""Quantiles between those that a model learns: a line from knot to knot, in units in which a normal
distribution is one.

A model learns the quantiles of its errors at eleven levels (core/passes/auto/tables.py). With those
of a normal distribution this line is straight, so nothing changes; beyond the outermost knots it
goes on as it ended.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import Any

import numpy as np

from ...core.passes.auto.tables import NORMAL_QUANTILES

NORMAL = NormalDist()


def at_levels(quantiles: Any, levels: Iterable[float]) -> list[float]:
    """The quantiles at these levels, from those that were learned."""
    return [on_line(normal_quantile(level), NORMAL_QUANTILES, quantiles)[0] for level in levels]


@functools.lru_cache(1024)
def normal_quantile(level: float) -> float:
    """Of the standard normal distribution."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level of a quantile must lie between 0 and 1, not {level!r}")
    return NORMAL.inv_cdf(level)


def on_line(at: float, xs: Any, ys: Any) -> tuple[float, float]:
    """(the height of the line through these points, its slope), with infinite slopes where two xs
    are equal.
    """
    right = min(max(int(np.searchsorted(xs, at, "right")), 1), len(xs) - 1)
    run, rise = float(xs[right] - xs[right - 1]), float(ys[right] - ys[right - 1])
    if run > 0.0:
        return float(ys[right - 1]) + (at - float(xs[right - 1])) * rise / run, rise / run
    beyond = at - float(xs[right])
    return float(ys[right]) if beyond == 0.0 else math.copysign(math.inf, beyond), math.inf

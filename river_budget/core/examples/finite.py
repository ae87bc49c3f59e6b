"""Checks that examples contain no NaN and no infinity."""

from __future__ import annotations

from ..block.limits import HUGE
from ..compiling.jit import REORDERED, compiled
from .present_features import values_of


@compiled(fastmath=REORDERED)
def is_finite(x):
    """Whether no value of x is NaN or infinite."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * 0.0
    return total == 0.0


@compiled(always_inlined=True)
def usable(x, norm):
    """Whether x is finite. A norm below HUGE proves it without a look at the features."""
    return norm < HUGE or is_finite(values_of(x))

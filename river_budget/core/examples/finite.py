"""Checks that examples contain no NaN and no infinity."""

from __future__ import annotations

from ..block.limits import HUGE
from ..compiling.array_views import address_of, f64_matrix
from ..compiling.jit import REORDERED, compiled
from .call import row_of
from .present_features import values_of


@compiled(fastmath=REORDERED)
def is_finite(x):
    """Whether no value of x is NaN or infinite."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * 0.0
    return total == 0.0


@compiled(called_from_python=True)
def first_bad_row(rows):
    """The index of the first row with a NaN or an infinity, or -1."""
    # a view, so that the functions below are compiled for one type of array only
    matrix = f64_matrix(address_of(rows), rows.shape[0], rows.shape[1])
    for t in range(rows.shape[0]):
        if not is_finite(row_of(matrix, t)):
            return t
    return -1


@compiled(always_inlined=True)
def usable(x, norm):
    """Whether x is finite. A norm below HUGE proves it without a look at the features."""
    return norm < HUGE or is_finite(values_of(x))

"""Statistics of features, and values scaled by them: a row of three numbers for each feature.

These are count, mean and variance, or count, least and largest value. The order of operations is that of River.
"""

from __future__ import annotations

import math

from ..compiling.array_views import f64_matrix, i64
from ..compiling.jit import compiled

CENTERING, STANDARDISING, RANGES = 0, 1, 2  # what a scaler does
NEVER = -1.0  # the count of a feature that was never learned

# The words of a call. At the address HEAD stand the address and the length of the statistics, which move when they grow.
# The first of the rows has the places of the values below it; each other row is an example.
SCALING, HEAD, ROWS, SIZE, WIDTH = range(5)


@compiled(always_inlined=True)
def unpack(call):
    """(scaling, statistics, rows)"""
    head = i64(call[HEAD], 2)
    rows = f64_matrix(call[ROWS], call[SIZE], call[WIDTH])
    return call[SCALING], f64_matrix(head[0], head[1], 3), rows


@compiled(called_from_python=True)
def learn(call):
    """Update the statistics by examples, one after the other."""
    scaling, statistics, rows = unpack(call)
    for t in range(1, rows.shape[0]):
        for i in range(rows.shape[1]):
            place, x = int(rows[0, i]), rows[t, i]
            count = max(statistics[place, 0], 0.0) + 1.0
            statistics[place, 0] = count
            first, second = statistics[place, 1], statistics[place, 2]
            if scaling == RANGES:  # comparisons leave NaN out
                if x < first:
                    statistics[place, 1] = x
                if x > second:
                    statistics[place, 2] = x
                continue
            mean = first + (x - first) / count
            statistics[place, 1] = mean
            if scaling == STANDARDISING:
                statistics[place, 2] = second + ((x - first) * (x - mean) - second) / count


@compiled(called_from_python=True)
def scale(call):
    """Replace the values of examples by scaled ones."""
    scaling, statistics, rows = unpack(call)
    for t in range(1, rows.shape[0]):
        for i in range(rows.shape[1]):
            place, x = int(rows[0, i]), rows[t, i]
            first, second = statistics[place, 1], statistics[place, 2]
            if scaling == RANGES:
                width = second - first
                rows[t, i] = 0.0 if width == 0.0 else (x - first) / width
            elif scaling == STANDARDISING:
                rows[t, i] = 0.0 if second <= 0.0 else (x - first) / math.sqrt(second)
            else:
                rows[t, i] = x - first

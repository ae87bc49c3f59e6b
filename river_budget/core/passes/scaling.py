"""Statistics of features, and values scaled by them: a column of three numbers for each feature.

`statistics` has rows of counts, means and variances, or of counts, least and largest values. The first row of `rows`
has the columns of the values below it; each other row is an example. The order of operations is that of River.
"""

from __future__ import annotations

import math

from ..compiling.jit import compiled

CENTERING, STANDARDISING, RANGES = 0, 1, 2  # what a scaler does
NEVER = -1.0  # the count of a feature that was never learned


@compiled(called_from_python=True)
def learn(statistics, rows, scaling):
    """Update the statistics by examples, one after the other."""
    for t in range(1, rows.shape[0]):
        for i in range(rows.shape[1]):
            place, x = int(rows[0, i]), rows[t, i]
            count = max(statistics[0, place], 0.0) + 1.0
            statistics[0, place] = count
            first, second = statistics[1, place], statistics[2, place]
            if scaling == RANGES:  # comparisons leave NaN out
                if x < first:
                    statistics[1, place] = x
                if x > second:
                    statistics[2, place] = x
                continue
            mean = first + (x - first) / count
            statistics[1, place] = mean
            if scaling == STANDARDISING:
                statistics[2, place] = second + ((x - first) * (x - mean) - second) / count


@compiled(called_from_python=True)
def scale(statistics, rows, scaling):
    """Replace the values of examples by scaled ones."""
    for t in range(1, rows.shape[0]):
        for i in range(rows.shape[1]):
            place, x = int(rows[0, i]), rows[t, i]
            first, second = statistics[1, place], statistics[2, place]
            if scaling == RANGES:
                width = second - first
                rows[t, i] = 0.0 if width == 0.0 else (x - first) / width
            elif scaling == STANDARDISING:
                rows[t, i] = 0.0 if second <= 0.0 else (x - first) / math.sqrt(second)
            else:
                rows[t, i] = x - first

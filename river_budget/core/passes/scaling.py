"""Statistics of features, and values scaled by them: a row of three numbers for each feature.

These are count, mean and variance, or count, least and largest value. The order of operations is
that of River.
"""

from __future__ import annotations

import math

from ..compiling import passes

CENTERING, STANDARDISING, RANGES = 0, 1, 2  # what a scaler does
NEVER = -1.0  # the count of a feature that was never learned


@passes
def learn(scaling, statistics, rows):
    """Update the statistics by examples, one after the other.

    statistics: (places, 3). rows: the first has the places of the values below it; each other row
    is an example.
    """
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


@passes
def scale(scaling, statistics, rows):
    """Replace the values of examples by scaled ones."""
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

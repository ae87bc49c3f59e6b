"""The nearest rows of the memory, and their votes.

Distances are compared with that of the farthest neighbour, so their scale does not matter.

    spec    here
    K       NEIGHBOURS; N  NEAR_PLACE, by distance; D_(k)  NEAR_DISTANCE
    beta    softness
    pi_i    NEAR_SHARE, in proportion to the weights of the rows too
"""

from __future__ import annotations

import numpy as np

from .auto_tables import (
    NEAR,
    NEAR_DISTANCE,
    NEAR_PLACE,
    NEAR_SHARE,
    NEIGHBOURS,
    SLOPE,
    WEIGHT,
    noted,
)
from .exponential import exp_of
from .jit import compiled
from .rows import row_of

SHARPEST, SOFTEST = 8.0, 3.0  # votes; the second trains the metric
GROUPS = 64  # of rows, whose minima bound the distance of the neighbours
NEAREST = 1e-9  # smallest scale of distances
OUTSIDE = 0.3  # weight of what is known without the neighbours


@compiled(hot=True)
def _bound(model, count):
    """A distance within which there are at least NEIGHBOURS rows: so many of the minima of 64 groups are."""
    far, minima, n = model.row, noted(model, SLOPE)[1], np.int64(0)
    for g in range(GROUPS):
        minima[g] = far[g]
    for start in range(GROUPS, count - GROUPS + 1, GROUPS):
        for g in range(GROUPS):
            minima[g] = min(minima[g], far[start + g])
    least = noted(model, NEAR)[NEAR_DISTANCE]
    for g in range(GROUPS):
        n = _enter(least, n, minima[g])
    return least[n - 1]


@compiled(hot=True)
def _enter(least, n, value):
    """Enter a value into the n least so far, which are sorted; returns how many they are now."""
    if n == NEIGHBOURS and value >= least[n - 1]:
        return n
    n = min(n + 1, NEIGHBOURS)
    i = n - 1
    while i > 0 and least[i - 1] > value:
        least[i] = least[i - 1]
        i -= 1
    least[i] = value
    return n


@compiled(hot=True)
def nearest(model):
    """The K nearest rows, by distance, of equals the first ones; returns how many there are."""
    near, far, count = noted(model, NEAR), model.row, model.head.count
    limit = _bound(model, count) if count > 2 * GROUPS else np.inf
    places, least, found = near[NEAR_PLACE].view(np.int64), near[NEAR_DISTANCE], 0
    candidates, n = model.scratch.view(np.int64), 0
    for j in range(count):
        candidates[n] = j
        n += far[j] <= limit
    for k in range(n):
        value = far[candidates[k]]
        if found < NEIGHBOURS or value < least[found - 1]:
            found = min(found + 1, NEIGHBOURS)
            i = found - 1
            while i > 0 and least[i - 1] > value:
                least[i] = least[i - 1]
                places[i] = places[i - 1]
                i -= 1
            least[i] = value
            places[i] = candidates[k]
    return found


@compiled(hot=True)
def share_out(model, n, softness):
    """pi_i ~ w_i exp(-beta (D_i - D_(1)) / D_(K)) over the n nearest; returns 1 / sum pi_i^2, their number
    if all had the same share."""
    near = noted(model, NEAR)
    places, least, shares = near[NEAR_PLACE].view(np.int64), near[NEAR_DISTANCE], near[NEAR_SHARE]
    weights = model.extras[WEIGHT]
    rate, total, squares = softness / max(least[n - 1], NEAREST), 0.0, 0.0
    for k in range(n):
        shares[k] = exp_of(-rate * (least[k] - least[0])) * weights[places[k]]
    for k in range(n):
        total += shares[k]
    for k in range(n):
        shares[k] /= total
        squares += shares[k] * shares[k]
    return 1.0 / squares


@compiled(hot=True)
def neighbour_slopes(model, own, row, n, factors):
    """slope[0, f] = sum_k factors_k (x_f - s_kf)^2: how far the n nearest lie apart along each feature."""
    near, slope = noted(model, NEAR), noted(model, SLOPE)[0]
    places = near[NEAR_PLACE].view(np.int64)
    for f in range(own.features):
        feature, x_f, total = row_of(model.vectors, f), row[1 + f], 0.0
        for k in range(n):
            apart = x_f - feature[places[k]]
            total += factors[k] * apart * apart
        slope[f] = total

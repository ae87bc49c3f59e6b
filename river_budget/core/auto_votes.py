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
from .calls import row_of
from .exponential import exp_of
from .jit import compiled

SHARPEST, SOFTEST = 8.0, 3.0  # votes; the second trains the metric
GROUP = 16  # rows: the minima of groups bound the distance of the neighbours
NEAREST = 1e-9  # smallest scale of distances
OUTSIDE = 0.3  # weight of what is known without the neighbours


@compiled(always_inlined=True)
def _nearest_of_groups(model, count):
    """Minima of groups of rows, which lie side by side, go to model.buffer; returns the largest of the K least of
    them: so many rows are no farther."""
    far, minima, groups = model.row.view(np.int64), model.buffer.view(np.int64), count // GROUP
    for g in range(groups):
        least = far[GROUP * g]
        for j in range(GROUP * g + 1, GROUP * (g + 1)):
            least = min(least, far[j])  # distances >= 0 are in the order of their bits
        minima[g] = least
    least, n = noted(model, NEAR)[NEAR_DISTANCE], 0
    for g in range(groups):
        value = model.buffer[g]
        if n < NEIGHBOURS or value < least[n - 1]:
            n = min(n + 1, NEIGHBOURS)
            i = n - 1
            while i > 0 and least[i - 1] > value:
                least[i] = least[i - 1]
                i -= 1
            least[i] = value
    return least[n - 1]


@compiled(always_inlined=True)
def nearest(model):
    """The K nearest rows, by distance, of equals the first ones; returns how many there are."""
    near, far, count = noted(model, NEAR), model.row, model.head.count
    places, least = near[NEAR_PLACE].view(np.int64), near[NEAR_DISTANCE]
    grouped, limit = 0, np.inf
    if count >= NEIGHBOURS * GROUP:
        grouped, limit = count // GROUP, _nearest_of_groups(model, count)
    found = np.int64(0)
    for g in range(grouped):
        if model.buffer[g] <= limit:
            found = _enter(far, places, least, found, GROUP * g, GROUP * (g + 1), limit)
    return _enter(far, places, least, found, GROUP * grouped, count, limit)


@compiled(always_inlined=True)
def _enter(far, places, least, found, start, stop, limit):
    """Enter the rows from `start` to `stop` into the nearest ones so far; returns how many they are then."""
    for j in range(start, stop):
        value = far[j]
        if value <= limit and (found < NEIGHBOURS or value < least[found - 1]):
            found = min(found + 1, NEIGHBOURS)
            i = found - 1
            while i > 0 and least[i - 1] > value:
                least[i] = least[i - 1]
                places[i] = places[i - 1]
                i -= 1
            least[i] = value
            places[i] = j
    return found


@compiled(always_inlined=True)
def share_out(model, n, softness):
    """pi_i ~ w_i exp(-beta (D_i - D_(1)) / D_(K)) over the n nearest; returns 1 / sum pi_i^2, their number
    if all had the same share."""
    near = noted(model, NEAR)
    places, least, shares = near[NEAR_PLACE].view(np.int64), near[NEAR_DISTANCE], near[NEAR_SHARE]
    weights = model.per_vector[WEIGHT]
    rate, total, squares = softness / max(least[n - 1], NEAREST), 0.0, 0.0
    for k in range(n):
        shares[k] = exp_of(-rate * (least[k] - least[0])) * weights[places[k]]
    for k in range(n):
        total += shares[k]
    for k in range(n):
        shares[k] /= total
        squares += shares[k] * shares[k]
    return 1.0 / squares


@compiled(always_inlined=True)
def neighbour_slopes(model, state, row, n, factors):
    """slope[0, f] = sum_k factors_k (x_f - s_kf)^2: how far the n nearest lie apart along each feature."""
    near, slope = noted(model, NEAR), noted(model, SLOPE)[0]
    places = near[NEAR_PLACE].view(np.int64)
    for f in range(state.features):
        feature, x_f, total = row_of(model.vectors, f), row[1 + f], 0.0
        for k in range(n):
            apart = x_f - feature[places[k]]
            total += factors[k] * apart * apart
        slope[f] = total

"""The nearest rows of the memory, and their votes.

Distances are compared with that of the farthest neighbour, so their scale does not matter. As they are at least 0,
they are in the order of their bits, and whole numbers are compared faster.

    spec    here
    K       NEIGHBOURS; N  NEAR_PLACE, by distance; D_(k)  NEAR_DISTANCE
    beta    softness
    pi_i    NEAR_SHARE, in proportion to the weights of the rows too
"""

from __future__ import annotations

import numpy as np

from ...compiling.array_views import as_i64, as_u64
from ...compiling.jit import compiled
from ...examples.call import row_of
from ...simd.exponential import exponentials
from ...simd.registers import LANES
from ...simd.vector_ops import number_below, write_up_to
from .tables import NEAR, NEAR_DISTANCE, NEAR_PLACE, NEAR_SHARE, NEIGHBOURS, SLOPE, WEIGHT, noted

SHARPEST, SOFTEST = 8.0, 3.0  # votes; the second trains the metric
CROWD = 64  # rows within a bound, which are sorted all at once; usually there are about 30
ROOM = CROWD + 8
FEW = 2 * ROOM  # rows that need no bound; so many numbers fit into the scratch space
FARTHEST, NOBODY = np.float64(np.inf).view(np.int64), np.int64(-1)
NEAREST = 1e-9  # smallest scale of distances
OUTSIDE = 0.3  # weight of what is known without the neighbours


@compiled
def nearest(model):
    """The K nearest rows, by distance, of equals the first ones; returns how many there are."""
    near, far, count = noted(model, NEAR), as_i64(model.row), model.head.count
    places, least = as_i64(near[NEAR_PLACE]), as_i64(near[NEAR_DISTANCE])
    if count < FEW:
        return _enter(far, places, least, count, FARTHEST)
    chosen, ordered = as_i64(model.buffer), as_i64(model.logs)
    limit = _bound(far, chosen, count)
    number = _choose(far, chosen, count, limit)
    if number > CROWD:
        return _enter(far, places, least, count, limit)
    _put_in_order(chosen, ordered, number)
    for k in range(NEIGHBOURS):
        least[k], places[k] = ordered[k], ordered[ROOM + k]
    return np.int64(NEIGHBOURS)


@compiled
def _bound(far, minima, count):
    """The K-th least of the minima of groups of rows: so many rows are no farther."""
    groups = count // 2  # of odd numbers the last one is left out
    for g in range(groups):
        minima[g] = min(far[g], far[groups + g])
    while groups >= 2 * NEIGHBOURS:
        groups //= 2
        for g in range(groups):
            minima[g] = min(minima[g], minima[groups + g])
    whole, limit = _filled_up(minima, groups), np.int64(0)
    for g in range(groups):
        nearer = number_below(minima, whole, minima[g])
        limit = max(limit, minima[g] if nearer < NEIGHBOURS else np.int64(0))
    return limit


@compiled
def _filled_up(values, n):
    """The number of values, which are filled up to whole vectors of eight: a loop's odd rest costs more than a round
    of it."""
    whole = (n + LANES - 1) // LANES * LANES
    for i in range(n, whole):
        values[i] = FARTHEST
    return whole


@compiled
def _choose(far, chosen, count, limit):
    """Rows up to the limit, their places ROOM behind their distances; returns how many there are, or more than
    CROWD."""
    places, n = chosen[ROOM:], np.int64(0)
    for first in range(0, count, LANES):
        n = write_up_to(far, first, limit, places, n)
        if n > CROWD:
            return n
    while places[n - 1] >= count:  # columns beyond the rows may hold anything
        n -= 1
    for i in range(n):
        chosen[i] = far[places[i]]
    return n


@compiled
def _put_in_order(chosen, ordered, number):
    """The rows that were chosen, each at its rank, equals one behind the other. All of them, as it could not be
    foretold which are among the K nearest."""
    whole = _filled_up(chosen, number)
    for k in range(whole):
        ordered[k] = NOBODY
    for i in range(number):
        rank = number_below(chosen, whole, chosen[i])
        while ordered[rank] == chosen[i]:
            rank += 1
        ordered[rank] = chosen[i]
        ordered[ROOM + rank] = chosen[ROOM + i]


@compiled
def _enter(far, places, least, count, limit):
    """The same, one after the other: for few rows, or where very many are equally far."""
    found = np.int64(0)
    for j in range(count):
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


@compiled
def share_out(model, n, softness):
    """pi_i ~ w_i exp(-beta (D_i - D_(1)) / D_(K)) over the n nearest; returns 1 / sum pi_i^2, their number
    if all had the same share."""
    near = noted(model, NEAR)
    places, least, shares = as_u64(near[NEAR_PLACE]), near[NEAR_DISTANCE], near[NEAR_SHARE]
    weights = model.per_vector[WEIGHT]
    rate, total, squares = softness / max(least[n - 1], NEAREST), 0.0, 0.0
    for k in range(n):
        shares[k] = -rate * (least[k] - least[0])
    exponentials(shares, shares, np.int64(shares.shape[0]))
    for k in range(n):
        shares[k] *= weights[places[k]]
    for k in range(n):
        total += shares[k]
        squares += shares[k] * shares[k]
    for k in range(n):
        shares[k] /= total
    return total * total / squares


@compiled
def neighbour_slopes(model, state, row, n, factors):
    """slope[0, f] = sum_k factors_k (x_f - s_kf)^2: how far the n nearest lie apart along each feature."""
    near, slope = noted(model, NEAR), noted(model, SLOPE)[0]
    places = as_u64(near[NEAR_PLACE])
    for f in range(state.features):
        feature, x_f, total = row_of(model.vectors, f), row[1 + f], 0.0
        for k in range(n):
            apart = x_f - feature[places[k]]
            total += factors[k] * apart * apart
        slope[f] = total

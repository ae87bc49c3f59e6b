"""The memory: recent rows, and older ones that were hard to predict; the nearest of them, and how neighbours vote.

    spec   here
    W1     recent_places(model), the first half of the budget; state.recent_place is written next
    W2     the rest of it; state.hard_place, counted from there, is written next
    N      near.place, by distance
    beta   softness
    pi_i   near.share, in proportion to the weights of the rows too

Both halves are ring buffers. A hard row that is overwritten in the recent half moves to the other half.
"""

from __future__ import annotations

import numpy as np

from ...compiling.array_views import as_u64
from ...compiling.jit import compiled
from ...simd.exponential import exponentials
from .tables import NEIGHBOURS, ROUNDED_NEIGHBOURS, desk_of, memory_of

LEAST_VOTE_WEIGHT = 1e-9  # the least weight of a row in votes
LEAST_VOTE_DISTANCE = 1e-9  # the least scale of distances, which is that of the farthest neighbour


# Storing rows


@compiled
def recent_places(model):
    """The number of places in the recent half."""
    return model.head.budget - model.head.budget // 2


# The nearest rows


@compiled
def insert(neighbours, n, distance, place):
    """Insert into the nearest so far, of which there are n, in their order; behind those that are equally near. Returns
    how many there are then."""
    distances, places = neighbours.distance, neighbours.place
    if n == NEIGHBOURS and not distance < distances[NEIGHBOURS - 1]:
        return n
    n = min(n + 1, NEIGHBOURS)
    i = n - 1
    while i > 0 and distances[i - 1] > distance:
        distances[i], places[i] = distances[i - 1], places[i - 1]
        i -= 1
    distances[i], places[i] = distance, place
    return n


@compiled
def find_nearest(model):
    """Write the K nearest rows of the memory, by distance; of equally near ones, the first. Returns how many."""
    near, memory, far, least = (
        desk_of(model).near,
        memory_of(model),
        model.row,
        desk_of(model).near.share,
    )
    n, count, limit = np.int64(0), model.head.count, np.inf
    if (
        count >= 2 * ROUNDED_NEIGHBOURS
    ):  # the K-th of the least distances of 24 groups: K rows do not exceed it
        for g in range(ROUNDED_NEIGHBOURS):
            least[g] = far[g]
        for first in range(ROUNDED_NEIGHBOURS, count - ROUNDED_NEIGHBOURS + 1, ROUNDED_NEIGHBOURS):
            for g in range(ROUNDED_NEIGHBOURS):
                distance = far[first + g]  # (not `min`, whose regard for NaN is no vector code)
                least[g] = distance if distance < least[g] else least[g]
        for g in range(1, ROUNDED_NEIGHBOURS):  # in order
            value, i = least[g], g
            while i > 0 and least[i - 1] > value:
                least[i] = least[i - 1]
                i -= 1
            least[i] = value
        limit = least[NEIGHBOURS - 1]
    for j in range(count):
        if far[j] <= limit:
            n = insert(near, n, far[j], np.uint64(j))
    places = as_u64(near.place)
    for k in range(n):
        near.target[k], near.weight[k] = (memory.target[places[k]], memory.weight[places[k]])
    return n


# Votes


@compiled
def weigh(neighbours, n, softness):
    """pi_i ~ w_i exp(-beta (D_i - D_(1)) / D_(K)) over the n nearest. Returns 1 / sum pi_i^2, the number of neighbours if
    all had the same share; 0 of none."""
    least, shares, weights = neighbours.distance, neighbours.share, neighbours.weight
    if n == 0:
        return 0.0
    rate, total, squares = softness / max(least[n - 1], LEAST_VOTE_DISTANCE), 0.0, 0.0
    for k in range(n):
        shares[k] = -rate * (least[k] - least[0])
    for k in range(n, ROUNDED_NEIGHBOURS):
        shares[k] = 0.0
    exponentials(shares, shares, np.int64(ROUNDED_NEIGHBOURS))
    for k in range(n):
        shares[k] *= weights[k]
    for k in range(n):
        total += shares[k]
        squares += shares[k] * shares[k]
    for k in range(n):
        shares[k] /= total
    return total * total / squares

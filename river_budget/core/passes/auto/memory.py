"""The memory: recent rows, and older ones that were hard to predict; the nearest of them, and how neighbours vote.

    spec   here
    W1     recent_places(model), the first half of the budget; state.recent_place is written next
    W2     the rest of it; state.hard_place, counted from there, is written next
    N      near.place, by distance; near.row is where the archive has them
    beta   softness
    pi_i   near.share, in proportion to the weights of the rows too

Both halves are ring buffers. A hard row that is overwritten in the recent half moves to the other half.
"""

from __future__ import annotations

import numpy as np

from ...block.limits import HUGE, padded_count
from ...compiling.array_views import as_u64
from ...compiling.jit import compiled
from ...simd.exponential import exp_of
from ...simd.vector_ops import dot
from .tables import (
    NEIGHBOURS,
    ROUNDED_NEIGHBOURS,
    desk_of,
    memory_of,
    room_of,
)

LEAST_VOTE_WEIGHT = 1e-9  # the least weight of a row in votes
LEAST_VOTE_DISTANCE = 1e-9  # the least scale of distances, which is that of the farthest neighbour


ROWS_OF_A_GROUP = 8  # each shows the least distance of its rows, to find a limit for the nearest
BISECTIONS = 8  # of the range of distances, to find this limit

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
def limit_of(distances, n):
    """A number that K of n distances do not exceed, nor many more, by bisection. (To sort them takes six times as long.)"""
    low = high = distances[0]
    for i in range(n):
        low = distances[i] if distances[i] < low else low
        high = distances[i] if distances[i] > high else high
    for _ in range(BISECTIONS):
        middle, number = 0.5 * (low + high), 0
        for i in range(n):
            number += distances[i] <= middle
        low, high = (low, middle) if number >= NEIGHBOURS else (middle, high)
    return high


@compiled
def find_nearest(model):
    """Write the K nearest rows of the memory, by distance; of equally near ones, the first. Returns how many.

    Only rows of groups that have one within the limit are looked at, and not by branches, which could not be foreseen."""
    near, memory, facts = desk_of(model).near, memory_of(model), room_of(model).archived
    far, least, places, count = model.row, model.logs, as_u64(model.logs), model.head.count
    groups, some, limit, n = padded_count(model) // ROWS_OF_A_GROUP, 0, HUGE, np.int64(0)
    for j in range(count, groups * ROWS_OF_A_GROUP):
        far[j] = np.inf
    for g in range(groups):  # (not `min`, whose regard for NaN is no vector code)
        low = far[g]
        for r in range(1, ROWS_OF_A_GROUP):
            low = far[g + r * groups] if far[g + r * groups] < low else low
        least[g] = low
    if groups >= NEIGHBOURS:
        limit = limit_of(least, groups)
    for g in range(groups):
        low = least[g]
        places[some] = g
        some += low <= limit
    for r in range(ROWS_OF_A_GROUP):
        found = groups
        for i in range(some):
            j = places[i] + np.uint64(r * groups)
            places[found] = j
            found += far[j] <= limit
        for i in range(groups, found):
            n = insert(near, n, far[places[i]], places[i])
    for k in range(n):
        row = np.uint64(memory.row[near.place[k]])
        near.row[k], near.target[k], near.weight[k] = row, facts.target[row], facts.weight[row]
    return n


# Votes


@compiled
def weigh(neighbours, n, softness):
    """pi_i ~ w_i exp(-beta (D_i - D_(1)) / D_(K)) over the n nearest, and 0 behind them. Returns 1 / sum pi_i^2, the number
    of neighbours if all had the same share; 0 of none."""
    least, shares, weights = neighbours.distance, neighbours.share, neighbours.weight
    if n == 0:
        return 0.0
    farthest = least[n - 1] if least[n - 1] > LEAST_VOTE_DISTANCE else LEAST_VOTE_DISTANCE
    rate = softness / farthest
    for k in range(n, ROUNDED_NEIGHBOURS):
        least[k], weights[k] = least[0], 0.0
    for k in range(ROUNDED_NEIGHBOURS):
        shares[k] = exp_of(-rate * (least[k] - least[0]))
    total = dot(shares, weights, ROUNDED_NEIGHBOURS)
    for k in range(ROUNDED_NEIGHBOURS):
        shares[k] *= weights[k]
    squares = dot(shares, shares, ROUNDED_NEIGHBOURS)
    for k in range(ROUNDED_NEIGHBOURS):
        shares[k] /= total
    return total * total / squares

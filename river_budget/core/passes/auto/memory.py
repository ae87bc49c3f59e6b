"""The memory: recent rows, and older ones that were hard to predict; the nearest of them, and how
neighbours vote (examples/auto_kernel.md, Memory).

    W1     recent_places, the first half of the budget; state.recent_place is written next
    W2     the rest of it; state.hard_place, counted from there, is written next
    N      near[PLACE], by distance; near[ROW] is where the archive has them
    beta   softness
    pi_i   near[SHARE], in proportion to the weights of the rows too

Both halves are ring buffers. A hard row that is overwritten in the recent half moves to the other
half.
"""

from __future__ import annotations

import numpy as np

from ...compiling import inner
from ...expansion.kernels import padded
from ...numerics import dot, exp_of, least_of
from .tables import (
    DISTANCE,
    NEIGHBOURS,
    PLACE,
    ROUNDED_NEIGHBOURS,
    ROW,
    SHARE,
    TARGET,
    W,
)

LEAST_VOTE_WEIGHT = 1e-9  # the least weight of a row in votes
LEAST_VOTE_DISTANCE = 1e-9  # the least scale of distances, which is that of the farthest neighbour
GROUP = 8  # rows that show their least distance, to find a limit for the nearest
BISECTIONS = 8  # of the range of distances, to find this limit
LARGEST_DISTANCE = 1e300  # of a row that there is


# The nearest rows


@inner
def insert_neighbour(neighbours, n, distance, place):
    """Insert into the nearest so far, of which there are n, in their order; behind those that are
    equally near. Returns how many there are then.
    """
    distances, places = neighbours[DISTANCE], neighbours[PLACE]
    if n == NEIGHBOURS and not distance < distances[NEIGHBOURS - 1]:
        return n
    n = min(n + 1, NEIGHBOURS)
    i = n - 1
    while i > 0 and distances[i - 1] > distance:
        distances[i], places[i] = distances[i - 1], places[i - 1]
        i -= 1
    distances[i], places[i] = distance, place
    return n


@inner
def find_nearest(far, count, least, places, near):
    """Write the K nearest rows of the memory, by distance; of equally near ones, the first. Returns
    how many.

    Only rows of groups that have one within a limit are looked at, and branch-free: the branches
    would mispredict. K groups are within the limit, and few more: it is found by bisection. (To
    sort them takes six times as long.) far: distances of all rows. Overwrites `least` and `places`,
    and `far` behind the last row.
    """
    groups, some = padded(count) // GROUP, 0
    for j in range(count, groups * GROUP):
        far[j] = np.inf
    for g in range(groups):  # `min` checks NaN and does not vectorise
        nearest = far[g]
        for r in range(1, GROUP):
            nearest = far[g + r * groups] if far[g + r * groups] < nearest else nearest
        least[g] = nearest
    low, high = least_of(least, groups), least[0]
    for g in range(groups):
        high = least[g] if least[g] > high else high
    steps = BISECTIONS if groups >= NEIGHBOURS else 0
    for _ in range(steps):
        middle, number = 0.5 * (low + high), 0
        for g in range(groups):
            number += least[g] <= middle
        low, high = (low, middle) if number >= NEIGHBOURS else (middle, high)
    limit = high if steps > 0 else LARGEST_DISTANCE
    for g in range(groups):
        places[some] = g
        some += least[g] <= limit
    n = np.int64(0)  # numba would compile `insert_neighbour` once more for the type of a literal
    for r in range(GROUP):
        found = groups
        for i in range(some):
            j = np.int64(places[i]) + r * groups
            places[found] = j
            found += far[j] <= limit
        for i in range(groups, found):
            n = insert_neighbour(near, n, far[np.int64(places[i])], places[i])
    return n


@inner
def note_facts(neighbours, k, row, facts):
    """Write what the archive knows of neighbour k, whose row there is known."""
    number = np.int64(row)
    neighbours[ROW, k] = row
    neighbours[TARGET, k], neighbours[W, k] = facts[TARGET, number], facts[W, number]


# Votes


@inner
def weigh(neighbours, n, softness):
    """pi_i ~ w_i exp(-beta (D_i - D_(1)) / D_(K)) over the n nearest, and 0 behind them. Returns 1
    / sum pi_i^2, the number of neighbours if all had the same share; 0 of none.
    """
    distances, shares, weights = neighbours[DISTANCE], neighbours[SHARE], neighbours[W]
    if n == 0:
        return 0.0
    farthest = distances[n - 1] if distances[n - 1] > LEAST_VOTE_DISTANCE else LEAST_VOTE_DISTANCE
    rate = softness / farthest
    for k in range(n, ROUNDED_NEIGHBOURS):
        distances[k], weights[k] = distances[0], 0.0
    for k in range(ROUNDED_NEIGHBOURS):
        shares[k] = exp_of(-rate * (distances[k] - distances[0]))
    total = dot(shares, weights, shares.shape[0])
    for k in range(ROUNDED_NEIGHBOURS):
        shares[k] *= weights[k]
    squares = dot(shares, shares, shares.shape[0])
    for k in range(ROUNDED_NEIGHBOURS):
        shares[k] /= total
    return total * total / squares

"""The memory: recent rows, and older ones that were hard to predict; the nearest of them, and their votes.

    spec   here
    W1     recent_places(model), the first half of the budget; state.recent_place is written next
    W2     the rest of it; state.hard_place, counted from there, is written next
    K      NEIGHBOURS; N  near.place, by distance; D_(k)  near.distance
    beta   softness
    pi_i   near.share, in proportion to the weights of the rows too

Both halves are ring buffers. A hard row that is overwritten in the recent half moves to the other half.

Distances are divided by that of the farthest neighbour, so their scale does not matter. As they are at least 0, they
are compared by their bits, as integers, which is faster.
"""

from __future__ import annotations

import numpy as np

from ...compiling.array_views import as_i64
from ...compiling.jit import compiled
from ...examples.call import row_of
from ...expansion.support import move
from ...simd.exponential import exponentials
from ...simd.vector_ops import LANES, write_ranks, write_up_to
from .tables import NEIGHBOURS, desk_of, found_of, memory_of

LEAST_VOTE_WEIGHT = 1e-9  # the least weight of a row in votes
SHARPEST, SOFTEST = 8.0, 3.0  # softness of both votes; the second one trains the metric
SORTED_AT_ONCE = 64  # at most so many rows within the bound are sorted; usually there are about 30
CHOSEN_ROOM = SORTED_AT_ONCE + 8
BOUND_PAYS = 2 * CHOSEN_ROOM  # rows from which on the bound saves time; scratch holds so many
NO_BOUND = np.float64(np.inf).view(np.int64)
LEAST_VOTE_DISTANCE = 1e-9  # the least scale of distances


# Storing rows


@compiled
def recent_places(model):
    """The number of places in the recent half."""
    return model.head.budget - model.head.budget // 2


@compiled
def free_place(model, state):
    """Free the place for the next row: moves a hard row from there to the other half. Returns the place."""
    place, recent, head = state.recent_place, recent_places(model), model.head
    hard = head.budget - recent
    if head.count >= recent and hard > 0 and memory_of(model).hard[place] != 0.0:
        target = recent + state.hard_place
        move(model, place, target)
        head.count = max(head.count, target + 1)
        state.hard_place = (state.hard_place + 1) % hard
    head.count = max(head.count, place + 1)
    state.recent_place = (place + 1) % recent
    return place


@compiled
def store_row(model, state, place, target, hard, weight, squared_error):
    """Write the scaled row to this place, with its target, weight and error, but not its coefficients."""
    scaled, memory = desk_of(model).scaled, memory_of(model)
    for f in range(state.features):
        model.vectors[f, place] = scaled[1 + f]
    memory.target[place] = target
    memory.hard[place] = 1.0 if hard else 0.0
    memory.weight[place] = max(weight, LEAST_VOTE_WEIGHT)
    memory.arrival[place] = state.rounds
    memory.squared_error[place] = squared_error


# Results of a prediction, which learning the same row next need not compute again. They stay on the desk, with the
# row and the number of rounds that the model had learned; for another row, or a model that has learned since, they are
# computed again. The desk lies in scratch space, not in the model: code that gives the space to another model clears
# `model.note` (model/calls/calls.py, core/examples/one_example.py).


@compiled
def is_predicted(model, state, x):
    """Whether the desk holds the results for this row and this state of the model."""
    if found_of(model).version != state.rounds + 1.0:
        return False
    raw, different = desk_of(model).raw, 0
    if x.shape[0] < state.features:  # another thread has added a feature
        return False
    for f in range(state.features):
        different += raw[f] != x[f]
    return different == 0


@compiled
def mark_predicted(model, state):
    """Record that the desk holds the results for this row."""
    found_of(model).version = state.rounds + 1.0


# The nearest rows


@compiled
def find_nearest(model):
    """Write the K nearest rows, by distance; of equally near ones, the first. Returns how many there are."""
    near, far, count = desk_of(model).near, as_i64(model.row), model.head.count
    places, least = as_i64(near.place), as_i64(near.distance)
    if count < BOUND_PAYS:
        return _insert_all(far, places, least, count, NO_BOUND)
    chosen, ordered = as_i64(model.buffer), as_i64(model.logs)
    limit = _bound(model, far, chosen, count)
    number = _choose(far, chosen, count, limit)
    if number > SORTED_AT_ONCE:
        return _insert_all(far, places, least, count, limit)
    _sort_chosen(model, chosen, ordered, number)
    for k in range(NEIGHBOURS):
        least[k], places[k] = ordered[k], ordered[CHOSEN_ROOM + k]
    return np.int64(NEIGHBOURS)


@compiled
def _bound(model, far, minima, count):
    """The K-th least of the minima of groups of rows: at least K rows are no farther."""
    groups = count // 2  # an odd last row is left out
    for g in range(groups):
        minima[g] = min(far[g], far[groups + g])
    while groups >= 2 * NEIGHBOURS:
        groups //= 2
        for g in range(groups):
            minima[g] = min(minima[g], minima[groups + g])
    ranks, limit = desk_of(model).ranks, minima[0]
    rank(minima, groups, ranks)
    for g in range(groups):
        limit = minima[g] if ranks[g] == NEIGHBOURS - 1 else limit
    return limit


@compiled
def filled_up(values, n):
    """Pad n values to whole vectors of eight, and return their number: the rest of a loop takes longer than another
    round."""
    whole = (n + LANES - 1) // LANES * LANES
    for i in range(n, whole):
        values[i] = NO_BOUND
    return whole


@compiled
def rank(values, n, ranks):
    """Write the ranks of n values, and pad both to whole vectors."""
    write_ranks(values, filled_up(values, n), ranks)


@compiled
def _choose(far, chosen, count, limit):
    """Write the distances up to the limit, and CHOSEN_ROOM behind them their places. Returns their number, or a number
    above SORTED_AT_ONCE."""
    places, n = chosen[CHOSEN_ROOM:], np.int64(0)
    for first in range(0, count, LANES):
        n = write_up_to(far, first, limit, places, n)
        if n > SORTED_AT_ONCE:
            return n
    while places[n - 1] >= count:  # padding columns hold arbitrary numbers
        n -= 1
    for i in range(n):
        chosen[i] = far[places[i]]
    return n


@compiled
def _sort_chosen(model, chosen, ordered, number):
    """Write each chosen row at its rank. All of them, as it is not known before which are the K nearest."""
    ranks = desk_of(model).ranks
    rank(chosen, number, ranks)
    for i in range(number):
        ordered[ranks[i]] = chosen[i]
        ordered[CHOSEN_ROOM + ranks[i]] = chosen[CHOSEN_ROOM + i]


@compiled
def _insert_all(far, places, least, count, limit):
    """Find the nearest rows by insertion: for few rows, or if very many are equally far."""
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
def weigh_neighbours(model, n, softness):
    """The shares of the n nearest. Returns their number if all had the same share."""
    near, weights = desk_of(model).near, memory_of(model).weight
    places, own = near.place, near.weight
    for k in range(n):
        own[k] = weights[places[k]]
    return weigh(near.distance, own, near.share, n, softness)


@compiled
def weigh(least, weights, shares, n, softness):
    """pi_i ~ w_i exp(-beta (D_i - D_(1)) / D_(K)) over the n nearest. Returns 1 / sum pi_i^2, which
    is n if all shares are equal."""
    rate, total, squares = softness / max(least[n - 1], LEAST_VOTE_DISTANCE), 0.0, 0.0
    for k in range(n):
        shares[k] = -rate * (least[k] - least[0])
    exponentials(shares, shares, np.int64(shares.shape[0]))
    for k in range(n):
        shares[k] *= weights[k]
    for k in range(n):
        total += shares[k]
        squares += shares[k] * shares[k]
    for k in range(n):
        shares[k] /= total
    return total * total / squares


@compiled
def neighbour_slopes(model, state, factors):
    """slope[f] = sum_k factors_k (x_f - s_kf)^2: the weighted spread of the K nearest in each feature."""
    desk = desk_of(model)
    scaled, slope, places = desk.scaled, desk.slope, desk.near.place
    for f in range(state.features):
        feature, x_f, total = row_of(model.vectors, f), scaled[1 + f], 0.0
        for k in range(NEIGHBOURS):
            apart = x_f - feature[places[k]]
            total += factors[k] * apart * apart
        slope[f] = total

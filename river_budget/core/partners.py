"""Whom to merge with: the search for the partners of the lightest vector. Symbols as in core/merging.py.

It takes m = the lightest vector and ranks all partners n at once: a step of the fixed point h = A / (A + B) from h = 0,
that is from the partner, where p = k needs no exponential, and a Newton step. This gives each partner a lower bound of
its degradation (core/estimates.py). Partners are evaluated exactly in the order of their bounds, until the next bound
exceeds the best value found; the winner is then solved to full precision.

Where one partner is wanted, and coefficients are numbers, a bound that takes a sixth of the time rules out most of them
before.
"""

from __future__ import annotations

import math

import numpy as np

from .codes import Objective
from .estimates import (
    BEND,
    LOSS,
    MN,
    NEAREST,
    NN,
    PLACE,
    REACH_ABOVE,
    REACH_BELOW,
    REACHED,
    ROUGH,
    SLOPE,
    TIGHT,
    K,
    S,
    estimate,
    rough_bound,
)
from .examples import NOBODY, NONE
from .jit import REORDERED, compiled
from .lanes import LANES, write_up_to
from .layout import SEARCH_ROWS
from .limits import FARTHEST, padded_count
from .linked import vector
from .merging import degradation_at, eq21_partners, lost, short, solve, solve_from
from .numba_types import address_of, as_i64, f64_matrix
from .rows import distances_into
from .support import least_tagged, tag_with_index

EQ21 = int(Objective.EQ21)
SPARE = 8  # how many more partners than wanted may be looked at closely
ALMOST = 1e-3  # of the degradation: what a last step may gain
MANY = 128  # vectors from which on it pays to rule partners out
FEW = 16  # of them are then estimated together
SLACK = 1.01  # for what is rough in a bound
BEYOND = -1.2  # a_n / a_m: of partners that are lighter in comparison, z would lie out of reach


@compiled(fastmath=REORDERED, always_inlined=True)
def _products(model, m, mn):
    """mn[j] = a_m . a_j"""
    n, coefficients = padded_count(model), model.coefficients[0]
    own = coefficients[m]
    for j in range(n):
        mn[j] = own * coefficients[j]
    for r in range(1, model.coefficients.shape[0]):
        coefficients = model.coefficients[r]
        own = coefficients[m]
        if own != 0.0:  # most classes have no part in a vector
            for j in range(n):
                mn[j] += own * coefficients[j]


@compiled(always_inlined=True)
def observed_distance(log):
    """The distance of which the logarithm of a kernel value speaks."""
    return -log if log > -FARTHEST else FARTHEST


@compiled
def _observed_distances(logs, s, n):
    for j in range(n):
        s[j] = observed_distance(logs[j])


@compiled
def measure_partners(model, m, observed, unwritten, search):
    """The distances of m from all others, and its products with them. search[NN] is there.

    `observed`: the vector whose kernel row has just been computed, or NOBODY; `unwritten`: the same, if its vector
    waits to be written, or NOBODY.
    """
    if model.head.noted:
        for j in range(padded_count(model)):
            search[S, j] = model.distances[m, j]
    elif m == observed:
        _observed_distances(model.logs, search[S], padded_count(model))
    else:
        distances_into(model, vector(model, m), model.norms[m], search[S])
        if unwritten != NOBODY:
            search[S, unwritten] = observed_distance(model.logs[m])
    search[S, m] = 0.0  # when x was observed, it was not yet one of the support vectors
    _products(model, m, search[MN])


@compiled
def best_partners(model, m, observed, unwritten, search, members):
    """members[1:] = the partners of m that degrade least, in that order; m is members[0]. Returns the search that found
    them, and the place of the first one there.

    They are looked at closely in the order of their bounds, and sorted by what is found.
    """
    measure_partners(model, m, observed, unwritten, search)
    mm, n, wanted = search[NN, m], model.head.count, members.shape[0] - 1
    literal = model.head.objective == EQ21
    few = NONE if literal or wanted > 1 else rule_out(model, m, search)
    aim, places = search, as_i64(search[PLACE])
    if few != NONE:
        aim, n = side_by_side(search, places, few), few
    if literal:
        eq21_partners(model, m, search)
    else:
        estimate(aim, mm, padded_count(model) if few == NONE else few)
    if few == NONE:
        aim[LOSS, m] = np.inf
    tag_with_index(aim[LOSS], n)
    listed = wanted if literal else min(wanted + SPARE, n - (few == NONE))
    for found in range(listed):
        j = least_tagged(aim[LOSS], n)
        loss = aim[LOSS, j]
        if found >= wanted and loss > model.buffer[members[wanted]]:
            break
        aim[LOSS, j] = np.inf
        if not literal:
            loss = evaluate_partner(aim, mm, j)
        model.buffer[j] = loss
        i = min(found, wanted)  # insertion into the sorted list of the best
        while i > 0 and model.buffer[members[i]] > loss:
            if i < wanted:
                members[i + 1] = members[i]
            i -= 1
        if i < wanted:
            members[i + 1] = j
    best = members[1]
    members[0], members[1] = m, places[best] if few != NONE else best
    return aim, best


@compiled
def rule_out(model, m, search):
    """List the partners that may be the best one, in the room for their places. Returns how many are left; NONE if it
    is not worth it: there are not many before, or not few then."""
    n, losses = padded_count(model), search[LOSS]
    if model.coefficients.shape[0] > 1 or model.head.count < MANY:
        return NONE
    rough_bound(search, search[NN, m], n)
    losses[m] = np.inf
    for j in range(model.head.count, n):
        losses[j] = np.inf
    tag_with_index(losses, n)
    first = least_tagged(losses, n)
    model.buffer[0] = SLACK * max(losses[first], at_most(search, m, first))
    bits, limit, places = as_i64(losses), as_i64(model.buffer)[0], as_i64(search[PLACE])
    left = NONE
    for j in range(0, n, LANES):
        left = write_up_to(bits, j, limit, places, left)
    return left if left <= FEW else NONE


@compiled
def at_most(search, m, j):
    """The degradation with partner j, whose bound is search[LOSS, j], is at most that."""
    s, mm, nn, mn = search[S, j], search[NN, m], search[NN, j], search[MN, j]
    if mn > 0.0 and s < NEAREST:
        return TIGHT * search[LOSS, j]
    on_partner = mm * lost(2.0 * s, math.exp(-2.0 * s))
    if not mn < BEYOND * mm:
        return on_partner
    beyond, _, _ = degradation_at(mm / (mm + mn), s, math.exp(-s), mm, nn, mn)
    return min(beyond, on_partner)


@compiled
def side_by_side(search, places, n):
    """A search among a few partners, where the estimates of all would be."""
    few = f64_matrix(address_of(search[ROUGH]), SEARCH_ROWS, FEW)
    for i in range(n):
        j = places[i]
        few[S, i], few[NN, i], few[MN, i] = search[S, j], search[NN, j], search[MN, j]
    return few


@compiled
def place_of_pair(model, search, mm, j):
    """Where a vector merges with its best partner, number j of the search that found it, and the degradation there.

    (Not with equation (21), whose places say nothing about it.)
    """
    if model.head.objective == EQ21:
        return search[PLACE, j], np.inf
    s, known = search[S, j], (search[REACHED, j], search[SLOPE, j], search[BEND, j])
    return solve_from(search[PLACE, j], known, s, search[K, j], mm, search[NN, j], search[MN, j])


@compiled
def evaluate_partner(search, mm, j):
    """The degradation with partner j, and a place that is closer to the best than that of the estimate.

    What a Newton step gains is mostly next to nothing, and what would be left after it is the square of that.
    So little remains of the roughness of float32 that partners can be compared.
    """
    h, s, nn, mn = search[PLACE, j], search[S, j], search[NN, j], search[MN, j]
    k = math.exp(-s)
    for _ in range(2):
        loss, up, bend = degradation_at(h, s, k, mm, nn, mn)
        if not bend < 0.0:
            break
        gain = 2.0 * s * up * up / -bend
        if gain < ALMOST * loss:
            keep_evaluation(search, j, h, k, loss, up, bend)
            return loss - gain
        h = min(max(h + short(-up / bend, h), REACH_BELOW), REACH_ABOVE)
    h, loss = solve(search[PLACE, j], s, mm, nn, mn)
    reached, up, bend = degradation_at(h, s, k, mm, nn, mn)
    keep_evaluation(search, j, h, k, reached, up, bend)
    return loss


@compiled(always_inlined=True)
def keep_evaluation(search, j, place, k, reached, up, bend):
    """What is known of partner j, for `place_of_pair`."""
    search[PLACE, j], search[K, j], search[REACHED, j] = place, k, reached
    search[SLOPE, j], search[BEND, j] = up, bend

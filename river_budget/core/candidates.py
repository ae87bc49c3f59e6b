"""The best of many partners: most of them are ruled out by a bound that takes a fifth of the time of an estimate.

For one partner, where coefficients are numbers. The others are estimated and evaluated as they would be among all, so
that the result is the same to the last bit. Symbols as in core/merging.py.
"""

from __future__ import annotations

import math

import numpy as np

from .codes import Need
from .estimates import (
    BEND,
    LOSS,
    MN,
    NEAREST,
    NN,
    PLACE,
    REACHED,
    ROUGH,
    SLOPE,
    SPARE,
    TIGHT,
    K,
    S,
    estimate,
    rough_bound,
)
from .examples import NOBODY, NONE
from .jit import compiled
from .lanes import write_up_to
from .layout import CROWD, SEARCH_ROWS
from .limits import padded_count
from .merging import degradation_at, evaluate_partner, keep_evaluation, lost
from .numba_types import MATRIX, MODEL, WHOLE, address_of, as_i64, f64_matrix
from .registers import LANES
from .shared import shared
from .support import least_tagged, tag_with_index

FEW = 16  # partners that are estimated together
SLACK = 1.01  # for what is rough in a bound
BEYOND = -1.2  # a_n / a_m: of partners that are lighter in comparison, z would lie out of reach


@compiled(always_inlined=True)
def is_crowded(model):
    """Whether it pays to rule out partners."""
    return model.head.count >= CROWD and model.coefficients.shape[0] == 1


@shared(Need.CROWD, WHOLE, MODEL, WHOLE, MATRIX)
def best_of_crowd(model, m, search):
    """The partner of m that degrades least; NOBODY if too many are left to tell. search[S], search[NN] and search[MN] are
    there; of the best partner there is then what `evaluate_partner` notes."""
    n, mm = rule_out(model, m, search), search[NN, m]
    if not 0 < n <= FEW:
        return NOBODY
    few, places = side_by_side(search, n), as_i64(search[PLACE])
    estimate(few, mm, n)
    tag_with_index(few[LOSS], n)
    best, least = NONE, np.inf
    for found in range(min(1 + SPARE, n)):
        i = least_tagged(few[LOSS], n)
        if found > 0 and few[LOSS, i] > least:
            break
        few[LOSS, i] = np.inf
        loss = evaluate_partner(few, mm, i)
        if loss < least:
            best, least = i, loss
    j = places[best]
    place, k, reached = few[PLACE, best], few[K, best], few[REACHED, best]
    keep_evaluation(search, j, place, k, reached, few[SLOPE, best], few[BEND, best])
    return j


@compiled
def rule_out(model, m, search):
    """List the partners that may be the best one, in the room for their places. Returns how many there are."""
    n, losses = padded_count(model), search[LOSS]
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
    return left


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
def side_by_side(search, n):
    """A search among the partners that are listed, where the estimates of all would be: 33 vectors leave room for it."""
    few, places = f64_matrix(address_of(search[ROUGH]), SEARCH_ROWS, FEW), as_i64(search[PLACE])
    for i in range(n):
        j = places[i]
        few[S, i], few[NN, i], few[MN, i] = search[S, j], search[NN, j], search[MN, j]
    return few

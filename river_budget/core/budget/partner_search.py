"""Search for the best merge partners of the lightest vector. Symbols as in core/budget/degradation.py.

For m = the lightest vector, `bound_degradations` computes lower bounds of the degradation for all partners n at once,
from distances and kernel values alone. Partners are evaluated exactly in the order of their bounds, until no other bound
is below the best value found: mostly one or two. The winner is then solved to full precision.
"""

from __future__ import annotations

import numpy as np

from ..block.codes import Objective
from ..block.limits import observed_distance, padded_count
from ..compiling.jit import REORDERED, compiled
from ..examples.present_features import NO_VECTOR
from ..expansion.kernel_rows import distances_into
from ..simd.exponential import exp_of
from ..vectors.table import read_vector
from .degradation import (
    BEND,
    LOSS,
    MN,
    NN,
    PLACE,
    REACHED,
    SLOPE,
    K,
    S,
    eq21_partners,
    evaluate_partner,
    solve_from,
)
from .newcomer import unwritten_place

EQ21 = int(Objective.EQ21)
SMALL = 1e-300  # instead of a divisor 0
NEAR = 1e-2  # 1 - exp(-y) (1 + y) is computed by its series for y below it
LESS = 0.999  # keeps the divisor of a bound above 0


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
        if own != 0.0:  # mostly 0, as few classes share a vector
            for j in range(n):
                mn[j] += own * coefficients[j]


@compiled
def measure_partners(model, m, newcomer, search):
    """Write the distances of m from all others to search[S], their kernel values to search[K], and the products of
    coefficients to search[MN].

    search[NN] holds the squared lengths of coefficients already. May overwrite model.row, model.x and model.nonzero.
    """
    unwritten, s, k, n = unwritten_place(newcomer), search[S], search[K], padded_count(model)
    if m == newcomer[0]:
        for j in range(n):
            s[j], k[j] = observed_distance(model.logs[j]), model.row[j]
    else:
        distances_into(model, read_vector(model, m), model.norms[m], s)
        if unwritten != NO_VECTOR:
            s[unwritten] = observed_distance(model.logs[m])
        for j in range(n):
            k[j] = exp_of(-s[j])
    s[m] = 0.0  # in the kernel row of a newcomer, its own value is missing
    _products(model, m, search[MN])


@compiled(fastmath=REORDERED, always_inlined=True, apart=True)
def bound_degradations(search, mm, n):
    """search[LOSS] = a lower bound of the degradation at the best h.

    If n is far heavier than m, z is near n, and what is lost is the part of a_m k(m, .) that neither k(n, .) nor its
    derivative towards m can replace. Otherwise z moves, and less is lost, or more if a_m and a_n have opposite
    directions: the divisor. Measured, with |a_n| up to 150 |a_m|, s from 1e-4 to 12 and all angles between a_m and a_n:
    no degradation is below its bound, and half of them are within two thousandths of it.
    """
    s, nn, mn, k, bounds = search[S], search[NN], search[MN], search[K], search[LOSS]
    for j in range(n):
        y, kk, inverse = 2.0 * s[j], k[j] * k[j], 1.0 / max(nn[j], SMALL)
        share = mn[j] * inverse
        # 1 - exp(-y) (1 + y), from its series if the difference would cancel
        along = y * y * (0.5 - y * (1.0 / 3.0 - y * 0.125)) if y < NEAR else 1.0 - kk * (1.0 + y)
        lost = mm * along + max(mm - share * mn[j], 0.0) * y * kk
        growth = 2.0 * share + mm * inverse  # |a_m + a_n|^2 / |a_n|^2 - 1
        reach = 1.0 + y * (1.0 + 1.125 * y) if growth > 0.0 else LESS
        bounds[j] = lost / (1.0 + growth * kk * k[j] * reach)


@compiled
def best_partners(model, m, newcomer, search, members):
    """members[0] = m, members[1:] = the partners with which m degrades least, the best first.

    Evaluates partners exactly, in the order of their lower bounds. Overwrites model.buffer.
    """
    measure_partners(model, m, newcomer, search)
    members[0] = m
    n, wanted, mm = model.head.count, members.shape[0] - 1, search[NN, m]
    literal = model.head.objective == EQ21
    if literal:
        eq21_partners(model, m, search)
    else:
        bound_degradations(search, mm, padded_count(model))
    search[LOSS, m] = np.inf
    for found in range(wanted if literal else n - 1):
        if found >= wanted and not any_below(model.buffer[members[wanted]], search[LOSS], n):
            break
        j = np.argmin(search[LOSS, :n])
        loss = search[LOSS, j] if literal else evaluate_partner(search, mm, j)
        search[LOSS, j] = np.inf
        model.buffer[j] = loss
        i = min(found, wanted)  # insert j into the sorted list of the best
        while i > 0 and model.buffer[members[i]] > loss:
            if i < wanted:
                members[i + 1] = members[i]
            i -= 1
        if i < wanted:
            members[i + 1] = j


@compiled
def any_below(limit, bounds, n):
    """Whether one of the first n bounds is below the limit."""
    found = 0
    for j in range(n):
        found += bounds[j] < limit
    return found > 0


@compiled
def place_of_pair(model, search, members):
    """(h, degradation) for merging the first member with its best partner.

    For equation (21), which does not minimise the degradation, returns inf in its place.
    """
    m, j = members[0], members[1]
    if model.head.objective == EQ21:
        return search[PLACE, j], np.inf
    s, known = search[S, j], (search[REACHED, j], search[SLOPE, j], search[BEND, j])
    mm, nn, mn = search[NN, m], search[NN, j], search[MN, j]
    return solve_from(search[PLACE, j], known, s, search[K, j], mm, nn, mn)

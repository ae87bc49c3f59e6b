"""Search for the best merge partners of the lightest vector. Symbols as in core/budget/degradation.py.

For m = the lightest vector, `estimate` (core/budget/float32_estimates.py) computes lower bounds of the degradation
for all partners n at once: a fixed-point step, h = A / (A + B), from h = 0, where z is the partner itself and p = k
takes no exponential; then a Newton step. Partners are evaluated exactly in the order of their
bounds, until the next bound exceeds the best value found; the winner is then solved to full precision.
"""

from __future__ import annotations

import numpy as np

from ..block.codes import Objective
from ..block.limits import observed_distance, padded_count
from ..compiling.jit import REORDERED, compiled
from ..examples.present_features import NO_VECTOR
from ..expansion.kernel_rows import distances_into
from ..simd.argmin import least_tagged, tag_with_index
from ..vectors.stored import distances_are_kept, read_vector
from .degradation import eq21_partners, evaluate_partner, solve_from
from .float32_estimates import BEND, LOSS, MN, NN, PLACE, REACHED, SLOPE, SPARE, K, S, estimate
from .newcomer import unwritten_place

EQ21 = int(Objective.EQ21)


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
def _observed_distances(logs, s, n):
    for j in range(n):
        s[j] = observed_distance(logs[j])


@compiled
def measure_partners(model, m, newcomer, search):
    """Write the distances of m from all others to search[S], and the products of coefficients to search[MN].

    search[NN] holds the squared lengths of coefficients already. May overwrite model.row, model.x and model.nonzero.
    """
    unwritten = unwritten_place(newcomer)
    if distances_are_kept(model):
        for j in range(padded_count(model)):
            search[S, j] = model.distances[m, j]
    elif m == newcomer[0]:
        _observed_distances(model.logs, search[S], padded_count(model))
    else:
        distances_into(model, read_vector(model, m), model.norms[m], search[S])
        if unwritten != NO_VECTOR:
            search[S, unwritten] = observed_distance(model.logs[m])
    search[S, m] = 0.0  # in the kernel row of a newcomer, its own value is missing
    _products(model, m, search[MN])


@compiled
def best_partners(model, m, newcomer, search, members):
    """members[0] = m, members[1:] = the partners with which m degrades least, the best first."""
    measure_partners(model, m, newcomer, search)
    members[0] = m
    literal = model.head.objective == EQ21
    best_of_all(model, literal, search, members)


@compiled
def best_of_all(model, literal, search, members):
    """Evaluate partners exactly, in the order of their lower bounds. Writes the best to members[1:]; overwrites model.buffer."""
    m, n, wanted = members[0], model.head.count, members.shape[0] - 1
    mm = search[NN, m]
    if literal:
        eq21_partners(model, m, search)
    else:
        estimate(search, mm, padded_count(model))
    search[LOSS, m] = np.inf
    tag_with_index(search[LOSS], n)
    listed = wanted if literal else min(wanted + SPARE, n - 1)
    for found in range(listed):
        j = least_tagged(search[LOSS], n)
        loss = search[LOSS, j]
        if found >= wanted and loss > model.buffer[members[wanted]]:
            break
        search[LOSS, j] = np.inf
        if not literal:
            loss = evaluate_partner(search, mm, j)
        model.buffer[j] = loss
        i = min(found, wanted)  # insert j into the sorted list of the best
        while i > 0 and model.buffer[members[i]] > loss:
            if i < wanted:
                members[i + 1] = members[i]
            i -= 1
        if i < wanted:
            members[i + 1] = j


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

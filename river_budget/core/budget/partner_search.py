"""Search for the best merge partners of the lightest vector. Symbols as in core/budget/degradation.py.

For m = the lightest vector, `estimate` computes lower bounds, in float32, of the degradation
for all partners n at once: a fixed-point step, h = A / (A + B), from h = 0, where z is the partner itself and p = k
takes no exponential; then a Newton step. Partners are evaluated exactly in the order of their
bounds, until the next bound exceeds the best value found; the winner is then solved to full precision.
"""

from __future__ import annotations

import numpy as np

from ..block.codes import Objective
from ..block.limits import observed_distance, padded_count
from ..compiling.array_views import address_of, f32
from ..compiling.jit import REORDERED, compiled
from ..examples.present_features import NO_VECTOR
from ..expansion.kernel_rows import distances_into
from ..expansion.support import least_of
from ..simd.bits import bits_of, from_bits
from ..simd.exponential import F, rough_exp_of
from ..vectors.table import read_vector
from .degradation import (
    BEND,
    LOSS,
    MN,
    NN,
    PLACE,
    REACH_BELOW,
    REACHED,
    ROUGH,
    SLOPE,
    K,
    S,
    eq21_partners,
    evaluate_partner,
    solve_from,
)
from .newcomer import unwritten_place

EQ21 = int(Objective.EQ21)
LANES = 16
SMALL = 1e-300  # instead of a divisor 0
ZERO, SIXTH, QUARTER, HALF, ONE, TWO = F(0.0), F(1.0 / 6.0), F(0.25), F(0.5), F(1.0), F(2.0)
SPARE = 8  # how many partners beyond those wanted may be evaluated exactly
SAFETY = F(1.5)  # SAFETY times a Newton step's predicted gain bounds the gain of all steps
NEAR32 = F(0.02)  # NEAR of core/budget/degradation.py
TINY, LOWEST = F(1e-30), F(REACH_BELOW)


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
    """Write the distances of m from all others to search[S], and the products of coefficients to search[MN].

    search[NN] holds the squared lengths of coefficients already. May overwrite model.row, model.x and model.nonzero.
    """
    unwritten = unwritten_place(newcomer)
    if m == newcomer[0]:
        logs, s = model.logs, search[S]
        for j in range(padded_count(model)):
            s[j] = observed_distance(logs[j])
    else:
        distances_into(model, read_vector(model, m), model.norms[m], search[S])
        if unwritten != NO_VECTOR:
            search[S, unwritten] = observed_distance(model.logs[m])
    search[S, m] = 0.0  # in the kernel row of a newcomer, its own value is missing
    _products(model, m, search[MN])


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
        estimate(search, mm, padded_count(model))
    search[LOSS, m] = np.inf
    listed = wanted if literal else min(wanted + SPARE, n - 1)
    for found in range(listed):
        j, least = 0, least_of(search[LOSS], n)
        while j < n - 1 and search[LOSS, j] != least:
            j += 1
        if found >= wanted and not with_place(least, j, n) <= model.buffer[members[wanted]]:
            break
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
def with_place(bound, j, n):
    """The bound of partner j with j in its lowest bits, by which ties are decided.

    Version 1 had it there. Bounds are equal where vectors are so far apart that all merge equally badly; with another
    rule one model in ten that merges made other mistakes than in version 1.
    """
    places = 1
    while places < n:
        places *= 2
    return from_bits(bits_of(bound) & -places | j)


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


# lower bounds in float32


@compiled(always_inlined=True)
def search_width(model):
    """The number of partners, rounded up to whole SIMD vectors of float32."""
    return (model.head.count + LANES - 1) & ~(LANES - 1)


@compiled(fastmath=REORDERED)
def _one_minus_exp(y, exp_y):
    return y * (ONE - y * (HALF - y * SIXTH)) if abs(y) < NEAR32 else ONE - exp_y


@compiled(always_inlined=True)
def _rows(search, n):
    """(s, |a_j|^2, a_m . a_j, p, q, h, k, loss): rows of float32, of which two fit into one row of the search"""
    at = address_of(search[ROUGH])
    s, weight, inner, p = f32(at, n), f32(at + 4 * n, n), f32(at + 8 * n, n), f32(at + 12 * n, n)
    at += 16 * n
    q, h, k, loss = f32(at, n), f32(at + 4 * n, n), f32(at + 8 * n, n), f32(at + 12 * n, n)
    return s, weight, inner, p, q, h, k, loss


@compiled(fastmath=REORDERED, always_inlined=True, apart=True)
def estimate(search, mm, n):
    """search[PLACE] = h after a fixed-point step and a Newton step, or 0 (z is the partner itself) if that is better;
    search[LOSS] = a lower bound of the degradation at the best h.

    In float32 and in units of mm: a register holds twice as many partners as in float64. Several short loops,
    because one long chain of dependent operations stalls.
    """
    wide = search.shape[1]
    s, weight, inner, p, q, h, k, loss = _rows(search, wide)
    unit = 1.0 / max(mm, SMALL)
    for j in range(n):
        s[j] = F(search[S, j])
        weight[j], inner[j] = F(search[NN, j] * unit), F(search[MN, j] * unit)
    for j in range(n, wide):
        s[j], weight[j], inner[j] = ONE, ONE, ONE
    for j in range(wide):
        k[j] = rough_exp_of(-s[j])
        a, b = k[j] * (k[j] + inner[j]), weight[j] + inner[j] * k[j]
        h[j] = _place(a / (a + b) if a + b > TINY else LOWEST)
    _kernels(p, q, h, s, wide)
    _newton(s, weight, inner, p, q, h, wide)
    _kernels(p, q, h, s, wide)
    _bound(s, weight, inner, p, q, h, k, loss, wide)
    for j in range(n):
        search[PLACE, j] = h[j]
        search[LOSS, j] = mm * max(loss[j], ZERO)


@compiled(fastmath=REORDERED, always_inlined=True)
def _newton(s, weight, inner, p, q, h, n):
    """h after a Newton step, or after another fixed-point step where the degradation is not convex."""
    for j in range(n):
        a, b, up, bend = _slope(h[j], s[j], p[j], q[j], weight[j], inner[j])
        fixed = a / (a + b) if a + b > TINY else LOWEST
        step = -up / bend if bend < -TINY else fixed - h[j]
        longest = QUARTER + HALF * abs(h[j])
        step = step if step < longest else longest
        h[j] = _place(h[j] + (step if step > -longest else -longest))


@compiled(fastmath=REORDERED, always_inlined=True)
def _bound(s, weight, inner, p, q, h, k, loss, n):
    """loss = a lower bound of the degradation at the best h; h = 0 where the partner itself is better.

    The bound is the degradation at h minus SAFETY times the predicted gain of another Newton step, at most a
    quarter of it. Measured, with |a_n| up to 10^4 |a_m|, s up to 30 and all angles between a_m and a_n: no
    degradation is below its bound by more than a thousandth; mostly the bound is within a hundredth.
    """
    for j in range(n):
        g, twice_s = ONE - h[j], TWO * s[j]
        lost = _one_minus_exp(twice_s * g * g, p[j] * p[j])
        lost += weight[j] * _one_minus_exp(twice_s * h[j] * h[j], q[j] * q[j])
        shared = twice_s * h[j] * g
        lost_both = (
            k[j] * _one_minus_exp(-shared, ONE) if abs(shared) < NEAR32 else k[j] - p[j] * q[j]
        )
        loss[j] = lost + TWO * inner[j] * lost_both
    for j in range(n):
        _, _, up, bend = _slope(h[j], s[j], p[j], q[j], weight[j], inner[j])
        most = QUARTER * loss[j]
        gain = SAFETY * TWO * s[j] * up * up / -bend if bend < -TINY else most
        on_partner = _one_minus_exp(TWO * s[j], k[j] * k[j])
        h[j] = h[j] if loss[j] < on_partner else ZERO
        bound = loss[j] - (gain if gain < most else most)
        loss[j] = bound if bound < on_partner else on_partner


@compiled(fastmath=REORDERED, always_inlined=True)
def _place(h):
    """h clamped to [LOWEST, 1]: as m is the lightest, z never lies beyond m."""
    h = h if h > LOWEST else LOWEST
    return h if h < ONE else ONE


@compiled(fastmath=REORDERED, always_inlined=True)
def _kernels(p, q, h, s, n):
    for j in range(n):
        p[j] = rough_exp_of(-s[j] * (ONE - h[j]) * (ONE - h[j]))
        q[j] = rough_exp_of(-s[j] * h[j] * h[j])


@compiled(fastmath=REORDERED, always_inlined=True)
def _slope(h, s, p, q, weight, inner):
    """(A, B, slope, its derivative), as in `degradation_at`"""
    g, pp, qq, pq = ONE - h, p * p, weight * q * q, inner * p * q
    a, b = pp + pq, qq + pq
    bend = TWO * s * (TWO * (g * g * pp + h * h * qq) + (g - h) * (g - h) * pq) - a - b
    return a, b, g * a - h * b, bend

"""Merging a pair: replace the lightest vector m by its best partner n and itself (Gaussian kernel).

Z. Wang, K. Crammer, S. Vucetic. Multi-class Pegasos on a budget. ICML 2010, section 4.

With coefficient rows a_m and a_n, squared distance s in units of 1/gamma, k = exp(-s):
    z = h x_m + (1 - h) x_n      a_z = p a_m + q a_n      p = exp(-s (1 - h)^2)     q = exp(-s h^2)
    degradation = |a_m|^2 + |a_n|^2 + 2 k a_m.a_n - |a_z|^2
It depends on three products only: mm = |a_m|^2, nn = |a_n|^2, mn = a_m.a_n. The best h is a root of
    slope(h) = (1 - h) A - h B       A = p (mm p + mn q)      B = q (nn q + mn p)
the derivative of |a_z|^2 divided by 4 s. This holds for all signs: if a_m and a_n have opposite
directions, A or B is negative and z does not lie between m and n, but beyond the heavier of them.

`estimate` finds for all partners at once, in float32, an h near the best and a lower bound of the
degradation. `best_partner` solves partners exactly, in the order of their bounds, until the next
bound exceeds the least degradation.

A search works in m.work, a column for each partner: its rows are S, NN, MN, PLACE (of h) and LOSS.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiling import inlined, inner, reordered
from ..expansion.examples import write_whole
from ..expansion.kernels import FARTHEST, along_row, padded, row_of_vector
from ..expansion.support import lightest, remove, set_arrival, write_features
from ..numerics import F, dot, exp_of, least_of, rough_exp_of
from ..rounds.stream_warnings import LONG_VECTORS

S, NN, MN, PLACE, LOSS, SPARE = range(6)
REACH_BELOW, REACH_ABOVE = -5.0, 6.0  # bounds of h: how far beyond the two vectors z may lie
SHORTEST_STEP, NEGLIGIBLE_STEP = (
    1e-8,
    1e-11,
)  # of h; the next Newton step is negligible behind the cube of one
MOST_STEPS = 60
MORE_PARTNERS = 8  # how many partners beyond the first may be solved exactly
NEAR = 1e-3  # 1 - exp(-y) is computed by its series for |y| below it
HUGE = 1e300  # if the squared length of a vector is below it, all its numbers are finite
# a number whose square is a smaller share of |z|^2 changes a distance by less than rounding does
NEGLIGIBLE = 1e-34
# A warning is due when an example is merged into vectors with LONG features and LONGER_BY times its
# own
LONG, LONGER_BY = 320, 20


@inner
def nobody(m):
    """An example without features, for merges in which none takes part."""
    return m.near[:0], m.values[:0], 0.0


@inlined
def merge(m, x, has_newcomer, exact):
    """Merge the lightest vector with its best partner; the merged vector becomes the newest.

    has_newcomer: the last vector is x, whose features are not yet written; m.row and m.logs are
    those of x. Mostly x is the lightest, and its features need not be written. Returns (|delta|,
    the change of |w|^2 if `exact`), without the scale. Overwrites all scratch space.
    """
    head, search, a = m.head[0], m.work, m.coefficients
    p, last = lightest(m, search[NN]), head.count - 1
    unwritten = has_newcomer and p == last
    if unwritten:
        m.row[p], m.logs[p] = 1.0, 0.0
    else:
        if has_newcomer:
            write_features(m, last, x)
        row_of_vector(m, p)
    measure_partners(m, p)
    estimate(search, m.rough, search[NN, p], padded(head.count))
    j, h, loss = best_partner(search, p, head.count)
    of_p, of_j = math.exp(-search[S, j] * (1.0 - h) * (1.0 - h)), math.exp(-search[S, j] * h * h)
    change = 0.0
    if exact:
        # the loss at h itself: that of the search is of the step before, which is enough to choose
        s, mm, nn, mn = search[S, j], search[NN, p], search[NN, j], search[MN, j]
        loss = degradation_at(h, s, exp_of(-s), mm, nn, mn)[0]
        change = loss + 2.0 * gain_by_merging(m, p, j, h, of_p, of_j)
    if unwritten:
        write_whole(x, m.whole)
    else:
        for i in range(m.whole.shape[0]):
            m.whole[i] = m.vectors[i, p]
    n_kept = combine_vectors(m, m.whole, j, h)
    for r in range(a.shape[0]):
        a[r, j] = of_p * a[r, p] + of_j * a[r, j]
    for e in range(m.per_vector.shape[0]):
        m.per_vector[e, j] = of_p * m.per_vector[e, p] + of_j * m.per_vector[e, j]
    remove(m, p)
    warn_of_long_vectors(head, n_kept, x[0].shape[0])
    return math.sqrt(max(loss, 0.0)), change


@inner
def measure_partners(m, own):
    """work[S] and work[MN]: the distances of vector `own`, whose kernel row is in m.logs, and
    products of coefficients.
    """
    search, a, n = m.work, m.coefficients, padded(m.head[0].count)
    for j in range(n):
        search[S, j] = -m.logs[j] if m.logs[j] > -FARTHEST else FARTHEST
        search[MN, j] = a[0, own] * a[0, j]
    for r in range(1, a.shape[0]):
        if a[r, own] != 0.0:  # mostly 0, as few classes share a vector
            for j in range(n):
                search[MN, j] += a[r, own] * a[r, j]


@inner
def combine_vectors(m, row, j, h):
    """Overwrite vector j with h row + (1 - h) x_j, without negligible numbers. It becomes the
    newest. Returns the number of its features. Overwrites m.own_values.

    Where the sum overflows, it is the vector with the larger share: no vector that differs is near
    any of them.
    """
    vectors, combined, norm, n = m.vectors, m.own_values, 0.0, 0
    for i in range(vectors.shape[0]):
        combined[i] = h * row[i] + (1.0 - h) * vectors[i, j]
        norm += combined[i] * combined[i]
    if not norm < HUGE:
        for i in range(vectors.shape[0]):
            combined[i] = row[i] if h > 0.5 else vectors[i, j]
    least = NEGLIGIBLE * norm if norm < HUGE else 0.0
    for i in range(vectors.shape[0]):
        value = combined[i]
        value = value if value * value > least else 0.0
        vectors[i, j] = combined[n] = value
        n += value != 0.0
    set_arrival(m, j, dot(combined, combined, n))
    return n


@inner
def warn_of_long_vectors(head, n_kept, n_features):
    """Raise the alarm if merges take long since vectors have far more features than examples."""
    if n_kept >= LONG and 0 < LONGER_BY * n_features <= n_kept:
        head.alarm |= LONG_VECTORS & ~head.warned


@inlined
def gain_by_merging(m, p, j, h, of_p, of_j):
    """a_z . f(z) - a_p . f(x_p) - a_j . f(x_j), from kernel rows: log k(z, .) = h log k(x_p, .) +
    (1 - h) log k(x_j, .) + h (1 - h) s.

    m.row must be the kernel row of p. Overwrites m.row, m.logs and m.buffer.
    """
    a, of_z, first, n = m.coefficients, m.buffer, m.work[S], padded(m.head[0].count)
    gain, share = -along_row(m, m.row, p), h * (1.0 - h) * first[j]
    row_of_vector(m, j)
    m.row[p], m.logs[p] = exp_of(-first[j]), -first[j]  # where the features of p are not written
    gain -= along_row(m, m.row, j)
    for i in range(n):
        log = share - h * first[i] + (1.0 - h) * m.logs[i]
        of_z[i] = exp_of(log if log < 0.0 else 0.0)
    for r in range(a.shape[0]):
        gain += (of_p * a[r, p] + of_j * a[r, j]) * dot(of_z, a[r], n)
    return gain


@inlined
def best_partner(search, p, n):
    """(partner, h, degradation)"""
    bounds, mm = search[LOSS], search[NN, p]
    best, place, least = p, 0.0, np.inf  # not -1: what gets j would be compiled for that type, too
    bounds[p] = np.inf
    for _ in range(min(1 + MORE_PARTNERS, n - 1)):
        bound, j = least_of(bounds, n), 0
        if bound > least:
            break
        while j < n - 1 and bounds[j] != bound:
            j += 1
        bounds[j] = np.inf
        h, loss = solve(search[PLACE, j], search[S, j], mm, search[NN, j], search[MN, j])
        if loss < least or best == p:
            best, place, least = j, h, loss
    return best, place, least


# One pair


@inner
def one_minus_exp(y, exp_y):
    """1 - exp(-y), given exp(-y); from its series if the difference would cancel"""
    return y * (1.0 - y * (0.5 - y * (1.0 - 0.25 * y) / 6.0)) if abs(y) < NEAR else 1.0 - exp_y


@inner
def degradation_at(h, s, k, mm, nn, mn):
    """(degradation, slope, derivative of the slope) at h.

    Computes |a_m k(m, .) + a_n k(n, .) - a_z k(z, .)|^2 without cancellation: |a_m|^2 and |a_n|^2
    often differ by ten orders of magnitude, and the degradation is about as small as the smaller
    one.
    """
    g, shared = 1.0 - h, 2.0 * s * h * (1.0 - h)
    p, q = exp_of(-s * g * g), exp_of(-s * h * h)
    lost = k * one_minus_exp(-shared, 1.0) if abs(shared) < NEAR else k - p * q
    loss = mm * one_minus_exp(2.0 * s * g * g, p * p) + nn * one_minus_exp(2.0 * s * h * h, q * q)
    pp, qq, pq = mm * p * p, nn * q * q, mn * p * q
    a, b = pp + pq, qq + pq
    # since p' = 2 s g p and q' = -2 s h q
    bend = 2.0 * s * (2.0 * (g * g * pp + h * h * qq) + (g - h) * (g - h) * pq) - a - b
    return loss + 2.0 * mn * lost, g * a - h * b, bend


@inner
def solve(h, s, mm, nn, mn):
    """(h, degradation) at the local minimum near h: Newton steps, each halved until it lowers the
    degradation, and clamped so that it does not jump into the basin of another minimum.
    """
    k, last = exp_of(-s), 1.0
    least, slope, bend = degradation_at(h, s, k, mm, nn, mn)
    for _ in range(MOST_STEPS):
        step, longest = (
            -slope / bend if bend < 0.0 else math.copysign(0.25, slope),
            0.25 + 0.5 * abs(h),
        )
        step = min(max(step, -longest), longest)
        if abs(step) < SHORTEST_STEP or (
            bend < 0.0 and abs(step) ** 3 < NEGLIGIBLE_STEP * last * last
        ):
            return min(max(h + step, REACH_BELOW), REACH_ABOVE), least
        last, there, loss = step, h, least
        while abs(step) > SHORTEST_STEP:
            there = min(max(h + step, REACH_BELOW), REACH_ABOVE)
            loss, slope, bend = degradation_at(there, s, k, mm, nn, mn)
            if loss < least:
                break
            step *= 0.5
        if not loss < least:
            break
        h, least = there, loss
    return h, least


# Lower bounds of all pairs, in float32 and in units of mm: a register holds twice as many partners
# as in float64. Several short loops, because one long chain of dependent operations stalls


ZERO, SIXTH, QUARTER, HALF, ONE, TWO = F(0.0), F(1.0 / 6.0), F(0.25), F(0.5), F(1.0), F(2.0)
SAFETY = F(1.5)  # SAFETY times a Newton step's predicted gain bounds the gain of all steps
NEAR32, TINY32, LOWEST = F(0.02), F(1e-30), F(REACH_BELOW)


@reordered
def rough_one_minus_exp(y, exp_y):
    """`one_minus_exp` in float32"""
    return y * (ONE - y * (HALF - y * SIXTH)) if abs(y) < NEAR32 else ONE - exp_y


@reordered
def rough_slope(h, s, p, q, weight, shared):
    """(A, B, slope, its derivative), as in `degradation_at`"""
    g, pp, qq, pq = ONE - h, p * p, weight * q * q, shared * p * q
    a, b = pp + pq, qq + pq
    bend = TWO * s * (TWO * (g * g * pp + h * h * qq) + (g - h) * (g - h) * pq) - a - b
    return a, b, g * a - h * b, bend


@reordered
def estimate(search, rough, mm, n):
    """search[PLACE] = h after a fixed-point step, h = A / (A + B) from h = 0, where z is the
    partner and p = k takes no exponential, and a Newton step; or 0 if that is better. search[LOSS]
    = a lower bound of the degradation.
    """
    s, weight, shared, p, q, h, k = (
        rough[0],
        rough[1],
        rough[2],
        rough[3],
        rough[4],
        rough[5],
        rough[6],
    )
    unit = 1.0 / max(mm, 1e-300)
    for j in range(n):
        s[j], weight[j], shared[j] = (
            F(search[S, j]),
            F(search[NN, j] * unit),
            F(search[MN, j] * unit),
        )
    for j in range(n):
        k[j] = rough_exp_of(-s[j])
        up, down = k[j] * (k[j] + shared[j]), weight[j] + shared[j] * k[j]
        place = up / (up + down) if up + down > TINY32 else LOWEST
        place = place if place > LOWEST else LOWEST
        h[j] = place if place < ONE else ONE
    for j in range(n):
        p[j], q[j] = (
            rough_exp_of(-s[j] * (ONE - h[j]) * (ONE - h[j])),
            rough_exp_of(-s[j] * h[j] * h[j]),
        )
    for j in range(n):
        up, down, slope, bend = rough_slope(h[j], s[j], p[j], q[j], weight[j], shared[j])
        fixed = up / (up + down) if up + down > TINY32 else LOWEST
        step, longest = (
            -slope / bend if bend < -TINY32 else fixed - h[j],
            QUARTER + HALF * abs(h[j]),
        )
        step = step if step < longest else longest
        place = h[j] + (step if step > -longest else -longest)
        place = place if place > LOWEST else LOWEST
        h[j] = place if place < ONE else ONE  # as m is the lightest, z never lies beyond m
    for j in range(n):
        p[j], q[j] = (
            rough_exp_of(-s[j] * (ONE - h[j]) * (ONE - h[j])),
            rough_exp_of(-s[j] * h[j] * h[j]),
        )
    bound(search, rough, mm, n)


@reordered
def bound(search, rough, mm, n):
    """search[LOSS] = the degradation at h minus SAFETY times the predicted gain of another Newton
    step, at most a quarter of it.

    Measured, with |a_n| up to 10^4 |a_m|, s up to 30 and all angles between a_m and a_n: no
    degradation is below its bound by more than a thousandth; mostly the bound is within a
    hundredth.
    """
    s, weight, shared, p = rough[0], rough[1], rough[2], rough[3]
    q, h, k, loss = rough[4], rough[5], rough[6], rough[7]
    for j in range(n):
        g, twice = ONE - h[j], TWO * s[j]
        lost = rough_one_minus_exp(twice * g * g, p[j] * p[j])
        lost += weight[j] * rough_one_minus_exp(twice * h[j] * h[j], q[j] * q[j])
        both = twice * h[j] * g
        near = k[j] * rough_one_minus_exp(-both, ONE)
        loss[j] = lost + TWO * shared[j] * (near if abs(both) < NEAR32 else k[j] - p[j] * q[j])
    for j in range(n):
        _, _, up, bend = rough_slope(h[j], s[j], p[j], q[j], weight[j], shared[j])
        most = QUARTER * loss[j]
        gain = SAFETY * TWO * s[j] * up * up / -bend if bend < -TINY32 else most
        on_partner = rough_one_minus_exp(TWO * s[j], k[j] * k[j])
        h[j] = h[j] if loss[j] < on_partner else ZERO
        lower = loss[j] - (gain if gain < most else most)
        loss[j] = lower if lower < on_partner else on_partner
    for j in range(n):
        search[PLACE, j] = h[j]
        search[LOSS, j] = mm * max(loss[j], ZERO)

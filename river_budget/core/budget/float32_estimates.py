"""Lower bounds of the degradation by merging one vector with each other one, in float32, to rank the partners.

Symbols as in core/budget/degradation.py.
"""

from __future__ import annotations

from ..block.layout import SEARCH_ROWS
from ..compiling.array_views import address_of, f32, f64_matrix
from ..compiling.jit import REORDERED, compiled
from ..simd.exponential import F, rough_exp_of

LANES = 16
REACH_BELOW, REACH_ABOVE = -5.0, 6.0  # bounds of h: how far beyond the two vectors z may lie
SMALL = 1e-300  # instead of a divisor 0
ZERO, SIXTH, QUARTER, HALF, ONE, TWO = F(0.0), F(1.0 / 6.0), F(0.25), F(0.5), F(1.0), F(2.0)
SPARE = 8  # how many partners beyond those wanted may be evaluated exactly
SAFETY = F(1.5)  # SAFETY times a Newton step's predicted gain bounds the gain of all steps
NEAR, TINY, LOWEST = F(0.02), F(1e-30), F(REACH_BELOW)  # NEAR: as in core/budget/degradation.py

# The rows of a search, with a column for each partner j of vector m: s, nn, mn, an h near the best (PLACE), and a
# lower bound of the degradation (LOSS). The rows from ROUGH on are first memory for the estimates in float32; then,
# for partners evaluated exactly, they hold the three results of `degradation_at` at h, and k.
S, NN, MN, PLACE, LOSS, ROUGH = range(6)
REACHED, SLOPE, BEND, K = ROUGH, ROUGH + 1, ROUGH + 2, ROUGH + 3


@compiled(always_inlined=True)
def search_width(model):
    """The number of partners, rounded up to whole SIMD vectors of float32."""
    return (model.head.count + LANES - 1) & ~(LANES - 1)


@compiled
def new_search(model):
    """The rows of a search. Overwrites the heap, where they lie."""
    return f64_matrix(model.heap, SEARCH_ROWS, search_width(model))


@compiled(fastmath=REORDERED)
def _one_minus_exp(y, exp_y):
    return y * (ONE - y * (HALF - y * SIXTH)) if abs(y) < NEAR else ONE - exp_y


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
            k[j] * _one_minus_exp(-shared, ONE) if abs(shared) < NEAR else k[j] - p[j] * q[j]
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

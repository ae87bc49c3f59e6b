"""The degradation by merging two support vectors into one: how to compute and how to minimise it (Gaussian kernel).

Z. Wang, K. Crammer, S. Vucetic. Multi-class Pegasos on a budget. ICML 2010, section 4.

Vectors m and n with coefficient rows a_m, a_n, squared distance s in units of 1/gamma, k = exp(-s):
    z = h x_m + (1 - h) x_n      a_z = p a_m + q a_n      p = exp(-s (1 - h)^2)     q = exp(-s h^2)
    degradation = |a_m|^2 + |a_n|^2 + 2 k a_m.a_n - |a_z|^2
It depends on three products only: mm = |a_m|^2, nn = |a_n|^2, mn = a_m.a_n. The best h is a root of
    slope(h) = (1 - h) A - h B       A = p (mm p + mn q)      B = q (nn q + mn p)
the derivative of |a_z|^2 divided by 4 s. This holds for all signs: if a_m and a_n have opposite directions, A or
B is negative and z does not lie between m and n, but beyond the heavier of them.
"""

from __future__ import annotations

import math

from ..compiling.jit import compiled

# The search for h ends with a step below SHORTEST_STEP, or when the quadratic convergence of Newton's method makes the
# next one shorter than about NEGLIGIBLE_STEP
SHORTEST_STEP, NEGLIGIBLE_STEP = 1e-8, 1e-11
ROUNDING = 1.0 + 1e-12  # two degradations whose ratio is below it are equal up to rounding
LEAST_GAIN = 1e-3  # a search ends if a step would gain less than this share of the degradation
REACH_BELOW, REACH_ABOVE = -5.0, 6.0  # bounds of h: how far beyond the two vectors z may lie
NEAR = 1e-3  # 1 - exp(-y) is computed by its series for |y| below it
NEWTON_STEPS, HALVED_STEPS = 12, 60  # the largest numbers of steps, without and with halving

# The rows of a search, with a column for each partner j of vector m: s, nn, mn, an h near the best (PLACE), and a
# lower bound of the degradation (LOSS). The rows from ROUGH on are first memory for the estimates in float32; then,
# for partners evaluated exactly, they hold the three results of `degradation_at` at h, and k.
S, NN, MN, PLACE, LOSS, ROUGH = range(6)
REACHED, SLOPE, BEND, K = ROUGH, ROUGH + 1, ROUGH + 2, ROUGH + 3


@compiled
def one_minus_exp(y, exp_y):
    """1 - exp(-y), given exp(-y); from its series if the difference would cancel"""
    return y * (1.0 - y * (0.5 - y * (1.0 - 0.25 * y) / 6.0)) if abs(y) < NEAR else 1.0 - exp_y


@compiled
def degradation_at(h, s, k, mm, nn, mn):
    """(degradation, slope, derivative of the slope) at h.

    Computes |a_m k(m, .) + a_n k(n, .) - a_z k(z, .)|^2 without cancellation: |a_m|^2 and |a_n|^2 often differ by
    ten orders of magnitude, and the degradation is about as small as the smaller one.
    """
    g = 1.0 - h
    p, q, shared = math.exp(-s * g * g), math.exp(-s * h * h), 2.0 * s * h * g
    lost_both = k * one_minus_exp(-shared, 1.0) if abs(shared) < NEAR else k - p * q
    loss = mm * one_minus_exp(2.0 * s * g * g, p * p) + nn * one_minus_exp(2.0 * s * h * h, q * q)
    pp, qq, pq = mm * p * p, nn * q * q, mn * p * q
    a, b = pp + pq, qq + pq
    # since p' = 2 s g p and q' = -2 s h q
    curvature = 2.0 * s * (2.0 * (g * g * pp + h * h * qq) + (g - h) * (g - h) * pq) - a - b
    return loss + 2.0 * mn * lost_both, g * a - h * b, curvature


@compiled
def shortened(step, h):
    """A Newton step, clamped so that it does not jump into the basin of another minimum."""
    longest = 0.25 + 0.5 * abs(h)
    return min(max(step, -longest), longest)


@compiled
def solve(h, s, mm, nn, mn):
    """(h, degradation) at the local minimum near h."""
    k = math.exp(-s)
    return solve_from(h, degradation_at(h, s, k, mm, nn, mn), s, k, mm, nn, mn)


@compiled
def solve_from(h, known, s, k, mm, nn, mn):
    """As `solve`, for a start h whose values by `degradation_at` are known.

    First takes plain Newton steps, of which two are mostly enough. If they do not converge, or do not lower the
    degradation, halves each step until it does.
    """
    start, (before, slope, curvature) = h, known
    reached, last = before, 0.0
    for _ in range(NEWTON_STEPS):
        if not curvature < 0.0:
            break
        step = shortened(-slope / curvature, h)
        h = min(max(h + step, REACH_BELOW), REACH_ABOVE)
        if abs(step) < SHORTEST_STEP or abs(step) ** 3 < NEGLIGIBLE_STEP * last * last:
            if reached <= ROUNDING * before:
                return h, reached
            break
        reached, slope, curvature = degradation_at(h, s, k, mm, nn, mn)
        last = step
    return _descend(start, s, k, mm, nn, mn)


@compiled
def _descend(h, s, k, mm, nn, mn):
    """Take Newton steps, each halved until it lowers the degradation."""
    least, slope, curvature = degradation_at(h, s, k, mm, nn, mn)
    for _ in range(HALVED_STEPS):
        step = shortened(-slope / curvature if curvature < 0.0 else math.copysign(0.25, slope), h)
        candidate, loss = h, least
        while abs(step) > SHORTEST_STEP:
            candidate = min(max(h + step, REACH_BELOW), REACH_ABOVE)
            loss, slope, curvature = degradation_at(candidate, s, k, mm, nn, mn)
            if loss < least:
                break
            step *= 0.5
        if not loss < least:
            break
        h, least = candidate, loss
    return h, least


@compiled
def evaluate_partner(search, mm, j):
    """The least degradation with partner j, accurate enough to compare partners.

    Predicts the gain of a Newton step in float64 from the estimated h. The gain is mostly tiny, and the gain of a
    second step about its square. Writes the results at h to the rows of the search.
    """
    h, s, nn, mn = search[PLACE, j], search[S, j], search[NN, j], search[MN, j]
    k = math.exp(-s)
    for _ in range(2):
        loss, slope, curvature = degradation_at(h, s, k, mm, nn, mn)
        if not curvature < 0.0:
            break
        gain = 2.0 * s * slope * slope / -curvature
        if gain < LEAST_GAIN * loss:
            keep_evaluation(search, j, h, k, loss, slope, curvature)
            return loss - gain
        h = min(max(h + shortened(-slope / curvature, h), REACH_BELOW), REACH_ABOVE)
    h, loss = solve(search[PLACE, j], s, mm, nn, mn)
    reached, slope, curvature = degradation_at(h, s, k, mm, nn, mn)
    keep_evaluation(search, j, h, k, reached, slope, curvature)
    return loss


@compiled(always_inlined=True)
def keep_evaluation(search, j, place, k, reached, slope, curvature):
    """Keep the values computed for partner j in the rows of the search, from which `place_of_pair` continues."""
    search[PLACE, j], search[K, j], search[REACHED, j] = place, k, reached
    search[SLOPE, j], search[BEND, j] = slope, curvature


@compiled
def eq21_partners(model, m, search):
    """search[PLACE] = h by equation (21) of the paper as printed, search[LOSS] = the degradation at this h.

    Equation (21) maximises the sum over classes of (a_m p + a_n q) / (a_m + a_n), which for more than one output
    does not minimise the degradation; the paper's figures for many classes come from it.
    """
    for j in range(model.head.count):
        alpha, beta = 0.0, 0.0
        for r in range(model.coefficients.shape[0]):
            a_m, a_n = model.coefficients[r, m], model.coefficients[r, j]
            total = a_m + a_n if a_m + a_n != 0.0 else 1e-4
            alpha += a_m / total
            beta += a_n / total
        h = _eq21_place(search[S, j], alpha, beta)
        search[PLACE, j] = h
        s, nn, mn = search[S, j], search[NN, j], search[MN, j]
        loss, _, _ = degradation_at(h, s, math.exp(-s), search[NN, m], nn, mn)
        search[LOSS, j] = max(loss, 0.0)


@compiled
def _eq21_place(s, alpha, beta):
    """argmax of alpha p + beta q on the bracket of the paper, by golden section"""
    low, high = 0.0, 1.0
    if alpha * beta < 0.0:
        low, high = (1.0, REACH_ABOVE) if alpha > 0.0 else (REACH_BELOW, 0.0)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = _eq21_gain(left, s, alpha, beta), _eq21_gain(right, s, alpha, beta)
    while high - low > 2e-4:
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = _eq21_gain(left, s, alpha, beta)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = _eq21_gain(right, s, alpha, beta)
    return 0.5 * (low + high)


@compiled
def _eq21_gain(h, s, alpha, beta):
    """alpha p + beta q at h"""
    return alpha * math.exp(-s * (1.0 - h) * (1.0 - h)) + beta * math.exp(-s * h * h)

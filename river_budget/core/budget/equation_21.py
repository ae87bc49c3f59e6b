"""Equation (21) as printed, which places merged vectors in the figures of the paper for many
classes.

Z. Wang, K. Crammer, S. Vucetic. Multi-class Pegasos on a budget. ICML 2010. Symbols as in
merging.py.
"""

from __future__ import annotations

import math

from ..compiling import inner
from ..numerics import exp_of
from .merging import LOSS, MN, NN, PLACE, REACH_ABOVE, REACH_BELOW, S, degradation_at


@inner
def eq21_partners(m, p):
    """work[PLACE] = h by equation (21) of the paper of 2010 as printed, work[LOSS] = the
    degradation at this h.

    Equation (21) maximises the sum over classes of (a_m p + a_n q) / (a_m + a_n), which for more
    than one output does not minimise the degradation; the paper's figures for many classes come
    from it.
    """
    search, a = m.work, m.coefficients
    for j in range(m.head[0].count):
        alpha, beta, s = 0.0, 0.0, search[S, j]
        for r in range(a.shape[0]):
            total = a[r, p] + a[r, j]
            total = total if total != 0.0 else 1e-4
            alpha += a[r, p] / total
            beta += a[r, j] / total
        h = eq21_place(s, alpha, beta)
        loss, _, _ = degradation_at(h, s, exp_of(-s), search[NN, p], search[NN, j], search[MN, j])
        search[PLACE, j], search[LOSS, j] = h, max(loss, 0.0)


@inner
def eq21_place(s, alpha, beta):
    """argmax of alpha p + beta q on the bracket of the paper, by golden section"""
    low, high = 0.0, 1.0
    if alpha * beta < 0.0:
        low, high = (1.0, REACH_ABOVE) if alpha > 0.0 else (REACH_BELOW, 0.0)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = eq21_gain(left, s, alpha, beta), eq21_gain(right, s, alpha, beta)
    while high - low > 2e-4:
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = eq21_gain(left, s, alpha, beta)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = eq21_gain(right, s, alpha, beta)
    return 0.5 * (low + high)


@inner
def eq21_gain(h, s, alpha, beta):
    """alpha p + beta q at h"""
    return alpha * math.exp(-s * (1.0 - h) * (1.0 - h)) + beta * math.exp(-s * h * h)

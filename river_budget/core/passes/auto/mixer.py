"""The mixture of all experts: their weights, by Newton steps (examples/auto_kernel.md, Mixer).

E. Hazan, A. Agarwal, S. Kale. Logarithmic regret algorithms for online convex optimization. Machine
Learning 69, 2007. (Here with forgetting, and with weights that need not be positive or sum to 1.)

    w_k    mixer[WEIGHT], which begins at mixer[START] and decays towards it; both are 0 of an
           expert that is absent
    A      mixer[CURVATURE:]; it never falls below MIXER_RIDGE on its diagonal
    g_k    solver[SLOPE]; h = A^-1 (...)  is computed from scratch in every round, as an updated inverse would lose
           its definiteness
"""  # noqa: E501

from __future__ import annotations

import math

from ...compiling import inner
from .tables import CURVATURE, CURVE, EXPERTS, SLOPE, START, TRIANGLE, WEIGHT

MIXER_FORGETTING = 0.999  # lam
MIXER_RIDGE = 10.0
LOSS_RATE = 0.01  # rate of the running losses, which only `experts()` reads


@inner
def newton_step(mixer, solver, step, w):
    """A <- lam A + w u u' + (1 - lam) ridge I;  w_k <- w_k - A^-1 (w step g + (1 - lam) ridge (w_k - start)), with g the
    slopes and u the curves of the solver. Both are overwritten; they are 0 of experts that are absent.
    """  # noqa: E501
    starts, weights, curvature = mixer[START], mixer[WEIGHT], mixer[CURVATURE:]
    slopes, curves, triangle = solver[SLOPE], solver[CURVE], solver[TRIANGLE:]
    leak, root = (1.0 - MIXER_FORGETTING) * MIXER_RIDGE, math.sqrt(w)
    for i in range(EXPERTS):
        slopes[i] = w * step * slopes[i] + leak * (weights[i] - starts[i])
        curves[i] *= root  # so that the matrix stays symmetric to the last bit
    for i in range(EXPERTS):
        for j in range(EXPERTS):
            curvature[i, j] = MIXER_FORGETTING * curvature[i, j] + curves[i] * curves[j]
        curvature[i, i] += leak
        for j in range(EXPERTS):
            triangle[i, j] = curvature[i, j]
    for k in range(EXPERTS):  # by elimination; a positive definite matrix has no small pivots
        inverse = 1.0 / triangle[k, k]
        for i in range(k + 1, EXPERTS):
            factor = triangle[k, i] * inverse
            for j in range(i, EXPERTS):
                triangle[i, j] -= factor * triangle[k, j]
            slopes[i] -= factor * slopes[k]
    for k in range(EXPERTS - 1, -1, -1):
        slopes[k] /= triangle[k, k]
        for i in range(k):
            slopes[i] -= triangle[i, k] * slopes[k]
        weights[k] -= slopes[k]

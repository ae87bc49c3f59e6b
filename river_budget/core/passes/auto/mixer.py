"""The mixture of all experts: their weights, by Newton steps.

E. Hazan, A. Agarwal, S. Kale. Logarithmic regret algorithms for online convex optimization. Machine Learning 69, 2007.
(Here with forgetting, and with weights that need not be positive or sum to 1.)

    spec   here
    w_k    mixer.weight, which begins at mixer.start and decays towards it; both are 0 of an expert that is absent
    A      mixer.curvature; it never falls below MIXER_RIDGE on its diagonal
    g_k    solver.slope; h = A^-1 (...)  is computed from scratch in every round, as an updated inverse would lose
           its definiteness
"""

from __future__ import annotations

import math

from ...compiling.jit import compiled
from .tables import EXPERTS, desk_of, room_of

MIXER_FORGETTING = 0.999  # lam
MIXER_RIDGE = 10.0
LOSS_RATE = 0.01  # rate of the running losses, which only `experts()` reads


@compiled
def newton_step(model, slopes, curves, step, w):
    """A <- lam A + w u u' + (1 - lam) ridge I;  w_k <- w_k - A^-1 (w step g + (1 - lam) ridge (w_k - start)), with g the
    slopes and u the curves. Both are overwritten; they are 0 of experts that are absent."""
    mixer, triangle = room_of(model).mixer, desk_of(model).solver.triangle
    starts, weights, curvature = mixer.start, mixer.weight, mixer.curvature
    leak, root = (1.0 - MIXER_FORGETTING) * MIXER_RIDGE, math.sqrt(w)
    for i in range(EXPERTS):
        slopes[i] = w * step * slopes[i] + leak * (weights[i] - starts[i])
    for i in range(EXPERTS):
        curves[i] *= root  # so that the matrix stays symmetric to the last bit
    for i in range(EXPERTS):
        for j in range(EXPERTS):
            curvature[i, j] = MIXER_FORGETTING * curvature[i, j] + curves[i] * curves[j]
        curvature[i, i] += leak
    # by elimination; a positive definite matrix has no small pivots
    for i in range(EXPERTS):
        for j in range(EXPERTS):
            triangle[i, j] = curvature[i, j]
    for k in range(EXPERTS):
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

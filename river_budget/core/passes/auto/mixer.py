"""The mixture of all experts, and its online Newton step.

E. Hazan, A. Agarwal, S. Kale. Logarithmic regret algorithms for online convex optimization. Machine Learning 69, 2007.
(With forgetting; weights are free and not a point of a simplex.)

    spec   here
    w_k    MIXER_WEIGHT, which begins at `start` and leaks towards it
    A      from row MIXER_CURVATURE on; it never falls below RIDGE on its diagonal
    g_k    slopes; h = A^-1 (...)  is computed anew in every round: an inverse that is kept up to date loses its
           definiteness
"""

from __future__ import annotations

import math

from ...compiling.jit import compiled
from ...simd.vector_ops import combine
from .tables import MIXER, MIXER_CURVATURE, MIXER_LOSS, MIXER_WEIGHT, SOLVER, STRIDE, kept, noted

MEMORY = 0.999  # lam
RIDGE = 10.0
LOSS_MEMORY = 0.01  # rate of the running losses
SLOPES, CURVES, ANSWER = STRIDE, STRIDE + 1, STRIDE + 2  # rows of SOLVER behind the triangle
RIGHT = STRIDE - 1  # there are fewer experts than columns


@compiled
def solve(matrix, triangle, answer, n):
    """answer = matrix^-1 answer, by elimination; of a positive definite matrix no pivot is ever small. What belongs
    to the answer stands in the last column meanwhile, so that a step is the same for all of a row."""
    for i in range(n):
        for j in range(STRIDE):
            triangle[i, j] = matrix[i, j]
        triangle[i, RIGHT] = answer[i]
    for k in range(n):
        inverse = 1.0 / triangle[k, k]
        for i in range(k + 1, n):
            factor = triangle[k, i] * inverse
            combine(triangle[i], 1.0, -factor, triangle[k], STRIDE)
        triangle[k, k] = inverse
    for i in range(n - 1, -1, -1):
        total = triangle[i, RIGHT]
        for k in range(i + 1, n):
            total -= triangle[i, k] * answer[k]
        answer[i] = total * triangle[i, i]


@compiled
def newton_step(model, n, start, step, w):
    """A <- lam A + w u u' + (1 - lam) ridge I;  w_k <- w_k - A^-1 (w step g + (1 - lam) ridge (w_k - start)),
    with g in row SLOPES and u in row CURVES of the solver."""
    mixer, solver = kept(model, MIXER), noted(model, SOLVER)
    weights, slopes, curves = mixer[MIXER_WEIGHT], solver[SLOPES], solver[CURVES]
    answer, leak, root = solver[ANSWER], (1.0 - MEMORY) * RIDGE, math.sqrt(w)
    for i in range(n):
        curves[i] *= root  # so that the matrix stays symmetric to the last bit
    for i in range(n, STRIDE):
        curves[i] = 0.0
    for i in range(n):
        line = mixer[MIXER_CURVATURE + i]
        combine(line, MEMORY, curves[i], curves, STRIDE)
        line[i] += leak
        answer[i] = w * step * slopes[i] + leak * (weights[i] - start)
    solve(mixer[MIXER_CURVATURE:], solver, answer, n)
    for i in range(n):
        weights[i] -= answer[i]


@compiled
def note_loss(model, expert, rounds, loss):
    """The running loss of an expert, for those who want to know."""
    losses = kept(model, MIXER)[MIXER_LOSS]
    losses[expert] += max(1.0 / (rounds + 1.0), LOSS_MEMORY) * (loss - losses[expert])

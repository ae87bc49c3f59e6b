"""The mixture of all experts, and its online Newton step.

E. Hazan, A. Agarwal, S. Kale. Logarithmic regret algorithms for online convex optimization. Machine Learning 69, 2007.
(With forgetting; weights are free and not a point of a simplex.)

    spec   here
    w_k    MIXER_WEIGHT, which begins at `start` and leaks towards it
    A      from row MIXER_CURVATURE on; it never falls below RIDGE on its diagonal
    g_k    slopes; h = A^-1 (...)  by Cholesky's factor, computed anew in every round: an inverse that is kept up to
           date loses its definiteness

The matrix is small, and its loops are plain: their order is the same everywhere.
"""

from __future__ import annotations

import math

from .auto_tables import (
    MIXER,
    MIXER_CURVATURE,
    MIXER_LOSS,
    MIXER_WEIGHT,
    SOLVER,
    STRIDE,
    kept,
    noted,
)
from .jit import compiled

MEMORY = 0.999  # lam
RIDGE = 10.0
LOSS_MEMORY = 0.01  # rate of the running losses
SLOPES, CURVES, ANSWER = STRIDE, STRIDE + 1, STRIDE + 2  # rows of SOLVER behind the factor


@compiled(always_inlined=True)
def solve(matrix, factor, answer, n):
    """answer = matrix^-1 answer, with the factor of Cholesky's decomposition below the diagonal, and the inverse
    of its diagonal on it."""
    for i in range(n):
        for j in range(i):
            total = matrix[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            factor[i, j] = total * factor[j, j]
        total = matrix[i, i]
        for k in range(i):
            total -= factor[i, k] * factor[i, k]
        factor[i, i] = 1.0 / math.sqrt(total)
    for i in range(n):
        total = answer[i]
        for k in range(i):
            total -= factor[i, k] * answer[k]
        answer[i] = total * factor[i, i]
    for i in range(n - 1, -1, -1):
        total = answer[i]
        for k in range(i + 1, n):
            total -= factor[k, i] * answer[k]
        answer[i] = total * factor[i, i]


@compiled(always_inlined=True)
def newton_step(model, n, start, step, w):
    """A <- lam A + w u u' + (1 - lam) ridge I;  w_k <- w_k - A^-1 (w step g + (1 - lam) ridge (w_k - start)),
    with g in row SLOPES and u in row CURVES of the solver."""
    mixer, solver = kept(model, MIXER), noted(model, SOLVER)
    weights, slopes, curves = mixer[MIXER_WEIGHT], solver[SLOPES], solver[CURVES]
    answer, leak = solver[ANSWER], (1.0 - MEMORY) * RIDGE
    for i in range(n):
        line = mixer[MIXER_CURVATURE + i]
        for j in range(n):
            line[j] = MEMORY * line[j] + w * (curves[i] * curves[j])
        line[i] += leak
        answer[i] = w * step * slopes[i] + leak * (weights[i] - start)
    solve(mixer[MIXER_CURVATURE:], solver, answer, n)
    for i in range(n):
        weights[i] -= answer[i]


@compiled(always_inlined=True)
def note_loss(model, expert, rounds, loss):
    """The running loss of an expert, for those who want to know."""
    losses = kept(model, MIXER)[MIXER_LOSS]
    losses[expert] += max(1.0 / (rounds + 1.0), LOSS_MEMORY) * (loss - losses[expert])

"""Linear models beside the memory: AdaGrad with two rates, and recursive least squares.

J. Duchi, E. Hazan, Y. Singer. Adaptive subgradient methods for online learning and stochastic optimization. JMLR 12,
2011. (The sums of squares fade here.)

    spec     here
    x+       row: 1, and then the scaled features
    L_u, G   LINEAR: per column and rate, weights and sums of squared gradients
    w        LEAST_SQUARES, which begins at 1/C for x+ = 1; its covariance  COVARIANCE
    trace    of the covariance: forgetting only goes on while it is small
"""

from __future__ import annotations

import math

from .auto_tables import (
    COVARIANCE,
    GAIN,
    LEAST_SQUARES,
    LINEAR,
    NEW_MOMENTS,
    ORIENTATION,
    ROW,
    kept,
    noted,
)
from .jit import compiled
from .lanes import dot

QUICK, SLOW = 0.3, 0.05  # rates
MEMORY = 0.9995  # of sums of squared gradients
FORGETTING = 0.9995  # of least squares
TINY = 1e-10


@compiled(always_inlined=True)
def linear_score(model, state, column, rate):
    """L_u x+"""
    return dot(noted(model, ROW)[0], kept(model, LINEAR)[4 * column + 2 * rate], state.features + 1)


@compiled(always_inlined=True)
def learn_linear(model, state, column, rate, step, error):
    """AdaGrad against error x+."""
    row, linear = noted(model, ROW)[0], kept(model, LINEAR)
    weights, squares = linear[4 * column + 2 * rate], linear[4 * column + 2 * rate + 1]
    for i in range(state.features + 1):
        g = error * row[i]
        squares[i] = MEMORY * squares[i] + g * g
        weights[i] -= step * g / math.sqrt(squares[i] + TINY)


@compiled(always_inlined=True)
def least_squares_score(model, state, column):
    """w x+"""
    return dot(noted(model, ROW)[0], kept(model, LEAST_SQUARES)[column], state.second_order + 1)


@compiled(always_inlined=True)
def gain(model, state, w):
    """GAIN: how weights answer to an error of 1. The covariance counts the row in, w times."""
    n, row, covariance = state.second_order + 1, noted(model, ROW)[0], kept(model, COVARIANCE)
    direction = noted(model, GAIN)[1]
    for i in range(n):
        direction[i] = dot(covariance[i], row, n)
    return w / (FORGETTING + w * dot(direction, row, n))


@compiled(always_inlined=True)
def learn_least_squares(model, state, column, error):
    """Weights go along the gain, times the error and what `gain` has returned."""
    weights, direction = kept(model, LEAST_SQUARES)[column], noted(model, GAIN)[1]
    for i in range(state.second_order + 1):
        weights[i] += direction[i] * error


@compiled(always_inlined=True)
def shrink_covariance(model, state, factor):
    """P <- P - factor (P x)(P x)', and P / FORGETTING while the trace stays below that of the start.

    Features that have never varied stay as they begin. Both halves of P get the same bits, so it stays symmetric.
    """
    n, covariance, direction = (
        state.second_order + 1,
        kept(model, COVARIANCE),
        noted(model, GAIN)[1],
    )
    orientations = noted(model, NEW_MOMENTS)[ORIENTATION]
    root, trace, number = math.sqrt(factor), 0.0, 0
    for i in range(n):
        direction[i] *= root
    for i in range(n):
        if i == 0 or orientations[i - 1] != 0.0:
            trace += covariance[i, i] - direction[i] * direction[i]
            number += 1
    grows = 1.0 / FORGETTING if trace / FORGETTING < number else 1.0
    for i in range(n):
        line = covariance[i]
        for j in range(n):
            line[j] = grows * (line[j] - direction[i] * direction[j])
    for i in range(1, n):
        if orientations[i - 1] == 0.0:
            covariance[i, i] = 1.0

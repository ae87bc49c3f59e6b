"""Linear models beside the memory: AdaGrad with two rates, and recursive least squares.

J. Duchi, E. Hazan, Y. Singer. Adaptive subgradient methods for online learning and stochastic optimization. JMLR 12,
2011. (The sums of squares fade here.)

    spec     here
    x+       row: 1, and then the scaled features
    L_u, G   LINEAR, LINEAR_SUMS: per rate, weights of every column, and sums of squared gradients, of all columns on
             average
    w        LEAST_SQUARES, which begins at 1/C for x+ = 1; its covariance  COVARIANCE
    trace    of the covariance: forgetting only goes on while it is small
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling.jit import compiled
from ...simd.registers import LANES
from ...simd.table_sums import all_dots, dots
from ...simd.vector_ops import combine, dot
from .tables import (
    COVARIANCE,
    GAIN,
    LEAST_SQUARES,
    LINEAR,
    LINEAR_SUMS,
    NEW_MOMENTS,
    ORIENTATION,
    ROW,
    SLOPE,
    columns_of,
    kept,
    noted,
    whole_row,
)

QUICK, SLOW = 0.3, 0.05  # rates
RATES = np.int64(2)
FIRST, NEXT = np.int64(0), np.int64(1)  # rows of tables with one per column
MEMORY = 0.9995  # of sums of squared gradients
FORGETTING = 0.9995  # of least squares
TINY = 1e-10


@compiled
def linear_scores(model, state, rate, scores):
    """L_u x+"""
    row = noted(model, ROW)[0][: whole_row(state)]
    all_dots(row, kept(model, LINEAR), rate, RATES, scores)


@compiled
def learn_linear(model, state, rate, step, errors):
    """AdaGrad against errors[c] x+; all columns share the lengths of steps."""
    row, linear, steps = noted(model, ROW)[0], kept(model, LINEAR), noted(model, SLOPE)[0]
    squares, columns, n = kept(model, LINEAR_SUMS)[rate], columns_of(model), whole_row(state)
    square = mean_square(errors, columns)
    for i in range(n):
        squares[i] = MEMORY * squares[i] + square * (row[i] * row[i])
    for i in range(n):
        steps[i] = step * row[i] / math.sqrt(squares[i] + TINY)
    for c in range(columns):
        combine(linear[RATES * c + rate], 1.0, -errors[c], steps, n)


@compiled
def mean_square(errors, n):
    """Of the first n errors."""
    total = 0.0
    for c in range(n):
        total += errors[c] * errors[c]
    return total / n


@compiled
def least_squares_scores(model, state, scores):
    """w x+"""
    row = noted(model, ROW)[0][: squared_row(state)]
    all_dots(row, kept(model, LEAST_SQUARES), FIRST, NEXT, scores)


@compiled
def squared_row(state):
    """As many numbers of x+ as least squares look at, and zeros behind them; or numbers whose weights are 0."""
    return (state.second_order + LANES) // LANES * LANES


@compiled
def gain(model, state, w):
    """GAIN: how weights answer to an error of 1. The covariance counts the row in, w times."""
    n = squared_row(state)
    row, direction = noted(model, ROW)[0][:n], noted(model, GAIN)[1][:n]
    dots(row, kept(model, COVARIANCE), FIRST, NEXT, direction)
    return w / (FORGETTING + w * dot(direction, row, n))


@compiled
def learn_least_squares(model, state, column, error):
    """Weights go along the gain, times the error and what `gain` has returned."""
    weights, direction = kept(model, LEAST_SQUARES)[column], noted(model, GAIN)[1]
    combine(weights, 1.0, error, direction, squared_row(state))


@compiled
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
    trace, number = 0.0, 0
    for i in range(n):
        if i == 0 or orientations[i - 1] != 0.0:
            trace += covariance[i, i] - factor * (direction[i] * direction[i])
            number += 1
    grows = 1.0 / FORGETTING if trace / FORGETTING < number else 1.0
    root = math.sqrt(factor * grows)
    for i in range(squared_row(state)):
        direction[i] *= root
    for i in range(n):
        combine(covariance[i], grows, -direction[i], direction, squared_row(state))
    for i in range(1, n):
        if orientations[i - 1] == 0.0:
            covariance[i, i] = 1.0

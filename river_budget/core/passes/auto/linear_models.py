"""Linear models of the features: AdaGrad with two rates, and recursive least squares.

J. Duchi, E. Hazan, Y. Singer. Adaptive subgradient methods for online learning and stochastic optimization. JMLR 12,
2011. (Here the sums of squares decay.)

    spec     here
    x+       desk.wide: 1, and then the scaled features
    L_u, G   room.linear_weights, room.linear_sums: per rate, the weights of every column, and sums of squared
             gradients, the mean over columns
    w        room.least_squares, which begins at 1/C for x+ = 1; its covariance  room.covariance
    trace    of the covariance: the model forgets only while the trace is small
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling.jit import compiled
from ...examples.call import row_of
from ...simd.vector_ops import combine, dot
from .tables import columns_of, desk_of, room_of

RATES = (0.3, 0.05)
N_RATES = np.int64(len(RATES))
LINEAR_FORGETTING = 0.9995  # of sums of squared gradients
SQUARES_FORGETTING = 0.9995  # of past rows in least squares
GRADIENT_FLOOR = 1e-10  # added under the root, for features that were 0 so far


@compiled
def linear_scores(row, weights, apart, first, scores):
    """L_u x+, or w x+: the weights of column c stand in row apart c + first."""
    for c in range(scores.shape[0]):
        scores[c] = dot(row, row_of(weights, apart * c + first), row.shape[0])


@compiled
def learn_linear(model, rate, step, errors):
    """An AdaGrad step along errors[c] x+, the negative gradient. All columns have the same step lengths."""
    room, row, steps = room_of(model), desk_of(model).wide, desk_of(model).steps
    squares, columns, n = (row_of(room.linear_sums, rate), columns_of(model), row.shape[0])
    square = mean_square(errors, columns)
    for i in range(n):
        squares[i] = LINEAR_FORGETTING * squares[i] + square * (row[i] * row[i])
    for i in range(n):
        steps[i] = step * row[i] / math.sqrt(squares[i] + GRADIENT_FLOOR)
    for c in range(columns):
        combine(row_of(room.linear_weights, N_RATES * c + rate), 1.0, errors[c], steps, n)


@compiled
def mean_square(errors, n):
    """The mean of the first n squared errors."""
    total = 0.0
    for c in range(n):
        total += errors[c] * errors[c]
    return total / n


# Least squares


@compiled
def learn_least_squares(model, state, errors, w):
    """With the gain q = P x and the factor k = w / (forgetting + w x'q), w_c += k errors[c] q;  P <- P - k q q', divided
    by the forgetting while the trace stays below its initial value.

    Entries of features that have never varied stay initial. Both halves of P get the same bits, so it stays symmetric.
    """
    room, desk, n = room_of(model), desk_of(model), state.second_order + 1
    covariance, weights, gain = room.covariance, room.least_squares, desk.gain
    row, rounded = desk.wide[: gain.shape[0]], gain.shape[0]
    orientations, trace, number = desk.new_moments.orientation, 0.0, 0
    for i in range(n):
        gain[i] = dot(row, row_of(covariance, i), rounded)
    for i in range(n, rounded):
        gain[i] = 0.0
    factor = w / (SQUARES_FORGETTING + w * dot(gain, row, rounded))
    for c in range(columns_of(model)):
        combine(row_of(weights, c), 1.0, factor * errors[c], gain, rounded)
    for i in range(n):
        if i == 0 or orientations[i - 1] != 0.0:
            trace += covariance[i, i] - factor * (gain[i] * gain[i])
            number += 1
    growth = 1.0 / SQUARES_FORGETTING if trace / SQUARES_FORGETTING < number else 1.0
    root = math.sqrt(factor * growth)
    for i in range(rounded):
        gain[i] *= root
    for i in range(n):
        combine(row_of(covariance, i), growth, -gain[i], gain, rounded)
    for i in range(1, n):
        if orientations[i - 1] == 0.0:
            covariance[i, i] = 1.0

"""Linear models of the features: AdaGrad with two rates, and recursive least squares.

J. Duchi, E. Hazan, Y. Singer. Adaptive subgradient methods for online learning and stochastic optimization. JMLR 12,
2011. (Here the sums of squares decay.)

    spec     here
    x+       desk.scaled: 1, and then the scaled features
    L_u, G   room.linear_weights, room.linear_sums: per rate, the weights of every column, and sums of squared
             gradients, the mean over columns
    w        room.least_squares, which begins at 1/C for x+ = 1; its covariance  room.covariance
    trace    of the covariance: the model forgets only while the trace is small
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling.jit import compiled
from ...simd.table_sums import all_dots, dots
from ...simd.vector_ops import LANES, combine, dot
from .tables import columns_of, desk_of, room_of, whole_row

QUICK_RATE, SLOW_RATE = 0.3, 0.05
N_RATES = np.int64(2)
FIRST_ROW, ROW_BY_ROW = np.int64(0), np.int64(1)  # of tables with one row per column
LINEAR_FORGETTING = 0.9995  # of sums of squared gradients
SQUARES_FORGETTING = 0.9995  # of past rows in least squares
GRADIENT_FLOOR = 1e-10  # added under the root, for features that were 0 so far


@compiled
def linear_scores(model, state, rate, scores):
    """L_u x+"""
    row = desk_of(model).scaled[: whole_row(state)]
    all_dots(row, room_of(model).linear_weights, rate, N_RATES, scores)


@compiled
def learn_linear(model, state, rate, step, errors):
    """An AdaGrad step along errors[c] x+, the negative gradient. All columns have the same step lengths."""
    desk, room, n = desk_of(model), room_of(model), whole_row(state)
    row, steps, weights = desk.scaled, desk.steps, room.linear_weights
    squares, columns = room.linear_sums[rate], columns_of(model)
    square = mean_square(errors, columns)
    for i in range(n):
        squares[i] = LINEAR_FORGETTING * squares[i] + square * (row[i] * row[i])
    for i in range(n):
        steps[i] = step * row[i] / math.sqrt(squares[i] + GRADIENT_FLOOR)
    for c in range(columns):
        combine(weights[N_RATES * c + rate], 1.0, errors[c], steps, n)


@compiled
def mean_square(errors, n):
    """The mean of the first n squared errors."""
    total = 0.0
    for c in range(n):
        total += errors[c] * errors[c]
    return total / n


# Least squares


@compiled
def least_squares_scores(model, state, scores):
    """w x+"""
    row = desk_of(model).scaled[: squared_row(state)]
    all_dots(row, room_of(model).least_squares, FIRST_ROW, ROW_BY_ROW, scores)


@compiled
def squared_row(state):
    """The length of the row for least squares: its part of x+, rounded up; the weights of numbers beyond it are 0."""
    return (state.second_order + LANES) // LANES * LANES


@compiled
def compute_gain(model, state, w):
    """Write desk.gain = P x, the direction of the weights' step. Returns the step's factor, for a row with weight w."""
    n, desk = squared_row(state), desk_of(model)
    row, gain = desk.scaled[:n], desk.gain[:n]
    dots(row, room_of(model).covariance, FIRST_ROW, ROW_BY_ROW, gain)
    return w / (SQUARES_FORGETTING + w * dot(gain, row, n))


@compiled
def learn_least_squares(model, state, column, error):
    """Add error times gain to the weights of a column; `error` includes the factor from `compute_gain`."""
    weights = room_of(model).least_squares[column]
    combine(weights, 1.0, error, desk_of(model).gain, squared_row(state))


@compiled
def shrink_covariance(model, state, factor):
    """P <- P - factor (P x)(P x)', divided by SQUARES_FORGETTING while the trace stays below its initial value.
    Overwrites the gain.

    Entries of features that have never varied stay initial. Both halves of P get the same bits, so it stays symmetric.
    """
    desk, covariance = desk_of(model), room_of(model).covariance
    n, gain, orientations = state.second_order + 1, desk.gain, desk.new_moments.orientation
    trace, number = 0.0, 0
    for i in range(n):
        if i == 0 or orientations[i - 1] != 0.0:
            trace += covariance[i, i] - factor * (gain[i] * gain[i])
            number += 1
    grows = 1.0 / SQUARES_FORGETTING if trace / SQUARES_FORGETTING < number else 1.0
    root = math.sqrt(factor * grows)
    for i in range(squared_row(state)):
        gain[i] *= root
    for i in range(n):
        combine(covariance[i], grows, -gain[i], gain, squared_row(state))
    for i in range(1, n):
        if orientations[i - 1] == 0.0:
            covariance[i, i] = 1.0

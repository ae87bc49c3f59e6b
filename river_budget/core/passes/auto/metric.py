"""Distances with learned weights of features, and kernel gradient descent on these distances.

The weights take steps against the gradient of the loss of the neighbours' vote, feature by feature. Each example gets
a coefficient for every column when it is stored, and keeps it.

    spec        here
    a_f         metric.weight, their sum is d; log a_f is kept too (metric.log), as a power is a product there
    u_f         metric.square: running mean of squared gradients
    g_f         desk.slope
    D_i         model.row
    k_i         model.logs: exp(-D_i / d)
"""

from __future__ import annotations

import math

from ...block.limits import padded_count, within
from ...compiling.jit import FUSED, compiled
from ...examples.call import row_of
from ...simd.exponential import exp_of
from ...simd.vector_ops import dot
from .memory import LEAST_VOTE_DISTANCE
from .tables import NEIGHBOURS, desk_of, room_of

METRIC_RATE = 0.02
PULL = 0.0002  # share of their logarithm that weights lose per step, towards equal ones
SQUARE_RATE = 0.01  # rate of the mean of squared gradients
LONGEST_METRIC_STEP = 0.2
STEEPEST = 3e4  # slopes are clipped to it; targets orders of magnitude apart exceed it
LEAST_METRIC_WEIGHT = 1e-3
SQUARE_FLOOR = 1e-12  # added under the root, which divides
TRAINED = 4.0  # beta of the vote whose loss trains the weights: softer than that of the near vote


@compiled(always_inlined=True)
def four(table, x, weights, f):
    """Stored values, values of the row, and weights of four features."""
    return (
        (row_of(table, f), row_of(table, f + 1), row_of(table, f + 2), row_of(table, f + 3)),
        (x[f], x[f + 1], x[f + 2], x[f + 3]),
        (weights[f], weights[f + 1], weights[f + 2], weights[f + 3]),
    )


@compiled(fastmath=FUSED, always_inlined=True)
def part_of_distance(features, i):
    """sum_f a_f (x_f - s_if)^2 of four features."""
    rows, x, a = features
    p, q, r, s = (rows[0][i] - x[0], rows[1][i] - x[1], rows[2][i] - x[2], rows[3][i] - x[3])
    return (a[0] * p * p + a[1] * q * q) + (a[2] * r * r + a[3] * s * s)


@compiled(fastmath=FUSED)
def compute_distances(model, state, x):
    """D_i = sum_f a_f (x_f - s_if)^2, of eight features at a time, as the sums are read and written for each sweep."""
    weights, far, n, d = (
        room_of(model).metric.weight,
        model.row,
        padded_count(model),
        state.features,
    )
    stored = model.vectors
    for i in range(n):
        far[i] = 0.0
    for f in range(0, d - 7, 8):
        some, more = four(stored, x, weights, f), four(stored, x, weights, f + 4)
        for i in range(n):
            far[i] += part_of_distance(some, i) + part_of_distance(more, i)
    for f in range(d // 8 * 8, d - 3, 4):
        some = four(stored, x, weights, f)
        for i in range(n):
            far[i] += part_of_distance(some, i)
    for f in range(d // 4 * 4, d):
        row, value, weight = row_of(stored, f), x[f], weights[f]
        for i in range(n):
            apart = row[i] - value
            far[i] += weight * apart * apart


# Learning the weights of features


@compiled
def learn_weights(model, state, factors, scale, w):
    """A step of the metric against the slopes a_f beta / D_(K) scale sum_k factors_k (x_f - s_kf)^2, each divided by its
    root mean square; then scale all weights to sum d."""
    metric, desk, d = room_of(model).metric, desk_of(model), 0
    weights, logs, squares, slope = metric.weight, metric.log, metric.square, desk.slope
    scaled, rows, varying = desk.scaled, desk.near.row, desk.new_moments.orientation
    archive = room_of(model).archive
    for f in range(state.features):
        slope[f] = 0.0
    for k in range(NEIGHBOURS):
        row = archive[rows[k]]
        for f in range(state.features):
            apart = scaled[f] - row[f]
            slope[f] += factors[k] * apart * apart
    rate = TRAINED / max(desk.near.distance[NEIGHBOURS - 1], LEAST_VOTE_DISTANCE) * scale
    highest = least = math.log(LEAST_METRIC_WEIGHT)
    for f in range(state.features):
        d += varying[f] != 0.0
        slope[f] = within(slope[f] * (rate * weights[f]), STEEPEST)
        change = SQUARE_RATE * (slope[f] * slope[f] - squares[f])
        squares[f] += change if varying[f] != 0.0 else 0.0
        step = w * METRIC_RATE * slope[f] / math.sqrt(squares[f] + SQUARE_FLOOR)
        step = within(step, LONGEST_METRIC_STEP)  # 0 where nothing varies
        logs[f] = max((1.0 - PULL) * logs[f] + step, least)
    total = 0.0
    for f in range(state.features):
        highest = max(highest, logs[f])
    for f in range(state.features):
        weights[f] = exp_of(logs[f] - highest)
    for f in range(state.features):
        total += weights[f] if varying[f] != 0.0 else 0.0
    shift = math.log(d / total) - highest
    for f in range(state.features):
        weights[f] = weights[f] * (d / total) if varying[f] != 0.0 else 1.0
        logs[f] = logs[f] + shift if varying[f] != 0.0 else 0.0


# The kernel


@compiled
def kernel_scores(model, d, scores):
    """scores[c] = sum_i alpha_i,c exp(-D_i / d). With more than two classes, the coefficients of every row, and so the
    scores, add up to 0; so the last score is minus the sum of the others.

    The kernel is so wide that it also follows the level of recent labels: with twice the rate, streams with a hidden
    state are five points worse.
    """
    rate, far, kernels, n = 1.0 / max(d, 1), model.row, model.logs, padded_count(model)
    columns = scores.shape[0]
    for i in range(n):
        kernels[i] = exp_of(-rate * far[i])
    for c in range(max(columns - 1, 1)):
        scores[c] = dot(kernels, row_of(model.coefficients, c), n)
    if columns > 1:
        scores[columns - 1] = 0.0
        for c in range(columns - 1):
            scores[columns - 1] -= scores[c]

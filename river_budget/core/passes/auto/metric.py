"""Distances with learned weights of features, and kernel gradient descent on these distances
(examples/auto_kernel.md, Metric and Kernel).

The weights take steps against the gradient of the loss of the neighbours' vote, feature by feature.
Each example gets a coefficient for every column when it is stored, and keeps it.

    a_f    metric[IMPORTANCE], their sum is d; log a_f is kept too (metric[LOG]), as a power is a
           product there
    u_f    metric[SQUARE]: running mean of squared gradients
    g_f    row[WORK]
    D_i    m.row
    k_i    m.logs: exp(-D_i / d)
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling import inner
from ...numerics import clamp, exp_of
from .memory import LEAST_VOTE_DISTANCE
from .tables import (
    DISTANCE,
    IMPORTANCE,
    LOG,
    NEIGHBOURS,
    ORIENTATION,
    ROW,
    SCALED,
    SHARE,
    SQUARE,
    WORK,
)

METRIC_RATE = 0.02
PULL = 0.0002  # share of their logarithm that weights lose per step, towards equal ones
SQUARE_RATE = 0.01  # rate of the mean of squared gradients
LONGEST_METRIC_STEP = 0.2
STEEPEST = 3e4  # slopes are clipped to it; targets orders of magnitude apart exceed it
LEAST_LOG = math.log(1e-3)  # of a weight
SQUARE_FLOOR = 1e-12  # added under the root, which divides
TRAINED = 4.0  # beta of the vote whose loss trains the weights: softer than that of the near vote


@inner
def compute_distances(stored, weights, x, far, n, d):
    """far[i] = sum_f a_f (x_f - s_if)^2 over d features for i < n, of two features at a time, as
    the sums are read and written for each sweep.
    """
    for i in range(n):
        far[i] = 0.0
    for f in range(0, d - 1, 2):
        p, x_p, a = stored[f], x[f], weights[f]
        q, x_q, b = stored[f + 1], x[f + 1], weights[f + 1]
        for i in range(n):
            first, second = p[i] - x_p, q[i] - x_q
            far[i] += a * first * first + b * second * second
    if d % 2 == 1:
        p, x_p, a = stored[d - 1], x[d - 1], weights[d - 1]
        for i in range(n):
            first = p[i] - x_p
            far[i] += a * first * first


# Learning the weights of features


@inner
def learn_metric(metric, row, near, rows, n, scale, w):
    """A step of the metric against the slopes a_f beta / D_(K) scale sum_k share_k (x_f - s_kf)^2,
    each divided by its root mean square; then scale all weights to sum d. n: features in use.
    Overwrites row[WORK].
    """
    weights, logs, squares = metric[IMPORTANCE], metric[LOG], metric[SQUARE]
    scaled, orientations, slopes = row[SCALED], row[ORIENTATION], row[WORK]
    for f in range(n):
        slopes[f] = 0.0
    for k in range(NEIGHBOURS):
        stored, share = rows[np.int64(near[ROW, k])], near[SHARE, k]
        for f in range(n):
            apart = scaled[f] - stored[f]
            slopes[f] += share * apart * apart
    scale *= TRAINED / max(near[DISTANCE, NEIGHBOURS - 1], LEAST_VOTE_DISTANCE)
    d, total, highest = 0, 0.0, LEAST_LOG
    for f in range(n):
        varies, square = orientations[f] != 0.0, squares[f]
        slope = clamp(slopes[f] * (scale * weights[f]), STEEPEST)  # 0 where nothing varies
        square += SQUARE_RATE * (slope * slope - square) if varies else 0.0
        step = clamp(
            w * METRIC_RATE * slope / math.sqrt(square + SQUARE_FLOOR), LONGEST_METRIC_STEP
        )
        log = (1.0 - PULL) * logs[f] + step
        squares[f], logs[f] = square, log if log > LEAST_LOG else LEAST_LOG
        d += varies
    for f in range(n):
        highest = logs[f] if logs[f] > highest else highest
    for f in range(n):
        weights[f] = exp_of(logs[f] - highest)
    for f in range(n):
        total += weights[f] if orientations[f] != 0.0 else 0.0
    factor = d / total
    shift = math.log(factor) - highest
    for f in range(n):
        varies = orientations[f] != 0.0
        weights[f] = weights[f] * factor if varies else 1.0
        logs[f] = logs[f] + shift if varies else 0.0


# The kernel


@inner
def kernel_scores(coefficients, far, kernels, sums, n, d, scores):
    """scores[c] = sum_i alpha_i,c exp(-D_i / d). With more than two classes, the coefficients of
    every row, and so the scores, add up to 0; so the last score is minus the sum of the others.
    Overwrites `kernels` and `sums`.

    The kernel is so wide that it also follows the level of recent labels: with twice the rate,
    streams with a hidden state are five points worse.
    """
    rate, columns, last = -1.0 / d if d > 0 else -1.0, scores.shape[0], 0.0
    for i in range(n):
        kernels[i] = exp_of(rate * far[i])
    for c in range(columns - 1 if columns > 1 else 1):
        scores[c] = long_dot(kernels, coefficients[c], sums, n)
        last -= scores[c]
    if columns > 1:
        scores[columns - 1] = last


@inner
def long_dot(a, b, sums, n):
    """sum_j a[j] b[j] for j < n, a multiple of four, by the sums of four products each, which LLVM
    vectorises: in this order on every processor. Overwrites `sums`.
    """
    m, p, q = n >> 2, 0.0, 0.0
    for j in range(m):
        i, k, h = j + m, j + 2 * m, j + 3 * m
        sums[j] = (a[j] * b[j] + a[i] * b[i]) + (a[k] * b[k] + a[h] * b[h])
    for j in range(0, m - 1, 2):
        p, q = p + sums[j], q + sums[j + 1]
    return p + q

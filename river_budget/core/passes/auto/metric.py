"""Distances with learned weights of features, and kernel gradient descent on these distances (examples/auto_kernel.md,
Metric and Kernel).

The weights take steps against the gradient of the loss of the neighbours' vote, feature by feature. Each example gets
a coefficient for every column when it is stored, and keeps it.

    a_f    metric[IMPORTANCE], their sum is d; log a_f is kept too (metric[LOG]), as a power is a product there
    u_f    metric[SQUARE]: running mean of squared gradients
    g_f    row[WORK]
    D_i    m.row
    k_i    m.logs: exp(-D_i / d)
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling import inner
from ...numerics import clamp, dot, exp_of
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
LEAST_IMPORTANCE = 1e-3
SQUARE_FLOOR = 1e-12  # added under the root, which divides
TRAINED = 4.0  # beta of the vote whose loss trains the weights: softer than that of the near vote


@inner
def compute_distances(stored, weights, x, far, n, d):
    """far[i] = sum_f a_f (x_f - s_if)^2 over d features for i < n: four features a sweep, as the sums are read and written
    for each."""
    for i in range(n):
        far[i] = 0.0
    fours = d & ~3
    for f in range(0, fours, 4):
        p, q, r, s = stored[f], stored[f + 1], stored[f + 2], stored[f + 3]
        x_p, x_q, x_r, x_s = x[f], x[f + 1], x[f + 2], x[f + 3]
        a, b, c, e = weights[f], weights[f + 1], weights[f + 2], weights[f + 3]
        for i in range(n):
            first = a * (p[i] - x_p) ** 2 + b * (q[i] - x_q) ** 2
            far[i] += first + (c * (r[i] - x_r) ** 2 + e * (s[i] - x_s) ** 2)
    for f in range(fours, d):
        p, x_p, a = stored[f], x[f], weights[f]
        for i in range(n):
            far[i] += a * (p[i] - x_p) ** 2


# Learning the weights of features


@inner
def learn_metric(metric, row, near, rows, n, scale, w):
    """A step of the metric against the slopes a_f beta / D_(K) scale sum_k share_k (x_f - s_kf)^2, each divided by its
    root mean square; then scale all weights to sum d. n: features in use. Overwrites row[WORK]."""
    weights, logs, squares = metric[IMPORTANCE], metric[LOG], metric[SQUARE]
    scaled, varying, slope, d = row[SCALED], row[ORIENTATION], row[WORK], 0
    for f in range(n):
        slope[f] = 0.0
    for k in range(NEIGHBOURS):
        stored, share = rows[np.int64(near[ROW, k])], near[SHARE, k]
        for f in range(n):
            slope[f] += share * (scaled[f] - stored[f]) ** 2
    rate = TRAINED / max(near[DISTANCE, NEIGHBOURS - 1], LEAST_VOTE_DISTANCE) * scale
    highest = least = math.log(LEAST_IMPORTANCE)
    for f in range(n):
        d += varying[f] != 0.0
        slope[f] = clamp(slope[f] * (rate * weights[f]), STEEPEST)
        change = SQUARE_RATE * (slope[f] * slope[f] - squares[f])
        squares[f] += change if varying[f] != 0.0 else 0.0
        step = w * METRIC_RATE * slope[f] / math.sqrt(squares[f] + SQUARE_FLOOR)
        step = clamp(step, LONGEST_METRIC_STEP)  # 0 where nothing varies
        logs[f] = max((1.0 - PULL) * logs[f] + step, least)
    total = 0.0
    for f in range(n):
        highest = max(highest, logs[f])
    for f in range(n):
        weights[f] = exp_of(logs[f] - highest)
    for f in range(n):
        total += weights[f] if varying[f] != 0.0 else 0.0
    shift = math.log(d / total) - highest
    for f in range(n):
        weights[f] = weights[f] * (d / total) if varying[f] != 0.0 else 1.0
        logs[f] = logs[f] + shift if varying[f] != 0.0 else 0.0


# The kernel


@inner
def kernel_scores(coefficients, far, kernels, n, d, scores):
    """scores[c] = sum_i alpha_i,c exp(-D_i / d). With more than two classes, the coefficients of every row, and so the
    scores, add up to 0; so the last score is minus the sum of the others.

    The kernel is so wide that it also follows the level of recent labels: with twice the rate, streams with a hidden
    state are five points worse.
    """
    rate, columns = 1.0 / max(d, 1), scores.shape[0]
    for i in range(n):
        kernels[i] = exp_of(-rate * far[i])
    for c in range(max(columns - 1, 1)):
        scores[c] = dot(kernels, coefficients[c], n)
    if columns > 1:
        scores[columns - 1] = 0.0
        for c in range(columns - 1):
            scores[columns - 1] -= scores[c]

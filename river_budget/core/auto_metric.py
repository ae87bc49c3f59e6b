"""Distances, and the weight of every feature in them, which is learned.

A step goes against the gradient of the loss of the neighbours' vote, feature by feature.

    spec   here
    d      the number of features that vary; the others keep a_f = 1
    a_f    METRIC_WEIGHT, their sum is d; log a_f is kept too (METRIC_LOG), as a power is a product there
    u_f    METRIC_SQUARES: running mean of squared gradients
    g_f    slope[0]
    D_i    model.row
"""

from __future__ import annotations

import math

from .auto_tables import (
    METRIC,
    METRIC_LOG,
    METRIC_SQUARES,
    METRIC_WEIGHT,
    NEW_MOMENTS,
    ORIENTATION,
    ROW,
    SLOPE,
    kept,
    noted,
)
from .exponential import exp_of
from .jit import compiled
from .rows import padded_count
from .support import within

STEP = 0.02
PULL = 0.001  # towards equal weights, per step, in logarithms
MEMORY = 0.01  # rate of the mean of squared gradients
LONGEST_STEP = 0.2
STEEPEST = 3e4  # slope: more comes of targets that are orders of magnitude apart
LEAST_WEIGHT = 1e-3
TINY = 1e-12


@compiled(always_inlined=True)
def _choose_varying(model, state):
    """How many features have ever varied; their places go to `nonzero`. The others are 0 in all rows."""
    nonzero, orientations, n = model.nonzero, noted(model, NEW_MOMENTS)[ORIENTATION], 0
    for f in range(state.features):
        nonzero[n] = f
        n += orientations[f] != 0.0
    return n


@compiled(always_inlined=True)
def distances(model, state):
    """D_i = sum_f a_f (x_f - s_if)^2, four features at a sweep."""
    n, features = padded_count(model), _choose_varying(model, state)
    far, nonzero, vectors = model.row, model.nonzero, model.vectors
    row, weights = noted(model, ROW)[0], kept(model, METRIC)[METRIC_WEIGHT]
    for j in range(n):
        far[j] = 0.0
    i = 0
    while i + 4 <= features:
        a, b, c, d = nonzero[i], nonzero[i + 1], nonzero[i + 2], nonzero[i + 3]
        x_a, x_b, x_c, x_d = row[1 + a], row[1 + b], row[1 + c], row[1 + d]
        w_a, w_b, w_c, w_d = weights[a], weights[b], weights[c], weights[d]
        v_a, v_b, v_c, v_d = vectors[a], vectors[b], vectors[c], vectors[d]
        for j in range(n):
            r_a, r_b, r_c, r_d = x_a - v_a[j], x_b - v_b[j], x_c - v_c[j], x_d - v_d[j]
            far[j] += (w_a * r_a * r_a + w_b * r_b * r_b) + (w_c * r_c * r_c + w_d * r_d * r_d)
        i += 4
    while i < features:
        x_a, w_a, v_a = row[1 + nonzero[i]], weights[nonzero[i]], vectors[nonzero[i]]
        for j in range(n):
            r_a = x_a - v_a[j]
            far[j] += w_a * r_a * r_a
        i += 1


@compiled(always_inlined=True)
def turn(model, state, w):
    """A step of the metric against slope[0], each feature in units of its usual slope."""
    metric, slope, d = kept(model, METRIC), noted(model, SLOPE)[0], _choose_varying(model, state)
    weights, logs, squares = metric[METRIC_WEIGHT], metric[METRIC_LOG], metric[METRIC_SQUARES]
    varying, least = noted(model, NEW_MOMENTS)[ORIENTATION], math.log(LEAST_WEIGHT)
    for f in range(state.features):
        slope[f] = within(slope[f], STEEPEST)
        change = MEMORY * (slope[f] * slope[f] - squares[f])
        squares[f] += change if varying[f] != 0.0 else 0.0
        step = w * STEP * slope[f] / math.sqrt(squares[f] + TINY)  # 0 where nothing varies
        logs[f] = max((1.0 - PULL) * logs[f] + min(max(step, -LONGEST_STEP), LONGEST_STEP), least)
    highest, total = least, 0.0
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

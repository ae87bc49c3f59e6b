"""Distances with learned weights of features, and kernel gradient descent with three widths on these distances.

The weights take steps against the gradient of the loss of the neighbours' vote, feature by feature. Each example gets
a coefficient for every width and column when it is stored, and keeps it.

    spec        here
    d           the number of features that vary; the others keep a_f = 1
    a_f         metric.weight, their sum is d; log a_f is kept too (metric.log), as a power is a product there
    u_f         metric.square: running mean of squared gradients
    g_f         desk.slope
    D_i         model.row
    width_q     2, 8, 32: each is the fourth power of the one before
    m           exp(state.log_distance), the typical distance to a stored row
    k_qi        model.logs for the width at hand
    alpha_qi,c  model.coefficients[KERNEL_WIDTHS c + q]
"""

from __future__ import annotations

import math

import numpy as np

from ...block.limits import padded_count, within
from ...block.random_numbers import below
from ...compiling.by_address import shared
from ...compiling.jit import FUSED, compiled
from ...compiling.model_type import MODEL, NOTHING, NUMBERS
from ...compiling.needs import Need
from ...examples.call import row_of
from ...examples.present_features import ZERO, places_of, present, values_of
from ...simd.exponential import exp_of, exponentials
from ...simd.table_sums import all_dots
from .memory import LEAST_VOTE_DISTANCE, SOFTEST, neighbour_slopes
from .scaling import scale
from .tables import (
    KERNEL_EXPERTS,
    KERNEL_WIDTHS,
    NEIGHBOURS,
    desk_of,
    room_of,
    state_at,
)

METRIC_RATE = 0.02
PULL = 0.001  # share of their logarithm that weights lose per step, towards equal ones
SQUARE_RATE = 0.01  # rate of the mean of squared gradients
LONGEST_METRIC_STEP = 0.2
STEEPEST = 3e4  # slopes are clipped to it; targets orders of magnitude apart exceed it
LEAST_METRIC_WEIGHT = 1e-3
SQUARE_FLOOR = 1e-12  # added under the root, which divides
WIDEST = 2.0  # gamma of the widest kernel is WIDEST / m
DISTANCE_RATE = 0.01  # rate of the mean of log D
NO_DISTANCE = 1e-9  # smaller distances count as 0
NEXT_COLUMN = np.int64(KERNEL_WIDTHS)  # the next column is so many rows of coefficients further
FIRST_ROWS = 2  # distances are not learned from the first rows


@compiled(fastmath=FUSED)
def _squares(vectors, x, weights, far, n):
    """far[i] = sum_f a_f (x_f - s_if)^2 for i < n"""
    places, values = places_of(x), values_of(x)
    for i in range(n):
        far[i] = 0.0
    for f in range(places.shape[0]):
        feature, value, weight = vectors[places[f]], values[f], weights[f]
        for i in range(n):
            apart = feature[i] - value
            far[i] += weight * apart * apart


@compiled
def _varying(model, state):
    """The scaled row as an example of the features that have ever varied, and their weights in scratch space. Other
    features are 0 in all rows."""
    places, values, chosen, n = model.nonzero, model.x, model.whole, ZERO
    desk, weights = desk_of(model), room_of(model).metric.weight
    scaled, orientations = desk.scaled, desk.new_moments.orientation
    for f in range(state.features):
        places[n], values[n], chosen[n] = f, scaled[1 + f], weights[f]
        n += orientations[f] != 0.0
    return present(places, values, n), chosen


@shared(Need.AUTO, NOTHING, MODEL, NUMBERS)
def scale_and_compare(model, x):
    """Scale x, and compute its distances from the rows of the memory."""
    state = state_at(model.state)
    scale(model, state, x)
    compute_distances(model, state)


@compiled
def compute_distances(model, state):
    """D_i = sum_f a_f (x_f - s_if)^2"""
    x, weights = _varying(model, state)
    _squares(model.vectors, x, weights, model.row, padded_count(model))


# Learning the weights of features


@compiled
def learn_weights(model, state, factors, scale, w):
    """A step of the metric against the slopes a_f 3 / D_(K) scale sum_k factors_k (x_f - s_kf)^2."""
    neighbour_slopes(model, state, factors)
    desk, weights = desk_of(model), room_of(model).metric.weight
    slope = desk.slope
    rate = SOFTEST / max(desk.near.distance[NEIGHBOURS - 1], LEAST_VOTE_DISTANCE) * scale
    for f in range(state.features):
        slope[f] *= rate * weights[f]
    step_metric(model, state, w)


@compiled
def step_metric(model, state, w):
    """A step against desk.slope, divided by its root mean square per feature; then scale all weights to sum d."""
    metric, desk, d = room_of(model).metric, desk_of(model), 0
    weights, logs, squares, slope = metric.weight, metric.log, metric.square, desk.slope
    varying, least = desk.new_moments.orientation, math.log(LEAST_METRIC_WEIGHT)
    for f in range(state.features):
        d += varying[f] != 0.0
        slope[f] = within(slope[f], STEEPEST)
        change = SQUARE_RATE * (slope[f] * slope[f] - squares[f])
        squares[f] += change if varying[f] != 0.0 else 0.0
        step = (
            w * METRIC_RATE * slope[f] / math.sqrt(squares[f] + SQUARE_FLOOR)
        )  # 0 where nothing varies
        step = min(max(step, -LONGEST_METRIC_STEP), LONGEST_METRIC_STEP)
        logs[f] = max((1.0 - PULL) * logs[f] + step, least)
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


# Kernels


@compiled
def predict_kernels(model, state):
    """Write the scores of kernels of all three widths."""
    scores = desk_of(model).scores
    compute_widest_kernels(model, state)
    for q in range(KERNEL_WIDTHS):
        if q > 0:
            narrow_kernels(model)
        kernel_scores(model, q, row_of(scores, KERNEL_EXPERTS + q))


@compiled
def compute_widest_kernels(model, state):
    """k_0i = exp(-2 D_i / m)"""
    rate, far, kernels = WIDEST * math.exp(-state.log_distance), model.row, model.logs
    n = padded_count(model)
    for j in range(n):
        kernels[j] = -rate * far[j]
    exponentials(kernels, kernels, n)


@compiled
def narrow_kernels(model):
    """The kernels of the next width: fourth powers, so that only the first width takes exponentials."""
    kernels = model.logs
    for j in range(padded_count(model)):
        square = kernels[j] * kernels[j]
        kernels[j] = square * square


@compiled
def kernel_scores(model, width, scores):
    """scores[c] = sum_i alpha_qi,c k_qi. With more than two classes, the coefficients of every row, and so the scores,
    add up to 0; so the last score is minus the sum of the others."""
    kernels, columns = model.logs[: padded_count(model)], scores.shape[0]
    if columns == 1:
        all_dots(kernels, model.coefficients, width, NEXT_COLUMN, scores)
        return
    all_dots(kernels, model.coefficients, width, NEXT_COLUMN, scores[: columns - 1])
    scores[columns - 1] = 0.0
    for c in range(columns - 1):
        scores[columns - 1] -= scores[c]


@compiled
def write_coefficients(model, place, rate):
    """Write alpha_qc of the row stored at `place`: a share of the errors of the kernels."""
    errors = desk_of(model).errors
    for c in range(errors.shape[1]):
        for q in range(KERNEL_WIDTHS):
            model.coefficients[KERNEL_WIDTHS * c + q, place] = rate * errors[KERNEL_EXPERTS + q, c]


@compiled
def learn_usual_distance(model, state):
    """Update the typical distance with that of one stored row, drawn at random."""
    if model.head.count > FIRST_ROWS:
        distance = model.row[below(model, model.head.count)]
        if distance > NO_DISTANCE:
            rate = max(1.0 / (state.rounds - FIRST_ROWS), DISTANCE_RATE)
            state.log_distance += rate * (math.log(distance) - state.log_distance)

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
from collections.abc import Sequence
from typing import Any

from ...block.limits import padded_count, within
from ...compiling.by_address import shared
from ...compiling.jit import compiled
from ...compiling.model_type import MODEL, NOTHING, NUMBERS
from ...compiling.needs import Need
from ...examples.present_features import NONE, places_of, present, values_of
from ...simd.exponential import exp_of
from ...simd.vector_ops import fused
from ...simd.vector_sums import compiled_sweep
from .scaling import scale
from .tables import (
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
    state_at,
)

STEP = 0.02
PULL = 0.001  # towards equal weights, per step, in logarithms
MEMORY = 0.01  # rate of the mean of squared gradients
LONGEST_STEP = 0.2
STEEPEST = 3e4  # slope: more comes of targets that are orders of magnitude apart
LEAST_WEIGHT = 1e-3
TINY = 1e-12


def _square(builder: Any, numbers: Sequence[Any], vectors: Any, total: Any) -> Any:
    value, weight = numbers
    apart = builder.fsub(vectors, value)
    return fused(builder, builder.fmul(weight, apart), apart, total)


def _squares(vectors: Any, x: Any, weights: Any, far: Any, n: int) -> None:
    """far[i] = sum_f a_f (x_f - s_if)^2 for i < n"""
    far[:n] = 0.0
    for place, value, weight in zip(places_of(x), values_of(x), weights, strict=False):
        far[:n] += weight * (vectors[place, :n] - value) ** 2


compiled_sweep(_squares, _square)


@compiled
def _varying(model, state):
    """The scaled row as an example of the features that have ever varied, and their weights in scratch space. The
    others are 0 in all rows."""
    places, values, chosen, n = model.nonzero, model.x, model.whole, NONE
    row, weights = noted(model, ROW)[0], kept(model, METRIC)[METRIC_WEIGHT]
    orientations = noted(model, NEW_MOMENTS)[ORIENTATION]
    for f in range(state.features):
        places[n], values[n], chosen[n] = f, row[1 + f], weights[f]
        n += orientations[f] != 0.0
    return present(places, values, n), chosen


@shared(Need.AUTO, NOTHING, MODEL, NUMBERS)
def measure(model, x):
    """x is scaled, and its distances from the rows of the memory are found."""
    state = state_at(model.state)
    scale(model, state, x)
    distances(model, state)


@compiled
def distances(model, state):
    """D_i = sum_f a_f (x_f - s_if)^2"""
    x, weights = _varying(model, state)
    _squares(model.vectors, x, weights, model.row, padded_count(model))


@compiled
def turn(model, state, w):
    """A step of the metric against slope[0], each feature in units of its usual slope."""
    metric, slope, d = kept(model, METRIC), noted(model, SLOPE)[0], 0
    weights, logs, squares = metric[METRIC_WEIGHT], metric[METRIC_LOG], metric[METRIC_SQUARES]
    varying, least = noted(model, NEW_MOMENTS)[ORIENTATION], math.log(LEAST_WEIGHT)
    for f in range(state.features):
        d += varying[f] != 0.0
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

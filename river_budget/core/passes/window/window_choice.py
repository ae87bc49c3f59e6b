"""Choose an example below the water level: lines 5 and 6 of the batch Perceptron, and its bias.

Symbols as in sbp.py.
"""

from __future__ import annotations

import numpy as np

from ...block.random_numbers import below
from ...compiling.array_views import f64
from ...compiling.jit import compiled
from .water_levels import water_level, water_levels

LABELS, RESPONSES, PULLS, KEPT, SUMS = range(5)  # rows per vector
TOLERANCE = 1e-12  # responses equal in exact arithmetic differ in their last digits


@compiled
def tolerance(level):
    """Responses that differ from the level by less count as equal to it."""
    return TOLERANCE * max(1.0, abs(level))


@compiled
def pick(model, state):
    """Lines 5 and 6: draw one of the examples under water uniformly, counted in the order of the slots."""
    n, c = model.head.count, model.per_vector[RESPONSES]
    level = water_level(c, n, n * state.slack, model.buffer)
    level += tolerance(level)
    return slot_of_rank(model, 0.0, level, below(model, count_up_to(model, 0.0, level)))


@compiled(always_inlined=True)
def count_up_to(model, sign, level):
    """The number of examples of a class (sign 0: of both) at or below the water level."""
    c, labels, count = model.per_vector[RESPONSES], model.per_vector[LABELS], 0
    for j in range(model.head.count):
        count += (c[j] <= level) & (labels[j] * sign >= 0.0)
    return count


@compiled(always_inlined=True)
def slot_of_rank(model, sign, level, rank):
    """The slot of the example with this rank, in the order of slots, among those at or below the water level."""
    c, labels, left = model.per_vector[RESPONSES], model.per_vector[LABELS], rank
    for j in range(model.head.count):
        if c[j] <= level and labels[j] * sign >= 0.0:
            if left == 0:
                return j
            left -= 1
    return model.head.count - 1


@compiled
def levels_of(model, c, volume):
    """The water levels of positives and negatives."""
    n, labels = model.head.count, model.per_vector[LABELS]
    room = 8 * model.head.capacity
    u, v = f64(model.heap, n), f64(model.heap + room, n)
    n_u = n_v = np.int64(0)
    for j in range(n):
        positive = labels[j] > 0.0
        u[n_u] = c[j]
        v[n_v] = c[j]
        n_u += positive
        n_v += not positive
    return water_levels(u, n_u, v, n_v, volume, f64(model.heap + 2 * room, n))


@compiled
def pick_pair(model, state):
    """Draw a positive and a negative example, each uniformly among the k lowest of its class at or below the level.

    Ranks follow the order of the slots: first the examples below the level, then those at the level.
    """
    c, n = model.per_vector[RESPONSES], model.head.count
    plus, minus = levels_of(model, c, n * state.slack)
    high_plus, high_minus = plus + tolerance(plus), minus + tolerance(minus)
    k = min(count_up_to(model, 1.0, high_plus), count_up_to(model, -1.0, high_minus))
    positive = slot_of_lowest_rank(model, 1.0, plus, below(model, k))
    return positive, slot_of_lowest_rank(model, -1.0, minus, below(model, k))


@compiled
def slot_of_lowest_rank(model, sign, level, rank):
    """The slot of the example with this rank: first those below the level, in the order of slots, then those at it."""
    c, labels = model.per_vector[RESPONSES], model.per_vector[LABELS]
    low, high = level - tolerance(level), level + tolerance(level)
    left = rank
    for j in range(model.head.count):
        if c[j] < low and labels[j] * sign > 0.0:
            if left == 0:
                return j
            left -= 1
    for j in range(model.head.count):
        if low <= c[j] <= high and labels[j] * sign > 0.0:
            if left == 0:
                return j
            left -= 1
    return model.head.count - 1


@compiled
def bias_of(model, state):
    """The bias with which the water levels of both classes are equal."""
    n = model.head.count
    if state.norm2 == 0.0:  # all responses are 0, and the larger class wins
        smaller = min(state.positives, n - state.positives)
        surplus = np.sign(2 * state.positives - n)
        return 0.5 * surplus * n * state.slack / smaller
    plus, minus = levels_of(model, model.per_vector[RESPONSES], n * state.slack)
    return 0.5 * (minus - plus)

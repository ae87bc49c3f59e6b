"""AutoKernel's regressor on words: experts that need no dense rows, under the same mixer (examples/auto_kernel.md, Words).

The experts are the last target, and

    linear     of learners.py, on x / |x|, with errors in units of sy
    confident  on x / m, where m is the usual |x|, the root of state.length; v and g are those of the weight of the row
    means      sum_i x_i d_i / (n_i + 1) / sum_i x_i over known names: n_i is the count of a name, and d_i the sum of
               y - my when it came

Errors are bounded as those of the other experts.
"""

from __future__ import annotations

import math

from ....compiling import inlined, inner, passes
from ....expansion.examples import example
from ....numerics import clamp
from ..experts import HEAVIEST_EXAMPLE
from ..scaling import LARGEST_VALUE
from ..squared_loss import (
    LARGEST_RATIO,
    begin_round,
    has_scale,
    learn_mixture,
    learn_spread,
    learn_targets,
    mix,
    usual_size,
)
from ..tables import CURVE, OWN, SEEN
from .learners import (
    CONFIDENT_PART,
    LARGEST_COUNT,
    LINEAR_PART,
    RATE,
    fading_of,
    first_count,
    inverse_root,
    learn_confident,
    learn_counts,
    learn_linear,
    linear_scores,
    meet,
    squared_length,
)

LINEAR, CONFIDENT, MEANS = 1, 2, 3  # experts, behind the last target
TARGETS, DEVIATIONS = 0, 1  # columns of counts
LENGTH_RATE = 0.01


@passes
def learn(m, states, rows, room, desk):
    """As `squared_loss.learn`."""
    state = states[0]
    for t in range(rows.scores.shape[0]):
        x, w = example(m, rows, t), rows.weights[t]
        predict(m, state, room, desk, x)
        rows.scores[t, 0] = desk.found[0].forecast
        if w > 0.0:
            y = clamp(rows.targets[t], LARGEST_VALUE)
            learn_number(m, state, room, desk, x, y, min(w, HEAVIEST_EXAMPLE))
    return rows.scores.shape[0]


@passes
def score(m, states, rows, room, desk):
    """As `squared_loss.score`."""
    for t in range(rows.scores.shape[0]):
        predict(m, states[0], room, desk, example(m, rows, t))
        rows.scores[t, 0] = desk.found[0].forecast
        if rows.scores.shape[1] > 1:
            rows.scores[t, 1] = desk.found[0].spread
    return rows.scores.shape[0]


@inner
def usual_inverse(state, square):
    """1 / m, of a first row 1 / |x|."""
    return inverse_root(state.length if state.length > 0.0 else square)


@inlined
def predict(m, state, room, desk, x):
    """All experts, their mixture, and its spread."""
    scores, found, square = desk.scores, desk.found[0], squared_length(x)
    scores[OWN, 0] = state.last - state.average
    linear_scores(m.vectors, room.bias, x, LINEAR_PART, inverse_root(square), scores[LINEAR])
    inverse = usual_inverse(state, square)
    linear_scores(m.vectors, room.bias, x, CONFIDENT_PART, inverse, scores[CONFIDENT])
    scores[MEANS, 0] = mean_of_words(m.vectors, state, x, first_count(1))
    found.spread = math.exp(state.stretch) * math.sqrt(state.latest_error)
    mix(state, room.mixer, scores, desk.solver[CURVE], found)


@inlined
def learn_number(m, state, room, desk, x, y, w):
    """Learn the example that was predicted last."""
    errors, found, square, first = desk.errors, desk.found[0], squared_length(x), first_count(1)
    error, bound = begin_round(state, found, errors, desk.scores, y)
    meet(m.vectors, state, x[0], first)
    if state.rounds > 0:
        learn_mixture(state, room.mixer, desk.solver, found.level, y, bound, w)
        if has_scale(state):
            size, lacking = usual_size(state), errors[LINEAR]
            lacking[0] = w * clamp(lacking[0] / size, LARGEST_RATIO)
            learn_linear(m.vectors, room.bias, x, inverse_root(square), RATE * size, lacking)
            inverse = usual_inverse(state, square)
            learn_confident(m.vectors, room.bias, x, inverse, w, True, errors[CONFIDENT])
    deviation = clamp(y - state.average, bound)
    learn_counts(m.vectors, room.totals, x, first, TARGETS, w)
    learn_counts(m.vectors, room.totals, x, first, DEVIATIONS, w * deviation)
    learn_spread(state, room.quantiles, found.spread, error, w)
    learn_targets(state, y, error, bound, w)
    rate = min(w * max(1.0 / (state.rounds + 1.0), LENGTH_RATE), 1.0)
    state.length += rate * (square - state.length)
    state.rounds += 1


@inner
def mean_of_words(vectors, state, x, first):
    """How far targets were from the mean when these names came, each drawn to 0 as if by one more row."""
    places, values, known, total = x[0], x[1], 0.0, 0.0
    for i in range(places.shape[0]):
        row = vectors[places[i]]
        if row[SEEN] != 0.0 and values[i] > 0.0:
            fading, value = fading_of(row, state), min(values[i], LARGEST_COUNT)
            known += value
            mean = fading * row[first + DEVIATIONS] / (fading * row[first + TARGETS] + 1.0)
            total += value * mean
    return total / known if known > 0.0 else 0.0

"""AutoKernel's regressor on words: experts that need no dense rows, under the same mixer.

The experts are the last target, and

    linear     of learners.py, on x / |x|, with errors in units of sy
    confident  on x / m, where m is the usual |x|, the root of state.length; v and g are those of the weight of the row
    means      sum_i x_i d_i / (n_i + 1) / sum_i x_i over known names: n_i is the count of a name, and d_i the sum of
               y - my when it came

Errors are bounded as those of the other experts.
"""

from __future__ import annotations

import math

import numpy as np

from ....block.limits import within
from ....compiling.jit import compiled
from ....examples.call import row_of
from ....examples.present_features import example, example_and_scores, places_of, unpack, values_of
from ..experts import HEAVIEST_EXAMPLE
from ..scaling import LARGEST_VALUE
from ..squared_loss import (
    LARGEST_RATIO,
    has_scale,
    largest_error,
    learn_mixture,
    learn_spread,
    learn_targets,
    mix,
    usual_size,
    write_errors,
)
from ..tables import OWN, SEEN, desk_of, found_of, state_at
from .learners import (
    BOUNDED,
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
    meet,
    predict_linear,
    squared_length,
)

LINEAR, CONFIDENT, MEANS = (
    np.int64(1),
    np.int64(2),
    np.int64(3),
)  # experts, behind the last target
TARGETS, DEVIATIONS = np.int64(0), np.int64(1)  # columns of counts
LENGTH_RATE = 0.01


@compiled(called_from_python=True)
def learn(call):
    """As `squared_loss.learn`."""
    model, stream, n = unpack(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w = example(model, stream, t)
        predict_numbers(model, state, x)
        f[0] = found_of(model).forecast
        if w > 0.0:
            learn_number(model, state, x, within(y, LARGEST_VALUE), min(w, HEAVIEST_EXAMPLE))
    return n


@compiled(called_from_python=True)
def decide(call):
    """As `squared_loss.decide`."""
    model, stream, n = unpack(call)
    for t in range(n):
        x, f = example_and_scores(model, stream, t)
        predict_numbers(model, state_at(model.state), x)
        f[0] = found_of(model).forecast
        if f.shape[0] > 1:
            f[1] = found_of(model).spread
    return n


@compiled
def usual_inverse(state, square):
    """1 / m, of a first row 1 / |x|."""
    return inverse_root(state.length if state.length > 0.0 else square)


@compiled
def predict_numbers(model, state, x):
    """All experts, their mixture, and its spread."""
    scores, square = desk_of(model).scores, squared_length(x)
    inverse = usual_inverse(state, square)
    scores[OWN, 0] = state.last - state.average
    predict_linear(model, x, LINEAR_PART, inverse_root(square), row_of(scores, LINEAR))
    predict_linear(model, x, CONFIDENT_PART, inverse, row_of(scores, CONFIDENT))
    scores[MEANS, 0] = mean_of_words(model, state, x)
    found_of(model).spread = math.exp(state.stretch) * math.sqrt(state.latest_error)
    mix(model, state)


@compiled
def learn_number(model, state, x, y, w):
    """LEARN, after `predict_numbers` of the same row."""
    found, square = found_of(model), squared_length(x)
    if state.rounds == 0:  # a first target is no error
        state.average = state.last = state.lowest = state.highest = y
        found.forecast = y
    error, bound = y - found.forecast, largest_error(state)
    write_errors(model, state, y, bound)
    meet(model, state, x)
    if state.rounds > 0:
        learn_mixture(model, state, y, bound, w)
        learn_weights(model, state, x, w)
    deviation = within(y - state.average, bound)
    learn_counts(model, x, TARGETS, w, 1.0)
    learn_counts(model, x, DEVIATIONS, w, deviation)
    learn_spread(model, state, error, w)
    learn_targets(state, y, error, bound, w)
    first = 1.0 / (state.rounds + 1.0)
    state.length += min(w * max(first, LENGTH_RATE), 1.0) * (square - state.length)
    state.rounds += 1


@compiled
def learn_weights(model, state, x, w):
    """linear, confident"""
    errors, size, square = desk_of(model).errors, usual_size(state), squared_length(x)
    if has_scale(state):
        lacking = row_of(errors, LINEAR)
        lacking[0] = w * within(lacking[0] / size, LARGEST_RATIO)
        learn_linear(model, x, inverse_root(square), RATE * size, lacking)
        inverse = usual_inverse(state, square)
        learn_confident(model, x, inverse, w, BOUNDED, row_of(errors, CONFIDENT))


@compiled
def mean_of_words(model, state, x):
    """How far targets were from the mean when these names came, each drawn to 0 as if by one more row."""
    places, values, first = places_of(x), values_of(x), first_count(model)
    known, total = 0.0, 0.0
    for i in range(places.shape[0]):
        row = row_of(model.vectors, places[i])
        if row[SEEN] != 0.0 and values[i] > 0.0:
            fading, value = fading_of(row, state), min(values[i], LARGEST_COUNT)
            known += value
            total += value * (
                fading * row[first + DEVIATIONS] / (fading * row[first + TARGETS] + 1.0)
            )
    return total / known if known > 0.0 else 0.0

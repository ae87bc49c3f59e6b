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
from ....examples.call import row_of, scores_of, unpack_rows, words_of
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
from ..tables import OWN, WORD_SUMS, desk_of, found_of, room_of, state_at
from .learners import (
    BOUNDED,
    LARGEST_COUNT,
    RATE,
    inverse_root,
    learn_confident,
    learn_counts,
    learn_linear,
    predict_linear,
    squared_length,
)
from .names import NO_SLOT, REFUSED, fading_of, is_full, read_words, take_slots, words_in

LINEAR, CONFIDENT, MEANS = np.int64(1), np.int64(2), np.int64(3)  # experts, behind the last target
TARGETS, DEVIATIONS = np.int64(0), np.int64(1)  # columns of counts
LENGTH_RATE = 0.01


@compiled(called_from_python=True)
def learn(call):
    """As `squared_loss.learn`; it stops, too, before a row for which the table is too full."""
    model, stream, n = unpack_rows(call)
    state = state_at(model.state)
    for t in range(n):
        length = read_words(model, words_of(call), t)
        w, f = stream[2][t], scores_of(stream, t)
        if length == REFUSED or (w > 0.0 and is_full(model, state)):
            return t
        words = words_in(words_of(call), length)
        predict_numbers(model, state, words)
        f[0] = found_of(model).forecast
        if w > 0.0:
            w = min(w, HEAVIEST_EXAMPLE)
            learn_number(model, state, words, within(stream[1][t], LARGEST_VALUE), w)
    return n


@compiled(called_from_python=True)
def decide(call):
    """As `squared_loss.decide`."""
    model, stream, n = unpack_rows(call)
    state = state_at(model.state)
    if state.slots == 0:  # another thread changes the model to words
        n = 0
    for t in range(n):
        length = read_words(model, words_of(call), t)
        if length == REFUSED:
            return t
        predict_numbers(model, state, words_in(words_of(call), length))
        f = scores_of(stream, t)
        f[0] = found_of(model).forecast
        if f.shape[0] > 1:
            f[1] = found_of(model).spread
    return n


@compiled
def usual_inverse(state, square):
    """1 / m, of a first row 1 / |x|."""
    return inverse_root(state.length if state.length > 0.0 else square)


@compiled
def predict_numbers(model, state, words):
    """All experts, their mixture, and its spread."""
    scores, square = desk_of(model).scores, squared_length(words)
    inverse = usual_inverse(state, square)
    scores[OWN, 0] = state.last - state.average
    predict_linear(model, words, np.int64(0), inverse_root(square), row_of(scores, LINEAR))
    predict_linear(model, words, np.int64(1), inverse, row_of(scores, CONFIDENT))
    scores[MEANS, 0] = mean_of_words(model, state, words)
    found_of(model).spread = math.exp(state.stretch) * math.sqrt(state.latest_error)
    mix(model, state)


@compiled
def learn_number(model, state, words, y, w):
    """LEARN, after `predict_numbers` of the same row."""
    found, square = found_of(model), squared_length(words)
    if state.rounds == 0:  # a first target is no error
        state.average = state.last = state.lowest = state.highest = y
        found.forecast = y
    error, bound = y - found.forecast, largest_error(state)
    write_errors(model, state, y, bound)
    take_slots(model, state, words)
    if state.rounds > 0:
        learn_mixture(model, state, y, bound, w)
        learn_weights(model, state, words, w)
    deviation = within(y - state.average, bound)
    learn_counts(model, words, TARGETS, w, 1.0)
    learn_counts(model, words, DEVIATIONS, w, deviation)
    learn_spread(model, state, error, w)
    learn_targets(state, y, error, bound, w)
    first = 1.0 / (state.rounds + 1.0)
    state.length += min(w * max(first, LENGTH_RATE), 1.0) * (square - state.length)
    state.rounds += 1


@compiled
def learn_weights(model, state, words, w):
    """linear, confident"""
    errors, size, square = desk_of(model).errors, usual_size(state), squared_length(words)
    if has_scale(state):
        lacking = row_of(errors, LINEAR)
        lacking[0] = w * within(lacking[0] / size, LARGEST_RATIO)
        learn_linear(model, words, inverse_root(square), RATE * size, lacking)
        inverse = usual_inverse(state, square)
        learn_confident(model, words, inverse, w, BOUNDED, row_of(errors, CONFIDENT))


@compiled
def mean_of_words(model, state, words):
    """How far targets were from the mean when these names came, each drawn to 0 as if by one more row."""
    _, values, places = words
    room, first, known, total = room_of(model), 2 + WORD_SUMS, 0.0, 0.0
    table, index = room.words, room.word_index
    for i in range(values.shape[0]):
        if places[i] != NO_SLOT and values[i] > 0.0:
            row, fading = row_of(table, places[i]), fading_of(index, places[i], state.rounds)
            x = min(values[i], LARGEST_COUNT)
            known += x
            total += x * (fading * row[first + 1] / (fading * row[first] + 1.0))
    return total / known if known > 0.0 else 0.0

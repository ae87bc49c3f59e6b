"""AutoKernel's classifier on words: experts that need no dense rows, under the same mixer and calibration.

The experts are the prior and those of learners.py: linear and confident on x / |x|, and the two of counts. v of the
confident one is the mean of p (1 - p), of two classes its double.
"""

from __future__ import annotations

import numpy as np

from ....compiling.jit import compiled
from ....examples.call import row_of, scores_of, unpack_rows, words_of
from ..calibration import calibrate, learn_calibration
from ..experts import HEAVIEST_EXAMPLE
from ..log_loss import (
    class_of,
    learn_mixture,
    learn_prior,
    link,
    mix,
    write_errors,
    write_prior,
    write_scores,
)
from ..tables import OWN, columns_of, desk_of, state_at
from .learners import (
    FEW_COUNTS,
    RATE,
    UNBOUNDED,
    inverse_root,
    learn_confident,
    learn_counts,
    learn_linear,
    predict_counts,
    predict_linear,
    squared_length,
)
from .names import REFUSED, is_full, read_words, take_slots, words_in

LINEAR, CONFIDENT = np.int64(1), np.int64(2)  # experts, behind the prior
LEAST_CURVE = 1e-3


@compiled(called_from_python=True)
def learn(call):
    """As `log_loss.learn`; it stops, too, before a row for which the table is too full."""
    model, stream, n = unpack_rows(call)
    state = state_at(model.state)
    for t in range(n):
        length = read_words(model, words_of(call), t)
        w, f = stream[2][t], scores_of(stream, t)
        if length == REFUSED or (w > 0.0 and is_full(model, state)):
            return t
        words = words_in(words_of(call), length)
        predict_classes(model, state, words)
        write_scores(model, f)
        if w > 0.0:
            w = min(w, HEAVIEST_EXAMPLE)
            learn_class(model, state, words, class_of(model, stream[1][t]), w)
    return n


@compiled(called_from_python=True)
def decide(call):
    """As `log_loss.decide`."""
    model, stream, n = unpack_rows(call)
    state = state_at(model.state)
    if state.slots == 0:  # another thread changes the model to words
        n = 0
    for t in range(n):
        length = read_words(model, words_of(call), t)
        if length == REFUSED:
            return t
        predict_classes(model, state, words_in(words_of(call), length))
        write_scores(model, scores_of(stream, t))
    return n


@compiled
def predict_classes(model, state, words):
    """All experts, and their mixture."""
    desk = desk_of(model)
    scores, shares, inverse = desk.scores, desk.shares, inverse_root(squared_length(words))
    predict_linear(model, words, np.int64(0), inverse, row_of(scores, LINEAR))
    predict_linear(model, words, columns_of(model), inverse, row_of(scores, CONFIDENT))
    predict_counts(model, state, words)
    for k in range(LINEAR, FEW_COUNTS + 1):
        link(row_of(scores, k), row_of(shares, k))
    write_prior(model, row_of(shares, OWN))
    mix(model)
    calibrate(model)


@compiled
def learn_class(model, state, words, y, w):
    """LEARN, after `predict_classes` of the same row."""
    write_errors(model, y, w)
    learn_mixture(model, state, y, w)
    learn_calibration(model, y, w)
    take_slots(model, state, words)
    inverse, errors = inverse_root(squared_length(words)), desk_of(model).errors
    learn_linear(model, words, inverse, RATE, row_of(errors, LINEAR))
    curve = w * max(curve_of(row_of(desk_of(model).shares, CONFIDENT)), LEAST_CURVE)
    learn_confident(model, words, inverse, curve, UNBOUNDED, row_of(errors, CONFIDENT))
    learn_counts(model, words, y, w, 1.0)
    learn_prior(model, y, w)
    state.rounds += 1


@compiled
def curve_of(shares):
    """The mean of p (1 - p), and of two classes its double."""
    total, n = 0.0, shares.shape[0]
    for c in range(n):
        total += shares[c] * (1.0 - shares[c])
    return total if n == 2 else total / n

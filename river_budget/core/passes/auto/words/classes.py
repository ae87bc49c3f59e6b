"""AutoKernel's classifier on words: experts that need no dense rows, under the same mixer and calibration.

The experts are the prior and those of learners.py: linear and confident on x / |x|, and the two of counts. v of the
confident one is the mean of p (1 - p), of two classes its double.
"""

from __future__ import annotations

import numpy as np

from ....compiling.jit import compiled
from ....examples.call import row_of
from ....examples.present_features import example, example_and_scores, unpack
from ..calibration import calibrate
from ..experts import HEAVIEST_EXAMPLE
from ..log_loss import class_of, learn_mixture, link, mix, write_errors, write_scores
from ..tables import desk_of, state_at
from .learners import (
    CONFIDENT_PART,
    FEW_COUNTS,
    LINEAR_PART,
    RATE,
    UNBOUNDED,
    inverse_root,
    learn_confident,
    learn_counts,
    learn_linear,
    meet,
    predict_counts,
    predict_linear,
    squared_length,
)

LINEAR, CONFIDENT = np.int64(1), np.int64(2)  # experts, behind the prior
LEAST_CURVE = 1e-3


@compiled(called_from_python=True)
def learn(call):
    """As `log_loss.learn`."""
    model, stream, n = unpack(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w = example(model, stream, t)
        predict_classes(model, state, x)
        write_scores(model, f)
        if w > 0.0:
            learn_class(model, state, x, class_of(model, y), min(w, HEAVIEST_EXAMPLE))
    return n


@compiled(called_from_python=True)
def decide(call):
    """As `log_loss.decide`."""
    model, stream, n = unpack(call)
    for t in range(n):
        x, f = example_and_scores(model, stream, t)
        predict_classes(model, state_at(model.state), x)
        write_scores(model, f)
    return n


@compiled
def predict_classes(model, state, x):
    """All experts, and their mixture."""
    desk = desk_of(model)
    scores, shares, inverse = desk.scores, desk.shares, inverse_root(squared_length(x))
    predict_linear(model, x, LINEAR_PART, inverse, row_of(scores, LINEAR))
    predict_linear(model, x, CONFIDENT_PART, inverse, row_of(scores, CONFIDENT))
    predict_counts(model, state, x)
    for k in range(LINEAR, FEW_COUNTS + 1):
        link(row_of(scores, k), row_of(shares, k))
    mix(model)
    calibrate(model)


@compiled
def learn_class(model, state, x, y, w):
    """LEARN, after `predict_classes` of the same row."""
    write_errors(model, y, w)
    learn_mixture(model, state, y, w)
    meet(model, state, x)
    inverse, errors = inverse_root(squared_length(x)), desk_of(model).errors
    learn_linear(model, x, inverse, RATE, row_of(errors, LINEAR))
    curve = w * max(curve_of(row_of(desk_of(model).shares, CONFIDENT)), LEAST_CURVE)
    learn_confident(model, x, inverse, curve, UNBOUNDED, row_of(errors, CONFIDENT))
    learn_counts(model, x, y, w, 1.0)
    state.rounds += 1


@compiled
def curve_of(shares):
    """The mean of p (1 - p), and of two classes its double."""
    total, n = 0.0, shares.shape[0]
    for c in range(n):
        total += shares[c] * (1.0 - shares[c])
    return total if n == 2 else total / n

"""AutoKernel's classifier on words: experts that need no dense rows, under the same mixer and calibration
(examples/auto_kernel.md, Words).

The experts are the prior and those of learners.py: linear and confident on x / |x|, and the two of counts. v of the
confident one is the mean of p (1 - p), of two classes its double.
"""

from __future__ import annotations

from ....compiling import inlined, inner, passes
from ....expansion.examples import example
from ..calibration import calibrate
from ..experts import HEAVIEST_EXAMPLE
from ..log_loss import class_of, learn_mixture, link, mix, write_errors, write_scores
from ..tables import MIXTURE
from .learners import (
    CONFIDENT_PART,
    FEW_COUNTS,
    LINEAR_PART,
    RATE,
    count_scores,
    first_count,
    inverse_root,
    learn_confident,
    learn_counts,
    learn_linear,
    linear_scores,
    meet,
    squared_length,
)

LINEAR, CONFIDENT = 1, 2  # experts, behind the prior
LEAST_CURVE = 1e-3


@passes
def learn(m, states, rows, room, desk):
    """As `log_loss.learn`."""
    state = states[0]
    for t in range(rows.scores.shape[0]):
        x, w = example(m, rows, t), rows.weights[t]
        inverse = inverse_root(squared_length(x))
        predict(m, state, room, desk, x, inverse)
        write_scores(
            desk.scores, desk.logs, desk.shares[MIXTURE], room.unseen, desk.found[0], rows.scores[t]
        )
        if w > 0.0:
            y = class_of(desk.scores, rows.targets[t])
            learn_class(m, state, room, desk, x, inverse, y, min(w, HEAVIEST_EXAMPLE))
    return rows.scores.shape[0]


@passes
def score(m, states, rows, room, desk):
    """As `log_loss.score`."""
    for t in range(rows.scores.shape[0]):
        x = example(m, rows, t)
        predict(m, states[0], room, desk, x, inverse_root(squared_length(x)))
        write_scores(
            desk.scores, desk.logs, desk.shares[MIXTURE], room.unseen, desk.found[0], rows.scores[t]
        )
    return rows.scores.shape[0]


@inlined
def predict(m, state, room, desk, x, inverse):
    """All experts, and their mixture."""
    scores, shares = desk.scores, desk.shares
    linear_scores(m.vectors, room.bias, x, LINEAR_PART, inverse, scores[LINEAR])
    linear_scores(m.vectors, room.bias, x, CONFIDENT_PART, inverse, scores[CONFIDENT])
    count_scores(m, state, room, desk, x)
    for k in range(LINEAR, FEW_COUNTS + 1):
        link(scores[k], shares[k])
    mix(room.mixer, room.prior, scores, shares, desk.logs)
    calibrate(room.calibration, shares[MIXTURE], desk.found[0])


@inlined
def learn_class(m, state, room, desk, x, inverse, y, w):
    """Learn the example that was predicted last."""
    errors, first = desk.errors, first_count(desk.errors.shape[1])
    write_errors(errors, desk.shares, desk.scores, y, w)
    learn_mixture(state, room, desk, y, w)
    meet(m.vectors, state, x[0], first)
    learn_linear(m.vectors, room.bias, x, inverse, RATE, errors[LINEAR])
    curve = w * max(curve_of(desk.shares[CONFIDENT]), LEAST_CURVE)
    learn_confident(m.vectors, room.bias, x, inverse, curve, False, errors[CONFIDENT])
    learn_counts(m.vectors, room.totals, x, first, y, w)
    state.rounds += 1


@inner
def curve_of(shares):
    """The mean of p (1 - p), and of two classes its double."""
    total, n = 0.0, shares.shape[0]
    for c in range(n):
        total += shares[c] * (1.0 - shares[c])
    return total if n == 2 else total / n

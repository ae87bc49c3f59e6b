"""AutoKernel's classifier on words: experts that need no dense rows, under the same mixer and
calibration (examples/auto_kernel.md, Words).

The experts are the prior and those of learners.py: linear and confident on x / |x|, and the two of
counts. v of the confident one is the mean of p (1 - p), of two classes its double.
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
    NOT_BOUNDED,
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
def learn(m, states, rows, room, opinions):
    """As `log_loss.learn`."""
    mixing, bias, totals, vectors = room.mixing, room.bias, room.totals, m.vectors
    state, found, scores, shares = states[0], opinions.found[0], opinions.scores, opinions.shares
    targets, weights, results = rows.targets, rows.weights, rows.scores
    for t in range(results.shape[0]):
        x, w = example(m, rows, t), weights[t]
        inverse = inverse_root(squared_length(x))
        linear_scores(vectors, bias, x, LINEAR_PART, inverse, scores[LINEAR])
        linear_scores(vectors, bias, x, CONFIDENT_PART, inverse, scores[CONFIDENT])
        count_scores(vectors, state, mixing.prior, totals, opinions, x)
        for k in range(LINEAR, FEW_COUNTS + 1):
            link(scores[k], shares[k])
        mix(mixing.mixer, mixing.prior, scores, shares, opinions.logs)
        calibrate(mixing.calibration, shares[MIXTURE], found)
        write_scores(opinions.logs[MIXTURE], shares[MIXTURE], mixing.unseen, found, results[t])
        if w > 0.0:
            y, w = class_of(targets[t], scores), min(w, HEAVIEST_EXAMPLE)
            write_errors(opinions.errors, shares, scores, y, w)
            learn_mixture(state, mixing, opinions, y, w)
            learn_words(vectors, bias, state, opinions, x, inverse, w)
            learn_counts(vectors, totals, x, first_count(scores.shape[1]), y, w)
            state.rounds += 1
    return results.shape[0]


@inlined
def learn_words(vectors, bias, state, opinions, x, inverse, w):
    """The linear models; names become known."""
    errors, first = opinions.errors, first_count(opinions.errors.shape[1])
    meet(vectors, state, x[0], first)
    learn_linear(vectors, bias, x, inverse, RATE, errors[LINEAR])
    curve = w * max(curve_of(opinions.shares[CONFIDENT]), LEAST_CURVE)
    learn_confident(vectors, bias, x, inverse, curve, NOT_BOUNDED, errors[CONFIDENT])


@inner
def curve_of(shares):
    """The mean of p (1 - p), and of two classes its double."""
    total, n = 0.0, shares.shape[0]
    for c in range(n):
        total += shares[c] * (1.0 - shares[c])
    return total if n == 2 else total / n

"""AutoKernel's regressor on words: experts that need no dense rows, under the same mixer
(examples/auto_kernel.md, Words).

The experts are the last target, and

    linear     of learners.py, on x / |x|, with errors in units of sy
    confident  on x / m, where m is the usual |x|, the root of state.length; v and g are those of
               the weight of the row
    means      sum_i x_i d_i / (n_i + 1) / sum_i x_i over known names: n_i is the count of a name,
               and d_i the sum of y - my when it came

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
    write_scores,
)
from ..tables import OWN, SEEN
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
    linear_scores,
    meet,
    squared_length,
)

LINEAR, CONFIDENT, MEANS = 1, 2, 3  # experts, behind the last target
TARGETS, DEVIATIONS = 0, 1  # columns of counts
LENGTH_RATE = 0.01


@passes
def learn(m, states, rows, room, opinions):
    """As `squared_loss.learn`."""
    mixing, bias, totals, vectors = room.mixing, room.bias, room.totals, m.vectors
    state, found = states[0], opinions.found[0]
    targets, weights, results = rows.targets, rows.weights, rows.scores
    for t in range(results.shape[0]):
        x, w = example(m, rows, t), weights[t]
        square = squared_length(x)
        consult_words(vectors, bias, state, opinions, x, square)
        mix(state, mixing.mixer, opinions)
        write_scores(found, results[t])
        if w > 0.0:
            y, w = clamp(targets[t], LARGEST_VALUE), min(w, HEAVIEST_EXAMPLE)
            error, bound = begin_round(state, opinions, y)
            meet(vectors, state, x[0], first_count(1))
            if state.rounds > 0:
                learn_mixture(state, mixing.mixer, opinions, y, bound, w)
                learn_words(vectors, bias, state, opinions.errors, x, square, w)
            deviation = clamp(y - state.average, bound)
            learn_counts(vectors, totals, x, first_count(1), TARGETS, w)
            learn_counts(vectors, totals, x, first_count(1), DEVIATIONS, w * deviation)
            learn_spread(state, mixing.quantiles, found.spread, error, w)
            learn_targets(state, y, error, error, bound, w)
            rate = min(w * max(1.0 / (state.rounds + 1.0), LENGTH_RATE), 1.0)
            state.length += rate * (square - state.length)
            state.rounds += 1
    return results.shape[0]


@inner
def usual_inverse(state, square):
    """1 / m, of a first row 1 / |x|."""
    return inverse_root(state.length if state.length > 0.0 else square)


@inlined
def consult_words(vectors, bias, state, opinions, x, square):
    """What experts predict, beyond the mean, and the spread of the prediction."""
    scores, inverse = opinions.scores, usual_inverse(state, square)
    scores[OWN, 0] = state.last - state.average
    linear_scores(vectors, bias, x, LINEAR_PART, inverse_root(square), scores[LINEAR])
    linear_scores(vectors, bias, x, CONFIDENT_PART, inverse, scores[CONFIDENT])
    scores[MEANS, 0] = mean_of_words(vectors, state, x, first_count(1))
    opinions.found[0].spread = math.exp(state.stretch) * math.sqrt(state.latest_error)


@inlined
def learn_words(vectors, bias, state, errors, x, square, w):
    """The linear models."""
    size, inverse, lacking = usual_size(state), usual_inverse(state, square), errors[LINEAR]
    if has_scale(state):
        lacking[0] = w * clamp(lacking[0] / size, LARGEST_RATIO)
        learn_linear(vectors, bias, x, inverse_root(square), RATE * size, lacking)
        learn_confident(vectors, bias, x, inverse, w, BOUNDED, errors[CONFIDENT])


@inner
def mean_of_words(vectors, state, x, first):
    """How far targets were from the mean when these names came, each drawn to 0 as if by one more
    row.
    """
    places, values, known, total = x[0], x[1], 0.0, 0.0
    for i in range(places.shape[0]):
        row = vectors[places[i]]
        if row[SEEN] != 0.0 and values[i] > 0.0:
            fading, value = fading_of(row, state), min(values[i], LARGEST_COUNT)
            known += value
            mean = fading * row[first + DEVIATIONS] / (fading * row[first + TARGETS] + 1.0)
            total += value * mean
    return total / known if known > 0.0 else 0.0

"""What a model of words learns of each name: two linear models, and counts
(examples/auto_kernel.md, Words).

x is an example of core/expansion/examples.py. A name has a row of m.vectors, at the place that
Python gives it:

    row[G], row[S]  the sums below
    row[SEEN]       the round after the one in which the name came last; 0 of a name that is not
                    learned yet
    row[WEIGHTS:]   a weight per column of the linear model, then of the confident one, then n_ic
                    per class

N_c  totals, sums of n_ic; V  state.held, the number of names that are learned; e_c  errors[c]; x_i times `inverse`,
of which each model has its own

linear      G <- .9995 G + mean(e^2) x_i^2,  w_c += rate e_c x_i / root(G): AdaGrad
confident   S <- .9999 S + v x_i^2,  w_c += g e_c x_i / (.3 + S): a Gaussian for each weight. v is what an error of this
            size says, g is 1, or such that all steps together take no more than the whole error
counts      naive Bayes of words: log prior_c + sum_i x_i log((n_ic + a) / (N_c + a V)) with a = 1
few counts  the same with a = .1, over the root of the sum of the x_i that are known

n_ic and N_c fade by .9998 a round, those of a name when it comes. Counted are values above 0, up to
1000. The bias has a row of its own, room.bias, and its x is 1.

J. Duchi, E. Hazan, Y. Singer. Adaptive subgradient methods for online learning and stochastic optimization. JMLR 12,
2011. K. Crammer, A. Kulesza, M. Dredze. Adaptive regularization of weight vectors. NIPS 22, 2009.
"""  # noqa: E501

from __future__ import annotations

import math

import numpy as np

from ....compiling import inlined, inner
from ....numerics import clamp, exp_of, log_of
from ..linear_models import GRADIENT_FLOOR, LINEAR_FORGETTING, mean_square
from ..tables import MIXTURE, SEEN, WEIGHTS, G, S

COUNTS, FEW_COUNTS = 3, 4  # experts
LINEAR_PART, CONFIDENT_PART = 0, 1  # of the weights in a row
RATE = 0.5  # of the linear model
PRECISION, PRECISION_FORGETTING = 0.3, 0.9999  # of the confident one
BOUNDED, NOT_BOUNDED = (
    np.bool_(True),
    np.bool_(False),
)  # typed, as numba would compile a function for each literal
SMOOTHING, LITTLE_SMOOTHING = 1.0, 0.1  # of counts
LOG_FADING = math.log(0.9998)  # of counts, for every round
FADING = math.exp(LOG_FADING)
LARGEST_COUNT, SHORTEST = 1e3, 1e-300  # of a value; of a squared length
LARGEST_WORD = 1e100  # of a value: its square is still finite


@inner
def squared_length(x):
    """|x|^2, unknown names included."""
    values, total = x[1], min(x[2], LARGEST_WORD * LARGEST_WORD)
    for i in range(values.shape[0]):
        value = clamp(values[i], LARGEST_WORD)
        total += value * value
    return total


@inner
def inverse_root(square):
    """What values are multiplied with; 0 for none."""
    return 1.0 / math.sqrt(square) if square > SHORTEST else 0.0


@inlined
def entry(vectors, bias, x, i, inverse):
    """(the row of name i, its value); behind the last name, those of the bias."""
    last = i == x[0].shape[0]
    row = bias if last else vectors[x[0][i]]
    return row, 1.0 if last else clamp(x[1][i], LARGEST_WORD) * inverse


@inner
def linear_scores(vectors, bias, x, part, inverse, scores):
    """scores[c] = sum_i w_ic x_i with the weights of one of the two models."""
    columns = scores.shape[0]
    first = WEIGHTS + part * columns
    for c in range(columns):
        scores[c] = 0.0
    for i in range(x[0].shape[0] + 1):
        row, value = entry(vectors, bias, x, i, inverse)
        for c in range(columns):
            scores[c] += row[first + c] * value


@inner
def learn_linear(vectors, bias, x, inverse, rate, errors):
    """AdaGrad, as in linear_models.py, along names."""
    columns, square = errors.shape[0], mean_square(errors)
    for i in range(x[0].shape[0] + 1):
        row, value = entry(vectors, bias, x, i, inverse)
        if value != 0.0:
            row[G] = LINEAR_FORGETTING * row[G] + square * (value * value)
            step = rate * value / math.sqrt(row[G] + GRADIENT_FLOOR)
            for c in range(columns):
                row[WEIGHTS + c] += step * errors[c]


@inner
def learn_confident(vectors, bias, x, inverse, curve, bounded, errors):
    """Weights with little precision learn most. bounded: all steps together take no more than the
    whole error.
    """
    columns, factor, total = errors.shape[0], 1.0, 0.0
    for i in range(x[0].shape[0] + 1):
        row, value = entry(vectors, bias, x, i, inverse)
        square = curve * (value * value)
        row[S] = PRECISION_FORGETTING * row[S] + square
        total += square / (PRECISION + row[S])
    if bounded:
        factor = curve / (1.0 + total)
    for i in range(x[0].shape[0] + 1):
        row, value = entry(vectors, bias, x, i, inverse)
        step = factor * value / (PRECISION + row[S])
        for c in range(columns):
            row[WEIGHTS + columns + c] += step * errors[c]


# Counts


@inlined
def first_count(columns):
    """Where the counts of a name begin in its row."""
    return WEIGHTS + 2 * columns


@inner
def fading_of(row, state):
    """By how much the counts of a name have faded since it came last."""
    return exp_of(LOG_FADING * (state.rounds - row[SEEN]))


@inner
def meet(vectors, state, places, first):
    """The counts of names that are known fade, and others become known."""
    for i in range(places.shape[0]):
        row = vectors[places[i]]
        if row[SEEN] == 0.0:
            state.held += 1
        else:
            fading = fading_of(row, state)
            for c in range(first, row.shape[0]):
                row[c] *= fading
        row[SEEN] = state.rounds + 1


@inlined
def count_scores(vectors, state, prior, totals, opinions, x):
    """Naive Bayes of words, with two kinds of smoothing. Per class, and then for columns: of two
    classes the second has half of the logarithm of the odds.
    """
    scores, n = opinions.scores, totals.shape[0]
    many, few = opinions.shares[MIXTURE], opinions.logs[MIXTURE]  # until there is a mixture
    known = add_logs(vectors, state, x, first_count(scores.shape[1]), many, few)
    names = max(float(state.held), 1.0)
    scale = 1.0 / math.sqrt(known) if known > 0.0 else 0.0
    for c in range(n):
        start = math.log(max(prior[c], GRADIENT_FLOOR))
        many[c] = start + many[c] - known * log_of(totals[c] + SMOOTHING * names)
        few[c] = scale * (start + few[c] - known * log_of(totals[c] + LITTLE_SMOOTHING * names))
    two = scores.shape[1] == 1
    for c in range(scores.shape[1]):
        scores[COUNTS, c] = 0.5 * (many[1] - many[0]) if two else many[c]
        scores[FEW_COUNTS, c] = 0.5 * (few[1] - few[0]) if two else few[c]


@inner
def add_logs(vectors, state, x, first, many, few):
    """Write sum_i x_i log(n_ic + a), with one a to `many` and with the other to `few`. Returns
    sum_i x_i.
    """
    places, values, known, n = x[0], x[1], 0.0, many.shape[0]
    for c in range(n):
        many[c] = few[c] = 0.0
    for i in range(places.shape[0]):
        row = vectors[places[i]]
        if row[SEEN] != 0.0 and values[i] > 0.0:
            fading, value = fading_of(row, state), min(values[i], LARGEST_COUNT)
            known += value
            for c in range(n):
                count = fading * row[first + c]
                many[c] += value * log_of(count + SMOOTHING)
                few[c] += value * log_of(count + LITTLE_SMOOTHING)
    return known


@inner
def learn_counts(vectors, totals, x, first, column, amount):
    """The counts of this column grow by amount x_i, and their total; all totals fade."""
    places, values = x[0], x[1]
    for c in range(totals.shape[0]):
        totals[c] *= FADING
    for i in range(places.shape[0]):
        if values[i] > 0.0:
            more = amount * min(values[i], LARGEST_COUNT)
            vectors[places[i], first + column] += more
            totals[column] += more

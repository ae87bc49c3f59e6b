"""What a model of words learns of each name: two linear models, and counts. x is an example of core/examples.

A name has a row of model.vectors, at the place that the adapter gives it:

    row[G], row[S]  the sums below
    row[SEEN]       the round after the one in which the name came last; 0 of a name that is not learned yet
    row[WEIGHTS:]   a weight per column of the linear model, then of the confident one, then n_ic per class

N_c  room.word_totals, sums of n_ic; V  state.held, the number of names that are learned; e_c  errors[c]; x_i times `inverse`,
of which each model has its own

linear      G <- .9995 G + mean(e^2) x_i^2,  w_c += rate e_c x_i / root(G): AdaGrad
confident   S <- .9999 S + v x_i^2,  w_c += g e_c x_i / (.3 + S): a Gaussian for each weight. v is what an error of this
            size says, g is 1, or such that all steps together take no more than the whole error
counts      naive Bayes of words: log prior_c + sum_i x_i log((n_ic + a) / (N_c + a V)) with a = 1
few counts  the same with a = .1, over the root of the sum of the x_i that are known

n_ic and N_c fade by .9998 a round, those of a name when it comes. Counted are values above 0, up to 1000.
The bias has a row of its own, room.word_bias, and its x is 1.

J. Duchi, E. Hazan, Y. Singer. Adaptive subgradient methods for online learning and stochastic optimization. JMLR 12,
2011. K. Crammer, A. Kulesza, M. Dredze. Adaptive regularization of weight vectors. NIPS 22, 2009.
"""

from __future__ import annotations

import math

import numpy as np

from ....block.limits import within
from ....compiling.jit import compiled
from ....examples.call import row_of
from ....examples.present_features import places_of, rest_of, values_of
from ....simd.exponential import exp_of, logarithms
from ..linear_models import GRADIENT_FLOOR, LINEAR_FORGETTING, mean_square
from ..tables import SEEN, WEIGHTS, G, S, columns_of, desk_of, room_of

COUNTS, FEW_COUNTS = np.int64(3), np.int64(4)  # experts
LINEAR_PART, CONFIDENT_PART = np.int64(0), np.int64(1)  # of the weights in a row
RATE = 0.5  # of the linear model
PRECISION, PRECISION_FORGETTING = 0.3, 0.9999  # of the confident one
# `bounded` of learn_confident. (numba would compile it for each of the literals True and False.)
BOUNDED, UNBOUNDED = np.bool_(True), np.bool_(False)
SMOOTHING, LITTLE_SMOOTHING = 1.0, 0.1  # of counts
LOG_FADING = math.log(0.9998)  # of counts, for every round
FADING = math.exp(LOG_FADING)
LARGEST_COUNT, SHORTEST = 1e3, 1e-300  # of a value; of a squared length
LARGEST_WORD = 1e100  # of a value: its square is still finite


@compiled
def squared_length(x):
    """|x|^2, unknown names included."""
    values, total = values_of(x), min(rest_of(x), LARGEST_WORD * LARGEST_WORD)
    for i in range(values.shape[0]):
        value = within(values[i], LARGEST_WORD)
        total += value * value
    return total


@compiled
def inverse_root(square):
    """What values are multiplied with; 0 for none."""
    return 1.0 / math.sqrt(square) if square > SHORTEST else 0.0


@compiled(always_inlined=True)
def entry(vectors, bias, x, i, inverse):
    """(the row of name i, its value); behind the last name, those of the bias."""
    places, values = places_of(x), values_of(x)
    if i == places.shape[0]:
        return bias, 1.0
    return row_of(vectors, places[i]), within(values[i], LARGEST_WORD) * inverse


@compiled
def predict_linear(model, x, part, inverse, scores):
    """scores[c] = sum_i w_ic x_i with the weights of one of the two models."""
    vectors, bias, columns = model.vectors, room_of(model).word_bias, columns_of(model)
    first = WEIGHTS + part * columns
    for c in range(columns):
        scores[c] = 0.0
    for i in range(x[2] + 1):
        row, value = entry(vectors, bias, x, i, inverse)
        for c in range(columns):
            scores[c] += row[first + c] * value


@compiled
def learn_linear(model, x, inverse, rate, errors):
    """AdaGrad, as in linear_models.py, along names."""
    vectors, bias, columns = model.vectors, room_of(model).word_bias, columns_of(model)
    square = mean_square(errors, columns)
    for i in range(x[2] + 1):
        row, value = entry(vectors, bias, x, i, inverse)
        if value != 0.0:
            row[G] = LINEAR_FORGETTING * row[G] + square * (value * value)
            step = rate * value / math.sqrt(row[G] + GRADIENT_FLOOR)
            for c in range(columns):
                row[WEIGHTS + c] += step * errors[c]


@compiled
def learn_confident(model, x, inverse, curve, bounded, errors):
    """Weights with little precision learn most. bounded: all steps together take no more than the whole error."""
    vectors, bias, columns = model.vectors, room_of(model).word_bias, columns_of(model)
    factor, total = 1.0, 0.0
    for i in range(x[2] + 1):
        row, value = entry(vectors, bias, x, i, inverse)
        square = curve * (value * value)
        row[S] = PRECISION_FORGETTING * row[S] + square
        total += square / (PRECISION + row[S])
    if bounded:
        factor = curve / (1.0 + total)
    for i in range(x[2] + 1):
        row, value = entry(vectors, bias, x, i, inverse)
        step = factor * value / (PRECISION + row[S])
        for c in range(columns):
            row[WEIGHTS + columns + c] += step * errors[c]


# Counts


@compiled
def meet(model, state, x):
    """The counts of names that are known fade, and others become known."""
    places, first = places_of(x), first_count(model)
    for i in range(places.shape[0]):
        row = row_of(model.vectors, places[i])
        if row[SEEN] == 0.0:
            state.held += 1
        else:
            fading = fading_of(row, state)
            for c in range(first, row.shape[0]):
                row[c] *= fading
        row[SEEN] = state.rounds + 1


@compiled
def first_count(model):
    """Where the counts of a name begin in its row."""
    return WEIGHTS + 2 * columns_of(model)


@compiled
def fading_of(row, state):
    """By how much the counts of a name have faded since it came last."""
    return exp_of(LOG_FADING * (state.rounds - row[SEEN]))


@compiled
def predict_counts(model, state, x):
    """Naive Bayes of words, with two kinds of smoothing. Per class, and then for columns: of two classes the second has
    half of the logarithm of the odds."""
    desk, room, n = desk_of(model), room_of(model), desk_of(model).shares.shape[1]
    logs, sums, known = desk.word_logs, desk.mixture, add_logs(model, state, x)
    prior, totals, names = room.prior, room.word_totals, max(float(state.held), 1.0)
    for c in range(n):
        logs[c] = totals[c] + SMOOTHING * names
        logs[n + c] = totals[c] + LITTLE_SMOOTHING * names
    logarithms(logs, logs, logs.shape[0])
    scale = 1.0 / math.sqrt(known) if known > 0.0 else 0.0
    for c in range(n):
        start = math.log(max(prior[c], GRADIENT_FLOOR))
        sums.score[c] = start + sums.score[c] - known * logs[c]
        sums.share[c] = scale * (start + sums.share[c] - known * logs[n + c])
    scores, two = desk.scores, columns_of(model) == 1
    for c in range(desk.scores.shape[1]):
        scores[COUNTS, c] = 0.5 * (sums.score[1] - sums.score[0]) if two else sums.score[c]
        scores[FEW_COUNTS, c] = 0.5 * (sums.share[1] - sums.share[0]) if two else sums.share[c]


@compiled
def add_logs(model, state, x):
    """sum_i x_i log(n_ic + a), with one a to mixture.score and with the other to mixture.share. Returns sum_i x_i."""
    places, values, known = places_of(x), values_of(x), 0.0
    desk, n, first = desk_of(model), desk_of(model).shares.shape[1], first_count(model)
    logs, sums = desk.word_logs, desk.mixture
    for c in range(n):
        sums.score[c] = sums.share[c] = 0.0
    for i in range(places.shape[0]):
        row = row_of(model.vectors, places[i])
        if row[SEEN] != 0.0 and values[i] > 0.0:
            fading, value = fading_of(row, state), min(values[i], LARGEST_COUNT)
            for c in range(n):
                logs[c] = fading * row[first + c] + SMOOTHING
                logs[n + c] = fading * row[first + c] + LITTLE_SMOOTHING
            for c in range(2 * n, logs.shape[0]):
                logs[c] = 1.0
            logarithms(logs, logs, logs.shape[0])
            known += value
            for c in range(n):
                sums.score[c] += value * logs[c]
                sums.share[c] += value * logs[n + c]
    return known


@compiled
def learn_counts(model, x, column, w, number):
    """The counts of this column grow by w x_i, or so many times as much, and their total; all totals fade."""
    places, values, totals = places_of(x), values_of(x), room_of(model).word_totals
    place = first_count(model) + column
    for c in range(totals.shape[0]):
        totals[c] *= FADING
    for i in range(places.shape[0]):
        if values[i] > 0.0:
            amount = w * number * min(values[i], LARGEST_COUNT)
            model.vectors[places[i], place] += amount
            totals[column] += amount

"""What a model of words learns of its names: two linear models, and counts.

    w     the weights of a name in room.words, for every column: of the linear model, of the confident one
    G, S  the two numbers behind them
    n_ic  the counts behind those; N_c  room.word_totals, their sums
    e_c   errors[c]; x_i  values[i] * inverse, of which each model has its own
    V     state.held

linear      G <- .9995 G + mean(e^2) x_i^2,  w_c += rate e_c x_i / root(G): AdaGrad
confident   S <- .9999 S + v x_i^2,  w_c += g e_c x_i / (.3 + S): a Gaussian for each weight. v is what an error of this
            size says, g is 1, or such that all steps together take no more than the whole error
counts      naive Bayes of words: log prior_c + sum_i x_i log((n_ic + a) / (N_c + a V)) with a = 1
few counts  the same with a = .1, over the root of the sum of the x_i that are known

n_ic and N_c fade by .9998 a round, those of a name when it comes. Counted are values above 0, up to 1000.
The bias is the last row of the table, and its x is 1.

J. Duchi, E. Hazan, Y. Singer. Adaptive subgradient methods for online learning and stochastic optimization. JMLR 12,
2011. K. Crammer, A. Kulesza, M. Dredze. Adaptive regularization of weight vectors. NIPS 22, 2009.
"""

from __future__ import annotations

import math

import numpy as np

from ....compiling.jit import compiled
from ....examples.call import row_of
from ....simd.exponential import logarithms
from ..linear_models import GRADIENT_FLOOR, LINEAR_FORGETTING, mean_square
from ..tables import WORD_SUMS, columns_of, desk_of, room_of
from .names import LOG_FADING, NO_SLOT, fading_of

COUNTS, FEW_COUNTS = np.int64(3), np.int64(4)  # experts
RATE = 0.5  # of the linear model
PRECISION, PRECISION_FORGETTING = 0.3, 0.9999  # of the confident one
# `bounded` of learn_confident. (numba would compile it for each of the literals True and False.)
BOUNDED, UNBOUNDED = np.bool_(True), np.bool_(False)
SMOOTHING, LITTLE_SMOOTHING = 1.0, 0.1  # of counts
FADING = math.exp(LOG_FADING)
LARGEST_COUNT, SHORTEST = 1e3, 1e-300  # of a value; of a squared length


@compiled
def squared_length(words):
    """|x|^2"""
    values, total = words[1], 0.0
    for i in range(values.shape[0]):
        total += values[i] * values[i]
    return total


@compiled
def inverse_root(square):
    """What values are multiplied with; 0 for none."""
    return 1.0 / math.sqrt(square) if square > SHORTEST else 0.0


@compiled
def predict_linear(model, words, first, inverse, scores):
    """scores[c] = sum_i w_ic x_i, with the weights that stand from column `first` on, and x times `inverse`."""
    _, values, places = words
    table, columns = room_of(model).words, columns_of(model)
    bias = table[table.shape[0] - 1]
    for c in range(columns):
        scores[c] = bias[first + c]
    for i in range(values.shape[0]):
        if places[i] != NO_SLOT:
            row, x = row_of(table, places[i]), values[i] * inverse
            for c in range(columns):
                scores[c] += row[first + c] * x


@compiled
def learn_linear(model, words, inverse, rate, errors):
    """AdaGrad, as in linear_models.py, along names."""
    _, values, places = words
    table, columns = room_of(model).words, columns_of(model)
    square, n = mean_square(errors, columns), values.shape[0]
    for i in range(n + 1):
        place, x = (places[i], values[i] * inverse) if i < n else (table.shape[0] - 1, 1.0)
        if place != NO_SLOT and x != 0.0:
            row = row_of(table, place)
            total = LINEAR_FORGETTING * row[2 * columns] + square * (x * x)
            row[2 * columns] = total
            step = rate * x / math.sqrt(total + GRADIENT_FLOOR)
            for c in range(columns):
                row[c] += step * errors[c]


@compiled
def learn_confident(model, words, inverse, curve, bounded, errors):
    """Weights with little precision learn most. bounded: all steps together take no more than the whole error."""
    _, values, places = words
    table, columns, factor = room_of(model).words, columns_of(model), 1.0
    n, total = values.shape[0], 0.0
    for i in range(n + 1):
        place, x = (places[i], values[i] * inverse) if i < n else (table.shape[0] - 1, 1.0)
        if place != NO_SLOT:
            row = row_of(table, place)
            square = curve * (x * x)
            row[2 * columns + 1] = PRECISION_FORGETTING * row[2 * columns + 1] + square
            total += square / (PRECISION + row[2 * columns + 1])
    if bounded:
        factor = curve / (1.0 + total)
    for i in range(n + 1):
        place, x = (places[i], values[i] * inverse) if i < n else (table.shape[0] - 1, 1.0)
        if place != NO_SLOT:
            row = row_of(table, place)
            step = factor * x / (PRECISION + row[2 * columns + 1])
            for c in range(columns):
                row[columns + c] += step * errors[c]


# Counts


@compiled
def predict_counts(model, state, words):
    """Naive Bayes of words, with two kinds of smoothing. Per class, and then for columns: of two classes the second has
    half of the logarithm of the odds."""
    desk, room, n = desk_of(model), room_of(model), desk_of(model).shares.shape[1]
    logs, sums, known = desk.word_logs, desk.mixture, add_logs(model, state, words)
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
def add_logs(model, state, words):
    """sum_i x_i log(n_ic + a), with one a to mixture.score and with the other to mixture.share. Returns sum_i x_i."""
    _, values, places = words
    desk, room, known = desk_of(model), room_of(model), 0.0
    logs, sums, n = desk.word_logs, desk.mixture, desk_of(model).shares.shape[1]
    table, index, first = room.words, room.word_index, 2 * columns_of(model) + WORD_SUMS
    for c in range(n):
        sums.score[c] = sums.share[c] = 0.0
    for i in range(values.shape[0]):
        if places[i] != NO_SLOT and values[i] > 0.0:
            row, fading = row_of(table, places[i]), fading_of(index, places[i], state.rounds)
            for c in range(n):
                logs[c] = fading * row[first + c] + SMOOTHING
                logs[n + c] = fading * row[first + c] + LITTLE_SMOOTHING
            for c in range(2 * n, logs.shape[0]):
                logs[c] = 1.0
            logarithms(logs, logs, logs.shape[0])
            x = min(values[i], LARGEST_COUNT)
            known += x
            for c in range(n):
                sums.score[c] += x * logs[c]
                sums.share[c] += x * logs[n + c]
    return known


@compiled
def learn_counts(model, words, column, w, number):
    """The counts of this column grow by w x_i, or so many times as much, and their total; all totals fade."""
    _, values, places = words
    room, first = room_of(model), 2 * columns_of(model) + WORD_SUMS
    table, totals = room.words, room.word_totals
    for c in range(totals.shape[0]):
        totals[c] *= FADING
    for i in range(values.shape[0]):
        if places[i] != NO_SLOT and values[i] > 0.0:
            x = w * number * min(values[i], LARGEST_COUNT)
            table[places[i], first + column] += x
            totals[column] += x

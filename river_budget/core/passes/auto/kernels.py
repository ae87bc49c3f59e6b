"""Kernel gradient descent over the memory, with three widths and one exponential per row.

Each example that comes gets a coefficient for every width and column, and keeps it while it is stored.

    spec        here
    width_q     2, 8, 32: each is the fourth power of the one before
    m           exp(state.log_distance), the usual distance to a stored row
    k_qi        model.logs for the width at hand
    alpha_qi,c  model.coefficients[WIDTHS c + q]
"""

from __future__ import annotations

import math

import numpy as np

from ...block.limits import padded_count
from ...block.random_numbers import below
from ...compiling.jit import compiled
from ...simd.exponential import exponentials
from ...simd.table_sums import all_dots
from .tables import WIDTHS

WIDEST = 2.0  # gamma of the widest kernel is this over m
MEMORY = 0.01  # rate of the mean of log D
NEAREST = 1e-9  # a distance that is none
NEXT = np.int64(WIDTHS)  # rows of coefficients to that of the next column
UNUSUAL = 2  # the distances to so many first rows say nothing yet


@compiled
def widest_kernels(model, state):
    """k_0i = exp(-2 D_i / m)"""
    rate, far, kernels = WIDEST * math.exp(-state.log_distance), model.row, model.logs
    n = padded_count(model)
    for j in range(n):
        kernels[j] = -rate * far[j]
    exponentials(kernels, kernels, n)


@compiled
def narrow(model):
    """The kernels of the next width: fourth powers."""
    kernels = model.logs
    for j in range(padded_count(model)):
        square = kernels[j] * kernels[j]
        kernels[j] = square * square


@compiled
def kernel_scores(model, width, scores):
    """scores[c] = sum_i alpha_qi,c k_qi. Of more than one class all of them add up to 0, as do the coefficients of
    every row, so that of the last class follows."""
    kernels, columns = model.logs[: padded_count(model)], scores.shape[0]
    if columns == 1:
        all_dots(kernels, model.coefficients, width, NEXT, scores)
        return
    all_dots(kernels, model.coefficients, width, NEXT, scores[: columns - 1])
    scores[columns - 1] = 0.0
    for c in range(columns - 1):
        scores[columns - 1] -= scores[c]


@compiled
def learn_distance(model, state):
    """The usual distance follows that of one stored row, drawn at random."""
    if model.head.count > UNUSUAL:
        distance = model.row[below(model, model.head.count)]
        if distance > NEAREST:
            rate = max(1.0 / (state.rounds - UNUSUAL), MEMORY)
            state.log_distance += rate * (math.log(distance) - state.log_distance)

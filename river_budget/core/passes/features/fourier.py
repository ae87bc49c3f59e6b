"""Gradient descent on random Fourier features.

A. Rahimi, B. Recht. Random features for large-scale kernel machines. NIPS 2007. J. Lu, S. Hoi, J.
Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016, algorithms 1 and 3 (FOGD,
for two and for several classes); their lines have no numbers, so the pass names its steps.

    paper   here
    u       vectors: one row per feature, one column per frequency; head.count = D of them
    z(x)    (m.row, m.buffer) = (cos u'x, sin u'x), each to be divided by sqrt(D)
    w       sqrt(D) (coefficients, per_vector): the weights of cosines and of sines, one row per
            output
    eta     learning_rate / D, as z is not divided there
"""

from __future__ import annotations

import math

from ...compiling import inlined, inner, passes
from ...expansion.examples import example
from ...expansion.kernels import padded, products
from ...expansion.scoring import each_example
from ...memory import record
from ...numerics import add_multiple, dot
from ...rounds.calibration import calibrate
from ...rounds.losses import clamp_step, clipped, loss_and_direction, step_length
from ...rounds.observe import REFUSED, learn_rows, move_towards, share_of
from ...trigonometry import sines_and_cosines

STATE = record("f8 learning_rate epsilon max_error scale average averaged")


@inner
def waves(m, x):
    """Write the cosines of u'x to m.row and the sines to m.buffer."""
    n = padded(m.head[0].count)
    products(m.vectors, x, m.row, n)
    sines_and_cosines(m.row, m.buffer, n)


@inner
def score_waves(m, scores):
    """scores[r] = w_r . z(x). Columns beyond D have weights 0."""
    n, rows = padded(m.head[0].count), rows_of_output(m)
    for r in range(scores.shape[0]):
        along_cosines = dot(m.row, m.coefficients[r], n)
        scores[r] = along_cosines + dot(m.buffer, m.per_vector[rows * r], n)


@inner
def rows_of_output(m):
    """The number of rows of per_vector for each output: 1, the weights of the sines; or 3 with a
    mean of the iterates, where the mean's weights of cosines and of sines follow.
    """
    return m.per_vector.shape[0] // m.coefficients.shape[0]


@inner
def score_mean_waves(m, scores):
    """scores[r] = m_r . z(x) for the mean m of the iterates."""
    n = padded(m.head[0].count)
    for r in range(scores.shape[0]):
        along_cosines = dot(m.row, m.per_vector[3 * r + 1], n)
        scores[r] = along_cosines + dot(m.buffer, m.per_vector[3 * r + 2], n)


@inner
def update_mean_waves(m, state):
    """Count the current iterate, and update the mean of the iterates, if one is kept."""
    if state.average != 0.0:
        state.averaged += 1.0
        share, n = share_of(state.average, state.averaged), padded(m.head[0].count)
        for r in range(m.coefficients.shape[0]):
            move_towards(m.per_vector[3 * r + 1], m.coefficients[r], 1.0, share, n)
            move_towards(m.per_vector[3 * r + 2], m.per_vector[3 * r], 1.0, share, n)


@inner
def add_waves(m, r, amount):
    """w_r += amount z(x)"""
    n, sines = m.head[0].count, m.per_vector[rows_of_output(m) * r]
    add_multiple(m.coefficients[r], amount, m.row, n)
    add_multiple(sines, amount, m.buffer, n)


@passes
def learn(m, states, rows):
    """The learning pass."""
    return learn_rows(m, states, rows, observe_waves, round_of)


@inlined
def observe_waves(m, state, x, f, y, w):
    """As `observe_with_mean`, with z(x) in the place of a kernel row and without a norm."""
    norm, scores = REFUSED, f
    if m.head[0].alarm == 0:
        norm = 0.0
        waves(m, x)  # construct the new representation z(x_t)
        score_waves(m, f)  # predict
        if state.average != 0.0:
            scores = m.last
            for r in range(f.shape[0]):
                scores[r] = f[r]
            score_mean_waves(m, f)
        calibrate(m.head[0], f, y, w)
    return norm, scores


@inlined
def round_of(m, state, x, norm, f, y, w):
    """An example with a loss: w <- w - eta times the gradient."""
    loss, sign, plus, minus = loss_and_direction(m.head[0], f, y, state.epsilon)
    if loss > 0.0:
        size = clipped(step_length(m.head[0], loss, state.epsilon), state.max_error)
        amount = clamp_step(w * state.learning_rate * size) * sign / m.head[0].count
        add_waves(m, plus, amount)
        if minus >= 0:
            add_waves(m, minus, -amount)
    update_mean_waves(m, state)


@inner
def score_by_last(m, x, f):
    """f[r] = w_r . z(x)"""
    waves(m, x)
    score_waves(m, f)


@inner
def score_by_mean(m, x, f):
    """f[r] = m_r . z(x) for the mean m of the iterates"""
    waves(m, x)
    score_mean_waves(m, f)


@passes
def score_last(m, rows):
    """scores[t] = w . z(x_t)"""
    return each_example(m, rows, score_by_last)


@passes
def score_mean(m, rows):
    """scores[t] = m . z(x_t) for the mean m of the iterates"""
    return each_example(m, rows, score_by_mean)


@passes
def transform(m, states, rows):
    """scores[t] = scale z(x_t), first the cosines and then the sines."""
    d, size = m.head[0].count, states[0].scale / math.sqrt(m.head[0].count)
    for t in range(rows.scores.shape[0]):
        waves(m, example(m, rows, t))
        for j in range(d):
            rows.scores[t, j] = size * m.row[j]
            rows.scores[t, d + j] = size * m.buffer[j]
    return rows.scores.shape[0]

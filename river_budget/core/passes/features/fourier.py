"""Gradient descent on random Fourier features.

A. Rahimi, B. Recht. Random features for large-scale kernel machines. NIPS 2007.
J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016, algorithms 1 and 3
(FOGD, for two and for several classes); their lines have no numbers, so the pass names its steps.

    paper   here
    u       vectors: one row per feature, one column per frequency; head.count = D of them
    z(x)    (model.row, model.buffer) = (cos u'x, sin u'x), each to be divided by sqrt(D)
    w       sqrt(D) (coefficients, per_vector): the weights of cosines and of sines, one row per output
    eta     learning_rate / D, as z is not divided there
"""

from __future__ import annotations

import math

from ...block.limits import padded_count
from ...compiling.array_views import carver, record
from ...compiling.jit import compiled
from ...examples.present_features import example
from ...expansion.mean_iterate import move_towards, share_of
from ...expansion.scoring import each_mapped_row
from ...rounds.calibration import calibrate
from ...rounds.losses import clamp_step, clipped, loss_and_direction, step_length
from ...rounds.observe import REFUSED, last_scores, learn_rows
from ...simd.trigonometry import sines_and_cosines
from ...simd.vector_ops import add_multiple, dot
from ...vectors.table import dot_products

STATE = record("f8 learning_rate epsilon max_error scale average averaged")
state_at = carver(STATE, 0)


@compiled(always_inlined=True)
def waves(model, x):
    """Write the cosines of u'x to model.row and the sines to model.buffer."""
    dot_products(model, x, model.row, padded_count(model))
    sines_and_cosines(model.row, model.buffer, padded_count(model))


@compiled(always_inlined=True)
def score_waves(model, scores):
    """scores[r] = w_r . z(x). Columns beyond D have weights 0."""
    n, rows = padded_count(model), rows_of_output(model)
    for r in range(scores.shape[0]):
        along_cosines = dot(model.row, model.coefficients[r], n)
        scores[r] = along_cosines + dot(model.buffer, model.per_vector[rows * r], n)


@compiled(always_inlined=True)
def rows_of_output(model):
    """The number of rows of per_vector for each output: 1, the weights of the sines; or 3 with a mean of the
    iterates, where the mean's weights of cosines and of sines follow."""
    return model.per_vector.shape[0] // model.coefficients.shape[0]


@compiled(always_inlined=True)
def score_mean_waves(model, scores):
    """scores[r] = m_r . z(x) for the mean m of the iterates."""
    n = padded_count(model)
    for r in range(scores.shape[0]):
        along_cosines = dot(model.row, model.per_vector[3 * r + 1], n)
        scores[r] = along_cosines + dot(model.buffer, model.per_vector[3 * r + 2], n)


@compiled(always_inlined=True)
def update_mean_waves(model, state):
    """Count the current iterate, and update the mean of the iterates, if one is kept."""
    if state.average != 0.0:
        state.averaged += 1.0
        share, n = share_of(state.average, state.averaged), padded_count(model)
        for r in range(model.coefficients.shape[0]):
            move_towards(model.per_vector[3 * r + 1], model.coefficients[r], 1.0, share, n)
            move_towards(model.per_vector[3 * r + 2], model.per_vector[3 * r], 1.0, share, n)


@compiled(always_inlined=True)
def add_waves(model, r, amount):
    """w_r += amount z(x)"""
    n, sines = model.head.count, model.per_vector[rows_of_output(model) * r]
    add_multiple(model.coefficients[r], amount, model.row, n)
    add_multiple(sines, amount, model.buffer, n)


@compiled(called_from_python=True)
def learn(call):
    """The learning pass."""
    return learn_rows(call, state_at, observe_waves, round_of)


@compiled(inlined=True)
def observe_waves(model, state, stream, t):
    """As `observe_with_mean`, with z(x) in the place of a kernel row and without a norm."""
    x, f, y, w = example(model, stream, t)
    if model.head.alarm != 0:
        return x, f, y, w, REFUSED
    waves(model, x)  # construct the new representation z(x_t)
    score_waves(model, f)  # predict
    scores, f = f, last_scores(model, state.average, f)
    if state.average != 0.0:
        score_mean_waves(model, scores)
    calibrate(model, scores, y, w)
    return x, f, y, w, 0.0


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w):
    """An example with a loss: w <- w - eta times the gradient."""
    loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
    if loss > 0.0:
        size = clipped(step_length(model, loss, state.epsilon), state.max_error)
        amount = clamp_step(w * state.learning_rate * size) * sign / model.head.count
        add_waves(model, plus, amount)
        if minus >= 0:
            add_waves(model, minus, -amount)
    update_mean_waves(model, state)


@compiled(called_from_python=True)
def decide_last(call):
    """scores[t] = w . z(x_t)"""
    return each_mapped_row(call, score_by_last)


@compiled(called_from_python=True)
def decide(call):
    """scores[t] = m . z(x_t) for the mean m of the iterates"""
    return each_mapped_row(call, score_by_mean)


@compiled(called_from_python=True)
def transform(call):
    """scores[t] = scale z(x_t), first the cosines and then the sines."""
    return each_mapped_row(call, write_waves)


@compiled(always_inlined=True)
def score_by_last(model, x, f):
    """f[r] = w_r . z(x)"""
    waves(model, x)
    score_waves(model, f)


@compiled(always_inlined=True)
def score_by_mean(model, x, f):
    """f[r] = m_r . z(x)"""
    waves(model, x)
    score_mean_waves(model, f)


@compiled(always_inlined=True)
def write_waves(model, x, z):
    """z = scale z(x)"""
    waves(model, x)
    d = model.head.count
    size = state_at(model.state).scale / math.sqrt(d)
    for j in range(d):
        z[j] = size * model.row[j]
        z[d + j] = size * model.buffer[j]

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
from ...examples.finite import is_finite
from ...examples.present_features import example, example_and_scores, unpack, values_of
from ...expansion.mean_iterate import move_towards, share_of
from ...rounds.calibration import calibrate
from ...rounds.losses import clamp_step, clipped, loss_and_direction, step_length
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
def score_mean_waves(model, state, scores):
    """Replace the scores by those of the mean of the iterates, if one is kept."""
    if state.average != 0.0:
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
    """Learn the rows in order; scores[t] = f(x_t) before row t is learned. Returns how many rows it has processed."""
    model, stream, n = unpack(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w = example(model, stream, t)
        if not is_finite(values_of(x)) or model.head.alarm != 0:
            return t
        waves(model, x)  # construct the new representation z(x_t)
        score_waves(model, f)  # predict
        loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
        score_mean_waves(model, state, f)
        calibrate(model, f, y, w)
        if w > 0.0 and loss > 0.0:  # w <- w - eta times the gradient of the loss
            size = clipped(step_length(model, loss, state.epsilon), state.max_error)
            amount = clamp_step(w * state.learning_rate * size) * sign / model.head.count
            add_waves(model, plus, amount)
            if minus >= 0:
                add_waves(model, minus, -amount)
        if w > 0.0:
            update_mean_waves(model, state)
    return n


@compiled(called_from_python=True)
def decide(call):
    """Score all rows. Returns how many it has scored: it stops at a row that is not finite."""
    return decide_by(call, True)


@compiled(called_from_python=True)
def decide_last(call):
    """Score all rows by the last iterate, for models whose `decide` uses the mean."""
    return decide_by(call, False)


@compiled(inlined=True)
def decide_by(call, by_mean):
    """Score all rows, by the mean of the iterates if `by_mean` and one is kept."""
    model, stream, n = unpack(call)
    for t in range(n):
        x, f = example_and_scores(model, stream, t)
        if not is_finite(values_of(x)):
            return t
        waves(model, x)
        score_waves(model, f)
        if by_mean:
            score_mean_waves(model, state_at(model.state), f)
    return n


@compiled(called_from_python=True)
def transform(call):
    """scores[t] = scale z(x_t), first the cosines and then the sines. Returns how many rows it has processed."""
    model, stream, n = unpack(call)
    d = model.head.count
    size = state_at(model.state).scale / math.sqrt(d)
    for t in range(n):
        x, z = example_and_scores(model, stream, t)
        if not is_finite(values_of(x)):
            return t
        waves(model, x)
        for j in range(d):
            z[j] = size * model.row[j]
            z[d + j] = size * model.buffer[j]
    return n

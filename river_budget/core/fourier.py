"""Gradient descent on random Fourier features.

A. Rahimi, B. Recht. Random features for large-scale kernel machines. NIPS 2007.
J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016, algorithms 1 and 3
(FOGD, for two and for several classes); their lines have no numbers, so the pass names its steps.

    paper   here
    u       vectors: one row per feature, one column per frequency; head.count = D of them
    z(x)    (model.row, model.scratch) = (cos u'x, sin u'x), each to be divided by sqrt(D)
    w       sqrt(D) (coefficients, extras): the weights of cosines and of sines, one row per output
    eta     learning_rate / D, as z is not divided there
"""

from __future__ import annotations

import math

import numpy as np

from .jit import REORDERED, compiled
from .losses import judge, limited, step_length
from .model import examples, unpack
from .rows import dot, dot_products, is_finite, lanes, row_of
from .trigonometry import sines_and_cosines
from .views import carver

STATE = np.dtype((np.record, [("learning_rate", "f8"), ("epsilon", "f8")]))
_state = carver(STATE, 0)


@compiled(hot=True)
def waves(model, x):
    """The cosines of u'x in model.row, the sines in model.scratch."""
    dot_products(model, x)
    sines_and_cosines(model.row, model.scratch, lanes(model))


@compiled(hot=True)
def score_waves(model, scores):
    """scores[r] = w_r . z(x); in the columns beyond D the weights are 0"""
    n = lanes(model)
    for r in range(scores.shape[0]):
        along_cosines = dot(model.row, model.coefficients[r], n)
        scores[r] = along_cosines + dot(model.scratch, model.extras[r], n)


@compiled(fastmath=REORDERED, hot=True)
def add_waves(model, r, amount):
    """w_r += amount z(x)"""
    n, cosines, sines = model.head.count, model.coefficients[r], model.extras[r]
    for j in range(n):
        cosines[j] += amount * model.row[j]
        sines[j] += amount * model.scratch[j]


@compiled(entry=True)
def learn(call):
    """Learn the rows in order; scores[t] = f(x_t) before it is learned. Returns how many were done."""
    model = unpack(call)
    rows, targets, weights, scores = examples(call)
    own = _state(model.own)
    for t in range(rows.shape[0]):
        x, f = row_of(rows, t), row_of(scores, t)
        if not is_finite(x):
            return t
        waves(model, x)  # construct the new representation z(x_t)
        score_waves(model, f)  # predict
        loss, sign, plus, minus = judge(model, f, targets[t], own.epsilon)
        if weights[t] > 0.0 and loss > 0.0:  # w <- w - eta times the gradient of the loss
            step = weights[t] * own.learning_rate * step_length(model, loss, own.epsilon)
            amount = limited(step) * sign / model.head.count
            add_waves(model, plus, amount)
            if minus >= 0:
                add_waves(model, minus, -amount)
    return np.int64(rows.shape[0])


@compiled(entry=True)
def decide(call):
    """Scores of all rows. Returns how many were done: it stops at a row that is not finite."""
    model = unpack(call)
    rows, _, _, scores = examples(call)
    for t in range(rows.shape[0]):
        x = row_of(rows, t)
        if not is_finite(x):
            return t
        waves(model, x)
        score_waves(model, row_of(scores, t))
    return np.int64(rows.shape[0])


@compiled(entry=True)
def transform(call):
    """scores[t] = z(x_t), first the cosines and then the sines. Returns how many were done."""
    model = unpack(call)
    rows, _, _, features = examples(call)
    n = model.head.count
    size = 1.0 / math.sqrt(n)
    for t in range(rows.shape[0]):
        x, z = row_of(rows, t), row_of(features, t)
        if not is_finite(x):
            return t
        waves(model, x)
        for j in range(n):
            z[j] = size * model.row[j]
            z[n + j] = size * model.scratch[j]
    return np.int64(rows.shape[0])

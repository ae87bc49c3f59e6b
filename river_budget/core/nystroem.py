"""Gradient descent on Nyström features.

J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016, algorithms 2 and 4
(NOGD, for two and for several classes); their lines have no numbers, so the pass names its steps.

    paper    here
    B        head.budget
    K        the Gram matrix of the support, K = V diag(values) V' with the largest values only
    M        basis: the first own.kept rows of extras, M = diag(values)^(-1/2) V'
    values   the next row of extras
    z(x)     M k(x), with k(x) = model.row
    W'z(x)   coefficients . k(x), as only coefficients = M'W are kept: a score costs no more than that of
             any expansion, and only a step needs z(x)

Until the support is full this is kernel gradient descent. The first example with a loss after that finds
the pass waiting for its basis, which is computed outside (nystroem.py). The pass then judges this example by
the old function, projects the function on the basis, and makes the step there.
"""

from __future__ import annotations

import numpy as np

from .jit import REORDERED, compiled
from .losses import judge, limited, step_length
from .model import examples, unpack
from .rounds import observe
from .rows import HUGE, dot, is_finite, kernel_row, lanes, norm_of, row_of, self_kernel
from .support import add_to, insert, largest, within
from .views import carver

GATHERING, PREPARED, LINEAR = range(3)
STATE = np.dtype(
    (np.record, [("learning_rate", "f8"), ("epsilon", "f8"), ("kept", "i8"), ("stage", "i8")])
)
_state = carver(STATE, 0)
SAME = 1e-12  # squared distance in units of the lengths, below which two examples are one


@compiled(entry=True)
def learn(call):
    """Learn the rows in order; scores[t] = f(x_t) before it is learned. Returns how many were done."""
    model = unpack(call)
    rows, targets, weights, scores = examples(call)
    own, head = _state(model.own), model.head
    for t in range(rows.shape[0]):
        x, f = row_of(rows, t), row_of(scores, t)
        norm = observe(model, x, f)
        if norm < 0.0:
            return t
        loss, sign, plus, minus = judge(model, f, targets[t], own.epsilon)
        if not (weights[t] > 0.0 and loss > 0.0):
            continue
        step = weights[t] * own.learning_rate * step_length(model, loss, own.epsilon)
        amount = limited(step) * sign
        if own.stage == GATHERING:  # while |S| < B: regular gradient descent
            if head.count >= head.budget:  # construct K from S, and its eigenvectors: outside
                return t
            add_to(model, insert(model, x, norm), plus, minus, amount)
            continue
        if own.stage == PREPARED:
            project_function(model, own.kept)  # initialise w from alpha
            own.stage = LINEAR
        linear_step(model, own.kept, plus, minus, amount)  # w <- w - eta times the gradient
    return np.int64(rows.shape[0])


@compiled
def project_function(model, rank):
    """W_i = values_i <M_i, coefficients>, then coefficients = M'W: the part of f within the basis"""
    basis, n = model.extras, lanes(model)
    values = basis[rank]
    for r in range(model.coefficients.shape[0]):
        inside = model.scratch
        for j in range(n):
            inside[j] = 0.0
        for i in range(rank):
            share = values[i] * dot(basis[i], model.coefficients[r], n)
            add(inside, basis[i], share, n)
        for j in range(n):
            model.coefficients[r, j] = inside[j]


@compiled
def linear_step(model, rank, plus, minus, amount):
    """W += amount z(x) in the direction of the loss, as coefficients += amount M'z(x)"""
    basis, step, n = model.extras, model.scratch, lanes(model)
    for j in range(n):
        step[j] = 0.0
    for i in range(rank):
        add(step, basis[i], dot(basis[i], model.row, n), n)
    add_within_bounds(model, plus, step, amount, n)
    if minus >= 0:
        add_within_bounds(model, minus, step, -amount, n)


@compiled(hot=True)
def add_within_bounds(model, output, step, amount, n):
    coefficients, limit = model.coefficients[output], largest(model)
    for j in range(n):
        coefficients[j] = within(coefficients[j] + amount * step[j], limit)


@compiled(fastmath=REORDERED, hot=True)
def add(total, row, factor, n):
    for j in range(n):
        total[j] += factor * row[j]


@compiled(entry=True)
def gather(call):
    """Store rows until the support is full, each example once. Returns how many rows were seen."""
    model = unpack(call)
    rows, _, _, _ = examples(call)
    for t in range(rows.shape[0]):
        x = row_of(rows, t)
        norm = norm_of(model, x)
        if not (norm < HUGE or is_finite(x)):
            return t
        if model.head.count < model.head.budget:
            kernel_row(model, x, norm)
            if is_new(model, norm):
                insert(model, x, norm)
    return np.int64(rows.shape[0])


@compiled
def is_new(model, norm):
    """Whether x, whose kernel row is at hand, is unlike every vector."""
    k_xx = self_kernel(model, norm)
    for j in range(model.head.count):
        both = self_kernel(model, model.norms[j]) + k_xx
        if both - 2.0 * model.row[j] <= SAME * both:
            return False
    return True


@compiled(entry=True)
def transform(call):
    """scores[t] = z(x_t). Returns how many were done: it stops at a row that is not finite."""
    model = unpack(call)
    rows, _, _, features = examples(call)
    for t in range(rows.shape[0]):
        x = row_of(rows, t)
        norm = norm_of(model, x)
        if not (norm < HUGE or is_finite(x)):
            return t
        kernel_row(model, x, norm)
        for i in range(features.shape[1]):
            features[t, i] = dot(model.extras[i], model.row, lanes(model))
    return np.int64(rows.shape[0])


@compiled(entry=True)
def kernel_rows(call):
    """scores[t, j] = k(vector j, x_t)"""
    model = unpack(call)
    rows, _, _, values = examples(call)
    for t in range(rows.shape[0]):
        x = row_of(rows, t)
        kernel_row(model, x, norm_of(model, x))
        for j in range(values.shape[1]):
            values[t, j] = model.row[j]
    return np.int64(rows.shape[0])

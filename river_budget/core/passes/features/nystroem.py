"""Gradient descent on Nyström features.

J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016, algorithms 2 and 4
(NOGD, for two and for several classes); their lines have no numbers, so the pass names its steps.

    paper    here
    B        head.budget
    K        the Gram matrix of the support, K = V diag(values) V' with the largest values only
    M        basis: the first state.kept rows of per_vector, M = diag(values)^(-1/2) V'
    values   the next row of per_vector; the rows behind it are a mean of the iterates, if one is kept
    z(x)     M k(x), with k(x) = model.row
    W'z(x)   coefficients . k(x), as only coefficients = M'W are stored: a score takes as long as that of any
             kernel expansion, and only a step computes z(x)

Until the support is full this is kernel gradient descent. Then the pass refuses the next example, and Python computes the
basis (algorithms/features/nystroem.py). At the first example with a loss after that, the round projects the function on the
basis, and takes its step there, as all later ones do. With its own learning rate (eta_linear) the linear model starts at 0,
as in the authors' C++ program.
"""

from __future__ import annotations

import math

from ...block.limits import LONGEST_STEP, padded_count, within
from ...compiling.array_views import carver, record
from ...compiling.jit import compiled
from ...examples.present_features import example
from ...expansion.kernel_rows import kernel_row, self_kernel
from ...expansion.scoring import each_row
from ...expansion.support import add_to, insert, largest
from ...rounds.losses import clipped, loss_and_direction, step_length
from ...rounds.observe import REFUSED, count_iterate, learn_rows, observe_with_mean
from ...simd.vector_ops import add_multiple, dot

GATHERING, PREPARED, LINEAR, FRESH = range(4)
STATE = record(
    "f8 learning_rate epsilon max_error scale average averaged",
    "i8 kept stage",
    "f8 eta_linear",  # learning rate of the linear model; NaN: that of the expansion
)
state_at = carver(STATE, 0)
SAME = 1e-12  # examples with a smaller squared distance, relative to their lengths, are the same


@compiled(called_from_python=True)
def learn(call):
    """The learning pass."""
    return learn_rows(call, state_at, observe_support, round_of)


@compiled(inlined=True)
def observe_support(model, state, stream, t):
    """As `observe_with_mean`; refused where the support is full: Python constructs K from S, and its eigenvectors."""
    if state.stage == GATHERING and model.head.count >= model.head.budget:
        x, f, y, w = example(model, stream, t)
        return x, f, y, w, REFUSED
    return observe_with_mean(model, state, stream, t)


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w):
    """An example with a loss: a gradient step, in the space of the kernel or in that of the basis."""
    loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
    if loss > 0.0:
        size = w * clipped(step_length(model, loss, state.epsilon), state.max_error) * sign
        if state.stage == GATHERING:  # while |S| < B: regular gradient descent
            add_to(model, insert(model, x, norm), plus, minus, state.learning_rate * size)
        else:  # w <- w - eta times the gradient
            begin_linear(model, state)
            eta = state.learning_rate if math.isnan(state.eta_linear) else state.eta_linear
            linear_step(model, state.kept, plus, minus, within(eta * size, LONGEST_STEP))
    count_iterate(model, state)


@compiled(always_inlined=True)
def begin_linear(model, state):
    """At the first step with a basis: project the expansion on the basis, or start at 0."""
    if state.stage == PREPARED:
        project_function(model, state.kept)
    elif state.stage == FRESH:
        for r in range(model.coefficients.shape[0]):
            for j in range(padded_count(model)):
                model.coefficients[r, j] = 0.0
    state.stage = LINEAR


@compiled
def project_function(model, rank):
    """Project f on the basis: W_i = values_i <M_i, coefficients>, then coefficients = M'W. Overwrites model.buffer."""
    basis, n = model.per_vector, padded_count(model)
    values = basis[rank]
    for r in range(model.coefficients.shape[0]):
        inside = model.buffer
        for j in range(n):
            inside[j] = 0.0
        for i in range(rank):
            share = values[i] * dot(basis[i], model.coefficients[r], n)
            add_multiple(inside, share, basis[i], n)
        for j in range(n):
            model.coefficients[r, j] = inside[j]


@compiled
def linear_step(model, rank, plus, minus, amount):
    """W += amount (e_plus - e_minus) z(x), that is, coefficients += amount M'z(x). Overwrites model.buffer."""
    basis, step, n = model.per_vector, model.buffer, padded_count(model)
    for j in range(n):
        step[j] = 0.0
    for i in range(rank):
        add_multiple(step, dot(basis[i], model.row, n), basis[i], n)
    add_within_bounds(model, plus, step, amount, n)
    if minus >= 0:
        add_within_bounds(model, minus, step, -amount, n)


@compiled(always_inlined=True)
def add_within_bounds(model, output, step, amount, n):
    """coefficients += amount step for one output, clamped so that scores are finite."""
    coefficients, limit = model.coefficients[output], largest(model)
    for j in range(n):
        coefficients[j] = within(coefficients[j] + amount * step[j], limit)


@compiled(called_from_python=True)
def gather(call):
    """Store rows until the support is full, each example once. Returns how many rows were seen."""
    return each_row(call, insert_new)


@compiled
def insert_new(model, x, norm, f):
    """Store x if there is room, and it is not stored yet."""
    if model.head.count < model.head.budget:
        kernel_row(model, x, norm)
        if is_new(model, norm):
            insert(model, x, norm)


@compiled
def is_new(model, norm):
    """Whether x, whose kernel row is in model.row, differs from every stored vector."""
    k_xx = self_kernel(model, norm)
    for j in range(model.head.count):
        both = self_kernel(model, model.norms[j]) + k_xx
        if both - 2.0 * model.row[j] <= SAME * both:
            return False
    return True


@compiled(called_from_python=True)
def transform(call):
    """scores[t] = scale z(x_t)"""
    return each_row(call, write_projection)


@compiled
def write_projection(model, x, norm, z):
    """z = scale z(x)"""
    kernel_row(model, x, norm)
    scale = state_at(model.state).scale
    for i in range(z.shape[0]):
        z[i] = scale * dot(model.per_vector[i], model.row, padded_count(model))

"""Gradient descent on Nyström features.

J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016,
algorithms 2 and 4 (NOGD, for two and for several classes); their lines have no numbers, so the pass
names its steps.

    paper    here
    B        head.budget
    K        the Gram matrix of the support, K = V diag(values) V' with the largest values only
    M        basis: the first state.kept rows of per_vector, M = diag(values)^(-1/2) V'
    values   the next row of per_vector; the rows behind it are a mean of the iterates, if one is
             kept
    z(x)     M k(x), with k(x) = m.row
    W'z(x)   coefficients . k(x), as only coefficients = M'W are stored: a score takes as long as
             that of any kernel expansion, and only a step computes z(x)

Until the support is full this is kernel gradient descent. Then the pass refuses the next example,
and Python computes the basis (algorithms/features/nystroem.py). At the first example with a loss
after that, the round projects the function on the basis, and takes its step there, as all later
ones do. With its own learning rate (eta_linear) the linear model starts at 0, as in the authors'
C++ program.
"""

from __future__ import annotations

import math

from ...compiling import inlined, inner, passes
from ...expansion.examples import example
from ...expansion.kernels import kernel_row, norm_of, padded, self_kernel
from ...expansion.scoring import each_example
from ...expansion.support import LARGEST, LONGEST_STEP, add_to, insert
from ...memory import record
from ...numerics import add_multiple, clamp, dot
from ...rounds.losses import clipped, loss_and_direction, step_length
from ...rounds.observe import REFUSED, count_iterate, learn_rows, observe_with_mean

GATHERING, PREPARED, LINEAR, FRESH = range(4)
STATE = record(
    "f8 learning_rate epsilon max_error scale average averaged",
    "i8 kept stage",
    "f8 eta_linear",  # learning rate of the linear model; NaN: that of the expansion
)
SAME = 1e-12  # examples with a smaller squared distance, relative to their lengths, are the same


@passes
def learn(m, states, rows):
    """The learning pass."""
    return learn_rows(m, states, rows, observe_support, round_of)


@inlined
def observe_support(m, state, x, f, y, w):
    """As `observe_with_mean`; refused where the support is full: Python constructs K from S, and
    its eigenvectors.
    """
    norm, scores = REFUSED, f
    if state.stage != GATHERING or m.head[0].count < m.head[0].budget:
        norm, scores = observe_with_mean(m, state, x, f, y, w)
    return norm, scores


@inlined
def round_of(m, state, x, norm, f, y, w):
    """An example with a loss: a gradient step, in the space of the kernel or in that of the
    basis.
    """
    loss, sign, plus, minus = loss_and_direction(m.head[0], f, y, state.epsilon)
    if loss > 0.0:
        size = w * clipped(step_length(m.head[0], loss, state.epsilon), state.max_error) * sign
        if state.stage == GATHERING:  # while |S| < B: regular gradient descent
            add_to(m, insert(m, x, norm), plus, minus, state.learning_rate * size)
        else:  # w <- w - eta times the gradient
            begin_linear(m, state)
            eta = state.learning_rate if math.isnan(state.eta_linear) else state.eta_linear
            linear_step(m, state.kept, plus, minus, clamp(eta * size, LONGEST_STEP))
    count_iterate(m, state)


@inner
def begin_linear(m, state):
    """At the first step with a basis: project the expansion on the basis, or start at 0."""
    if state.stage == PREPARED:
        project_function(m, state.kept)
    elif state.stage == FRESH:
        for r in range(m.coefficients.shape[0]):
            for j in range(padded(m.head[0].count)):
                m.coefficients[r, j] = 0.0
    state.stage = LINEAR


@inner
def project_function(m, rank):
    """Project f on the basis: W_i = values_i <M_i, coefficients>, then coefficients = M'W.
    Overwrites m.buffer.
    """
    basis, n = m.per_vector, padded(m.head[0].count)
    values = basis[rank]
    for r in range(m.coefficients.shape[0]):
        inside = m.buffer
        for j in range(n):
            inside[j] = 0.0
        for i in range(rank):
            share = values[i] * dot(basis[i], m.coefficients[r], n)
            add_multiple(inside, share, basis[i], n)
        for j in range(n):
            m.coefficients[r, j] = inside[j]


@inner
def linear_step(m, rank, plus, minus, amount):
    """W += amount (e_plus - e_minus) z(x), that is, coefficients += amount M'z(x). Overwrites
    m.buffer.
    """
    basis, step, n = m.per_vector, m.buffer, padded(m.head[0].count)
    for j in range(n):
        step[j] = 0.0
    for i in range(rank):
        add_multiple(step, dot(basis[i], m.row, n), basis[i], n)
    add_within_bounds(m, plus, step, amount, n)
    if minus >= 0:
        add_within_bounds(m, minus, step, -amount, n)


@inner
def add_within_bounds(m, output, step, amount, n):
    """coefficients += amount step for one output, clamped so that scores are finite."""
    coefficients, limit = m.coefficients[output], LARGEST / m.head[0].scale
    for j in range(n):
        coefficients[j] = clamp(coefficients[j] + amount * step[j], limit)


@passes
def gather(m, rows):
    """Store examples until the support is full, each once. Returns how many were seen."""
    return each_example(m, rows, insert_new)


@inner
def insert_new(m, x, f):
    """Store x if there is room, and it is not stored yet."""
    if m.head[0].count < m.head[0].budget:
        norm = norm_of(m, x)
        kernel_row(m, x, norm)
        if is_new(m, norm):
            insert(m, x, norm)


@inner
def is_new(m, norm):
    """Whether x, whose kernel row is in m.row, differs from every stored vector."""
    k_xx = self_kernel(m, norm)
    for j in range(m.head[0].count):
        both = self_kernel(m, m.norms[j]) + k_xx
        if both - 2.0 * m.row[j] <= SAME * both:
            return False
    return True


@passes
def transform(m, states, rows):
    """scores[t] = scale z(x_t)"""
    scale, n = states[0].scale, padded(m.head[0].count)
    for t in range(rows.scores.shape[0]):
        x, z = example(m, rows, t), rows.scores[t]
        kernel_row(m, x, norm_of(m, x))
        for i in range(z.shape[0]):
            z[i] = scale * dot(m.per_vector[i], m.row, n)
    return rows.scores.shape[0]

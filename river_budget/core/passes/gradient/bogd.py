"""Bounded online gradient descent (BOGD) and BOGD++.

P. Zhao, J. Wang, P. Wu, R. Jin, S. Hoi. Fast bounded online gradient descent algorithms for
scalable kernel-based online learning. ICML 2012; the forms compared by J. Lu et al. JMLR 17, 2016.

    paper    here
    B        budget
    eta      learning_rate
    lambda   l2
    G        max_coefficient; NaN: none
    p_i      p, the probability that vector i is removed

Gradient descent with decay. A full model removes a random vector and multiplies the coefficients of
the others, so that the expected model stays the same: all by B / (B - 1), or with non-uniform
sampling (BOGD++) each by 1 / (1 - p_i). With squared losses this grows without bound, so regression
only removes the oldest.
"""

from __future__ import annotations

import math

from ...codes import Maintenance, Task
from ...compiling import inlined, inner, passes
from ...expansion.kernels import self_kernel
from ...expansion.support import (
    add_to,
    insert,
    oldest,
    remove,
    replace_vector,
    rescale,
    weights_into,
)
from ...memory import record
from ...random_numbers import below, uniform
from ...rounds.losses import loss_and_direction, step_length
from ...rounds.observe import learn_rows, observe

BINARY, REMOVE_OLDEST = int(Task.BINARY), int(Maintenance.REMOVE_OLDEST)
MULTICLASS = int(Task.MULTICLASS)
STATE = record("f8 learning_rate l2 max_coefficient epsilon", "i8 nonuniform")


@passes
def learn(m, states, rows):
    """The learning pass."""
    return learn_rows(m, states, rows, observe, round_of)


@inlined
def round_of(m, state, x, norm, f, y, w):
    """f <- (1 - eta lambda) f; an example with a loss: f <- f - eta times the gradient, in the
    place of a random vector.
    """
    loss, sign, plus, minus = loss_and_direction(m.head[0], f, y, state.epsilon)
    rescale(m, 1.0 - state.learning_rate * state.l2)
    if not (loss > 0.0 or (loss == 0.0 and m.head[0].task == BINARY)):
        return
    full = m.head[0].count == m.head[0].budget
    if full:
        j = choose_and_enlarge_others(m, state)
        replace_vector(m, j, x, norm)
    else:
        j = insert(m, x, norm)
    step = w * state.learning_rate * step_length(m.head[0], loss, state.epsilon)
    add_to(m, j, plus, minus, step * sign)
    if full and state.max_coefficient > 0.0:
        limit_coefficients(m, state.learning_rate * state.max_coefficient)


@passes
def shrink_to_budget(m, states):
    """Remove vectors by the rule of `learn` until the model keeps its budget, which a user has made
    smaller.
    """
    while m.head[0].count > m.head[0].budget:
        remove(m, choose_and_enlarge_others(m, states[0]))


@inner
def choose_and_enlarge_others(m, state):
    """Choose the vector to remove, and enlarge the coefficients of the others. Returns the slot of
    the chosen one.
    """
    n = m.head[0].count
    if m.head[0].maintenance == REMOVE_OLDEST:
        return oldest(m)
    if state.nonuniform:
        return draw_and_enlarge_others(m)
    if n > 1:
        rescale(m, n / (n - 1.0))
    return below(m.head[0], n)


@inner
def draw_and_enlarge_others(m):
    """Draw vector i with p_i = (1 - size_i / all sizes) / (B - 1), divide the others by 1 - p_i."""
    n, size, coefficients = m.head[0].count, m.buffer, m.coefficients
    weights_into(m, size)
    whole = 0.0
    for i in range(n):
        size[i] = math.sqrt(size[i] * self_kernel(m, m.norms[i]))
        whole += size[i]
    draw, passed, victim = uniform(m.head[0]), 0.0, n - 1
    for i in range(n):
        p = (1.0 - size[i] / whole) / (n - 1.0) if n > 1 and whole > 0.0 else 1.0 / n
        if passed <= draw < passed + p:
            victim = i
        passed += p
        if n > 1:
            for r in range(coefficients.shape[0]):
                coefficients[r, i] /= 1.0 - p
    return victim


@inner
def limit_coefficients(m, largest):
    """Limit coefficients to `largest`: by a common factor, or, as the authors' program for several
    classes does, by clamping each positive one."""
    head, coefficients, highest = m.head[0], m.coefficients, 0.0
    largest /= head.scale
    one_sided = head.task == MULTICLASS and head.maintenance == REMOVE_OLDEST
    for r in range(coefficients.shape[0]):
        for j in range(head.count):
            if one_sided:
                coefficients[r, j] = min(coefficients[r, j], largest)
            highest = max(highest, abs(coefficients[r, j]))
    if highest > largest and not one_sided:
        rescale(m, largest / highest)

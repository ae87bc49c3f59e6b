"""Forgetron: a kernel Perceptron that shrinks its coefficients before it removes the oldest vector.

O. Dekel, S. Shalev-Shwartz, Y. Singer. The Forgetron: a kernel-based Perceptron on a fixed budget.
NIPS 2005.

    paper    here
    B        budget
    M_t      mistakes
    r_t      r, the oldest vector, which is removed
    lambda   weight of r
    mu_t     margin of r under the updated hypothesis
    phi_t    factor by which the model shrinks
    Q_t      state.damage, what removals have cost so far

The bound of the paper asks for k(x, x) <= 1, so other kernels are normalised. With several classes
and in regression the same rule is a heuristic: the weight is that of the vector's own class, or its
absolute value.
"""

from __future__ import annotations

import math

from ...codes import Task
from ...compiling import inlined, inner, passes
from ...expansion.kernels import row_of_vector
from ...expansion.scoring import score_row
from ...expansion.support import add_to, insert, oldest, remove, rescale
from ...memory import record
from ...numerics import clamp
from ...rounds.losses import is_mistake, loss_and_direction
from ...rounds.observe import learn_rows, observe

BINARY, MULTICLASS = int(Task.BINARY), int(Task.MULTICLASS)
STATE = record("f8 learning_rate epsilon mistakes damage factor")  # factor: of the last removal
# The largest weight or margin, so that sums of products stay finite with kernels that have no bound
LARGEST_WEIGHT = 1e70


@passes
def learn(m, states, rows):
    """The learning pass."""
    return learn_rows(m, states, rows, observe, round_of)


@inlined
def round_of(m, state, x, norm, f, y, w):
    """A mistake: (1) Perceptron step, then, above the budget, (2) shrinking and (3) removal."""
    loss, sign, plus, minus = loss_and_direction(m.head[0], f, y, state.epsilon)
    if m.head[0].task == BINARY:
        mistake = y * f[0] <= 0.0
    else:
        mistake = is_mistake(m.head[0], f, loss, sign, plus, minus)
    if mistake:
        state.mistakes += 1.0
        add_to(m, insert(m, x, norm), plus, minus, w * state.learning_rate * sign)  # (1)
        while m.head[0].count > m.head[0].budget:
            shrink_and_remove_oldest(m, state)  # (2), (3)


@passes
def shrink_to_budget(m, states):
    """Remove vectors by the rule of `learn` until the model keeps its budget, which a user has made
    smaller.
    """
    while m.head[0].count > m.head[0].budget:
        shrink_and_remove_oldest(m, states[0])


@inner
def shrink_and_remove_oldest(m, state):
    """Multiply the model by the largest factor that keeps the bound, and remove the oldest
    vector.
    """
    r, f = oldest(m), m.last
    row_of_vector(m, r)
    score_row(m, m.row, f)
    weight, margin = weight_and_margin(m, r, f)
    weight, margin = clamp(weight, LARGEST_WEIGHT), clamp(margin, LARGEST_WEIGHT)
    factor = largest_factor(weight, margin, state.damage, state.mistakes)
    rescale(m, factor)  # (2)
    state.damage += damage(weight, factor, margin)
    state.factor = factor
    remove(m, r)  # (3)


@inner
def weight_and_margin(m, r, f):
    """(weight, margin) of vector r: lambda and mu of the paper, positive if they agree with its
    target.
    """
    head, coefficients = m.head[0], m.coefficients
    if head.task == MULTICLASS:  # the class of a vector is the one with the positive coefficient
        y = 0
        for c in range(1, coefficients.shape[0]):
            if coefficients[c, r] > coefficients[y, r]:
                y = c
        return head.scale * abs(coefficients[y, r]), f[y]
    weight = head.scale * coefficients[0, r]
    margin = math.copysign(1.0, weight) * f[0]
    return abs(weight), margin if head.task == BINARY else abs(f[0])


@inner
def damage(weight, factor, margin):
    """Psi of section 3: what removing a vector of this weight adds to the mistake bound."""
    return (weight * factor) ** 2 + 2.0 * weight * factor * (1.0 - factor * margin)


@inner
def largest_factor(weight, margin, spent, mistakes):
    """The largest phi in (0, 1] with damage(weight, phi, margin) + spent <= 15/32 mistakes.

    A quadratic a phi^2 + b phi + c <= 0 with c < 0 <= b: phi = 1 if that fulfils it, or else the
    smallest positive root, in the form that neither cancels nor divides by a. (If rounding has made
    c >= 0, phi is 0.)
    """
    a, b, c = weight * (weight - 2.0 * margin), 2.0 * weight, spent - 15.0 / 32.0 * mistakes
    if a + b + c <= 0.0:
        return 1.0
    return min(1.0, max(0.0, -2.0 * c / (b + math.sqrt(max(b * b - 4.0 * a * c, 0.0)))))

"""The Forgetron as the program of the authors of 2016 has it (forgetron.m), to explain what their
tables print.

Before a removal the paper's rule multiplies the model by the largest phi <= 1 that keeps the damage
within its bound, a phi^2 + b phi + c <= 0. Where a < 0 and phi = 1 is too much, that is the smaller
root. The program takes the larger one, which is above 1: the coefficients grow instead.
"""

from __future__ import annotations

import math
from dataclasses import replace

from river_budget import ForgetronClassifier
from river_budget.core.compiling import inlined, inner, passes
from river_budget.core.expansion.kernels import row_of_vector
from river_budget.core.expansion.scoring import score_row
from river_budget.core.expansion.support import add_to, insert, oldest, remove, rescale
from river_budget.core.passes.perceptrons import forgetron as paper
from river_budget.core.rounds.losses import is_mistake, loss_and_direction
from river_budget.core.rounds.observe import learn_rows, observe

BINARY = paper.BINARY


@passes
def learn(m, states, rows):
    """The learning pass."""
    return learn_rows(m, states, rows, observe, round_of)


@inlined
def round_of(m, state, x, norm, f, y, w):
    """A mistake: a Perceptron step, then, above the budget, scaling and removal."""
    head = m.head[0]
    loss, sign, plus, minus = loss_and_direction(head, f, y, 0.0)
    wrong = is_mistake(head, f, loss, sign, plus, minus)
    if y * f[0] <= 0.0 if head.task == BINARY else wrong:
        state.mistakes += 1.0
        add_to(m, insert(m, x, norm), plus, minus, w * sign)
        if head.count > head.budget:
            scale_and_remove_oldest(m, state)


@inner
def scale_and_remove_oldest(m, state):
    """Multiply the model by the program's factor, and remove the oldest vector."""
    r, f = oldest(m), m.last
    row_of_vector(m, r)
    score_row(m, m.row, f)
    weight, margin = paper.weight_and_margin(m, r, f)
    factor = released_factor(weight, margin, state.damage, state.mistakes)
    rescale(m, factor)
    state.damage += paper.damage(weight, factor, margin)
    remove(m, r)


@inner
def released_factor(weight, margin, spent, mistakes):
    """The program's root: the paper's where a >= 0 or phi = 1 will do, and otherwise the larger
    one.
    """
    a, b, c = weight * (weight - 2.0 * margin), 2.0 * weight, spent - 15.0 / 32.0 * mistakes
    if a >= 0.0 or a + b + c <= 0.0:
        return paper.largest_factor(weight, margin, spent, mistakes)
    return (-b - math.sqrt(max(b * b - 4.0 * a * c, 0.0))) / (2.0 * a)


class ReleasedForgetronClassifier(ForgetronClassifier):
    """`ForgetronClassifier` with the root of the released program."""

    algorithm = replace(ForgetronClassifier.algorithm, learn=learn)

"""The Forgetron as the program of the authors of 2016 has it (forgetron.m), to explain what their tables print.

Before a removal the paper's rule multiplies the model by the largest phi <= 1 that keeps the damage within its bound, a
phi^2 + b phi + c <= 0. Where a < 0 and phi = 1 is too much, that is the smaller root. The program takes the larger one,
which is above 1: the coefficients grow instead.
"""

from __future__ import annotations

import math
from dataclasses import replace

from river_budget import ForgetronClassifier
from river_budget.core.compiling.array_views import f64
from river_budget.core.compiling.jit import compiled
from river_budget.core.expansion.kernel_rows import score
from river_budget.core.expansion.support import add_to, insert, oldest, remove, rescale
from river_budget.core.passes.perceptrons import forgetron as paper
from river_budget.core.rounds.losses import loss_and_direction, mistaken
from river_budget.core.rounds.observe import learn_rows, observe
from river_budget.core.vectors.table import read_vector

BINARY, state_at = paper.BINARY, paper.state_at


@compiled(called_from_python=True)
def learn(call):
    """The learning pass."""
    return learn_rows(call, state_at, observe, round_of)


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w):
    """A mistake: a Perceptron step, then, above the budget, scaling and removal."""
    loss, sign, plus, minus = loss_and_direction(model, f, y, 0.0)
    binary = model.head.task == BINARY
    if y * f[0] <= 0.0 if binary else mistaken(model, f, loss, sign, plus, minus):
        state.mistakes += 1.0
        add_to(model, insert(model, x, norm), plus, minus, w * sign)
        if model.head.count > model.head.budget:
            scale_and_remove_oldest(model, state)


@compiled
def scale_and_remove_oldest(model, state):
    """Multiply the model by the program's factor, and remove the oldest vector."""
    r, f = oldest(model), f64(model.heap, model.coefficients.shape[0])
    score(model, read_vector(model, r), model.norms[r], f)
    weight, margin = paper.weight_and_margin(model, r, f)
    factor = released_factor(weight, margin, state.damage, state.mistakes)
    rescale(model, factor)
    state.damage += paper.damage(weight, factor, margin)
    remove(model, r)


@compiled
def released_factor(weight, margin, spent, mistakes):
    """The program's root: the paper's where a >= 0 or phi = 1 will do, and otherwise the larger one."""
    a, b, c = weight * (weight - 2.0 * margin), 2.0 * weight, spent - 15.0 / 32.0 * mistakes
    if a >= 0.0 or a + b + c <= 0.0:
        return paper.largest_factor(weight, margin, spent, mistakes)
    return (-b - math.sqrt(max(b * b - 4.0 * a * c, 0.0))) / (2.0 * a)


class ReleasedForgetronClassifier(ForgetronClassifier):
    """`ForgetronClassifier` with the root of the released program."""

    algorithm = replace(ForgetronClassifier.algorithm, learn=learn)

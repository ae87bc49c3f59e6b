"""Projectron and Projectron++: mistakes close to the span of the support are projected on it instead of stored.

F. Orabona, J. Keshet, B. Caputo. Bounded kernel-based online learning. JMLR 10, 2009: project if the squared
distance to the span of the support is at most eta (`threshold`).
J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016: store everything
until the budget is full, then project everything.

With span="class" and three classes or more, each class has its own span (core/budget/class_projection.py), as in the
program of Orabona (k_projectron2_multi_train in DOGMA), with which the paper of 2010 compares.

A Projectron never removes a vector, as in the papers, with one exception: if a newcomer makes an old vector a linear
combination of the others up to rounding, `remove_dependent` projects the old one, as the factor would become imprecise.

    paper           here
    eta             threshold
    P k(x, .)       d, the coefficients of the projection of k(x, .) on the span
    |P k(x, .)|^2   length
    Delta^2         residual, the squared distance to the span
    tau             tau, the share of the projection that is added on a margin error
"""

from __future__ import annotations

import math

import numpy as np

from ...budget.class_projection import (
    join_class,
    project_on_class,
    project_out_of_classes,
    remove_dependent_of_class,
)
from ...budget.projection import (
    TINY,
    add_projected,
    check_factor,
    extend_factor,
    project,
    project_out,
    remove_dependent,
)
from ...compiling.array_views import carver, f64, record
from ...compiling.jit import compiled
from ...examples.call import model_of
from ...expansion.kernel_rows import self_kernel
from ...expansion.support import add_to, insert, lightest
from ...rounds.losses import clamp_step, loss_and_direction, mistaken
from ...rounds.observe import learn_rows_by, observe

ALL, CLASS = range(2)  # the span: of all vectors, or of those of a class
NO_CLASS = np.int64(-1)  # a typed integer: for a literal numba would compile callees once more

STATE = record(
    "f8 learning_rate epsilon threshold",  # threshold NaN: none, as in the paper of 2016
    "i8 eager by_class",  # Projectron++: learn from margin errors too; span="class"
)
state_at = carver(STATE, 0)


@compiled(called_from_python=True)
def learn(call):
    """The pass for models with one span."""
    return learn_rows_by(call, state_at, observe, round_of, ALL)


@compiled(called_from_python=True)
def learn_by_class(call):
    """The pass for models with a span for each class."""
    return learn_rows_by(call, state_at, observe, round_of, CLASS)


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w, span):
    """A mistake: f <- f + y P k(x, .) near the span of the support, else f + y k(x, .). A margin error: f + tau y P k(x, .)."""
    loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
    mistake = mistaken(model, f, loss, sign, plus, minus)
    # with two classes, f = 0 counts as no margin error
    inside = loss > 0.0 and (loss < 1.0 or minus >= 0)
    if not (mistake or (state.eager != 0 and inside and model.head.count > 0)):
        return
    amount = clamp_step(w * state.learning_rate) * sign
    if span == CLASS and minus >= 0:
        project_by_class(model, state, x, norm, loss, plus, minus, amount, mistake)
        return
    d, k_xx = f64(model.heap, model.head.count), self_kernel(model, norm)
    length = project(model, model.row, d)
    residual = max(k_xx - length, 0.0)
    if not mistake:
        tau = share_of_margin_error(model, state, loss, length, residual)
        add_projected(model, d, plus, minus, tau * amount)
    elif is_projected(model, state, residual, k_xx):
        add_projected(model, d, plus, minus, amount)
    else:
        j = insert(model, x, norm)
        extend_factor(model, d, residual, j)
        add_to(model, j, plus, minus, amount)
        remove_dependent(model)
        check_factor(model)


@compiled
def project_by_class(model, state, x, norm, loss, plus, minus, amount, mistake):
    """Learn x where each class has its own span: d and length are those of class plus, e and other of class minus."""
    n, k_xx = model.head.count, self_kernel(model, norm)
    d, e, products = f64(model.heap, n), f64(model.heap + 8 * n, n), f64(model.heap + 16 * n, n)
    length = project_on_class(model, model.row, plus, d, products)
    other = project_on_class(model, model.row, minus, e, products)
    residual, rest = max(k_xx - length, 0.0), max(k_xx - other, 0.0)
    if not mistake:  # the threshold is for each of the two projections
        mean = 0.5 * (residual + rest)
        tau = share_of_margin_error(model, state, loss, length + other, mean)
        add_projected(model, d, plus, NO_CLASS, tau * amount)
        add_projected(model, e, minus, NO_CLASS, -tau * amount)
        return
    near = is_projected(model, state, max(residual, rest), k_xx)
    if near or residual <= TINY * k_xx:
        add_projected(model, d, plus, NO_CLASS, amount)
    if near or rest <= TINY * k_xx:
        add_projected(model, e, minus, NO_CLASS, -amount)
    if near:
        return
    j = insert(model, x, norm)
    if residual > TINY * k_xx:
        join_class(model, j, plus, d, residual)
        add_to(model, j, plus, NO_CLASS, amount)
    if rest > TINY * k_xx:
        join_class(model, j, minus, e, rest)
        add_to(model, j, minus, NO_CLASS, -amount)
    remove_dependent_of_class(model, plus)
    remove_dependent_of_class(model, minus)


@compiled(always_inlined=True)
def is_projected(model, state, residual, k_xx):
    """Whether a mistake is projected: the budget is full, or x lies (nearly) in the span of the support."""
    full = model.head.count >= model.head.budget
    return full or residual <= state.threshold or residual <= TINY * k_xx


@compiled
def share_of_margin_error(model, state, loss, length, residual):
    """tau, the share of the projection to add on a margin error; 0: add nothing."""
    if length <= 0.0:
        return 0.0
    tau = min(loss / length, 1.0)
    if math.isnan(state.threshold):  # the rule of 2016
        b = model.head.budget + 1.0
        u = 0.25 * math.sqrt(b / math.log(b))
        gain = tau * (2.0 * loss - tau * length - 2.0 * u * math.sqrt(residual))
        return tau if gain >= 0.0 else 0.0
    if residual > 0.0 and state.threshold == 0.0:
        return 0.0
    rest = loss - residual / state.threshold if residual > 0.0 else loss
    return max(0.0, min(tau, 2.0 * rest / length))


@compiled(called_from_python=True)
def shrink_to_budget(call):
    """Project the lightest vectors on the others until the model keeps its budget, which a user has made smaller."""
    model = model_of(call)
    by_class = state_at(model.state).by_class != 0 and model.coefficients.shape[0] > 1
    while model.head.count > model.head.budget:
        p = lightest(model, model.buffer)
        if by_class:
            project_out_of_classes(model, p)
        else:
            project_out(model, p)

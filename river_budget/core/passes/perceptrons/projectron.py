"""Projectron and Projectron++: mistakes close to the span of the support are projected on it
instead of stored.

F. Orabona, J. Keshet, B. Caputo. Bounded kernel-based online learning. JMLR 10, 2009: project if
the squared distance to the span of the support is at most eta (`threshold`). J. Lu, S. Hoi, J.
Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016: store everything until the
budget is full, then project everything.

With span="class" and three classes or more, each class has its own span
(core/budget/class_projection.py), as in the program of Orabona (k_projectron2_multi_train in
DOGMA), with which the paper of 2010 compares.

A Projectron never removes a vector, as in the papers, with one exception: if a newcomer makes an
old vector a linear combination of the others up to rounding, `remove_dependent` projects the old
one, as the factor would become imprecise.

    paper           here
    eta             threshold
    P k(x, .)       d, the coefficients of the projection of k(x, .) on the span
    |P k(x, .)|^2   length
    Delta^2         residual, the squared distance to the span
    tau             tau, the share of the projection that is added on a margin error
"""

from __future__ import annotations

import math

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
from ...compiling import inlined, inner, passes
from ...expansion.examples import example
from ...expansion.kernels import self_kernel
from ...expansion.support import add_to, insert, lightest
from ...memory import record
from ...rounds.losses import clamp_step, is_mistake, loss_and_direction
from ...rounds.observe import observe

STATE = record(
    "f8 learning_rate epsilon threshold",  # threshold NaN: none, as in the paper of 2016
    "i8 eager by_class",  # Projectron++: learn from margin errors too; span="class"
)


@passes
def learn(m, states, rows):
    """The pass for models with one span."""
    return learn_by(m, states, rows, learn_on_span)


@passes
def learn_by_class(m, states, rows):
    """The pass for models with a span for each class."""
    return learn_by(m, states, rows, learn_on_spans)


@inlined
def learn_by(m, states, rows, learn_example):
    """Learn mistakes, and with Projectron++ margin errors."""
    head, state = m.head[0], states[0]
    for t in range(rows.scores.shape[0]):
        x, y, w = example(m, rows, t), rows.targets[t], rows.weights[t]
        norm, f = observe(m, state, x, rows.scores[t], y, w)
        if norm < 0.0:
            return t
        if not w > 0.0:
            continue
        loss, sign, plus, minus = loss_and_direction(head, f, y, state.epsilon)
        mistake = is_mistake(head, f, loss, sign, plus, minus)
        # with two classes, f = 0 counts as no margin error
        inside = loss > 0.0 and (loss < 1.0 or minus >= 0)
        if mistake or (state.eager != 0 and inside and head.count > 0):
            amount = clamp_step(w * state.learning_rate) * sign
            learn_example(m, state, x, norm, loss, plus, minus, amount, mistake)
    return rows.scores.shape[0]


@inner
def learn_on_span(m, state, x, norm, loss, plus, minus, amount, mistake):
    """A mistake: f <- f + y P k(x, .) near the span of the support, else f + y k(x, .). A margin
    error: f + tau y P k(x, .).
    """
    d, k_xx = m.work[0], self_kernel(m, norm)
    length = project(m, m.row, d)
    residual = max(k_xx - length, 0.0)
    if not mistake:
        tau = share_of_margin_error(m, state, loss, length, residual)
        add_projected(m, d, plus, minus, tau * amount)
    elif is_projected(m, state, residual, k_xx):
        add_projected(m, d, plus, minus, amount)
    else:
        j = insert(m, x, norm)
        extend_factor(m, d, residual, j)
        add_to(m, j, plus, minus, amount)
        remove_dependent(m)
        check_factor(m)


@inner
def learn_on_spans(m, state, x, norm, loss, plus, minus, amount, mistake):
    """The same where each class has its own span, and a mistake changes two classes."""
    if minus < 0:
        learn_on_span(m, state, x, norm, loss, plus, minus, amount, mistake)
    else:
        project_by_class(m, state, x, norm, loss, plus, minus, amount, mistake)


@inner
def project_by_class(m, state, x, norm, loss, plus, minus, amount, mistake):
    """Learn x where each class has its own span: d and length are those of class plus, e and other
    of class minus.
    """
    k_xx = self_kernel(m, norm)
    d, e, products = m.work[0], m.work[1], m.work[2]
    length = project_on_class(m, m.row, plus, d, products)
    other = project_on_class(m, m.row, minus, e, products)
    residual, rest = max(k_xx - length, 0.0), max(k_xx - other, 0.0)
    if not mistake:  # the threshold is for each of the two projections
        mean = 0.5 * (residual + rest)
        tau = share_of_margin_error(m, state, loss, length + other, mean)
        add_projected(m, d, plus, -1, tau * amount)
        add_projected(m, e, minus, -1, -tau * amount)
        return
    near = is_projected(m, state, max(residual, rest), k_xx)
    if near or residual <= TINY * k_xx:
        add_projected(m, d, plus, -1, amount)
    if near or rest <= TINY * k_xx:
        add_projected(m, e, minus, -1, -amount)
    if near:
        return
    j = insert(m, x, norm)
    if residual > TINY * k_xx:
        join_class(m, j, plus, d, residual)
        add_to(m, j, plus, -1, amount)
    if rest > TINY * k_xx:
        join_class(m, j, minus, e, rest)
        add_to(m, j, minus, -1, -amount)
    remove_dependent_of_class(m, plus)
    remove_dependent_of_class(m, minus)


@inner
def is_projected(m, state, residual, k_xx):
    """Whether a mistake is projected: the budget is full, or x lies (nearly) in the span of the
    support.
    """
    full = m.head[0].count >= m.head[0].budget
    return full or residual <= state.threshold or residual <= TINY * k_xx


@inner
def share_of_margin_error(m, state, loss, length, residual):
    """tau, the share of the projection to add on a margin error; 0: add nothing."""
    if length <= 0.0:
        return 0.0
    tau = min(loss / length, 1.0)
    if math.isnan(state.threshold):  # the rule of 2016
        b = m.head[0].budget + 1.0
        u = 0.25 * math.sqrt(b / math.log(b))
        gain = tau * (2.0 * loss - tau * length - 2.0 * u * math.sqrt(residual))
        return tau if gain >= 0.0 else 0.0
    if residual > 0.0 and state.threshold == 0.0:
        return 0.0
    rest = loss - residual / state.threshold if residual > 0.0 else loss
    return max(0.0, min(tau, 2.0 * rest / length))


@passes
def shrink_to_budget(m, states):
    """Project the lightest vectors on the others until the model keeps its budget, which a user has
    made smaller.
    """
    by_class = states[0].by_class != 0 and m.coefficients.shape[0] > 1
    while m.head[0].count > m.head[0].budget:
        p = lightest(m, m.buffer)
        if by_class:
            project_out_of_classes(m, p)
        else:
            project_out(m, p)

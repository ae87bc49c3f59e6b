"""Stochastic gradient descent on a budget: multi-class Pegasos with a limited support.

Z. Wang, K. Crammer, S. Vucetic. Multi-class Pegasos on a budget. ICML 2010, algorithm 1.
S. Qaadan, T. Glasmachers. Multi-merge budget maintenance for SGD SVM training. 2018.

    paper      here
    B          budget; M (2018): arity
    lambda     l2
    t          rounds
    eta_t      eta = 1 / (l2 rounds), or a constant learning_rate
    alpha      coefficients times scale
    |w_t|^2    norm2, or an upper bound of it
    |E_t|      |Delta_t| / eta_t: errors is their sum, and their mean the E of theorem 1

Binary examples use the hinge loss, several classes Crammer and Singer's, regression the
epsilon-insensitive loss. The weight of an example multiplies its loss, hence the step.

The ball of line 8 has the radius 1 / sqrt(lambda), as the hinge loss of w = 0 is 1. In general the
optimum lies within sqrt(mean of weight * loss of 0) / sqrt(lambda), since there lambda |w|^2 = -<w,
gradient of the loss> <= loss of 0. This file uses the mean over the examples so far.

The model is brought back into the ball after the maintenance, with |w| after it, as in line 8 and
as the proof needs it; phi_t in the text of the paper has |w| before. Its exact change by removing
or merging takes another kernel row. So well inside the ball norm2 is an upper bound, as |w + Delta|
<= |w| + |Delta|, and where the bound reaches the ball, |w|^2 is computed from scratch: on a9a with
100 vectors a pass takes .7 of the time. The authors' toolbox (BudgetedSVM) has no ball, and drops a
newcomer that equals a stored vector, or adds up their coefficients; here a newcomer is always
stored first.
"""

from __future__ import annotations

import math

from ...budget.strategies import add_merging, add_merging_several, add_projecting, add_removing
from ...codes import Task
from ...compiling import inlined, inner, passes
from ...expansion.examples import example
from ...expansion.kernels import along_row, row_of_vector
from ...expansion.support import rescale
from ...memory import record
from ...rounds.losses import clamp_step, loss_and_direction, squared_length
from ...rounds.observe import count_iterate, observe_with_mean

REGRESSION = int(Task.REGRESSION)
STATE = record(
    "f8 l2 learning_rate epsilon",  # learning_rate NaN: the step of the papers
    "i8 project_to_ball",
    "f8 average averaged rounds norm2",
    "i8 unchecked",  # vectors removed since norm2 was computed from scratch
    "i8 exact bounded",  # whether norm2 shall be exact; whether it is only an upper bound
    "f8 surplus",  # sum of weight * loss(0) - 1, which is 0 in the paper
    "f8 errors",  # sum of |E_t|
)
NORM_DRIFT = (
    1e-6  # a larger relative error of norm2 is counted as a repair; rounding stays near 1e-13
)
CHECK = 16  # removals per unit of capacity until norm2 is computed from scratch
INSIDE = 0.5  # share of the ball's squared radius: below it norm2 becomes a bound


@passes
def learn(m, states, rows):
    """The pass for models that merge pairs. Each kind of strategy has its own pass, without the
    code of the others.
    """
    return learn_by(m, states, rows, add_merging, False)


@passes
def learn_removing(m, states, rows):
    """The pass for models that remove vectors."""
    return learn_by(m, states, rows, add_removing, False)


@passes
def learn_merging_several(m, states, rows):
    """The pass for models that merge more than two at once."""
    return learn_by(m, states, rows, add_merging_several, False)


@passes
def learn_projecting(m, states, rows):
    """The pass for models that keep a factor of the Gram matrix."""
    return learn_by(m, states, rows, add_projecting, True)


@inlined
def learn_by(m, states, rows, add_and_keep_budget, always_exact):
    """Learn the examples in order; scores[t] = f(x_t) before example t is learned. Returns how many
    were learned.

    always_exact: the strategy knows the exact change of |w|^2 anyway.
    """
    head, s = m.head[0], states[0]
    for t in range(rows.scores.shape[0]):
        x, y, w = example(m, rows, t), rows.targets[t], rows.weights[t]
        norm, f = observe_with_mean(m, s, x, rows.scores[t], y, w)
        if norm < 0.0:
            return t
        if not w > 0.0:
            continue
        loss, sign, plus, minus = loss_and_direction(head, f, y, s.epsilon)
        along = sign * (f[plus] - f[minus] if minus >= 0 else f[plus])  # <direction, f>
        s.rounds += 1.0
        pegasos = math.isnan(s.learning_rate)
        eta = 1.0 / (s.l2 * s.rounds) if pegasos else s.learning_rate  # line 2
        decay = 1.0 - 1.0 / s.rounds if pegasos else 1.0 - eta * s.l2
        rescale(m, decay)  # line 3: w <- (1 - eta lambda) w ...
        s.norm2 *= decay * decay
        if loss > 0.0:  # ... + eta (e_y - e_s) k(x, .); lines 5 to 7: keep the budget
            step, before = clamp_step(w * eta), head.count
            exact = s.project_to_ball != 0 and (always_exact or s.exact != 0)
            length, change, error = add_and_keep_budget(m, x, norm, plus, minus, step * sign, exact)
            s.norm2 += step * (2.0 * decay * along + step * squared_length(minus) * length)
            s.norm2 = max(s.norm2 + change, 0.0)
            s.errors += error / eta
            s.unchecked += before + 1 - head.count
            if error > 0.0 and s.project_to_ball and not exact:
                s.norm2, s.bounded = (math.sqrt(s.norm2) + error) ** 2, 1
            if exact and s.unchecked >= CHECK * head.capacity:
                check_norm(m, s)
        loss_of_0 = max(abs(y) - s.epsilon, 0.0) if head.task == REGRESSION else 1.0
        s.surplus += clamp_step(w * loss_of_0) - 1.0
        size = 1.0 + s.surplus / s.rounds  # lambda |w|^2 on the surface of the ball
        if s.project_to_ball and s.bounded and s.l2 * s.norm2 > size:
            check_norm(m, s)
        if s.project_to_ball and s.l2 * s.norm2 > size and size > 0.0:  # line 8
            rescale(m, 1.0 / math.sqrt(s.l2 * s.norm2 / size))
            s.norm2 = size / s.l2
        count_iterate(m, s)
    return rows.scores.shape[0]


@inner
def check_norm(m, s):
    """Replace norm2 by |w|^2 = sum_ij a_i . a_j k(x_i, x_j), from scratch; count a repair if it had
    drifted.

    It takes as long as a kernel row for every vector: norm2 becomes a bound where that will
    probably take longer.
    """
    head, total = m.head[0], 0.0
    for j in range(head.count):
        row_of_vector(m, j)
        total += along_row(m, m.row, j)
    before, removed, size = s.norm2, s.unchecked, 1.0 + s.surplus / max(s.rounds - 1.0, 1.0)
    s.norm2, s.unchecked = head.scale * head.scale * total, 0
    if not s.bounded:
        head.repairs += abs(s.norm2 - before) > NORM_DRIFT * s.norm2
    s.exact = s.l2 * s.norm2 > INSIDE * size or removed < head.count
    s.bounded = 0

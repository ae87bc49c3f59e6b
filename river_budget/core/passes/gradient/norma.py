"""NORMA, and its form for novelty detection.

J. Kivinen, A. Smola, R. Williamson. Online learning with kernels. IEEE Trans. Signal Processing 52,
2004.

    paper      here
    eta        learning_rate
    lambda     l2
    nu         nu, the share of examples that end up with a loss
    rho, eps   level: the margin, the width of the tube, or the threshold of novelty

In every round the coefficients decay. An example with a loss becomes a support vector. The level
changes so that a share nu of the examples has a loss. A full model removes its oldest vector.
"""

from __future__ import annotations

import math

from ...budget.strategies import add_merging, add_merging_several, add_projecting, add_removing
from ...codes import Task
from ...compiling import inlined, passes
from ...expansion.examples import example
from ...expansion.scoring import score_example
from ...expansion.support import rescale
from ...memory import record
from ...rounds.losses import clamp_step, loss_and_direction
from ...rounds.observe import learn_rows, observe, score_newcomer

REGRESSION = int(Task.REGRESSION)
STATE = record("f8 learning_rate l2 nu level")


@passes
def learn(m, states, rows):
    """The learning pass."""
    return learn_rows(m, states, rows, observe, round_of)


@inlined
def round_of(m, state, x, norm, f, y, w):
    """f <- (1 - eta lambda) f - eta times the gradient of the loss, and a step of the level."""
    eta = clamp_step(w * state.learning_rate)
    loss, sign, plus, minus = loss_and_direction(m.head[0], f, y, state.level)
    regression = m.head[0].task == REGRESSION
    active = loss > 0.0 if regression else y * f[0] < state.level
    rescale(m, 1.0 - state.learning_rate * state.l2)
    if active:
        add_removing(m, x, norm, plus, minus, eta * sign, False)
    # after a loss the tube widens (regression) or the margin shrinks (classification)
    change = eta * (1.0 - state.nu) if active else -eta * state.nu
    state.level += change if regression else -change


@passes
def learn_novelty(m, states, rows):
    """The pass for models that merge pairs."""
    return learn_novelty_by(m, states, rows, add_merging)


@passes
def learn_novelty_removing(m, states, rows):
    """The pass for models that remove vectors."""
    return learn_novelty_by(m, states, rows, add_removing)


@passes
def learn_novelty_merging_several(m, states, rows):
    """The pass for models that merge more than two at once."""
    return learn_novelty_by(m, states, rows, add_merging_several)


@passes
def learn_novelty_projecting(m, states, rows):
    """The pass for models that keep a factor of the Gram matrix."""
    return learn_novelty_by(m, states, rows, add_projecting)


@inlined
def learn_novelty_by(m, states, rows, add_and_keep_budget):
    """Learn examples without targets; scores[t] = rho - f(x_t) before, and targets[t] = rho, or NaN
    while there is no vector.

    f <- (1 - eta lambda) f, + eta k(x, .) if x is novel, and a step of rho.
    """
    head, state = m.head[0], states[0]
    for t in range(rows.scores.shape[0]):
        x, f, w = example(m, rows, t), rows.scores[t], rows.weights[t]
        norm = score_newcomer(m, x, f)
        if norm < 0.0:
            return t
        head.n_examples += 1
        f[0] = state.level - f[0]
        rows.targets[t] = state.level if head.count > 0 else math.nan
        if not w > 0.0:
            continue
        eta = clamp_step(w * state.learning_rate)
        # without support vectors f = rho = 0, but the first example counts as novel
        novel = f[0] > 0.0 or (state.level <= 0.0 and head.count == 0)
        rescale(m, 1.0 - state.learning_rate * state.l2)
        if novel:
            add_and_keep_budget(m, x, norm, 0, -1, eta, False)
        state.level += -eta * (1.0 - state.nu) if novel else eta * state.nu
    return rows.scores.shape[0]


@passes
def score_novelty(m, states, rows):
    """scores[t] = rho - f(x_t)"""
    for t in range(rows.scores.shape[0]):
        score_example(m, example(m, rows, t), rows.scores[t])
        rows.scores[t, 0] = states[0].level - rows.scores[t, 0]
    return rows.scores.shape[0]

"""NORMA, and its form for novelty detection.

J. Kivinen, A. Smola, R. Williamson. Online learning with kernels. IEEE Trans. Signal Processing 52, 2004.

    paper      here
    eta        learning_rate
    lambda     l2
    nu         nu, the share of examples that end up with a loss
    rho, eps   level: the margin, the width of the tube, or the threshold of novelty

In every round the coefficients decay. An example with a loss becomes a support vector. The level changes so
that a share nu of the examples has a loss. A full model removes its oldest vector.
"""

from __future__ import annotations

import math

from ...block.codes import Task
from ...budget.keep import FACTOR, MANY, PAIRS, REMOVE, add_within_budget
from ...compiling.array_views import carver, record
from ...compiling.jit import compiled
from ...expansion.kernel_rows import score
from ...expansion.scoring import each_row
from ...expansion.support import rescale
from ...rounds.losses import clamp_step, loss_and_direction
from ...rounds.observe import learn_rows, learn_rows_by, observe, score_example

REGRESSION = int(Task.REGRESSION)
STATE = record("f8 learning_rate l2 nu level")
state_at = carver(STATE, 0)


@compiled(called_from_python=True)
def learn(call):
    """The learning pass."""
    return learn_rows(call, state_at, observe, round_of)


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w):
    """f <- (1 - eta lambda) f - eta times the gradient of the loss, and a step of the level."""
    eta = clamp_step(w * state.learning_rate)
    loss, sign, plus, minus = loss_and_direction(model, f, y, state.level)
    regression = model.head.task == REGRESSION
    active = loss > 0.0 if regression else y * f[0] < state.level
    rescale(model, 1.0 - state.learning_rate * state.l2)
    if active:
        add_within_budget(model, x, norm, plus, minus, eta * sign, REMOVE)
    # after a loss the tube widens (regression) or the margin shrinks (classification)
    change = eta * (1.0 - state.nu) if active else -eta * state.nu
    state.level += change if regression else -change


@compiled(called_from_python=True)
def learn_novelty(call):
    """The pass for models that merge pairs."""
    return learn_rows_by(call, state_at, observe_novelty, round_of_novelty, PAIRS)


@compiled(called_from_python=True)
def learn_novelty_removing(call):
    """The pass for models that remove vectors."""
    return learn_rows_by(call, state_at, observe_novelty, round_of_novelty, REMOVE)


@compiled(called_from_python=True)
def learn_novelty_merging_many(call):
    """The pass for models that merge more than two at once."""
    return learn_rows_by(call, state_at, observe_novelty, round_of_novelty, MANY)


@compiled(called_from_python=True)
def learn_novelty_projecting(call):
    """The pass for models that keep a factor of the Gram matrix."""
    return learn_rows_by(call, state_at, observe_novelty, round_of_novelty, FACTOR)


@compiled(inlined=True)
def observe_novelty(model, state, stream, t):
    """As `observe`, without targets: f[0] = rho - f(x). Overwrites targets[t] with this rho, or NaN while there is no vector."""
    x, f, _, w, norm = score_example(model, stream, t)
    if norm >= 0.0:
        model.head.judged += 1
        f[0] = state.level - f[0]
        stream[1][t] = state.level if model.head.count > 0 else math.nan
    return x, f, 1.0, w, norm


@compiled(inlined=True)
def round_of_novelty(model, state, x, norm, f, y, w, strategy):
    """f <- (1 - eta lambda) f, + eta k(x, .) if x is novel, and a step of rho. Here f[0] = rho - f(x), and y = 1."""
    _, _, plus, minus = loss_and_direction(model, f, y, 0.0)
    eta = clamp_step(w * state.learning_rate)
    # without support vectors f = rho = 0, but the first example counts as novel
    novel = f[0] > 0.0 or (state.level <= 0.0 and model.head.count == 0)
    rescale(model, 1.0 - state.learning_rate * state.l2)
    if novel:
        add_within_budget(model, x, norm, plus, minus, eta, strategy)
    state.level += -eta * (1.0 - state.nu) if novel else eta * state.nu


@compiled(called_from_python=True)
def score_novelty(call):
    """scores[t] = rho - f(x_t)"""
    return each_row(call, outside)


@compiled(always_inlined=True)
def outside(model, x, norm, f):
    """f[0] = rho - f(x)"""
    score(model, x, norm, f)
    f[0] = state_at(model.state).level - f[0]

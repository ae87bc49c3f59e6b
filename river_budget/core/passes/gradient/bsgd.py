"""Stochastic gradient descent on a budget: multi-class Pegasos with a limited support.

Z. Wang, K. Crammer, S. Vucetic. Multi-class Pegasos on a budget. ICML 2010, algorithm 1.
S. Qaadan, T. Glasmachers. Multi-merge budget maintenance for SGD SVM training. 2018.

paper    here                      paper        here
lambda   l2                        B            budget
t        rounds                    |w_t|^2      norm2, kept up to date; inside the ball an upper bound.
eta_t    step = 1 / (l2 rounds)                 It is computed from scratch only now and then
alpha    coefficients times scale  M (2018)     arity
|E_t|    |Delta_t| / eta_t: errors is their sum, and their mean the E of theorem 1

Binary examples use the hinge loss, several classes Crammer and Singer's, regression the
epsilon-insensitive loss. A weight multiplies the loss, hence the step.

The ball of line 8 has the radius 1 / sqrt(lambda), as the loss of w = 0 is 1. In general the optimum lies within
sqrt(mean of weight * loss of 0) / sqrt(lambda), since lambda |w|^2 = -<w, gradient of the loss> <= loss(0) there. The
mean is that over the examples so far.
"""

from __future__ import annotations

import math

import numpy as np

from ...block.codes import Task
from ...block.limits import LAPLACIAN, RBF, padded_count
from ...budget.keep import FACTOR, MANY, PAIRS, REMOVE, add, keep_budget, strategy_of
from ...budget.newcomer import no_newcomer
from ...compiling.array_views import carver
from ...compiling.jit import REORDERED, compiled
from ...examples.call import model_of
from ...examples.present_features import unpack
from ...expansion.kernel_rows import row_of_vector
from ...expansion.support import rescale
from ...rounds.ending import count_iterate, report
from ...rounds.losses import along_direction, clamp_step, loss_and_direction, squared_length
from ...rounds.observe import look_at
from ...simd.vector_ops import dot

REGRESSION = int(Task.REGRESSION)
STATE = np.dtype(
    (
        np.record,
        [
            ("l2", "f8"),
            ("learning_rate", "f8"),  # NaN: the step of the papers
            ("epsilon", "f8"),
            ("project_to_ball", "i8"),
            ("average", "f8"),
            ("averaged", "f8"),
            ("rounds", "f8"),
            ("norm2", "f8"),
            ("unchecked", "i8"),  # vectors given up since norm2 was computed from scratch
            ("bounded", "i8"),  # norm2 is an upper bound
            ("wait", "i8"),  # vectors to be given up before it may be one; below 0, since it is
            ("surplus", "f8"),  # sum of weight * loss(0) - 1: how the ball differs from the paper's
            ("errors", "f8"),  # sum of |E_t|
        ],
    )
)
state_at = carver(STATE, 0)
DRIFT = 1e-6  # relative: more is counted as a repair; rounding stays near 1e-13
CHECK = 16  # norm2 is computed anew after CHECK * capacity vectors: little for each of them
INSIDE = 0.5  # of the ball: a bound will do


@compiled(called_from_python=True)
def shrink_to_budget(call):
    """Maintain until a budget that has been made smaller is kept."""
    model = model_of(call)
    state, before = state_of(model), model.head.count
    exact = keeps_norm(state)
    change = keep_budget(model, exact, strategy_of(model), no_newcomer(model))
    follow_norm(model, state, exact, change, before)


@compiled
def state_of(model):
    return state_at(model.state)


@compiled(called_from_python=True)
def learn(call):
    """The pass for models that merge pairs: each kind of strategy has its own, and need not compile the rest."""
    return learn_rows(call, PAIRS)


@compiled(called_from_python=True)
def learn_removing(call):
    """The pass for models that remove vectors."""
    return learn_rows(call, REMOVE)


@compiled(called_from_python=True)
def learn_merging_many(call):
    """The pass for models that merge more than two at once."""
    return learn_rows(call, MANY)


@compiled(called_from_python=True)
def learn_projecting(call):
    """The pass for models that keep a factor."""
    return learn_rows(call, FACTOR)


@compiled(inlined=True)
def learn_rows(call, strategy):
    """Learn the rows in order; scores[t] = f = f(x_t) before it is learned. Returns how many were done."""
    model, stream, n = unpack(call)
    state = state_of(model)
    for t in range(n):
        x, f, y, w, norm = look_at(model, stream, t)
        if norm < 0.0:
            return t
        loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
        along = along_direction(f, sign, plus, minus)
        report(model, state.average, f, y, w)
        if w == 0.0:
            continue
        step, decay, inverse = step_of_round(state, w)  # line 2
        shrink(model, state, decay)  # line 3: w <- (1 - eta lambda) w ...
        if loss > 0.0:  # ... + eta (e_y - e_s) k(x, .)
            exact = keeps_norm(state)
            newcomer, length, lost = add(model, x, norm, plus, minus, step * sign, strategy, exact)
            state.norm2 += (
                2.0 * step * (decay * along) + step * step * squared_length(minus) * length
            )
            state.norm2 -= lost
            before = model.head.count
            change = keep_budget(model, exact, strategy, newcomer)  # lines 5-7
            follow_norm(model, state, exact, change, before)
            state.errors += model.head.cost * inverse
        state.surplus += clamp_step(w * loss_of_zero(model, y, state.epsilon)) - 1.0
        if state.project_to_ball:
            project_on_ball(model, state)  # line 8
        count_iterate(model, state)
    return n


@compiled(always_inlined=True)
def step_of_round(state, w):
    """(eta times the weight, 1 - eta lambda, 1 / eta) of the next round: eta = 1 / (lambda t), or a constant."""
    state.rounds += 1.0
    if math.isnan(state.learning_rate):
        inverse = state.l2 * state.rounds
        return clamp_step(w / inverse), 1.0 - 1.0 / state.rounds, inverse
    decay = 1.0 - state.learning_rate * state.l2
    return clamp_step(w * state.learning_rate), decay, 1.0 / state.learning_rate


@compiled(always_inlined=True)
def shrink(model, state, decay):
    """w <- decay w"""
    rescale(model, decay)
    state.norm2 *= decay * decay


@compiled(always_inlined=True)
def project_on_ball(model, state):
    """|w| <= 1 / sqrt(lambda), where the loss of 0 is 1."""
    size = size_of_ball(state)
    if state.l2 * state.norm2 > size and state.bounded:
        look_closer(model, state, size)
    if state.l2 * state.norm2 > size and size > 0.0:
        rescale(model, 1.0 / math.sqrt(state.l2 * state.norm2 / size))
        state.norm2 = size / state.l2


@compiled(always_inlined=True)
def loss_of_zero(model, y, epsilon):
    """The loss of w = 0, by which the ball is measured."""
    return max(abs(y) - epsilon, 0.0) if model.head.task == REGRESSION else 1.0


@compiled(always_inlined=True)
def size_of_ball(state):
    """lambda |w|^2 on its surface."""
    return 1.0 + state.surplus / state.rounds if state.rounds > 0.0 else 1.0


@compiled(always_inlined=True)
def keeps_norm(state):
    """Whether norm2 is |w|^2.

    It matters near the surface of the ball only. Inside, it is enough to know a bound, which costs nothing.
    Where the bound comes to lie outside too soon, the norm is kept exactly for a while: that takes a kernel
    row for each vector that is given up, and to compute it takes one for each that is there.
    """
    return state.project_to_ball != 0 and state.bounded == 0


@compiled
def follow_norm(model, state, exact, change, before):
    """norm2 after maintenance has given up vectors, of which there were so many before."""
    state.norm2 = (
        max(state.norm2 + change, 0.0) if exact else (math.sqrt(state.norm2) + change) ** 2
    )
    state.unchecked += before - model.head.count
    state.wait -= before - model.head.count
    if exact and state.unchecked >= CHECK * model.head.capacity:
        maintained = state.norm2
        recompute_norm(model, state)
        model.head.repairs += abs(state.norm2 - maintained) > DRIFT * state.norm2
    elif exact and state.wait <= 0 and is_inside(state) and model.head.heavy == 0:
        state.bounded, state.wait = 1, 0


@compiled
def is_inside(state):
    return state.l2 * state.norm2 < INSIDE * size_of_ball(state)


@compiled
def look_closer(model, state, size):
    """The bound lies outside the ball: perhaps another one does not. Else |w|^2 must be known."""
    state.norm2 = min(state.norm2, bound_by_coefficients(model))
    if state.l2 * state.norm2 > size:
        soon = -state.wait < model.head.capacity
        recompute_norm(model, state)
        state.wait = CHECK * model.head.capacity if soon else 0


@compiled(fastmath=REORDERED)
def bound_by_coefficients(model):
    """|w|^2 for kernel values from 0 to 1 is largest where vectors of one sign coincide, and others are far apart."""
    head, total = model.head, 0.0
    if head.kernel != RBF and head.kernel != LAPLACIAN:
        return np.inf
    for r in range(model.coefficients.shape[0]):
        up, down = 0.0, 0.0
        for j in range(padded_count(model)):
            up += max(model.coefficients[r, j], 0.0)
            down += min(model.coefficients[r, j], 0.0)
        total += up * up + down * down
    return head.scale * head.scale * total


@compiled
def recompute_norm(model, state):
    state.norm2 = squared_length_of(model)
    state.unchecked = state.bounded = 0


@compiled
def squared_length_of(model):
    """|w|^2 = sum_ij a_i . a_j k(x_i, x_j), from scratch"""
    head = model.head
    total = 0.0
    for j in range(head.count):
        row_of_vector(model, j)
        for r in range(model.coefficients.shape[0]):
            total += model.coefficients[r, j] * dot(
                model.row, model.coefficients[r], padded_count(model)
            )
    return head.scale * head.scale * total

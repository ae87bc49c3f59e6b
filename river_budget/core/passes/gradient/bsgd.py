"""Stochastic gradient descent on a budget: multi-class Pegasos with a limited support.

Z. Wang, K. Crammer, S. Vucetic. Multi-class Pegasos on a budget. ICML 2010, algorithm 1.
S. Qaadan, T. Glasmachers. Multi-merge budget maintenance for SGD SVM training. 2018.

    paper      here
    B          budget; M (2018): arity
    lambda     l2
    t          rounds
    eta_t      step = 1 / (l2 rounds)
    alpha      coefficients times scale
    |w_t|^2    norm2, updated by every step; inside the ball it may be an upper bound
    |E_t|      |Delta_t| / eta_t: errors is their sum, and their mean the E of theorem 1

Binary examples use the hinge loss, several classes Crammer and Singer's, regression the
epsilon-insensitive loss. The weight of an example multiplies its loss, hence the step.

The ball of line 8 has the radius 1 / sqrt(lambda), as the hinge loss of w = 0 is 1. In general the optimum lies
within sqrt(mean of weight * loss of 0) / sqrt(lambda), since there lambda |w|^2 = -<w, gradient of the loss>
<= loss of 0. This file uses the mean over the examples so far.

The model is brought back into the ball after the maintenance, with |w| after it, as in line 8 and as the proof needs
it; phi_t in the text of the paper has |w| before. The authors' toolbox (BudgetedSVM) has no ball, and drops a newcomer
that equals a stored vector, or adds up their coefficients; here a newcomer is always stored first.
"""

from __future__ import annotations

import math

import numpy as np

from ...block.codes import Task
from ...block.limits import LAPLACIAN, RBF, padded_count
from ...budget.keep import FACTOR, MANY, PAIRS, REMOVE, add, keep_budget, strategy_of
from ...budget.newcomer import no_newcomer
from ...compiling.array_views import carver, record
from ...compiling.jit import REORDERED, compiled
from ...examples.call import model_of
from ...expansion.kernel_rows import row_of_vector
from ...expansion.support import rescale
from ...rounds.losses import clamp_step, loss_and_direction, squared_length
from ...rounds.observe import count_iterate, learn_rows_by, observe_with_mean
from ...simd.vector_ops import dot

REGRESSION = int(Task.REGRESSION)
STATE = record(
    "f8 l2 learning_rate epsilon",  # learning_rate NaN: the step of the papers
    "i8 project_to_ball",
    "f8 average averaged rounds norm2",
    "i8 unchecked",  # vectors removed since norm2 was computed from scratch
    "i8 bounded",  # whether norm2 is an upper bound
    # > 0: removals until norm2 may become a bound; < 0: minus the removals since it became one
    "i8 wait",
    "f8 surplus",  # sum of weight * loss(0) - 1, which is 0 in the paper
    "f8 errors",  # sum of |E_t|
)
state_at = carver(STATE, 0)
DRIFT = 1e-6  # a larger relative error of norm2 is counted as a repair; rounding stays near 1e-13
CHECK = 16  # removals per unit of capacity until norm2 is computed from scratch
# If lambda |w|^2 is below this share of its value on the surface of the ball, a bound of |w|^2 is enough
INSIDE = 0.5


@compiled(called_from_python=True)
def shrink_to_budget(call):
    """Maintain until the model keeps its budget, which a user has made smaller."""
    model = model_of(call)
    state, before = state_at(model.state), model.head.count
    exact = norm_is_exact(state)
    change = keep_budget(model, exact, strategy_of(model), no_newcomer(model))
    update_norm(model, state, exact, change, before)


@compiled(called_from_python=True)
def learn(call):
    """The pass for models that merge pairs. Each kind of strategy has its own pass, without the code of the others."""
    return learn_rows_by(call, state_at, observe_with_mean, round_of, PAIRS)


@compiled(called_from_python=True)
def learn_removing(call):
    """The pass for models that remove vectors."""
    return learn_rows_by(call, state_at, observe_with_mean, round_of, REMOVE)


@compiled(called_from_python=True)
def learn_merging_many(call):
    """The pass for models that merge more than two at once."""
    return learn_rows_by(call, state_at, observe_with_mean, round_of, MANY)


@compiled(called_from_python=True)
def learn_projecting(call):
    """The pass for models that keep a factor of the Gram matrix."""
    return learn_rows_by(call, state_at, observe_with_mean, round_of, FACTOR)


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w, strategy):
    """Algorithm 1: lines 2 to 8 of a round."""
    loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
    along = sign * (f[plus] - f[minus] if minus >= 0 else f[plus])  # <direction, f>
    step, decay = step_of_round(state, w)  # line 2
    shrink(model, state, decay)  # line 3: w <- (1 - eta lambda) w ...
    if loss > 0.0:  # ... + eta (e_y - e_s) k(x, .); lines 5-7: keep the budget
        direction = sign, plus, minus, decay * along
        add_and_keep_budget(model, state, x, norm, step, direction, strategy)
        state.errors += model.head.cost * inverse_step(state)
    project_on_ball(model, state, y, w)  # line 8
    count_iterate(model, state)


@compiled(inlined=True)
def add_and_keep_budget(model, state, x, norm, step, direction, strategy):
    """w <- w + step (e_plus - e_minus) k(x, .), then keep the budget. Updates norm2 for both.

    direction: (sign, plus, minus, <w, (e_plus - e_minus) k(x, .)>).
    """
    exact = norm_is_exact(state)
    sign, plus, minus, along = direction
    newcomer, length, lost = add(model, x, norm, plus, minus, step * sign, strategy, exact)
    state.norm2 += 2.0 * step * along + step * step * squared_length(minus) * length
    state.norm2 -= lost
    before = model.head.count
    change = keep_budget(model, exact, strategy, newcomer)
    update_norm(model, state, exact, change, before)


@compiled(always_inlined=True)
def step_of_round(state, w):
    """(eta times the weight w, 1 - eta lambda) of the next round: eta = 1 / (lambda t), or a constant."""
    state.rounds += 1.0
    if math.isnan(state.learning_rate):
        return clamp_step(w / inverse_step(state)), 1.0 - 1.0 / state.rounds
    return clamp_step(w * state.learning_rate), 1.0 - state.learning_rate * state.l2


@compiled(always_inlined=True)
def inverse_step(state):
    """1 / eta of this round"""
    if math.isnan(state.learning_rate):
        return state.l2 * state.rounds
    return 1.0 / state.learning_rate


@compiled(always_inlined=True)
def shrink(model, state, decay):
    """w <- decay w"""
    rescale(model, decay)
    state.norm2 *= decay * decay


@compiled(always_inlined=True)
def project_on_ball(model, state, y, w):
    """Project w on the ball, whose radius follows from the losses of w = 0 on the examples so far and this one."""
    loss_of_zero = max(abs(y) - state.epsilon, 0.0) if model.head.task == REGRESSION else 1.0
    state.surplus += clamp_step(w * loss_of_zero) - 1.0
    if not state.project_to_ball:
        return
    size = size_of_ball(state)
    if state.l2 * state.norm2 > size and state.bounded:
        tighten_norm(model, state, size)
    if state.l2 * state.norm2 > size and size > 0.0:
        rescale(model, 1.0 / math.sqrt(state.l2 * state.norm2 / size))
        state.norm2 = size / state.l2


@compiled(always_inlined=True)
def size_of_ball(state):
    """lambda |w|^2 on the surface of the ball: the mean of weight * loss of 0."""
    return 1.0 + state.surplus / state.rounds if state.rounds > 0.0 else 1.0


@compiled(always_inlined=True)
def norm_is_exact(state):
    """Whether norm2 is |w|^2 and not an upper bound of it.

    Inside the ball a bound is enough, and takes no time. If the bound leaves the ball too soon, |w|^2 is kept
    exactly for a while: that takes a kernel row for each vector that maintenance removes, whereas computing
    |w|^2 from scratch takes one for each support vector.
    """
    return state.project_to_ball != 0 and state.bounded == 0


@compiled
def update_norm(model, state, exact, change, before):
    """Add to norm2 the change by maintenance, which started with `before` vectors. Modifies the state.

    Computes an exact norm2 from scratch from time to time, and turns it into a bound if w is well inside the ball.
    """
    state.norm2 = (
        max(state.norm2 + change, 0.0) if exact else (math.sqrt(state.norm2) + change) ** 2
    )
    state.unchecked += before - model.head.count
    state.wait -= before - model.head.count
    if exact and state.unchecked >= CHECK * model.head.capacity:
        maintained = state.norm2
        recompute_norm(model, state)
        model.head.repairs += abs(state.norm2 - maintained) > DRIFT * state.norm2
        return
    inside = state.l2 * state.norm2 < INSIDE * size_of_ball(state)
    if exact and state.wait <= 0 and inside:
        state.bounded, state.wait = 1, 0


@compiled
def tighten_norm(model, state, size):
    """Replace a bound outside the ball by a tighter bound, or by the exact |w|^2 if that bound is outside too."""
    state.norm2 = min(state.norm2, bound_by_coefficients(model))
    if state.l2 * state.norm2 > size:
        soon = -state.wait < model.head.capacity
        recompute_norm(model, state)
        state.wait = CHECK * model.head.capacity if soon else 0


@compiled(fastmath=REORDERED)
def bound_by_coefficients(model):
    """An upper bound of |w|^2: with kernel values in [0, 1], |w|^2 is largest if all vectors of one sign
    coincide and those of different signs are far apart."""
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
    """norm2 = |w|^2 = sum_ij a_i . a_j k(x_i, x_j), from scratch"""
    head, total = model.head, 0.0
    for j in range(head.count):
        row_of_vector(model, j)
        for r in range(model.coefficients.shape[0]):
            total += model.coefficients[r, j] * dot(
                model.row, model.coefficients[r], padded_count(model)
            )
    state.norm2 = head.scale * head.scale * total
    state.unchecked = state.bounded = 0

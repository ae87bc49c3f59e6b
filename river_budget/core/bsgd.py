"""Stochastic gradient descent on a budget: multi-class Pegasos with a limited support.

Z. Wang, K. Crammer, S. Vucetic. Multi-class Pegasos on a budget. ICML 2010, algorithm 1.
S. Qaadan, T. Glasmachers. Multi-merge budget maintenance for SGD SVM training. 2018.

paper    here                      paper        here
lambda   l2                        B            budget
t        rounds                    |w_t|^2      norm2, kept up to date; well inside the ball an upper bound.
eta_t    step = 1 / (l2 rounds)                 It is computed from scratch only now and then
alpha    coefficients times scale  M (2018)     arity

Binary examples use the hinge loss, several classes Crammer and Singer's, regression the
epsilon-insensitive loss. A weight multiplies the loss, hence the step.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import compiled
from .losses import along, judge, limited, squared_length
from .maintenance import MANY, NOTHING, PROJECTING, keep_budget, needs_of, store
from .model import examples, unpack
from .projection import check_factor, keep_apart
from .rounds import observe
from .rows import dot, kernel_row, lanes, row_of
from .support import rescale, vector
from .views import carver

STATE = np.dtype(
    (
        np.record,
        [
            ("l2", "f8"),
            ("epsilon", "f8"),
            ("project_to_ball", "i8"),
            ("rounds", "f8"),
            ("norm2", "f8"),
            ("unchecked", "i8"),  # vectors given up since norm2 was computed from scratch
            ("bounded", "i8"),  # norm2 is an upper bound
            ("wait", "i8"),  # vectors to be given up before it may be one again
        ],
    )
)
_state = carver(STATE, 0)
DRIFT = 1e-6  # relative: more is counted as a repair; rounding stays near 1e-13
CHECK = 16  # norm2 is computed anew after CHECK * capacity vectors: little for each of them
WELL_INSIDE = 0.25  # of the ball: a bound will do


@compiled(entry=True)
def shrink_to_budget(call):
    """Maintain until a budget that has been made smaller is kept."""
    model = unpack(call)
    fit_budget(model, state_of(model), needs_of(model), np.int64(-1))


@compiled
def state_of(model):
    return _state(model.own)


@compiled(entry=True)
def learn(call):
    """The pass for models that remove vectors or merge pairs: they need not compile the rest."""
    return learn_rows(call, NOTHING)


@compiled(entry=True)
def learn_merging_many(call):
    """The pass for models that merge more than two at once."""
    return learn_rows(call, MANY)


@compiled(entry=True)
def learn_projecting(call):
    """The pass for models that keep a factor."""
    return learn_rows(call, PROJECTING)


@compiled(once=True)
def learn_rows(call, needs):
    """Learn the rows in order; scores[t] = f = f(x_t) before it is learned. Returns how many were done."""
    model = unpack(call)
    rows, targets, weights, scores = examples(call)
    own = state_of(model)
    for t in range(rows.shape[0]):
        x, f = row_of(rows, t), row_of(scores, t)
        norm = observe(model, x, f)
        if norm < 0.0:
            return t
        if weights[t] == 0.0:
            continue
        loss, sign, plus, minus = judge(model, f, targets[t], own.epsilon)
        own.rounds += 1.0
        step = limited(weights[t] / (own.l2 * own.rounds))
        decay = 1.0 - 1.0 / own.rounds
        rescale(model, decay)  # line 3: w <- (1 - eta lambda) w ...
        own.norm2 *= decay * decay
        if loss > 0.0:  # ... + eta (e_y - e_s) k(x, .)
            inner = decay * along(f, sign, plus, minus)
            length = store(model, x, norm, plus, minus, step * sign, needs)
            own.norm2 += 2.0 * step * inner + step * step * squared_length(minus) * length
            if needs == PROJECTING:
                own.norm2 -= keep_apart(model)
                check_factor(model)
            fit_budget(model, own, needs, model.head.count - 1)  # lines 5-7
        if own.project_to_ball:  # line 8: |w| <= 1 / sqrt(lambda)
            if own.l2 * own.norm2 > 1.0 and own.bounded:
                look_closely(model, own)
            excess = own.l2 * own.norm2
            if excess > 1.0:
                rescale(model, 1.0 / math.sqrt(excess))
                own.norm2 = 1.0 / own.l2
    return np.int64(rows.shape[0])


@compiled(once=True)
def fit_budget(model, own, needs, observed):
    """Keep the budget, and norm2 up to date.

    The norm matters near the surface of the ball only. Well inside, it is enough to know a bound, which
    costs nothing; when the bound comes to lie outside, the norm is computed. As that takes a kernel row for
    each vector, as many vectors have to be given up between one computation and the next.
    """
    before, exact = model.head.count, own.project_to_ball != 0 and own.bounded == 0
    change = keep_budget(model, exact, needs, observed)
    own.norm2 = max(own.norm2 + change, 0.0) if exact else (math.sqrt(own.norm2) + change) ** 2
    own.unchecked += before - model.head.count
    own.wait -= before - model.head.count
    if exact and own.unchecked >= CHECK * model.head.capacity:
        maintained = own.norm2
        look_closely(model, own)
        model.head.repairs += abs(own.norm2 - maintained) > DRIFT * own.norm2
    elif exact and own.wait <= 0 and own.l2 * own.norm2 < WELL_INSIDE:
        own.bounded = 1


@compiled
def look_closely(model, own):
    own.wait = model.head.capacity - own.unchecked
    own.norm2 = squared_length_of(model)
    own.unchecked = own.bounded = 0


@compiled(once=True)
def squared_length_of(model):
    """|w|^2 = sum_ij a_i . a_j k(x_i, x_j), from scratch"""
    head = model.head
    x, total = model.x, 0.0
    for j in range(head.count):
        vector(model, j, x)
        kernel_row(model, x, model.norms[j])
        for r in range(model.coefficients.shape[0]):
            total += model.coefficients[r, j] * dot(model.row, model.coefficients[r], lanes(model))
    return head.scale * head.scale * total

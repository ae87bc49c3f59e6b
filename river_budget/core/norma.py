"""NORMA, and its form for novelty detection.

J. Kivinen, A. Smola, R. Williamson. Online learning with kernels. IEEE Trans. Signal Processing 52, 2004.

paper    here            paper     here
eta      learning_rate   nu        nu, the share of examples that end up with a loss
lambda   l2              rho, eps  level: the margin, the width of the tube, or the threshold of novelty

Every round the model decays. An example with a loss becomes a support vector. The level moves so that a
share nu of the examples has a loss. A budget keeps the newest vectors.
"""

from __future__ import annotations

import numpy as np

from .codes import Task
from .jit import compiled
from .losses import judge, limited
from .maintenance import keep_budget, needs_of, store
from .model import examples, unpack
from .projection import check_factor, keep_apart
from .removal import forget
from .rounds import observe
from .rows import decide, row_of
from .support import add_to, insert, rescale
from .views import carver

REGRESSION = int(Task.REGRESSION)
STATE = np.dtype(
    (np.record, [("learning_rate", "f8"), ("l2", "f8"), ("nu", "f8"), ("level", "f8")])
)
_state = carver(STATE, 0)


@compiled(entry=True)
def learn(call):
    """Learn the rows in order; scores[t] = f(x_t) before it is learned. Returns how many were done."""
    model = unpack(call)
    rows, targets, weights, scores = examples(call)
    own = _state(model.own)
    for t in range(rows.shape[0]):
        x, f = row_of(rows, t), row_of(scores, t)
        norm = observe(model, x, f)
        if norm < 0.0:
            return t
        if weights[t] == 0.0:
            continue
        step = limited(weights[t] * own.learning_rate)
        loss, sign, plus, minus = judge(model, f, targets[t], own.level)
        regression = model.head.task == REGRESSION
        active = loss > 0.0 if regression else targets[t] * f[0] < own.level
        rescale(model, 1.0 - own.learning_rate * own.l2)
        if active:
            add_to(model, insert(model, x, norm), plus, minus, step * sign)
            forget(model)
        # a loss makes it easier to have none: a wider tube, a smaller margin
        change = step * (1.0 - own.nu) if active else -step * own.nu
        own.level += change if regression else -change
    return np.int64(rows.shape[0])


@compiled(entry=True)
def learn_novelty(call):
    """The same without targets: level = rho, and an example below it is strange. scores[t] = rho - f(x_t)"""
    model = unpack(call)
    rows, _, weights, scores = examples(call)
    own = _state(model.own)
    for t in range(rows.shape[0]):
        x, f = row_of(rows, t), row_of(scores, t)
        norm = observe(model, x, f)
        if norm < 0.0:
            return t
        _, _, plus, minus = judge(model, f, 1.0, 0.0)
        f[0] = own.level - f[0]
        if weights[t] == 0.0:
            continue
        step = limited(weights[t] * own.learning_rate)
        # at first nothing lies below rho = 0, but everything is new
        strange = f[0] > 0.0 or (own.level <= 0.0 and model.head.count == 0)
        rescale(model, 1.0 - own.learning_rate * own.l2)
        if strange:
            store(model, x, norm, plus, minus, step, needs_of(model))
            if model.head.factored:
                keep_apart(model)
                check_factor(model)
            fit(model, model.head.count - 1)
        own.level += -step * (1.0 - own.nu) if strange else step * own.nu
    return np.int64(rows.shape[0])


@compiled(entry=True)
def score_novelty(call):
    """scores[t] = rho - f(x_t). Returns how many were done, as `decide` does."""
    done, model = decide(call), unpack(call)
    _, _, _, scores = examples(call)
    for t in range(done):
        scores[t, 0] = _state(model.own).level - scores[t, 0]
    return done


@compiled(entry=True)
def shrink_to_budget(call):
    """Maintain until a budget that has been made smaller is kept."""
    fit(unpack(call), np.int64(-1))


@compiled
def fit(model, observed):
    keep_budget(model, False, needs_of(model), observed)

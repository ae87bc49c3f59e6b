"""The budget Perceptron of Crammer, Kandola and Singer (CKS).

K. Crammer, J. Kandola, Y. Singer. Online classification on a budget. NIPS 2003.

paper   here          Every example with y f(x) <= beta becomes a support vector with coefficient y. A full
B       budget        model drops the vector that is classified best without itself: the largest
beta    margin        y_i (f(x_i) - a_i k(x_i, x_i)). The scores f(x_i) of the support are kept up to date.
"""

from __future__ import annotations

import numpy as np

from .jit import compiled
from .losses import judge, limited
from .model import examples, unpack
from .rounds import observe
from .rows import kernel_row, row_of, self_kernel
from .support import add_to, insert, remove, vector
from .views import carver

STATE = np.dtype((np.record, [("margin", "f8")]))
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
        if targets[t] * f[0] > own.margin or weights[t] == 0.0:
            continue
        _, _, plus, minus = judge(model, f, targets[t], 0.0)
        amount = limited(weights[t]) * targets[t]
        kept = model.extras[0]  # f(x_i) of every vector
        for i in range(model.head.count):
            kept[i] += amount * model.row[i]
        j = insert(model, x, norm)
        kept[j] = f[0] + amount * self_kernel(model, norm)
        add_to(model, j, plus, minus, amount)
        drop_easiest(model)
    return np.int64(rows.shape[0])


@compiled(entry=True)
def shrink_to_budget(call):
    """Remove by the same rule until a budget that has been made smaller is kept."""
    drop_easiest(unpack(call))


@compiled
def drop_easiest(model):
    head, kept, coefficients = model.head, model.extras[0], model.coefficients[0]
    while head.count > head.budget:
        easiest, best = head.count - 1, -np.inf
        for i in range(head.count):
            without = kept[i] - coefficients[i] * self_kernel(model, model.norms[i])
            margin = without if coefficients[i] > 0.0 else -without
            older = model.arrivals[i] < model.arrivals[easiest]
            if margin > best or (margin == best and older):
                easiest, best = i, margin
        vector(model, easiest, model.x)
        kernel_row(model, model.x, model.norms[easiest])
        for i in range(head.count):
            kept[i] -= coefficients[easiest] * model.row[i]
        remove(model, easiest)

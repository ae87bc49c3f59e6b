"""Projectron and Projectron++: a mistake is projected on the support rather than stored, where that will do.

F. Orabona, J. Keshet, B. Caputo. Bounded kernel-based online learning. JMLR 10, 2009: project if the squared
distance to the span of the support is at most eta (`threshold`).
J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu. Large scale online kernel learning. JMLR 17, 2016: store everything
until the budget is full, then project everything.

paper          here             paper       here
P k(x, .)      d                Delta^2     residual, squared distance to the span
|P k(x, .)|^2  length           tau         share of the projection added on a margin error
"""

from __future__ import annotations

import math

import numpy as np

from .jit import compiled
from .losses import judge, limited, mistaken
from .model import examples, unpack
from .projection import TINY, check_factor, extend, fold, project, project_out
from .rounds import observe
from .rows import row_of, self_kernel
from .support import add_to, insert, lightest
from .views import carver, numbers

STATE = np.dtype(
    (
        np.record,
        [
            ("learning_rate", "f8"),
            ("epsilon", "f8"),
            ("threshold", "f8"),  # NaN: none, the rule of 2016
            ("eager", "i8"),  # Projectron++: learn from margin errors too
        ],
    )
)
_state = carver(STATE, 0)


@compiled(entry=True)
def learn(call):
    """Learn the rows in order; scores[t] = f(x_t) before it is learned. Returns how many were done."""
    model = unpack(call)
    rows, targets, weights, scores = examples(call)
    own, head = _state(model.own), model.head
    for t in range(rows.shape[0]):
        x, f = row_of(rows, t), row_of(scores, t)
        norm = observe(model, x, f)
        if norm < 0.0:
            return t
        loss, sign, plus, minus = judge(model, f, targets[t], own.epsilon)
        if weights[t] == 0.0:
            continue
        mistake = mistaken(model, f, loss, sign, plus, minus)
        # with two classes and f = 0 exactly there is no margin to be wrong
        inside = loss > 0.0 and (loss < 1.0 or minus >= 0)
        margin_error = own.eager != 0 and inside and head.count > 0
        if not (mistake or margin_error):
            continue
        d, k_xx = numbers(model.free, head.count), self_kernel(model, norm)
        length = project(model, model.row, d)
        residual = max(k_xx - length, 0.0)
        amount = limited(weights[t] * own.learning_rate) * sign
        if not mistake:
            fold(model, d, plus, minus, share(model, own, loss, length, residual) * amount)
        elif head.count >= head.budget or residual <= own.threshold or residual <= TINY * k_xx:
            fold(model, d, plus, minus, amount)
        else:
            j = insert(model, x, norm)
            extend(model, d, residual, j)
            add_to(model, j, plus, minus, amount)
            check_factor(model)
    return np.int64(rows.shape[0])


@compiled
def share(model, own, loss, length, residual):
    """tau of a margin error; 0 leaves the model alone."""
    if length <= 0.0:
        return 0.0
    tau = min(loss / length, 1.0)
    if math.isnan(own.threshold):  # 2016
        b = model.head.budget + 1.0
        u = 0.25 * math.sqrt(b / math.log(b))
        gain = tau * (2.0 * loss - tau * length - 2.0 * u * math.sqrt(residual))
        return tau if gain >= 0.0 else 0.0
    if residual > 0.0 and own.threshold == 0.0:
        return 0.0
    rest = loss - residual / own.threshold if residual > 0.0 else loss
    return max(0.0, min(tau, 2.0 * rest / length))


@compiled(entry=True)
def shrink_to_budget(call):
    """Project the lightest vectors on the others until a budget that has been made smaller is kept."""
    model = unpack(call)
    while model.head.count > model.head.budget:
        project_out(model, lightest(model, model.scratch))

"""Online gradient descent with kernels, without a budget.

J. Kivinen, A. Smola, R. Williamson. Online learning with kernels. IEEE Trans. Signal Processing 52, 2004,
without weight decay, as the baseline of J. Lu et al. Large scale online kernel learning. JMLR 17, 2016.

Every example with a loss becomes a support vector with coefficient eta (the learning rate) in the direction
of the loss; in regression eta times the residual.
"""

from __future__ import annotations

import numpy as np

from .jit import compiled
from .losses import judge, limited, step_length
from .model import examples, unpack
from .rounds import observe
from .rows import row_of
from .support import add_to, insert
from .views import carver

STATE = np.dtype((np.record, [("learning_rate", "f8"), ("epsilon", "f8")]))
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
        loss, sign, plus, minus = judge(model, f, targets[t], own.epsilon)
        if weights[t] > 0.0 and loss > 0.0:
            step = weights[t] * own.learning_rate * step_length(model, loss, own.epsilon)
            add_to(model, insert(model, x, norm), plus, minus, limited(step) * sign)
    return np.int64(rows.shape[0])

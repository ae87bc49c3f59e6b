"""The kernel Perceptron, and the randomised budget Perceptron (RBP).

F. Rosenblatt. The Perceptron. Psychological Review 65, 1958; with kernels: Y. Freund, R. Schapire. Large
margin classification using the Perceptron algorithm. Machine Learning 37, 1999.
G. Cavallanti, N. Cesa-Bianchi, C. Gentile. Tracking the best hyperplane with a simple budget Perceptron.
Machine Learning 69, 2007.

Every mistake becomes a support vector. RBP is the same with a budget: before a newcomer is stored, one of
the old vectors is removed, all equally likely. In regression an error above epsilon is a mistake, and the
step is the learning rate.
"""

from __future__ import annotations

import numpy as np

from .jit import compiled
from .losses import judge, limited, mistaken
from .model import examples, unpack
from .removal import forget
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
        if weights[t] > 0.0 and mistaken(model, f, loss, sign, plus, minus):
            j = insert(model, x, norm)
            add_to(model, j, plus, minus, limited(weights[t] * own.learning_rate) * sign)
            forget(model)
    return np.int64(rows.shape[0])

"""The kernel Perceptron, and the randomised budget Perceptron (RBP).

F. Rosenblatt. The Perceptron. Psychological Review 65, 1958; with kernels: Y. Freund, R. Schapire. Large
margin classification using the Perceptron algorithm. Machine Learning 37, 1999.
G. Cavallanti, N. Cesa-Bianchi, C. Gentile. Tracking the best hyperplane with a simple budget Perceptron.
Machine Learning 69, 2007.

Every mistake becomes a support vector. RBP does the same with a budget: a full model removes one of its old vectors,
all equally likely. Other strategies use the same pass; removal of the oldest is the first algorithm of section
3 in O. Dekel, S. Shalev-Shwartz, Y. Singer. The Forgetron. NIPS 2005. In regression an error above epsilon is a mistake,
and the step is the learning rate.
"""

from __future__ import annotations

from ...budget.keep import FACTOR, MANY, PAIRS, REMOVE, add_within_budget
from ...compiling.array_views import carver, record
from ...compiling.jit import compiled
from ...examples.present_features import unpack
from ...rounds.losses import clamp_step, loss_and_direction, mistaken
from ...rounds.observe import count_iterate, report, score_example

STATE = record("f8 learning_rate epsilon average averaged")
state_at = carver(STATE, 0)


@compiled(called_from_python=True)
def learn(call):
    """The pass for models that remove vectors."""
    return learn_rows(call, REMOVE)


@compiled(called_from_python=True)
def learn_merging(call):
    """The pass for models that merge pairs."""
    return learn_rows(call, PAIRS)


@compiled(called_from_python=True)
def learn_merging_many(call):
    """The pass for models that merge more than two at once."""
    return learn_rows(call, MANY)


@compiled(called_from_python=True)
def learn_projecting(call):
    """The pass for models that keep a factor of the Gram matrix."""
    return learn_rows(call, FACTOR)


@compiled(inlined=True)
def learn_rows(call, strategy):
    """Learn the rows in order; scores[t] = f(x_t) before row t is learned. Returns how many rows it has processed."""
    model, stream, n = unpack(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w, norm = score_example(model, stream, t)
        if norm < 0.0:
            return t
        loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
        wrong = mistaken(model, f, loss, sign, plus, minus)
        report(model, state.average, f, y, w)
        if w > 0.0 and wrong:  # w <- w + y k(x, .), within the budget
            step = clamp_step(w * state.learning_rate) * sign
            add_within_budget(model, x, norm, plus, minus, step, strategy)
        if w > 0.0:
            count_iterate(model, state)
    return n

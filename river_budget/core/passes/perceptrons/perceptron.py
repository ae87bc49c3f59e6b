"""The kernel Perceptron, and the randomised budget Perceptron (RBP).

F. Rosenblatt. The Perceptron. Psychological Review 65, 1958; with kernels: Y. Freund, R. Schapire. Large
margin classification using the Perceptron algorithm. Machine Learning 37, 1999.
G. Cavallanti, N. Cesa-Bianchi, C. Gentile. Tracking the best hyperplane with a simple budget Perceptron.
Machine Learning 69, 2007.

    paper   here
    B       budget
    w       coefficients
    y       sign; of several classes y is `plus`, and the one predicted instead `minus` (core/rounds/losses.py)

Every mistake becomes a support vector. RBP does the same with a budget: a full model removes one of its old vectors,
all equally likely. Other strategies use the same pass; removal of the oldest is the first algorithm of section
3 in O. Dekel, S. Shalev-Shwartz, Y. Singer. The Forgetron. NIPS 2005. In regression an error above epsilon is a mistake,
and the step is the learning rate.
"""

from __future__ import annotations

from ...budget.keep import FACTOR, MANY, PAIRS, REMOVE, add_within_budget
from ...compiling.array_views import carver, record
from ...compiling.jit import compiled
from ...rounds.losses import loss_and_direction, mistaken
from ...rounds.observe import count_iterate, learn_rows_by, observe_with_mean

STATE = record("f8 learning_rate epsilon average averaged")
state_at = carver(STATE, 0)


@compiled(called_from_python=True)
def learn(call):
    """The pass for models that remove vectors."""
    return learn_rows_by(call, state_at, observe_with_mean, round_of, REMOVE)


@compiled(called_from_python=True)
def learn_merging(call):
    """The pass for models that merge pairs."""
    return learn_rows_by(call, state_at, observe_with_mean, round_of, PAIRS)


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
    """A mistake becomes a support vector: w <- w + y k(x, .), within the budget."""
    loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
    if mistaken(model, f, loss, sign, plus, minus):
        step = w * state.learning_rate * sign
        add_within_budget(model, x, norm, plus, minus, step, strategy)
    count_iterate(model, state)

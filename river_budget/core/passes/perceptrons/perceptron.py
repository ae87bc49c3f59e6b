"""The kernel Perceptron, and the randomised budget Perceptron (RBP).

F. Rosenblatt. The Perceptron. Psychological Review 65, 1958; with kernels: Y. Freund, R. Schapire.
Large margin classification using the Perceptron algorithm. Machine Learning 37, 1999. G.
Cavallanti, N. Cesa-Bianchi, C. Gentile. Tracking the best hyperplane with a simple budget
Perceptron. Machine Learning 69, 2007.

    paper   here
    B       budget
    w       coefficients
    y       sign; of several classes y is `plus`, and the one predicted instead `minus`
            (core/rounds/losses.py)

Every mistake becomes a support vector. RBP does the same with a budget: a full model removes one of
its old vectors, all equally likely. Other strategies use the same pass; removal of the oldest is
the first algorithm of section 3 in O. Dekel, S. Shalev-Shwartz, Y. Singer. The Forgetron. NIPS
2005. In regression an error above epsilon is a mistake, and the step is the learning rate.
"""

from __future__ import annotations

from ...budget.strategies import add_merging, add_merging_several, add_projecting, add_removing
from ...compiling import inlined, passes
from ...expansion.examples import example
from ...memory import record
from ...rounds.losses import is_mistake, loss_and_direction
from ...rounds.observe import count_iterate, observe_with_mean

STATE = record("f8 learning_rate epsilon average averaged")


@passes
def learn(m, states, rows):
    """The pass for models that remove vectors."""
    return learn_by(m, states, rows, add_removing)


@passes
def learn_merging(m, states, rows):
    """The pass for models that merge pairs."""
    return learn_by(m, states, rows, add_merging)


@passes
def learn_merging_several(m, states, rows):
    """The pass for models that merge more than two at once."""
    return learn_by(m, states, rows, add_merging_several)


@passes
def learn_projecting(m, states, rows):
    """The pass for models that keep a factor of the Gram matrix."""
    return learn_by(m, states, rows, add_projecting)


@inlined
def learn_by(m, states, rows, add_and_keep_budget):
    """A mistake becomes a support vector: w <- w + y k(x, .), within the budget."""
    head, state = m.head[0], states[0]
    for t in range(rows.scores.shape[0]):
        x, y, w = example(m, rows, t), rows.targets[t], rows.weights[t]
        norm, f = observe_with_mean(m, state, x, rows.scores[t], y, w)
        if norm < 0.0:
            return t
        if not w > 0.0:
            continue
        loss, sign, plus, minus = loss_and_direction(head, f, y, state.epsilon)
        if is_mistake(head, f, loss, sign, plus, minus):
            add_and_keep_budget(m, x, norm, plus, minus, w * state.learning_rate * sign, False)
        count_iterate(m, state)
    return rows.scores.shape[0]

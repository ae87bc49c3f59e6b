"""Online gradient descent with kernels, without a budget.

J. Kivinen, A. Smola, R. Williamson. Online learning with kernels. IEEE Trans. Signal Processing 52,
2004, without weight decay, as the baseline of J. Lu et al. Large scale online kernel learning. JMLR
17, 2016.

    paper   here
    eta     learning_rate
    alpha   coefficients

Every example with a loss becomes a support vector with coefficient eta in the direction of the
loss; in regression eta times the residual.
"""

from __future__ import annotations

from ...compiling import inlined, passes
from ...expansion.support import add_to, insert
from ...memory import record
from ...rounds.losses import loss_and_direction, step_length
from ...rounds.observe import count_iterate, learn_rows, observe_with_mean

STATE = record("f8 learning_rate epsilon average averaged")


@passes
def learn(m, states, rows):
    """The learning pass."""
    return learn_rows(m, states, rows, observe_with_mean, round_of)


@inlined
def round_of(m, state, x, norm, f, y, w):
    """An example with a loss: f <- f - eta times the gradient. Nothing is ever removed."""
    loss, sign, plus, minus = loss_and_direction(m.head[0], f, y, state.epsilon)
    if loss > 0.0:
        step = w * state.learning_rate * step_length(m.head[0], loss, state.epsilon)
        add_to(m, insert(m, x, norm), plus, minus, step * sign)
    count_iterate(m, state)

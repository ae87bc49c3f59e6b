"""Online gradient descent with kernels, without a budget.

J. Kivinen, A. Smola, R. Williamson. Online learning with kernels. IEEE Trans. Signal Processing 52, 2004,
without weight decay, as the baseline of J. Lu et al. Large scale online kernel learning. JMLR 17, 2016.

    paper   here
    eta     learning_rate
    alpha   coefficients

Every example with a loss becomes a support vector with coefficient eta in the direction of the loss; in regression eta
times the residual.
"""

from __future__ import annotations

from ...compiling.array_views import carver, record
from ...compiling.jit import compiled
from ...expansion.support import add_to, insert
from ...rounds.losses import loss_and_direction, step_length
from ...rounds.observe import count_iterate, learn_rows, observe_with_mean

STATE = record("f8 learning_rate epsilon average averaged")
state_at = carver(STATE, 0)


@compiled(called_from_python=True)
def learn(call):
    """The learning pass."""
    return learn_rows(call, state_at, observe_with_mean, round_of)


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w):
    """An example with a loss: f <- f - eta times the gradient. Nothing is ever removed."""
    loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
    if loss > 0.0:
        step = w * state.learning_rate * step_length(model, loss, state.epsilon)
        add_to(model, insert(model, x, norm), plus, minus, step * sign)
    count_iterate(model, state)

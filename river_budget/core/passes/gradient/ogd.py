"""Online gradient descent with kernels, without a budget.

J. Kivinen, A. Smola, R. Williamson. Online learning with kernels. IEEE Trans. Signal Processing 52, 2004,
without weight decay, as the baseline of J. Lu et al. Large scale online kernel learning. JMLR 17, 2016.

Every example with a loss becomes a support vector with coefficient eta (the learning rate) in the direction
of the loss; in regression eta times the residual.
"""

from __future__ import annotations

from ...compiling.array_views import carver, record
from ...compiling.jit import compiled
from ...examples.present_features import unpack
from ...expansion.support import add_to, insert
from ...rounds.losses import clamp_step, loss_and_direction, step_length
from ...rounds.observe import count_iterate, report, score_example

STATE = record("f8 learning_rate epsilon average averaged")
state_at = carver(STATE, 0)


@compiled(called_from_python=True)
def learn(call):
    """Learn the rows in order; scores[t] = f(x_t) before row t is learned. Returns how many rows it has processed."""
    model, stream, n = unpack(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w, norm = score_example(model, stream, t)
        if norm < 0.0:
            return t
        loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
        report(model, state.average, f, y, w)
        if w > 0.0 and loss > 0.0:
            step = w * state.learning_rate * step_length(model, loss, state.epsilon)
            add_to(model, insert(model, x, norm), plus, minus, clamp_step(step) * sign)
        if w > 0.0:
            count_iterate(model, state)
    return n

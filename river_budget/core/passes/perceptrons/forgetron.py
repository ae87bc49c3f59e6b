"""Forgetron: a kernel Perceptron that shrinks its coefficients before it removes the oldest vector.

O. Dekel, S. Shalev-Shwartz, Y. Singer. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 2005.

    paper    here
    B        budget
    M_t      mistakes
    r_t      r, the oldest vector, which is removed
    lambda   weight of r
    mu_t     margin of r under the updated hypothesis
    phi_t    factor by which the model shrinks
    Q_t      state.damage, what removals have cost so far

The bound of the paper asks for k(x, x) <= 1, so other kernels are normalised. With several classes and in
regression the same rule is a heuristic: the weight is that of the vector's own class, or its absolute value.
"""

from __future__ import annotations

import math

from ...block.codes import Task
from ...block.limits import within
from ...compiling.array_views import carver, f64, record
from ...compiling.jit import compiled
from ...examples.call import model_of
from ...expansion.kernel_rows import score
from ...expansion.support import add_to, insert, oldest, remove, rescale
from ...rounds.losses import loss_and_direction, mistaken
from ...rounds.observe import learn_rows, observe
from ...vectors.table import read_vector

BINARY, MULTICLASS = int(Task.BINARY), int(Task.MULTICLASS)
STATE = record("f8 learning_rate epsilon mistakes damage factor")  # factor: of the last removal
state_at = carver(STATE, 0)
# The largest weight or margin, so that sums of products stay finite with kernels that have no bound
LARGEST_WEIGHT = 1e70


@compiled(called_from_python=True)
def learn(call):
    """The learning pass."""
    return learn_rows(call, state_at, observe, round_of)


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w):
    """A mistake: (1) Perceptron step, then, above the budget, (2) shrinking and (3) removal."""
    loss, sign, plus, minus = loss_and_direction(model, f, y, state.epsilon)
    if model.head.task == BINARY:
        mistake = y * f[0] <= 0.0
    else:
        mistake = mistaken(model, f, loss, sign, plus, minus)
    if mistake:
        state.mistakes += 1.0
        add_to(model, insert(model, x, norm), plus, minus, w * state.learning_rate * sign)  # (1)
        while model.head.count > model.head.budget:
            shrink_and_remove_oldest(model, state)  # (2), (3)


@compiled(called_from_python=True)
def shrink_to_budget(call):
    """Remove vectors by the rule of `learn` until the model keeps its budget, which a user has made smaller."""
    model = model_of(call)
    while model.head.count > model.head.budget:
        shrink_and_remove_oldest(model, state_at(model.state))


@compiled
def shrink_and_remove_oldest(model, state):
    """Multiply the model by the largest factor that keeps the bound, and remove the oldest vector."""
    r, f = oldest(model), f64(model.heap, model.coefficients.shape[0])
    score(model, read_vector(model, r), model.norms[r], f)
    weight, margin = weight_and_margin(model, r, f)
    weight, margin = within(weight, LARGEST_WEIGHT), within(margin, LARGEST_WEIGHT)
    factor = largest_factor(weight, margin, state.damage, state.mistakes)
    rescale(model, factor)  # (2)
    state.damage += damage(weight, factor, margin)
    state.factor = factor
    remove(model, r)  # (3)


@compiled
def weight_and_margin(model, r, f):
    """(weight, margin) of vector r: lambda and mu of the paper, positive if they agree with its target."""
    head, coefficients = model.head, model.coefficients
    if head.task == MULTICLASS:  # the class of a vector is the one with the positive coefficient
        y = 0
        for c in range(1, coefficients.shape[0]):
            if coefficients[c, r] > coefficients[y, r]:
                y = c
        return head.scale * abs(coefficients[y, r]), f[y]
    weight = head.scale * coefficients[0, r]
    margin = math.copysign(1.0, weight) * f[0]
    return abs(weight), margin if head.task == BINARY else abs(f[0])


@compiled
def damage(weight, factor, margin):
    """Psi of section 3: what removing a vector of this weight adds to the mistake bound."""
    return (weight * factor) ** 2 + 2.0 * weight * factor * (1.0 - factor * margin)


@compiled
def largest_factor(weight, margin, spent, mistakes):
    """The largest phi in (0, 1] with damage(weight, phi, margin) + spent <= 15/32 mistakes.

    A quadratic a phi^2 + b phi + c <= 0 with c < 0 <= b: phi = 1 if that fulfils it, or else the smallest positive
    root, in the form that neither cancels nor divides by a. (If rounding has made c >= 0, phi is 0.)
    """
    a, b, c = weight * (weight - 2.0 * margin), 2.0 * weight, spent - 15.0 / 32.0 * mistakes
    if a + b + c <= 0.0:
        return 1.0
    return min(1.0, max(0.0, -2.0 * c / (b + math.sqrt(max(b * b - 4.0 * a * c, 0.0)))))

"""The budget Perceptron of Crammer, Kandola and Singer (CKS).

K. Crammer, J. Kandola, Y. Singer. Online classification on a budget. NIPS 2003.

    paper    here
    B        budget
    beta     margin
    f(x_i)   scores, of every vector, updated with every step: row 0 of per_vector

Every example with y f(x) <= beta becomes a support vector with coefficient y. A full model drops the vector that is
classified best without itself: the largest y_i (f(x_i) - a_i k(x_i, x_i)).
"""

from __future__ import annotations

import numpy as np

from ...compiling.array_views import carver, record
from ...compiling.jit import compiled
from ...examples.call import model_of
from ...expansion.kernel_rows import row_of_vector, self_kernel
from ...expansion.support import add_to, insert, remove
from ...rounds.losses import clamp_step, loss_and_direction
from ...rounds.observe import learn_rows, observe

# Margins that differ by a smaller share of the margin, or of the vector's own part of it, count as equal
TIE = 1e-9
STATE = record("f8 margin")
state_at = carver(STATE, 0)


@compiled(called_from_python=True)
def learn(call):
    """The learning pass."""
    return learn_rows(call, state_at, observe, round_of)


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w):
    """An example with y f(x) <= beta: f <- f + y k(x, .), then, above the budget, remove the easiest vector."""
    if y * f[0] > state.margin:
        return
    _, _, plus, minus = loss_and_direction(model, f, y, 0.0)
    amount, scores = clamp_step(w) * y, model.per_vector[0]  # f(x_i) of every vector
    for i in range(model.head.count):
        scores[i] += amount * model.row[i]
    j = insert(model, x, norm)
    scores[j] = f[0] + amount * self_kernel(model, norm)
    add_to(model, j, plus, minus, amount)
    remove_easiest(model)


@compiled(called_from_python=True)
def shrink_to_budget(call):
    """Remove by the same rule until the model keeps its budget, which a user has made smaller."""
    remove_easiest(model_of(call))


@compiled
def remove_easiest(model):
    """Remove the vectors that are classified best without themselves, until the model keeps its budget."""
    head, scores, coefficients = model.head, model.per_vector[0], model.coefficients[0]
    while head.count > head.budget:
        margins, easiest = model.buffer, np.int64(0)
        for i in range(head.count):
            without = scores[i] - coefficients[i] * self_kernel(model, model.norms[i])
            margins[i] = without if coefficients[i] > 0.0 else -without
            easiest = i if margins[i] > margins[easiest] else easiest
        best = margins[easiest]
        own = abs(coefficients[easiest]) * self_kernel(model, model.norms[easiest])
        equal = best - TIE * max(abs(best), own)  # equal up to rounding: remove the oldest
        for i in range(head.count):
            if margins[i] >= equal and model.arrivals[i] < model.arrivals[easiest]:
                easiest = i
        row_of_vector(model, easiest)
        for i in range(head.count):
            scores[i] -= coefficients[easiest] * model.row[i]
        remove(model, easiest)

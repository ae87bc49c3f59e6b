"""The budget Perceptron of Crammer, Kandola and Singer (CKS).

K. Crammer, J. Kandola, Y. Singer. Online classification on a budget. NIPS 2003.

    paper    here
    B        budget
    beta     margin
    f(x_i)   scores, of every vector, updated with every step: row 0 of per_vector

Every example with y f(x) <= beta becomes a support vector with coefficient y. A full model drops
the vector that is classified best without itself: the largest y_i (f(x_i) - a_i k(x_i, x_i)).
"""

from __future__ import annotations

from ...compiling import inlined, inner, passes
from ...expansion.kernels import row_of_vector, self_kernel
from ...expansion.support import add_to, insert, remove
from ...memory import record
from ...rounds.losses import clamp_step, loss_and_direction
from ...rounds.observe import learn_rows, observe

# Margins that differ by a smaller share of the margin, or of the vector's own part of it, count as
# equal
TIE = 1e-9
STATE = record("f8 margin")


@passes
def learn(m, states, rows):
    """The learning pass."""
    return learn_rows(m, states, rows, observe, round_of)


@inlined
def round_of(m, state, x, norm, f, y, w):
    """An example with y f(x) <= beta: f <- f + y k(x, .), then, above the budget, remove the
    easiest vector.
    """
    if y * f[0] > state.margin:
        return
    _, _, plus, minus = loss_and_direction(m.head[0], f, y, 0.0)
    amount, scores = clamp_step(w) * y, m.per_vector[0]  # f(x_i) of every vector
    for i in range(m.head[0].count):
        scores[i] += amount * m.row[i]
    j = insert(m, x, norm)
    scores[j] = f[0] + amount * self_kernel(m, norm)
    add_to(m, j, plus, minus, amount)
    remove_easiest(m)


@passes
def shrink_to_budget(m):
    """Remove by the same rule until the model keeps its budget, which a user has made smaller."""
    remove_easiest(m)


@inner
def remove_easiest(m):
    """Remove the vectors that are classified best without themselves, until the model keeps its
    budget.
    """
    head, scores, coefficients = m.head[0], m.per_vector[0], m.coefficients[0]
    while head.count > head.budget:
        margins, easiest = m.buffer, 0
        for i in range(head.count):
            without = scores[i] - coefficients[i] * self_kernel(m, m.norms[i])
            margins[i] = without if coefficients[i] > 0.0 else -without
            easiest = i if margins[i] > margins[easiest] else easiest
        best = margins[easiest]
        own = abs(coefficients[easiest]) * self_kernel(m, m.norms[easiest])
        equal = best - TIE * max(abs(best), own)  # equal up to rounding: remove the oldest
        for i in range(head.count):
            if margins[i] >= equal and m.arrivals[i] < m.arrivals[easiest]:
                easiest = i
        row_of_vector(m, easiest)
        for i in range(head.count):
            scores[i] -= coefficients[easiest] * m.row[i]
        remove(m, easiest)

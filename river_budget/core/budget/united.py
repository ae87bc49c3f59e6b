"""The sum of several expansions: insert vectors with their coefficients, then reduce them to a
budget.

Removes the vectors that change the function least, whatever strategy the algorithm has for streams:
a sum has no newcomer, and the ages of its vectors mean little.
"""

from __future__ import annotations

from ..compiling import inlined, inner, passes
from ..expansion.examples import example
from ..expansion.kernels import kernel_row, norm_of, self_kernel
from ..expansion.support import insert, lightest, remove
from .projection import (
    TINY,
    cheapest,
    extend_factor,
    project,
    project_out,
    remove_dependent,
    spread,
    spread_mean,
)


@inlined
def absorb_each(m, rows, absorb_one):
    """Add the sum of a_t k(x_t, .) over the examples x_t to an empty model.

    rows.scores holds the coefficients a_t, and behind them those of a mean of the iterates.
    """
    for t in range(rows.scores.shape[0]):
        x = example(m, rows, t)
        absorb_one(m, x, norm_of(m, x), rows.scores[t])
    return rows.scores.shape[0]


@inner
def insert_with(m, x, norm, a):
    """Append x with the coefficients a, and those of a mean behind them. Returns its slot."""
    j, outputs = insert(m, x, norm), m.coefficients.shape[0]
    for r in range(outputs):
        m.coefficients[r, j] = a[r]
    first = m.per_vector.shape[0] - outputs
    for r in range(outputs, a.shape[0]):
        m.per_vector[first + r - outputs, j] = a[r]
    return j


@inner
def insert_or_project(m, x, norm, a):
    """`insert_with` for a model with a factor: projects a vector that depends linearly on the
    others.
    """
    kernel_row(m, x, norm)
    d, length = m.work[0], self_kernel(m, norm)
    residual = length - project(m, m.row, d)
    if residual > TINY * length:
        extend_factor(m, d, residual, insert_with(m, x, norm, a))
        remove_dependent(m)
        return
    outputs, first = m.coefficients.shape[0], m.per_vector.shape[0] - m.coefficients.shape[0]
    for r in range(outputs):
        spread(m, r, a[r], d)
    for r in range(outputs, a.shape[0]):
        spread_mean(m, first + r - outputs, a[r], d)


@passes
def absorb(m, rows):
    """The pass for models without a factor."""
    return absorb_each(m, rows, insert_with)


@passes
def absorb_projecting(m, rows):
    """The pass for models with a factor."""
    return absorb_each(m, rows, insert_or_project)


@passes
def remove_lightest(m):
    """Remove the vectors with the smallest |a|^2 k(x, x) until the model keeps its budget."""
    while m.head[0].count > m.head[0].budget:
        remove(m, lightest(m, m.buffer))


@passes
def project_cheapest(m):
    """Project vectors on the others, those first that change w least, until the model keeps its
    budget.
    """
    while m.head[0].count > m.head[0].budget:
        project_out(m, cheapest(m, m.head[0].count))

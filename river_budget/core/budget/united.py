"""The sum of several expansions: insert vectors with their coefficients, then reduce them to a budget.

Removes the vectors that change the function least, whatever strategy the algorithm has for streams: a sum has
no newcomer, and the ages of its vectors mean little.
"""

from __future__ import annotations

from ..compiling.array_views import f64
from ..compiling.jit import compiled
from ..examples.call import model_of
from ..examples.present_features import example_and_scores, unpack
from ..expansion.kernel_rows import kernel_row, norm_of, self_kernel
from ..expansion.mean_iterate import first_mean
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


@compiled(called_from_python=True)
def absorb(call):
    """Add the sum of a_t k(x_t, .) over the rows x_t to an empty model.

    The array of scores of the call holds the coefficients a_t, and behind them those of a mean of the iterates.
    """
    model, stream, n = unpack(call)
    for t in range(n):
        x, a = example_and_scores(model, stream, t)
        insert_with(model, x, norm_of(model, x), a)
    return n


@compiled
def insert_with(model, x, norm, a):
    """Append x with the coefficients a, and those of a mean behind them. Returns its slot."""
    j, outputs = insert(model, x, norm), model.coefficients.shape[0]
    for r in range(outputs):
        model.coefficients[r, j] = a[r]
    first = first_mean(model)
    for r in range(outputs, a.shape[0]):
        model.per_vector[first + r - outputs, j] = a[r]
    return j


@compiled(called_from_python=True)
def absorb_projecting(call):
    """`absorb` for a model with a factor: projects vectors that depend linearly on the others."""
    model, stream, n = unpack(call)
    for t in range(n):
        x, a = example_and_scores(model, stream, t)
        norm = norm_of(model, x)
        kernel_row(model, x, norm)
        d, length = f64(model.heap, model.head.count), self_kernel(model, norm)
        residual = length - project(model, model.row, d)
        if residual <= TINY * length:
            outputs, first = model.coefficients.shape[0], first_mean(model)
            for r in range(outputs):
                spread(model, r, a[r], d)
            for r in range(outputs, a.shape[0]):
                spread_mean(model, first + r - outputs, a[r], d)
        else:
            extend_factor(model, d, residual, insert_with(model, x, norm, a))
            remove_dependent(model)


@compiled(called_from_python=True)
def remove_lightest(call):
    """Remove the vectors with the smallest |a|^2 k(x, x) until the model keeps its budget."""
    model = model_of(call)
    while model.head.count > model.head.budget:
        remove(model, lightest(model, model.buffer))


@compiled(called_from_python=True)
def project_cheapest(call):
    """Project vectors on the others, those first that change w least, until the model keeps its budget."""
    model = model_of(call)
    while model.head.count > model.head.budget:
        project_out(model, cheapest(model, model.head.count))

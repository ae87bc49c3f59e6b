"""Passes that score examples.

Of a dense stream several examples at a time share what is loaded of the vectors. It is the same arithmetic in the same
order, so that the scores are those of one example after the other to the last bit.
"""

from __future__ import annotations

from .calls import scores_of, unpack_rows
from .codes import Need
from .examples import NONE, example_and_scores, unpack
from .jit import compiled
from .limits import RBF, cancels, padded_count, usable
from .numba_types import CALL, WHOLE, f64_matrix
from .products import TOGETHER, products_together
from .rows import from_products, has_products, kernel_row, norm_of, score, score_row
from .shared import is_ready, shared

NORMS = TOGETHER  # the row behind those of products


@compiled(called_from_python=True)
def decide(call):
    """Scores of all rows. Returns how many were done: it stops at a row that is not finite."""
    model, stream, n = unpack(call)
    together, first = is_ready(score_together) and are_in_a_table(model), NONE
    while first < n:
        if together:
            first = score_together(call, first, n)
        for t in range(first, min(first + TOGETHER, n)):
            x, f = example_and_scores(model, stream, t)
            norm = norm_of(model, x)
            if not usable(x, norm):
                return t
            score(model, x, norm, f)
        first += TOGETHER
    return n


@compiled(always_inlined=True)
def are_in_a_table(model):
    """Whether kernel values follow from products with a table of vectors."""
    return has_products(model) and model.head.slots == 0


@compiled
def are_alike(model, stream, t):
    """Whether the next examples lack no feature, so that they lie one behind the other, and can be scored."""
    first, _ = example_and_scores(model, stream, t)
    places, at, width, _, _ = first
    for k in range(TOGETHER):
        x, _ = example_and_scores(model, stream, t + k)
        if x[0] != places or x[1] != at + 8 * k * width or x[2] != width or x[4] != width:
            return False
        norm = norm_of(model, x)
        if not usable(x, norm) or (model.head.kernel == RBF and cancels(model, norm)):
            return False
        desk(model)[NORMS, k] = norm
    return True


@compiled(always_inlined=True)
def desk(model):
    """A row of products for each of TOGETHER examples, and behind them a row of their norms."""
    return f64_matrix(model.heap, TOGETHER + 1, model.head.capacity)


@shared(Need.TOGETHER, WHOLE, CALL, WHOLE, WHOLE)
def score_together(call, t, n):
    """Scores of examples from t on as long as each TOGETHER of them are alike. Returns where that ends."""
    model, stream, _ = unpack_rows(call)
    products = desk(model)
    while t + TOGETHER <= n and are_alike(model, stream, t):
        first, _ = example_and_scores(model, stream, t)
        products_together(model, first, products, padded_count(model))
        for k in range(TOGETHER):
            row = products[k]
            from_products(model, row, products[NORMS, k])
            score_row(model, row, scores_of(stream, t + k))
        t += TOGETHER
    return t


@compiled(called_from_python=True)
def kernel_rows(call):
    """scores[t, j] = k(vector j, x_t)"""
    model, stream, n = unpack(call)
    for t in range(n):
        x, values = example_and_scores(model, stream, t)
        kernel_row(model, x, norm_of(model, x))
        for j in range(values.shape[0]):
            values[j] = model.row[j]
    return n

"""Passes that score examples.

Of a dense stream several examples at a time share what is loaded of the vectors. It is the same arithmetic in the same
order, so that the scores are those of one example after the other to the last bit.
"""

from __future__ import annotations

from .calls import scores_of
from .examples import example_and_scores, unpack
from .jit import compiled
from .numba_types import f64_matrix
from .products import TOGETHER, products_together
from .rows import (
    LINEAR,
    POLYNOMIAL,
    RBF,
    cancels,
    from_products,
    kernel_row,
    norm_of,
    padded_count,
    score,
    score_row,
    usable,
)

NORMS = TOGETHER  # the row behind those of products


@compiled(called_from_python=True)
def decide(call):
    """Scores of all rows. Returns how many were done: it stops at a row that is not finite."""
    model, stream, n = unpack(call)
    by_products = has_products(model)
    for first in range(0, n, TOGETHER):
        last = min(first + TOGETHER, n)
        if by_products and last == first + TOGETHER and are_alike(model, stream, first):
            score_together(model, stream, first)
            continue
        for t in range(first, last):
            x, f = example_and_scores(model, stream, t)
            norm = norm_of(model, x)
            if not usable(x, norm):
                return t
            score(model, x, norm, f)
    return n


@compiled(always_inlined=True)
def has_products(model):
    """Whether kernel values follow from products with a table of vectors."""
    kernel = model.head.kernel
    return kernel in (RBF, POLYNOMIAL, LINEAR) and model.head.slots == 0


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


@compiled
def score_together(model, stream, t):
    """Scores of TOGETHER examples that are alike."""
    products = desk(model)
    first, _ = example_and_scores(model, stream, t)
    products_together(model, first, products, padded_count(model))
    for k in range(TOGETHER):
        row = products[k]
        from_products(model, row, products[NORMS, k])
        score_row(model, row, scores_of(stream, t + k))


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

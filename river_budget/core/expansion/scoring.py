"""Score several examples at a time: passes without learning, and products ahead for passes that learn.

For dense rows, the loop loads each vector once for TOGETHER examples. In a call with many rows the next examples are
known, and learning one of them changes few vectors. `record_write` (core/block/written_vectors.py) records which
groups of eight vectors change; products with these are computed again before the next example uses them. The arithmetic
and its order are those for a single example, so results are the same to the last bit.
"""

from __future__ import annotations

from ..block.layout import CHANGES, TOGETHER
from ..block.limits import RBF, cancels, padded_count
from ..block.written_vectors import FIRST, LISTED_UNTIL, N_CHANGES, NOT_BEFORE, UNTIL
from ..compiling.by_address import is_ready, shared
from ..compiling.jit import compiled
from ..compiling.model_type import CALL, EXAMPLE, MODEL, WHOLE
from ..compiling.needs import Need
from ..examples.call import GATHERED, scores_of, unpack_rows
from ..examples.finite import usable
from ..examples.present_features import (
    NO_VECTOR,
    ZERO,
    example_and_scores,
    gathered_example,
    unpack,
)
from ..simd.vector_ops import LANES
from ..vectors.stored import has_products_together, products_of_eight, products_together
from .kernel_rows import (
    from_products,
    has_products,
    kernel_row,
    norm_of,
    score,
    score_row,
)

FEW_NUMBERS = 2**11  # smaller tables of vectors gain nothing from products ahead
PAUSE = 32  # so many examples are learned without products ahead after these were of no use


@compiled(called_from_python=True)
def decide(call):
    """Score all rows. Returns how many it has scored: it stops at a row that is not finite."""
    model, stream, n = unpack(call)
    together, first = is_ready(score_together) and are_in_a_table(model), ZERO
    while first < n:
        if together and may_share_features(stream[GATHERED], first, n):
            first = score_together(call, first, n)
        for t in range(first, min(first + TOGETHER, n)):
            x, f = example_and_scores(model, stream, t)
            norm = norm_of(model, x)
            if not usable(x, norm):
                return t
            score(model, x, norm, f)
        first += TOGETHER
    return n


@shared(Need.TOGETHER, WHOLE, CALL, WHOLE, WHOLE)
def score_together(call, t, n):
    """Score the examples from t on, TOGETHER at a time, while they have all features. Returns the first one not scored."""
    model, stream, _ = unpack_rows(call)
    while t + TOGETHER <= n and share_features(model, stream[GATHERED], t):
        first, _ = example_and_scores(model, stream, t)
        products_together(model, first, model.ahead, padded_count(model))
        for k in range(TOGETHER):
            from_products(model, model.ahead[k], model.norms_ahead[k])
            score_row(model, model.row, scores_of(stream, t + k))
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


# products with the next examples


@compiled(always_inlined=True)
def kernel_row_of_example(model, stream, t, x, norm):
    """row[j] = k(vector j, x), where x is example t."""
    k = row_of_products(model, x, stream[GATHERED], t) if may_have_products(model, t) else NO_VECTOR
    if k != NO_VECTOR:
        from_products(model, model.ahead[k], norm)
    else:
        kernel_row(model, x, norm)


@compiled(always_inlined=True)
def may_have_products(model, t):
    """Whether to call `row_of_products`: a short test, as that function is called by its address."""
    coming = model.coming
    if t < coming[UNTIL]:
        return True
    return (
        t >= coming[NOT_BEFORE]
        and t + TOGETHER <= coming[LISTED_UNTIL]
        and is_ready(row_of_products)
    )


@shared(Need.TOGETHER, WHOLE, MODEL, EXAMPLE, WHOLE, WHOLE)
def row_of_products(model, x, gathered, t):
    """The row of `ahead` with the products of all vectors with x, example t; NO_VECTOR if there is none.

    Computes products with the next examples when no more are known. Modifies model.ahead and model.coming.
    """
    coming = model.coming
    k = t - coming[FIRST]
    if t < coming[UNTIL] and update_products(model, x, k):
        return k
    one_was_too_much = t < coming[UNTIL] and k == 1  # a single example wrote too many vectors
    coming[UNTIL] = 0
    if one_was_too_much or not compute_products_ahead(model, gathered, t):
        coming[NOT_BEFORE] = t + PAUSE
        return NO_VECTOR
    return ZERO


@compiled
def update_products(model, x, k):
    """Update row k of `ahead`, the products of x, for vectors written since. Returns False if they are too many."""
    n, changes, changed = padded_count(model), model.changes, model.coming[N_CHANGES]
    if changed > CHANGES or 2 * LANES * changed > n:
        return False
    for i in range(changed):
        if LANES * changes[i] < n:
            products_of_eight(model, x, model.ahead[k], LANES * changes[i])
    return True


@compiled
def compute_products_ahead(model, gathered, t):
    """Compute the products with the TOGETHER examples from t on. Returns False if fewer are left or it gains nothing."""
    head, coming, n = model.head, model.coming, padded_count(model)
    if (
        not are_in_a_table(model)
        or n * head.width < FEW_NUMBERS
        or t + TOGETHER > coming[LISTED_UNTIL]
    ):
        return False
    if not share_features(model, gathered, t):
        return False
    products_together(model, gathered_example(gathered, t), model.ahead, n)
    coming[FIRST], coming[UNTIL], coming[N_CHANGES] = t, t + TOGETHER, 0
    return True


@compiled(always_inlined=True)
def are_in_a_table(model):
    """Whether kernel values follow from products with vectors in a table."""
    return has_products(model) and has_products_together(model)


@compiled(always_inlined=True)
def may_share_features(gathered, t, n):
    """Whether to call `share_features`: a short test. An example without some feature has its own array of places."""
    return (
        t + TOGETHER <= n
        and gathered_example(gathered, t)[0] == gathered_example(gathered, t + 1)[0]
    )


@compiled
def share_features(model, gathered, t):
    """Whether the next TOGETHER examples have all features, lie one behind the other, and need no sums of differences.

    Writes their norms to model.norms_ahead.
    """
    places, at, width, _, _ = gathered_example(gathered, t)
    for k in range(TOGETHER):
        x = gathered_example(gathered, t + k)
        if x[0] != places or x[1] != at + 8 * k * width or x[2] != width or x[4] != width:
            return False
        norm = norm_of(model, x)
        if not usable(x, norm) or (model.head.kernel == RBF and cancels(model, norm)):
            return False
        model.norms_ahead[k] = norm
    return True

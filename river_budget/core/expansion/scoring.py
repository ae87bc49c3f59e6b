"""Passes that score examples, without learning.

For dense rows, the loop loads each vector once for TOGETHER examples. The arithmetic and its order are those for a
single example, so the scores are the same to the last bit.
"""

from __future__ import annotations

from ..block.layout import TOGETHER
from ..block.limits import padded_count
from ..compiling.by_address import is_ready, shared
from ..compiling.jit import compiled
from ..compiling.model_type import CALL, WHOLE
from ..compiling.needs import Need
from ..examples.call import GATHERED, scores_of, unpack_rows
from ..examples.finite import usable
from ..examples.present_features import ZERO, example_and_scores, unpack
from ..vectors.stored import products_together
from .kernel_rows import WITHOUT_LOGS, from_products, kernel_row, norm_of, score, score_row
from .products_ahead import are_in_a_table, may_share_features, share_features


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
            from_products(model, model.ahead[k], model.norms_ahead[k], WITHOUT_LOGS)
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

"""From scores to probabilities, and all numbers of a table at once."""

from __future__ import annotations

import numpy as np

from ...compiling.array_views import address_of, f64
from ...compiling.jit import compiled
from ...examples.call import row_of
from ...simd.exponential import exp_of, exponentials
from ...simd.softmax import softmax
from .tables import EXPERTS, LOGS, SCORES, SHARES, STRIDE, columns_of, noted


@compiled
def link(scores, shares):
    """Scores become probabilities. One score stands for two classes: its negative is that of the other."""
    if shares.shape[0] == 2:
        small = exp_of(-2.0 * abs(scores[0]))
        large = 1.0 / (1.0 + small)
        shares[1] = large if scores[0] >= 0.0 else small * large
        shares[0] = small * large if scores[0] >= 0.0 else large
        return
    softmax(scores, shares)


@compiled
def link_all(model, first, votes, others):
    """The scores of experts become probabilities: from the first that has some to the votes, and of the others behind
    these."""
    shares, scores = noted(model, SHARES), noted(model, SCORES)
    if columns_of(model) > 1:
        for k in range(first, EXPERTS):
            if k < votes or k >= others:
                link(row_of(scores, k), row_of(shares, k))
        return
    margins, odds = in_one(scores), in_one(noted(model, LOGS))
    for k in range(STRIDE):
        odds[k] = -2.0 * abs(margins[k])
    exponentials(odds, odds, np.int64(STRIDE))
    for k in range(STRIDE):
        large = 1.0 / (1.0 + odds[k])
        shares[k, 1] = large if margins[k] >= 0.0 else odds[k] * large
        shares[k, 0] = odds[k] * large if margins[k] >= 0.0 else large


@compiled
def in_one(table):
    """All numbers of a table, one behind the other."""
    return f64(address_of(table), table.shape[0] * table.shape[1])

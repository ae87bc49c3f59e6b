"""Target means, in regression: what targets were like at each value of a feature whose values are
names.

A feature of whole numbers with LEAST_VALUES to MOST_NAMES different ones in the first FIRST_ROWS
rows may be a name: of a shop, an hour, a grade. Distances and weights cannot treat it as one. So it
gets one more column, with

    (S + PRIOR my) / (N + PRIOR)

where S and N are the sum and the number of the targets, by weight, that came with this value
before. Where N exceeds MOST_COUNT, both are halved. There are at most MOST_MEANS such columns, of
the first such features, and as many less as least squares has no room for; MOST_KEPT values are
kept of each, and any further one counts as new.

    columns  of all tables: first those of target means, then those of features
    rows     the first ones are kept (first_rows). The pass predicts the row that comes then and
             stops before it learns it, and Python decides (algorithms/auto/categories.py): if there
             is any such feature, the model begins anew with its column, and learns the kept rows
             again
    values   by hashing, with open addresses
"""

from __future__ import annotations

from ...compiling import inner
from ...numerics import bits_of
from .tables import FIRST_ROWS, KEEPS, MOST_VALUES

LEAST_VALUES, MOST_NAMES = 3, 60
PRIOR = 5.0
MOST_COUNT = 1000.0
MOST_KEPT = MOST_VALUES * 3 // 4
SPREAD = 0x9E3779B97F4A7C15 - 2**64  # 2^64 / golden ratio
HASH_BITS = 56  # of the 64, which go: 256 places are left


@inner
def write_means(means, first, raw, x, average):
    """Write the means of all `first` features at their values in x."""
    for j in range(first):
        at = find_value(means, j, x[int(means.coded[j])])
        total, number = means.sums[j, at], means.counts[j, at]
        raw[j] = (total + PRIOR * average) / (number + PRIOR)


@inner
def learn_means(means, first, x, y, w):
    """Add the target to the sums of all values in x."""
    for j in range(first):
        value = x[int(means.coded[j])] + 0.0  # -0.0 is 0.0
        at = find_value(means, j, value)
        if means.counts[j, at] == 0.0:
            kept = 0
            for i in range(MOST_VALUES):
                kept += means.counts[j, i] > 0.0
            if kept >= MOST_KEPT:
                continue
            means.values[j, at] = value
        means.counts[j, at] += w
        means.sums[j, at] += w * y
        if means.counts[j, at] > MOST_COUNT:
            means.counts[j, at] *= 0.5
            means.sums[j, at] *= 0.5


@inner
def find_value(means, j, value):
    """The place of a value of feature j, or the one that is free for it."""
    value += 0.0
    at = (bits_of(value) * SPREAD >> HASH_BITS) & (MOST_VALUES - 1)
    while means.counts[j, at] > 0.0 and means.values[j, at] != value:
        at = (at + 1) & (MOST_VALUES - 1)
    return at


@inner
def keep_row(means, state, x, y, w):
    """Keep one of the first rows."""
    if state.watches == KEEPS and state.rounds < FIRST_ROWS:
        kept = means.first_rows[state.rounds]
        kept[0], kept[1] = y, w
        for f in range(state.features):
            kept[2 + f] = x[f]


@inner
def must_decide(state):
    """Whether enough rows are kept."""
    return state.watches == KEEPS and state.rounds >= FIRST_ROWS


@inner
def has_decided(state):
    """Whether it was for this row, learned next, that the model began anew: its prediction stands
    already.
    """
    return state.means > 0 and state.rounds == FIRST_ROWS

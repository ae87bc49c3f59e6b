"""Target means, in regression: what targets were like at each value of a feature whose values are
names (examples/auto_kernel.md, Target means).

A feature of whole numbers with LEAST_VALUES to MOST_NAMES different ones in the first FIRST_ROWS
rows may be a name: of a shop, an hour, a grade. Distances and weights cannot treat it as one. So it
gets one more column, and so does a column of that many texts, of which each is a feature:

    (S + PRIOR my) / (N + PRIOR)

where S and N are the sum and the number of the targets, by weight, that came with this value
before. Where N exceeds MOST_COUNT, both are halved. There are at most MOST_MEANS such columns, the
first ones, and as many less as least squares has no room for; MOST_KEPT values are kept of each,
and any further one counts as new, as does a number that is not whole.

    columns  of all tables: first those of target means, then those of features
    rows     the first ones are kept (first_rows). The pass predicts the row that comes then and
             stops before it learns it, and Python decides (algorithms/auto/categories.py): if there
             is any such feature, the model begins anew with its column, and learns the kept rows
             again
    values   of numbers by hashing, with open addresses; a text has the place of its feature
"""

from __future__ import annotations

import math

from ...compiling import inner
from ...numerics import bits_of
from .tables import COLUMN, FIRST_ROWS, KEEPS, MOST_VALUES, NUMBER, TEXTS, TOTAL

LEAST_VALUES, MOST_NAMES = 3, 60
PRIOR = 5.0
MOST_COUNT = 1000.0
MOST_KEPT = MOST_VALUES * 3 // 4
SPREAD = 0x9E3779B97F4A7C15 - 2**64  # 2^64 / golden ratio
HASH_BITS = 56  # of the 64, which go: 256 places are left


@inner
def write_means(means, state, raw, x):
    """Write the means at the values in x. A text that is absent has no targets."""
    average, of_texts = state.average, 0
    for j in range(state.means):
        f, total, number = int(means.coded[j]), 0.0, 0.0
        if f == TEXTS:
            of_texts += 1
        else:
            at = find_value(means, j, x[f])
            total, number = means.sums[j, at], means.counts[j, at]
        raw[j] = (total + PRIOR * average) / (number + PRIOR)
    if of_texts > 0:
        columns, totals, numbers = means.texts[COLUMN], means.texts[TOTAL], means.texts[NUMBER]
        for f in range(state.features - state.means):
            if columns[f] > 0.0 and x[f] != 0.0:
                j = int(columns[f]) - 1
                raw[j] = (totals[f] + PRIOR * average) / (numbers[f] + PRIOR)


@inner
def learn_means(means, state, x, y, w):
    """Add the target to the sums of all values in x."""
    of_texts = 0
    for j in range(state.means):
        f = int(means.coded[j])
        if f == TEXTS:
            of_texts += 1
        elif x[f] == math.floor(x[f]):
            at = find_value(means, j, x[f])
            if means.counts[j, at] == 0.0 and kept_values(means.counts[j]) < MOST_KEPT:
                means.values[j, at] = x[f] + 0.0
                add_target(means.sums[j], means.counts[j], at, y, w)
            elif means.counts[j, at] > 0.0:
                add_target(means.sums[j], means.counts[j], at, y, w)
    if of_texts > 0:
        for f in range(state.features - state.means):
            if means.texts[COLUMN, f] > 0.0 and x[f] != 0.0:
                add_target(means.texts[TOTAL], means.texts[NUMBER], f, y, w)


@inner
def add_target(totals, numbers, at, y, w):
    """Add a target to its sum and its number, and halve both where there are many."""
    total, number = totals[at] + w * y, numbers[at] + w
    share = 0.5 if number > MOST_COUNT else 1.0
    totals[at], numbers[at] = share * total, share * number


@inner
def kept_values(counts):
    """How many values are kept."""
    kept = 0
    for i in range(MOST_VALUES):
        kept += counts[i] > 0.0
    return kept


@inner
def find_value(means, j, value):
    """The place of a value of feature j, or the one that is free for it."""
    value += 0.0  # -0.0 is 0.0
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

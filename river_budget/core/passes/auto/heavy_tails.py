"""Features with heavy tails: what a few giants would squeeze together is spread out again.

Amounts, durations, counts of bytes: their standard deviation is that of some rare giants, and all the rest lies within
a small part of it, where no distance and no bin tells one from another. Such a feature is bent: instead of being
scaled, values become what they would be if the feature were normal. Between knots, which are quantiles of the stored
rows, that is a straight line; beyond the outer ones it goes on as a logarithm.

The stored rows tell, whenever the rounds are a power of two, which features are to be bent, and where the knots lie;
those are laid again every thousand rounds. The places of the rows move along. Other features are left as they are, to
the last bit.

    here
    q_k    KNOT + k: the value below which k / 16 of the rows lie, for k = 1 to 15; z_k  SCORES_OF_KNOTS: its normal score
    TIES   the running share of values that equal the one before. A feature of few values is not bent
    BENT   1 if the feature is bent
"""

from __future__ import annotations

import math
import statistics

import numpy as np

from ...block.limits import within
from ...compiling.jit import compiled
from ...examples.call import row_of
from ...examples.present_features import NONE
from .tables import (
    BENT,
    KNOT,
    LAST,
    MEAN,
    NEW_MOMENTS,
    ORIENTATION,
    RAW,
    ROW,
    TAIL,
    TAIL_KNOTS,
    TIES,
    VARIANCE,
    kept,
    noted,
)

CLIP = 4.0  # standard deviations
LARGEST_VALUE = 1e150  # its square is still finite
SCORES_OF_KNOTS = tuple(
    statistics.NormalDist().inv_cdf(k / (TAIL_KNOTS + 1)) for k in range(1, TAIL_KNOTS + 1)
)
END = SCORES_OF_KNOTS[-1] - SCORES_OF_KNOTS[-2]  # between the outer knots, on both sides
FIRST, FEWEST = 64, 32  # rounds, and stored rows, that a judgement needs
REFRESH = 1024  # rounds after which knots are laid again
HEAVY = 0.25  # half the distance of the quartiles, in standard deviations: .67 for a normal feature, .34 for its exponential
FEW = 0.1  # ties
CROWD_CELLS = 16  # places of values, in which a crowd is looked for
APART = 1e-6  # knots, at least, in units of the distance of the outer ones
RATE = 0.01  # of ties
TINY = 1e-300  # keeps a division by zero finite


@compiled
def straightened(tail, f, value):
    """The normal score of a value of feature f."""
    below = 0
    for k in range(TAIL_KNOTS):
        below += tail[KNOT + k, f] <= value
    if below == 0:
        width = tail[KNOT + 1, f] - tail[KNOT, f]
        return SCORES_OF_KNOTS[0] - END * beyond(tail[KNOT, f] - value, width)
    left = tail[KNOT + below - 1, f]
    if below == TAIL_KNOTS:
        return SCORES_OF_KNOTS[below - 1] + END * beyond(
            value - left, left - tail[KNOT + below - 2, f]
        )
    share = (value - left) / max(tail[KNOT + below, f] - left, TINY)
    return (1.0 - share) * SCORES_OF_KNOTS[below - 1] + share * SCORES_OF_KNOTS[below]


@compiled
def beyond(distance, width):
    """How many widths further, as a logarithm sees it."""
    return math.log(1.0 + min(distance / max(width, TINY), LARGEST_VALUE))


@compiled
def raw_of_score(tail, f, score):
    """The inverse."""
    above = 0
    for k in range(TAIL_KNOTS):
        above += SCORES_OF_KNOTS[k] <= score
    if above == 0:
        width = tail[KNOT + 1, f] - tail[KNOT, f]
        return tail[KNOT, f] - width * (math.exp((SCORES_OF_KNOTS[0] - score) / END) - 1.0)
    left, low = tail[KNOT + above - 1, f], SCORES_OF_KNOTS[above - 1]
    if above == TAIL_KNOTS:
        width = left - tail[KNOT + above - 2, f]
        return left + width * (math.exp((score - low) / END) - 1.0)
    share = (score - low) / (SCORES_OF_KNOTS[above] - low)
    return left + share * (tail[KNOT + above, f] - left)


@compiled
def bend_row(model, state):
    """The noted row, where features are bent."""
    flags, bent = kept(model, TAIL)[BENT], 0
    for f in range(state.features):
        bent += flags[f] > 0.0
    if bent > 0:
        write_bent(model, state)


@compiled
def write_bent(model, state):
    tail, raw, row = kept(model, TAIL), noted(model, RAW)[0], noted(model, ROW)[0]
    orientations = noted(model, NEW_MOMENTS)[ORIENTATION]
    for f in range(state.features):
        if tail[BENT, f] > 0.0:
            score = straightened(tail, f, within(raw[f], LARGEST_VALUE))
            score = score if score == score else 0.0  # another thread may be laying the knots
            row[1 + f] = orientations[f] * within(score, CLIP)


@compiled
def follow_tails(model, state):
    """The noted row, which has been learned and stored, is counted in."""
    tail, raw = kept(model, TAIL), noted(model, RAW)[0]
    ties, last, rate = tail[TIES], tail[LAST], max(1.0 / (state.rounds + 1.0), RATE)
    for f in range(state.features):
        value = within(raw[f], LARGEST_VALUE)
        ties[f] += rate * ((1.0 if value == last[f] else 0.0) - ties[f])
        last[f] = value
    new = state.rounds >= FIRST and state.rounds & (state.rounds - 1) == 0
    if new or state.rounds % REFRESH == 0:
        lay_knots(model, state, new)


@compiled
def lay_knots(model, state, new):
    """Lay the knots of features that are bent, and move the stored rows along; if `new`, of others that should be."""
    tail, moments, n = kept(model, TAIL), noted(model, NEW_MOMENTS), model.head.count
    raw, in_order = model.buffer, model.row
    for f in range(state.features):
        orientation, bent = moments[ORIENTATION, f], tail[BENT, f] > 0.0
        may_be = new and orientation != 0.0 and tail[TIES, f] < FEW
        if n < FEWEST or not (bent or may_be):
            continue
        stored, deviation = row_of(model.vectors, f), math.sqrt(max(moments[VARIANCE, f], 0.0))
        for j in range(n):
            score = orientation * stored[j]
            linear = moments[MEAN, f] + deviation * score
            raw[j] = within(raw_of_score(tail, f, score) if bent else linear, LARGEST_VALUE)
        part = 2.0 * HEAVY * deviation_of(raw, n)
        if not bent and not are_crowded(raw, n, part, model.logs):
            continue
        for j in range(n):
            in_order[j] = raw[j]
        sort(in_order, n)
        if (bent or quartiles_apart(in_order, n) < part) and are_apart(in_order, n):
            for k in range(TAIL_KNOTS):
                tail[KNOT + k, f] = quantile(in_order, n, share_below(k))
            for j in range(n):
                stored[j] = orientation * within(straightened(tail, f, raw[j]), CLIP)
            tail[BENT, f] = 1.0


@compiled
def deviation_of(values, n):
    """Their standard deviation."""
    total, squares = 0.0, 0.0
    for j in range(n):
        total += values[j]
    for j in range(n):
        squares += (values[j] - total / n) ** 2 / n
    return math.sqrt(squares)


@compiled
def are_crowded(values, n, part, counts):
    """Whether half of the values may lie within so small a part: then two neighbouring cells of this width hold them.
    (Counting is cheaper than sorting, and mostly says no.)"""
    counts[: CROWD_CELLS + 1] = 0.0
    most, first = 0.0, values[0]
    for j in range(n):
        cell = within((values[j] - first) / max(part, TINY), 0.5 * CROWD_CELLS - 1.0)
        counts[int(cell + 0.5 * CROWD_CELLS if cell == cell else 0.0)] += 1.0  # NaN too has a place
    for i in range(CROWD_CELLS):
        most = max(most, counts[i] + counts[i + 1])
    return most >= 0.5 * n - 2.0


@compiled
def quartiles_apart(in_order, n):
    return quantile(in_order, n, 0.75) - quantile(in_order, n, 0.25)


@compiled
def share_below(k):
    """How many of the rows lie below a knot."""
    return (k + 1.0) / (TAIL_KNOTS + 1.0)


@compiled
def are_apart(in_order, n):
    """Whether no two knots coincide: between them a rounding error would be a jump."""
    first, least = quantile(in_order, n, share_below(NONE)), np.inf
    last = first
    for k in range(1, TAIL_KNOTS):
        knot = quantile(in_order, n, share_below(k))
        least = min(least, knot - last)
        last = knot
    return least > APART * (last - first)


@compiled
def quantile(values, n, share):
    """Of n values in order."""
    place = share * (n - 1)
    left = min(np.int64(place), n - 2)
    rest = place - left
    return (1.0 - rest) * values[left] + rest * values[left + 1]


@compiled
def sort(values, n):
    """Shell's way: in place, and short."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            value, j = values[i], i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 2

"""Scale features of any unit to numbers of order one, by running means and variances, or by quantiles.

    spec   here
    r      rate
    mean   moments.mean, var  moments.variance: this row included, also if it is only predicted
    x+     desk.scaled: 1, and then the scaled features

A feature also has an orientation: the sign of its first deviation from its mean. So neither the unit of a feature
nor its sign matters.

Amounts, durations and counts of bytes have heavy tails: a few very large values determine the standard deviation, and
all others lie within a small part of it, where distances and bins do not separate them. Such a feature is `bent`: its
values are replaced by normal scores, that is, by the values that a normal feature would have at the same quantiles.
The scores are linear between knots, which are quantiles of the stored rows, and logarithmic beyond the outer ones.

Whenever the number of rounds is a power of two, the stored rows determine which features to bend and where the knots
lie; knots are updated every 1024 rounds, and stored rows with them. Other features do not change, to the last bit.

    here
    q_k    tails.knot[k]: the value below which (k + 1) / 16 of the rows lie, for k = 0 to 14; z_k  NORMAL_SCORES: its
           normal score
    ties   the running share of values that equal the one before. A feature of few values is not bent
    bent   1 if the feature is bent
"""

from __future__ import annotations

import math
import statistics

import numpy as np

from ...block.limits import within
from ...compiling.jit import compiled
from ...examples.call import model_of, row_of
from ...examples.present_features import ZERO
from .binning import join_bins
from .tables import OUTERMOST, TAIL_KNOTS, desk_of, room_of, state_at, whole_row

SLOWEST_MOMENTS = 1e-4  # rate
CONSTANT = 1e-12  # a smaller standard deviation, as a share of the mean, counts as 0
CLIP = 4.0  # standard deviations
LARGEST_VALUE = 1e150  # its square is still finite
NORMAL_SCORES = tuple(
    statistics.NormalDist().inv_cdf(k / (TAIL_KNOTS + 1)) for k in range(1, TAIL_KNOTS + 1)
)
OUTER_STEP = NORMAL_SCORES[-1] - NORMAL_SCORES[-2]  # between the outer knots, on both sides
FIRST_JUDGEMENT, JUDGED_ROWS = 64, 32  # least rounds, and stored rows, before bending
KNOTS_REFRESH = 1024  # rounds between updates of the knots
HEAVY = 0.25  # half the distance of the quartiles, in standard deviations: .67 for a normal feature, .34 for its exponential
MOST_TIES = 0.1  # features with a larger share of ties are not bent
CROWD_CELLS = 16  # cells in which `are_crowded` counts values
KNOTS_APART = 1e-6  # least distance of knots, as a share of that of the outer ones
TIES_RATE = 0.01
LEAST_WIDTH = 1e-300  # keeps a division by zero finite


@compiled
def scale(model, state, x):
    """Write the moments with x included, x scaled by them, and this clipped; features that never varied are 0."""
    desk, old = desk_of(model), room_of(model).moments
    raw, scaled = desk.raw, desk.scaled
    means, variances, orientations = old.mean, old.variance, old.orientation
    new = desk.new_moments
    new_means, new_variances, new_orientations = new.mean, new.variance, new.orientation
    rate = max(1.0 / (state.rounds + 1.0), SLOWEST_MOMENTS)
    copy_row(state, x, raw, scaled)
    for f in range(state.features):
        value = within(raw[f], LARGEST_VALUE)
        deviation = value - means[f]
        mean = means[f] + rate * deviation
        variance = variances[f] + rate * (deviation * (value - mean) - variances[f])
        spread = math.sqrt(max(variance, 0.0))
        rest = value - mean
        varies = spread > CONSTANT * abs(mean)
        number = within(rest / spread, CLIP)
        number = number if varies else 0.0
        orientation, sign = orientations[f], 1.0 if rest >= 0.0 else -1.0
        orientation = sign if (orientation == 0.0) & varies else orientation
        new_means[f] = mean
        new_variances[f] = variance
        new_orientations[f] = orientation
        scaled[1 + f] = orientation * number
    bend_row(model, state)
    clipped = desk.clipped
    for i in range(whole_row(state)):
        clipped[i] = min(max(scaled[i], -OUTERMOST), OUTERMOST)


@compiled
def copy_row(state, x, raw, scaled):
    """Copy x to the desk, and fill up the scaled row: a 1 in front, zeros behind."""
    scaled[0], scaled[1] = 1.0, 0.0
    for f in range(state.features + 1, whole_row(state)):
        scaled[f] = 0.0
    known = min(state.features, x.shape[0])  # less where another thread has learned a new one
    for f in range(known):
        raw[f] = x[f]
    for f in range(known, state.features):
        raw[f] = 0.0


@compiled
def learn_moments(model, state):
    """Take over the moments that include the row. Adds a feature that begins to vary to bins, and bends one
    with heavy tails."""
    old, new = room_of(model).moments, desk_of(model).new_moments
    for f in range(state.features):
        if new.orientation[f] != 0.0 and old.orientation[f] == 0.0:
            join_bins(model, f)
    for f in range(state.features):
        old.mean[f] = new.mean[f]
    for f in range(state.features):
        old.variance[f] = new.variance[f]
    for f in range(state.features):
        old.orientation[f] = new.orientation[f]
    learn_tails(model, state)


@compiled(called_from_python=True)
def rejoin(call):
    """Add all features that have varied to new bins, with the same result as when they began to vary."""
    model = model_of(call)
    for f in range(state_at(model.state).features):
        if room_of(model).moments.orientation[f] != 0.0:
            join_bins(model, f)
    return np.int64(0)


# Features with heavy tails


@compiled
def normal_score(knot, f, value):
    """The normal score of a value of feature f."""
    below = 0
    for k in range(TAIL_KNOTS):
        below += knot[k, f] <= value
    if below == 0:
        width = knot[1, f] - knot[0, f]
        return NORMAL_SCORES[0] - OUTER_STEP * beyond(knot[0, f] - value, width)
    left = knot[below - 1, f]
    if below == TAIL_KNOTS:
        return NORMAL_SCORES[below - 1] + OUTER_STEP * beyond(
            value - left, left - knot[below - 2, f]
        )
    share = (value - left) / max(knot[below, f] - left, LEAST_WIDTH)
    return (1.0 - share) * NORMAL_SCORES[below - 1] + share * NORMAL_SCORES[below]


@compiled
def beyond(distance, width):
    """The distance beyond an outer knot in widths between knots, as a logarithm."""
    return math.log(1.0 + min(distance / max(width, LEAST_WIDTH), LARGEST_VALUE))


@compiled
def value_of_score(knot, f, score):
    """The value of feature f that has this normal score: the inverse of `normal_score`."""
    above = 0
    for k in range(TAIL_KNOTS):
        above += NORMAL_SCORES[k] <= score
    if above == 0:
        width = knot[1, f] - knot[0, f]
        return knot[0, f] - width * (math.exp((NORMAL_SCORES[0] - score) / OUTER_STEP) - 1.0)
    left, low = knot[above - 1, f], NORMAL_SCORES[above - 1]
    if above == TAIL_KNOTS:
        width = left - knot[above - 2, f]
        return left + width * (math.exp((score - low) / OUTER_STEP) - 1.0)
    share = (score - low) / (NORMAL_SCORES[above] - low)
    return left + share * (knot[above, f] - left)


@compiled
def bend_row(model, state):
    """Replace the scaled values of bent features in the row."""
    flags, bent = room_of(model).tails.bent, 0
    for f in range(state.features):
        bent += flags[f] > 0.0
    if bent > 0:
        write_bent(model, state)


@compiled
def write_bent(model, state):
    """Write the normal scores of features that are bent into the scaled row."""
    tails, desk = room_of(model).tails, desk_of(model)
    raw, scaled, orientations = desk.raw, desk.scaled, desk.new_moments.orientation
    for f in range(state.features):
        if tails.bent[f] > 0.0:
            score = normal_score(tails.knot, f, within(raw[f], LARGEST_VALUE))
            score = score if score == score else 0.0  # NaN: another thread may be writing the knots
            scaled[1 + f] = orientations[f] * within(score, CLIP)


@compiled
def learn_tails(model, state):
    """Count a row that has been learned and stored, and update the knots when due."""
    tails, raw = room_of(model).tails, desk_of(model).raw
    ties, last, rate = tails.ties, tails.last, max(1.0 / (state.rounds + 1.0), TIES_RATE)
    for f in range(state.features):
        value = within(raw[f], LARGEST_VALUE)
        ties[f] += rate * ((1.0 if value == last[f] else 0.0) - ties[f])
        last[f] = value
    new = state.rounds >= FIRST_JUDGEMENT and state.rounds & (state.rounds - 1) == 0
    if new or state.rounds % KNOTS_REFRESH == 0:
        lay_knots(model, state, new)


@compiled
def lay_knots(model, state, new):
    """Update the knots of bent features, and the stored rows with them; if `new`, bend further features."""
    tails, moments, n = room_of(model).tails, desk_of(model).new_moments, model.head.count
    raw, in_order = model.buffer, model.row
    for f in range(state.features):
        orientation, bent = moments.orientation[f], tails.bent[f] > 0.0
        may_be = new and orientation != 0.0 and tails.ties[f] < MOST_TIES
        if n < JUDGED_ROWS or not (bent or may_be):
            continue
        stored, deviation = row_of(model.vectors, f), math.sqrt(max(moments.variance[f], 0.0))
        for j in range(n):
            score = orientation * stored[j]
            linear = moments.mean[f] + deviation * score
            raw[j] = within(value_of_score(tails.knot, f, score) if bent else linear, LARGEST_VALUE)
        part = 2.0 * HEAVY * deviation_of(raw, n)
        if not bent and not are_crowded(raw, n, part, model.logs):
            continue
        for j in range(n):
            in_order[j] = raw[j]
        shell_sort(in_order, n)
        if (bent or quartiles_apart(in_order, n) < part) and are_apart(in_order, n):
            for k in range(TAIL_KNOTS):
                tails.knot[k, f] = quantile(in_order, n, share_below(k))
            for j in range(n):
                stored[j] = orientation * within(normal_score(tails.knot, f, raw[j]), CLIP)
            if not bent:
                state.archived = 0  # its rows have other units
            tails.bent[f] = 1.0


@compiled
def deviation_of(values, n):
    """The standard deviation of the first n values."""
    total, squares = 0.0, 0.0
    for j in range(n):
        total += values[j]
    for j in range(n):
        apart = values[j] - total / n
        squares += apart * apart / n
    return math.sqrt(squares)


@compiled
def are_crowded(values, n, part, counts):
    """Whether half of the values may lie within this part of their range: then two neighbouring cells of this width hold
    them. (Counting is faster than sorting, and mostly excludes it.)"""
    counts[: CROWD_CELLS + 1] = 0.0
    most, first = 0.0, values[0]
    for j in range(n):
        cell = within((values[j] - first) / max(part, LEAST_WIDTH), 0.5 * CROWD_CELLS - 1.0)
        counts[int(cell + 0.5 * CROWD_CELLS if cell == cell else 0.0)] += 1.0  # NaN too has a place
    for i in range(CROWD_CELLS):
        most = max(most, counts[i] + counts[i + 1])
    return most >= 0.5 * n - 2.0


@compiled
def quartiles_apart(in_order, n):
    """The distance of the quartiles."""
    return quantile(in_order, n, 0.75) - quantile(in_order, n, 0.25)


@compiled
def share_below(k):
    """The share of rows that lie below knot k."""
    return (k + 1.0) / (TAIL_KNOTS + 1.0)


@compiled
def are_apart(in_order, n):
    """Whether no two knots coincide, as a rounding error between them would become a jump."""
    first, least = quantile(in_order, n, share_below(ZERO)), np.inf
    last = first
    for k in range(1, TAIL_KNOTS):
        knot = quantile(in_order, n, share_below(k))
        least = min(least, knot - last)
        last = knot
    return least > KNOTS_APART * (last - first)


@compiled
def quantile(values, n, share):
    """The quantile of n values in order: between two of them on a straight line."""
    place = share * (n - 1)
    left = min(np.int64(place), n - 2)
    rest = place - left
    return (1.0 - rest) * values[left] + rest * values[left + 1]


@compiled
def shell_sort(values, n):
    """Sort n values in place by Shell's method: short code for a rare step."""
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            value, j = values[i], i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 2

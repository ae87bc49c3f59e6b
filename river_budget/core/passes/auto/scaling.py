"""Scale features of any unit to numbers of order one, by running means and variances.

    spec     here
    r        rate
    mean     moments.mean, var  moments.variance: this row included, also if it is only predicted
    x+     desk.scaled: 1, and then the scaled features

A feature also has an orientation: the sign of its first deviation from its mean. So neither the unit of a feature
nor its sign matters.
"""

from __future__ import annotations

import math

import numpy as np

from ...block.limits import within
from ...compiling.jit import compiled
from ...examples.call import model_of
from .binning import join_bins
from .tables import OUTERMOST, desk_of, room_of, state_at, whole_row

SLOWEST_MOMENTS = 1e-4  # rate
CONSTANT = 1e-12  # a smaller standard deviation, as a share of the mean, counts as 0
CLIP = 4.0  # standard deviations
LARGEST_VALUE = 1e150  # its square is still finite


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
    """Take over the moments that include the row. Adds a feature that begins to vary to bins."""
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


@compiled(called_from_python=True)
def rejoin(call):
    """Add all features that have varied to new bins, with the same result as when they began to vary."""
    model = model_of(call)
    for f in range(state_at(model.state).features):
        if room_of(model).moments.orientation[f] != 0.0:
            join_bins(model, f)
    return np.int64(0)

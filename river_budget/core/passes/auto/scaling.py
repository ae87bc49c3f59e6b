"""Scale features of any unit to numbers of order one, by running means and variances.

    spec     here
    r        rate
    mean     moments.mean, var  moments.variance: this row included, also if it is only predicted
    x        desk.scaled, for distances and bins; x+  desk.wide, for linear models: 1, and then the same features
             clipped farther out, as the target of a linear model may follow a feature to its extremes

A feature also has an orientation: the sign of its first deviation from its mean. So neither the unit of a feature
nor its sign matters.
"""

from __future__ import annotations

import math

from ...block.limits import within
from ...compiling.jit import compiled
from .tables import desk_of, room_of

SLOWEST_MOMENTS = 1e-4  # rate
CONSTANT = 1e-12  # a smaller standard deviation, as a share of the mean, counts as 0
CLIP, WIDE_CLIP = 4.0, 40.0  # standard deviations
LARGEST_VALUE = 1e150  # its square is still finite


@compiled
def scale(model, state, x):
    """Write the moments with x included, and x scaled by them; features that never varied are 0. Returns how many have
    varied."""
    desk, old, new = desk_of(model), room_of(model).moments, desk_of(model).new_moments
    raw, scaled, wide = desk.raw, desk.scaled, desk.wide
    means, variances, orientations = old.mean, old.variance, old.orientation
    new_means, new_variances, new_orientations = new.mean, new.variance, new.orientation
    rate, varying = max(1.0 / (state.rounds + 1.0), SLOWEST_MOMENTS), 0
    wide[0] = 1.0
    for f in range(state.features, scaled.shape[0]):
        scaled[f] = 0.0
    for f in range(state.features + 1, wide.shape[0]):
        wide[f] = 0.0
    for f in range(state.features):
        raw[f] = x[f]
    for f in range(state.features):
        value = within(raw[f], LARGEST_VALUE)
        deviation = value - means[f]
        mean = means[f] + rate * deviation
        variance = variances[f] + rate * (deviation * (value - mean) - variances[f])
        spread = math.sqrt(max(variance, 0.0))
        rest = value - mean
        varies = spread > CONSTANT * abs(mean)
        number = within(rest / spread, WIDE_CLIP)
        number = number if varies else 0.0
        orientation, sign = orientations[f], 1.0 if rest >= 0.0 else -1.0
        orientation = sign if (orientation == 0.0) & varies else orientation
        new_means[f] = mean
        new_variances[f] = variance
        new_orientations[f] = orientation
        varying += orientation != 0.0
        wide[1 + f] = orientation * number
        scaled[f] = orientation * min(max(number, -CLIP), CLIP)
    return varying

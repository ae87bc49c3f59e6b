"""Scale features of any unit to numbers of order one, by running means and variances
(examples/auto_kernel.md, Scaling).

    rate     of the means: 1 / t, and at least SLOWEST_MOMENTS
    moments  rows MEAN, VARIANCE, ORIENTATION. Those of the desk include the present row, also if it
             is only predicted

A feature also has an orientation: the sign of its first deviation from its mean. So neither the
unit of a feature nor its sign matters. Linear models see a row clipped farther out than distances
and bins, as the target of a linear model may follow a feature to its extremes.
"""

from __future__ import annotations

import math

from ...compiling import inner
from ...numerics import clamp
from .tables import MEAN, ORIENTATION, RAW, SCALED, VARIANCE, WIDE

SLOWEST_MOMENTS = 1e-4
CONSTANT = 1e-12  # a smaller standard deviation, as a share of the mean, counts as 0
CLIP, WIDE_CLIP = 4.0, 40.0  # standard deviations
LARGEST_VALUE = 1e150  # its square is still finite


@inner
def scale(moments, row, n, rounds):
    """Write the moments with the raw row included, and the row scaled by them; features that never
    varied are 0. n columns are in use. Returns how many have varied.
    """
    means, variances, orientations = moments[MEAN], moments[VARIANCE], moments[ORIENTATION]
    new_means, new_variances, new_orientations = (
        row[MEAN],
        row[VARIANCE],
        row[ORIENTATION],
    )
    raw, scaled, wide = row[RAW], row[SCALED], row[WIDE]
    rate, varying = max(1.0 / (rounds + 1.0), SLOWEST_MOMENTS), 0
    wide[0] = 1.0
    for f in range(n):
        value = clamp(raw[f], LARGEST_VALUE)
        deviation = value - means[f]
        mean = means[f] + rate * deviation
        variance = variances[f] + rate * (deviation * (value - mean) - variances[f])
        spread = math.sqrt(max(variance, 0.0))
        rest = value - mean
        varies = spread > CONSTANT * abs(mean)
        number = clamp(rest / spread, WIDE_CLIP)
        number = number if varies else 0.0
        orientation, sign = orientations[f], 1.0 if rest >= 0.0 else -1.0
        orientation = sign if (orientation == 0.0) & varies else orientation
        new_means[f], new_variances[f], new_orientations[f] = mean, variance, orientation
        varying += orientation != 0.0
        wide[1 + f] = orientation * number
        scaled[f] = orientation * clamp(number, CLIP)
    return varying

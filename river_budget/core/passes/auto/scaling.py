"""Features of any unit become numbers of order one, by running means and variances.

    spec   here
    r      rate
    mean   MEAN, var  VARIANCE: with this row counted in, also where it is only predicted
    x+     row ROW of the desk: 1, and then the scaled features

A feature also has an orientation: the sign of its first deviation from its mean. So the unit of a feature does not
matter, nor which way it points.
"""

from __future__ import annotations

import math

import numpy as np

from ...block.limits import within
from ...compiling.jit import compiled
from ...examples.call import model_of
from .binning import join_bins
from .heavy_tails import CLIP, LARGEST_VALUE, bend_row, follow_tails
from .tables import (
    MEAN,
    MOMENTS,
    NEW_MOMENTS,
    ORIENTATION,
    RAW,
    ROW,
    VARIANCE,
    kept,
    noted,
    state_at,
    whole_row,
)

SLOWEST = 1e-4  # rate
ROUNDING = 1e-12  # a standard deviation below this share of the mean is none


@compiled
def scale(model, state, x):
    """Note what the moments become with x, and x in their units; what never varied is 0."""
    old, new = kept(model, MOMENTS), noted(model, NEW_MOMENTS)
    raw, row = noted(model, RAW)[0], noted(model, ROW)[0]
    rate = max(1.0 / (state.rounds + 1.0), SLOWEST)
    row[0], row[1] = 1.0, 0.0
    for f in range(state.features + 1, whole_row(state)):
        row[f] = 0.0
    known = min(state.features, x.shape[0])  # less where another thread has learned a new one
    for f in range(known):
        raw[f] = x[f]
    for f in range(known, state.features):
        raw[f] = 0.0
    for f in range(state.features):
        value = within(raw[f], LARGEST_VALUE)
        deviation = value - old[MEAN, f]
        mean = old[MEAN, f] + rate * deviation
        variance = old[VARIANCE, f] + rate * (deviation * (value - mean) - old[VARIANCE, f])
        spread = math.sqrt(max(variance, 0.0))
        rest = value - mean
        varies = spread > ROUNDING * abs(mean)
        scaled = within(rest / spread, CLIP)
        scaled = scaled if varies else 0.0
        orientation, sign = old[ORIENTATION, f], 1.0 if rest >= 0.0 else -1.0
        orientation = sign if (orientation == 0.0) & varies else orientation
        new[MEAN, f] = mean
        new[VARIANCE, f] = variance
        new[ORIENTATION, f] = orientation
        row[1 + f] = orientation * scaled
    bend_row(model, state)


@compiled
def keep_moments(model, state):
    """The moments of the noted row become those of the model; a feature that begins to vary joins the bins, one
    with heavy tails is bent."""
    old, new = kept(model, MOMENTS), noted(model, NEW_MOMENTS)
    for f in range(state.features):
        if new[ORIENTATION, f] != 0.0 and old[ORIENTATION, f] == 0.0:
            join_bins(model, f)
    for part in range(3):
        for f in range(state.features):
            old[part, f] = new[part, f]
    follow_tails(model, state)


@compiled(called_from_python=True)
def rejoin_bins(call):
    """All features that have varied join bins that are new: the same as when they began to vary."""
    model = model_of(call)
    for f in range(state_at(model.state).features):
        if kept(model, MOMENTS)[ORIENTATION, f] != 0.0:
            join_bins(model, f)
    return np.int64(0)

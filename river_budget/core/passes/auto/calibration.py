"""Calibration: what the probability of the most probable class should have been.

Between 1/C and 1 there are knots; for each, a running mean of the excess by which predictions with about probability p
were right more often than p (histogram binning, linear between the knots). It corrects what no mixture of logarithms
can express, such as labels of which one in ten is noise, so that no probability should exceed .9. The predicted class
does not change.

    here
    p                    the largest of mixture.share, of the most probable class
    calibration.mass     weights of the knots; calibration.excess: sums of [right] - p
"""

from __future__ import annotations

import numpy as np

from ...compiling.jit import compiled
from .tables import CALIBRATION_KNOTS, desk_of, found_of, room_of

CALIBRATION_FORGETTING = 0.999
DOUBT = 30.0  # number of examples without excess with which every knot begins
AHEAD_OF_SECOND = 1.0 + 1e-9  # so that corrected probabilities do not tie
CERTAIN = 1.0 - 1e-4  # larger probabilities are not corrected


@compiled
def calibrate(model):
    """Compute the corrected probability of the most probable class."""
    shares, found, table = (
        desk_of(model).mixture.share,
        found_of(model),
        room_of(model).calibration,
    )
    n, top, second = shares.shape[0], 0, 0.0
    for c in range(1, n):
        if shares[c] > shares[top] or (n == 2 and shares[1] == shares[0]):
            top = c  # if both classes are equal, the second, positive one
    for c in range(n):
        second = max(second, shares[c] if c != top else 0.0)
    p = shares[top]
    place = min(max((p * n - 1.0) / (n - 1.0), 0.0), 1.0) * (CALIBRATION_KNOTS - 1)
    left = min(np.int64(place), CALIBRATION_KNOTS - 2)
    share = place - left
    low = table.excess[left] / (table.mass[left] + DOUBT)
    high = table.excess[left + 1] / (table.mass[left + 1] + DOUBT)
    right = min(p + (1.0 - share) * low + share * high, CERTAIN)
    found.top, found.place = top, place
    least = AHEAD_OF_SECOND * second / (second + 1.0 - p)
    found.corrected = p if p >= CERTAIN else max(right, least)


@compiled
def learn_calibration(model, y, w):
    """Update the two knots around p by whether the most probable class was right; all knots decay."""
    table, found = room_of(model).calibration, found_of(model)
    mass, excesses, top = table.mass, table.excess, found.top
    left = min(np.int64(found.place), CALIBRATION_KNOTS - 2)
    share = found.place - left
    excess = w * ((1.0 if y == top else 0.0) - desk_of(model).mixture.share[top])
    for i in range(CALIBRATION_KNOTS):
        mass[i] *= CALIBRATION_FORGETTING
        excesses[i] *= CALIBRATION_FORGETTING
    mass[left] += w * (1.0 - share)
    mass[left + 1] += w * share
    excesses[left] += (1.0 - share) * excess
    excesses[left + 1] += share * excess

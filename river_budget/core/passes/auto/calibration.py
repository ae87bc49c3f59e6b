"""Calibration: what the probability of the most probable class should have been
(examples/auto_kernel.md, Calibration).

Between 1/C and 1 there are knots; for each, a running mean of the excess by which predictions with
about probability p were right more often than p (histogram binning, linear between the knots). It
corrects what no mixture of logarithms can express, such as labels of which one in ten is noise, so
that no probability should exceed .9. The predicted class does not change.

    p        the largest share of the mixture, of the most probable class
    MASS     weights of the knots; EXCESS: sums of [right] - p
"""

from __future__ import annotations

import numpy as np

from ...compiling import inner
from ...numerics import clamp
from .tables import CALIBRATION_KNOTS, EXCESS, MASS

CALIBRATION_FORGETTING = 0.999
DOUBT = 30.0  # number of examples without excess with which every knot begins
AHEAD_OF_SECOND = 1.0 + 1e-9  # so that corrected probabilities do not tie
CERTAIN = 1.0 - 1e-4  # larger probabilities are not corrected


@inner
def calibrate(calibration, shares, found):
    """Find the most probable class, and compute its corrected probability."""
    mass, excesses, n, top, second = calibration[MASS], calibration[EXCESS], shares.shape[0], 0, 0.0
    for c in range(1, n):
        if shares[c] > shares[top] or (n == 2 and shares[1] == shares[0]):
            top = c  # if both classes are equal, the second, positive one
    for c in range(n):
        second = shares[c] if shares[c] > second and c != top else second
    p = shares[top]
    place = clamp((p * n - 1.0) / (n - 1.0), 1.0) * (CALIBRATION_KNOTS - 1)
    left = min(np.int64(place), CALIBRATION_KNOTS - 2)
    share = place - left
    low = excesses[left] / (mass[left] + DOUBT)
    high = excesses[left + 1] / (mass[left + 1] + DOUBT)
    right = p + (1.0 - share) * low + share * high
    least = AHEAD_OF_SECOND * second / (second + 1.0 - p)
    right = right if right < CERTAIN else CERTAIN
    right = right if right > least else least
    found.top, found.place, found.corrected = top, place, p if p >= CERTAIN else right


@inner
def learn_calibration(calibration, shares, found, y, w):
    """Update the two knots around p by whether the most probable class was right; all knots
    decay.
    """
    mass, excesses, top = calibration[MASS], calibration[EXCESS], found.top
    left = min(np.int64(found.place), CALIBRATION_KNOTS - 2)
    share = found.place - left
    excess = w * ((1.0 if y == top else 0.0) - shares[top])
    for i in range(CALIBRATION_KNOTS):
        mass[i] *= CALIBRATION_FORGETTING
        excesses[i] *= CALIBRATION_FORGETTING
    mass[left] += w * (1.0 - share)
    mass[left + 1] += w * share
    excesses[left] += (1.0 - share) * excess
    excesses[left + 1] += share * excess

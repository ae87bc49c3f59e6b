"""How loud the noise is, row by row: the spread of a prediction in regression
(examples/auto_kernel.md, Intervals).

    variance   of the local votes of squared errors, and of the latest
    c          found.contrast: log(variance / latest), within CONTRAST of 0
    v          noise[WEIGHT]: of c, then of scaled features
    spread     exp(stretch + v.(c, x)) sqrt(variance), where the product is within LOUDEST of 0
    G          noise[SUM]: of squared gradients

Where errors are larger than usual for their spread, v moves along (c, x): so the spread follows
each feature, and trusts its local variance more or less.
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling import inner
from ...numerics import clamp, dot, log_of
from .memory import weigh
from .metric import TRAINED
from .tables import PLACE, SHARE

WEIGHT, SUM = range(2)
LATEST_VOTES = 2.0  # the latest errors count as so many neighbours
CONTRAST = 4.0
LEAST_RATIO, MOST_RATIO = math.exp(-CONTRAST), math.exp(CONTRAST)
LOUDEST = 3.0
USUAL = 0.8  # the mean of |z| of a standard normal z
LARGEST_SURPRISE = 3.0
NOISE_RATE = 0.03
NOISE_FORGETTING = 0.9999
NOISE_FLOOR = 1e-6  # added to sums of squares


@inner
def spread_of(state, noise, scaled, near, found, squared_errors):
    """The spread of a prediction, from the squared errors of its neighbours. Writes
    found.contrast.
    """
    number, variance, latest = weigh(near, found.near, TRAINED), 0.0, state.latest_error
    for k in range(found.near):
        variance += near[SHARE, k] * squared_errors[np.int64(near[PLACE, k])]
    variance = (number * variance + LATEST_VOTES * latest) / (number + LATEST_VOTES)
    found.contrast = 0.0
    if variance > 0.0 and latest > 0.0:
        found.contrast = log_of(min(max(variance / latest, LEAST_RATIO), MOST_RATIO))
    loudness = noise[WEIGHT, 0] * found.contrast
    loudness += dot(noise[WEIGHT, 1:], scaled, state.features)
    return math.exp(state.stretch + clamp(loudness, LOUDEST)) * math.sqrt(variance)


@inner
def learn_noise(noise, scaled, n, found, error, w):
    """A step of v on an error."""
    if found.spread > 0.0:
        surprise = w * clamp(abs(error) / found.spread - USUAL, LARGEST_SURPRISE)
        for i in range(1 + n):
            gradient = surprise * (scaled[i - 1] if i > 0 else found.contrast)
            noise[SUM, i] += gradient * gradient
            step = NOISE_RATE * gradient / math.sqrt(noise[SUM, i] + NOISE_FLOOR)
            noise[WEIGHT, i] = NOISE_FORGETTING * noise[WEIGHT, i] + step

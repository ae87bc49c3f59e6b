"""Calibration: a link from scores to probabilities, learned online.

Binary       P(+1) = 1 / (1 + exp(-slope f))
Multi-class  P(r) proportional to exp(slope f_r), for the class with the highest score to exp(slope
             f_r + bonus)

`calibrate` learns slope and bonus from an example's scores before a pass learns it: online Newton
steps on the log loss, with exponential forgetting. The steps are in log(slope), as scores of
different models, and of one model at different times, are orders of magnitude apart; and in the
bonus >= 0, so that the most probable class is always the predicted one. The bonus is for scores
that tell which class is right, but not how probable the others are. With two classes a bonus would
make P jump at f = 0 and gain nothing, so there is none.

The header keeps the number of examples learned so far, slope (0: nothing learned yet, and 1 is
used), top_bonus, and the matrix of second derivatives: slope_curvature, top_bonus_curvature,
cross_curvature. The predicted class does not depend on these numbers.
"""

from __future__ import annotations

import numpy as np

from ..codes import Task
from ..compiling import inlined, inner
from ..numerics import clamp, exp_of
from .stream_warnings import check_target

MULTICLASS, REGRESSION = int(Task.MULTICLASS), int(Task.REGRESSION)
KEPT_SHARE = 0.99  # factor on the old curvature per example used: about the last 100 count
# After ALL_EXAMPLES_UNTIL examples only one in STEP_INTERVAL is used, as a Newton step takes as
# long as 20 support vectors
ALL_EXAMPLES_UNTIL, STEP_INTERVAL = 1000, 3
SLOPE_PRIOR, BONUS_PRIOR = 1.0, 4.0  # curvature of the prior, in units of examples
FIRST_LOGIT = 2.0  # the slope starts so that the first score that is not 0 has this logit
# Logits are clamped to it: with larger ones a probability differs from 1 by less than 1e-21
LARGEST_LOGIT = 50.0
STEEPEST = 1e300  # the largest slope; the smallest is 1 / STEEPEST
LARGEST_BONUS = 5.0
HEAVIEST = 1e6  # the largest weight of an example
SINGULAR_DETERMINANT = 1e-9  # relative to a c; below it b, cross_curvature, counts as 0


@inlined
def calibrate(head, f, y, w):
    """One step of the calibration, from the scores f of an example before it is learned. Checks the
    target for warnings.

    Modifies the header.
    """
    if not w > 0.0:
        return
    head.n_examples += 1
    check_target(head, f[0], y)
    late = head.n_examples > ALL_EXAMPLES_UNTIL and head.n_examples % STEP_INTERVAL != 0
    if late or head.task == REGRESSION:
        return
    w, size = min(w, HEAVIEST), abs(f[0])
    if head.task == MULTICLASS:
        calibrate_many(head, f, np.int64(y), w)
    elif size != 0.0:
        if head.slope == 0.0:
            start_slope(head, size)
        z = min(head.slope * size, LARGEST_LOGIT)
        p = 1.0 / (1.0 + exp_of(-z))  # probability of the predicted class
        error = (1.0 if (y > 0.0) == (f[0] > 0.0) else 0.0) - p
        curvature = KEPT_SHARE * head.slope_curvature + (1.0 - KEPT_SHARE) * SLOPE_PRIOR
        head.slope_curvature = curvature + w * p * (1.0 - p) * z * z
        multiply_slope(head, w * error * z, head.slope_curvature)


@inner
def start_slope(head, size):
    """Initialise the slope from the size of the first score. Modifies the header."""
    head.slope = min(max(FIRST_LOGIT / size, 1.0 / STEEPEST), STEEPEST)
    head.slope_curvature = SLOPE_PRIOR


@inner
def multiply_slope(head, gradient, curvature):
    """slope *= exp(d), d = gradient / curvature in [-1, 1], exp(d) as (2 + d) / (2 - d): one
    division.
    """
    g = clamp(gradient, curvature)
    slope = head.slope * ((2.0 * curvature + g) / (2.0 * curvature - g))
    head.slope = min(max(slope, 1.0 / STEEPEST), STEEPEST)


@inner
def calibrate_many(head, f, y, w):
    """The Newton step in log(slope) and the bonus for more than two classes. Modifies the
    header.
    """
    top, lowest = 0, f[0]
    for r in range(1, f.shape[0]):
        top, lowest = r if f[r] > f[top] else top, min(lowest, f[r])
    if f[top] == lowest:
        return
    if head.slope == 0.0:
        start_slope(head, f[top] - lowest)
    if head.top_bonus_curvature == 0.0:
        head.top_bonus_curvature = BONUS_PRIOR
    slope, bonus, first, second = head.slope, head.top_bonus, 0.0, 0.0
    total = 1.0 - exp_of(-bonus)  # the highest score has the bonus
    for r in range(f.shape[0]):
        z = max(slope * (f[r] - f[top]), -LARGEST_LOGIT)
        share = exp_of(z - bonus)
        total, first, second = total + share, first + share * z, second + share * z * z
    p = 1.0 / total
    mean, kept, new = first * p, KEPT_SHARE, 1.0 - KEPT_SHARE
    a = kept * head.slope_curvature + new * SLOPE_PRIOR + w * (second * p - mean * mean)
    b = kept * head.cross_curvature - w * p * mean
    c = kept * head.top_bonus_curvature + new * BONUS_PRIOR + w * p * (1.0 - p)
    along_slope = w * (max(slope * (f[y] - f[top]), -LARGEST_LOGIT) - mean)
    along_bonus = w * ((1.0 if y == top else 0.0) - p) - new * BONUS_PRIOR * bonus
    head.slope_curvature, head.cross_curvature, head.top_bonus_curvature = a, b, c
    determinant = a * c - b * b
    if determinant <= SINGULAR_DETERMINANT * a * c:
        b, determinant = 0.0, a * c
    multiply_slope(head, c * along_slope - b * along_bonus, determinant)
    step = clamp((a * along_bonus - b * along_slope) / determinant, 1.0)
    head.top_bonus = min(max(bonus + step, 0.0), LARGEST_BONUS)

"""Calibration: a link from scores to probabilities, learned online.

Binary       P(+1) = 1 / (1 + exp(-slope f))
Multi-class  P(r) proportional to exp(slope f_r), for the class with the highest score to exp(slope f_r + lead)

`calibrate` learns slope and lead from an example's scores before a pass learns it: online Newton steps on the
log loss, with exponential forgetting. The steps are in log(slope), as scores of different models, and of one
model at different times, are orders of magnitude apart; and in lead >= 0, so that the most probable class is
always the predicted one. The lead is for scores that tell which class is right, but not how probable the others
are. With two classes a lead would make P jump at f = 0 and gains nothing, so there is none.

The header keeps the number of examples judged so far, slope (0: nothing learned yet, and 1 is used), lead,
and the matrix of second derivatives: slope_curvature, lead_curvature, cross_curvature. The predicted class does
not depend on these numbers.
"""

from __future__ import annotations

import numpy as np

from ..block.codes import Task
from ..block.limits import within
from ..compiling.jit import compiled
from ..simd.exponential import exp_of
from .stream_warnings import check_target

BINARY, MULTICLASS = int(Task.BINARY), int(Task.MULTICLASS)
KEPT_SHARE = 0.99  # factor on the old curvature per example used: about the last 100 count
# After ALL_EXAMPLES_UNTIL examples only one in STEP_INTERVAL is used, as a Newton step takes as
# long as 20 support vectors
ALL_EXAMPLES_UNTIL, STEP_INTERVAL = 1000, 3
SLOPE_PRIOR, LEAD_PRIOR = 1.0, 4.0  # curvature of the prior, in units of examples
FIRST_LOGIT = 2.0  # the slope starts so that the first score that is not 0 has this logit
# Logits are clamped to it: with larger ones a probability differs from 1 by less than 1e-21
LARGEST_LOGIT = 50.0
STEEPEST = 1e300  # the largest slope; the smallest is 1 / STEEPEST
LONGEST_LEAD = 5.0
HEAVIEST = 1e6  # the largest weight of an example
SINGULAR_DETERMINANT = 1e-9  # relative to a c; below it b, cross_curvature, counts as 0


@compiled
def calibrate(model, f, y, w):
    """One step of the calibration, from the scores f of an example before it is learned.

    Modifies the header.
    """
    head = model.head
    if not w > 0.0:
        return
    head.judged += 1
    check_target(model, f[0], y)
    if head.judged > ALL_EXAMPLES_UNTIL and head.judged % STEP_INTERVAL != 0:
        return
    w = min(w, HEAVIEST)
    if head.task == BINARY:
        if f[0] != 0.0:
            _calibrate_two(head, f[0], y, w)
    elif head.task == MULTICLASS:
        _calibrate_many(model, f, np.int64(y), w)


@compiled(always_inlined=True)
def _start_slope(head, size):
    """Initialise the slope from the size of the first score. Modifies the header."""
    head.slope = min(max(FIRST_LOGIT / size, 1.0 / STEEPEST), STEEPEST)
    head.slope_curvature = SLOPE_PRIOR


@compiled(always_inlined=True)
def _multiply_slope(head, gradient, curvature):
    """slope *= exp(d), d = gradient / curvature in [-1, 1], exp(d) as (2 + d) / (2 - d): one division."""
    g = within(gradient, curvature)
    slope = head.slope * ((2.0 * curvature + g) / (2.0 * curvature - g))
    head.slope = min(max(slope, 1.0 / STEEPEST), STEEPEST)


@compiled(always_inlined=True)
def _calibrate_two(head, score, y, w):
    """The Newton step in log(slope) for two classes. Modifies the header."""
    if head.slope == 0.0:
        _start_slope(head, abs(score))
    z = min(head.slope * abs(score), LARGEST_LOGIT)
    p = 1.0 / (1.0 + exp_of(-z))  # probability of the predicted class
    error = (1.0 if (y > 0.0) == (score > 0.0) else 0.0) - p
    curvature = KEPT_SHARE * head.slope_curvature + (1.0 - KEPT_SHARE) * SLOPE_PRIOR
    curvature += w * p * (1.0 - p) * z * z
    head.slope_curvature = curvature
    _multiply_slope(head, w * error * z, curvature)


@compiled
def _sums(f, highest, slope, lead):
    """Sums of exp(z - lead), z exp(z - lead) and z^2 exp(z - lead), with z = slope (f_r - highest)"""
    total, first, second = 0.0, 0.0, 0.0
    for r in range(f.shape[0]):
        z = slope * (f[r] - highest)
        z = z if z > -LARGEST_LOGIT else -LARGEST_LOGIT
        share = exp_of(z - lead)
        total += share
        first += share * z
        second += share * z * z
    return total, first, second


@compiled
def _calibrate_many(model, f, y, w):
    """The Newton step in log(slope) and lead for more than two classes. Modifies the header."""
    head = model.head
    top, highest, lowest = 0, f[0], f[0]
    for r in range(1, f.shape[0]):
        top = r if f[r] > highest else top
        highest, lowest = max(highest, f[r]), min(lowest, f[r])
    if highest == lowest:
        return
    if head.slope == 0.0:
        _start_slope(head, highest - lowest)
    if head.lead_curvature == 0.0:
        head.lead_curvature = LEAD_PRIOR
    total, first, second = _sums(f, highest, head.slope, head.lead)
    total += 1.0 - exp_of(-head.lead)  # the highest score has the lead
    p = 1.0 / total
    mean = first * p
    a = (
        head.slope_curvature * KEPT_SHARE
        + (1.0 - KEPT_SHARE) * SLOPE_PRIOR
        + w * (second * p - mean * mean)
    )
    b = head.cross_curvature * KEPT_SHARE - w * p * mean
    c = head.lead_curvature * KEPT_SHARE + (1.0 - KEPT_SHARE) * LEAD_PRIOR + w * p * (1.0 - p)
    along_slope = w * (max(head.slope * (f[y] - highest), -LARGEST_LOGIT) - mean)
    along_lead = w * ((1.0 if y == top else 0.0) - p) - (1.0 - KEPT_SHARE) * LEAD_PRIOR * head.lead
    head.slope_curvature, head.cross_curvature, head.lead_curvature = a, b, c
    determinant = a * c - b * b
    if determinant <= SINGULAR_DETERMINANT * a * c:
        b, determinant = 0.0, a * c
    _multiply_slope(head, c * along_slope - b * along_lead, determinant)
    lead_step = within((a * along_lead - b * along_slope) / determinant, 1.0)
    head.lead = min(max(head.lead + lead_step, 0.0), LONGEST_LEAD)

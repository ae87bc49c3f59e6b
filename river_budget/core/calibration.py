"""What scores are worth: the link from scores to probabilities.

Binary       P(+1) = 1 / (1 + exp(-slope f))
Multi-class  P(r) proportional to exp(slope f_r), and that of the highest score once more to exp(lead)

Both numbers are learned from the score of each example before it is learned, by online Newton steps on the log
loss that forget: in log(slope), as scores of different models, and of one model at different times, lie orders
of magnitude apart; and in lead >= 0, so that the most probable class is always the predicted one. A lead takes
care of scores that say which class wins and little about the others. With two classes it would be a jump at 0
and gains nothing, so there is none.

The header keeps slope (0: nothing learned yet, and 1 is used), lead, and the matrix of second derivatives:
slope_curvature, lead_curvature, cross_curvature. Predictions do not depend on any of it.
"""

from __future__ import annotations

import math

from .codes import Task
from .jit import compiled
from .support import within

BINARY, MULTICLASS = int(Task.BINARY), int(Task.MULTICLASS)
KEEP = 0.99  # of what is known, at every example: about 100 of them count
SLOPE_PRIOR, LEAD_PRIOR = 1.0, 4.0  # curvature of the prior: examples that it is worth
FIRST = 2.0  # the first score that is not 0 becomes this number
FAR = 50.0  # a logit beyond it is as good as certain
STEEPEST = 1e300  # slope, and 1 / the smallest
LONGEST_LEAD = 5.0
HEAVIEST = 1e6  # weight
SINGULAR = 1e-9


@compiled
def calibrate(model, f, y, w):
    """Learn what the scores f of an example would have been worth, now that its target is known."""
    head = model.head
    if not w > 0.0:
        return
    w = min(w, HEAVIEST)
    if head.task == BINARY:
        if f[0] != 0.0:
            _calibrate_two(head, f[0], y, w)
    elif head.task == MULTICLASS:
        _calibrate_many(head, f, int(y), w)


@compiled(always_inlined=True)
def _begin(head, size):
    """The first score sets the scale."""
    head.slope = min(max(FIRST / size, 1.0 / STEEPEST), STEEPEST)
    head.slope_curvature = SLOPE_PRIOR


@compiled(always_inlined=True)
def _multiply(head, logarithm):
    head.slope = min(max(head.slope * math.exp(logarithm), 1.0 / STEEPEST), STEEPEST)


@compiled
def _calibrate_two(head, score, y, w):
    if head.slope == 0.0:
        _begin(head, abs(score))
    z = within(head.slope * score, FAR)
    p = 1.0 / (1.0 + math.exp(-z))
    error = (1.0 if y > 0.0 else 0.0) - p
    curvature = KEEP * head.slope_curvature + (1.0 - KEEP) * SLOPE_PRIOR
    head.slope_curvature = curvature + w * p * (1.0 - p) * z * z
    _multiply(head, within(w * error * z / head.slope_curvature, 1.0))


@compiled
def _calibrate_many(head, f, y, w):
    top = lowest = 0
    for r in range(1, f.shape[0]):
        top = r if f[r] > f[top] else top
        lowest = r if f[r] < f[lowest] else lowest
    if f[top] == f[lowest]:
        return
    if head.slope == 0.0:
        _begin(head, f[top] - f[lowest])
    if head.lead_curvature == 0.0:
        head.lead_curvature = LEAD_PRIOR
    # logits z - lead of all but the highest score, whose logit is 0: sums of exp, z exp and z^2 exp
    total, first, second, of_target = 1.0, 0.0, 0.0, 0.0
    for r in range(f.shape[0]):
        if r != top:
            z = max(head.slope * (f[r] - f[top]), -FAR)
            share = math.exp(z - head.lead)
            total += share
            first += share * z
            second += share * z * z
            of_target = z if r == y else of_target
    p, mean = 1.0 / total, first / total
    a = (
        head.slope_curvature * KEEP
        + (1.0 - KEEP) * SLOPE_PRIOR
        + w * (second / total - mean * mean)
    )
    b = head.cross_curvature * KEEP - w * p * mean
    c = head.lead_curvature * KEEP + (1.0 - KEEP) * LEAD_PRIOR + w * p * (1.0 - p)
    along_slope = w * (of_target - mean)
    along_lead = w * ((1.0 if y == top else 0.0) - p) - (1.0 - KEEP) * LEAD_PRIOR * head.lead
    determinant = a * c - b * b
    if determinant > SINGULAR * a * c:
        slope_step = (c * along_slope - b * along_lead) / determinant
        lead_step = (a * along_lead - b * along_slope) / determinant
    else:
        slope_step, lead_step = along_slope / a, along_lead / c
    head.slope_curvature, head.cross_curvature, head.lead_curvature = a, b, c
    _multiply(head, within(slope_step, 1.0))
    head.lead = min(max(head.lead + within(lead_step, 1.0), 0.0), LONGEST_LEAD)

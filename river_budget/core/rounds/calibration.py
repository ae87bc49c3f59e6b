"""What scores are worth: the link from scores to probabilities.

Binary       P(+1) = 1 / (1 + exp(-slope f))
Multi-class  P(r) proportional to exp(slope f_r), and that of the highest score once more to exp(lead)

Both numbers are learned from the score of each example before it is learned, by online Newton steps on the log
loss that forget: in log(slope), as scores of different models, and of one model at different times, lie orders
of magnitude apart; and in lead >= 0, so that the most probable class is always the predicted one. A lead takes
care of scores that say which class wins and little about the others. With two classes it would be a jump at 0
and gains nothing, so there is none.

The header keeps how many examples were judged so far, slope (0: nothing learned yet, and 1 is used), lead, and the matrix of second derivatives:
slope_curvature, lead_curvature, cross_curvature. Predictions do not depend on any of it.
"""

from __future__ import annotations

from ..block.codes import Task
from ..block.limits import within
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import MODEL, NOTHING, NUMBERS, REAL, WHOLE
from ..compiling.needs import Need
from ..simd.exponential import exp_of
from .stream_warnings import watch

BINARY, MULTICLASS = int(Task.BINARY), int(Task.MULTICLASS)
KEEP = 0.99  # of what is known, at every example used: about 100 of them count
PATIENT, EVERY = (
    1000,
    3,
)  # after so many examples one in three is used, as a step takes as long as 20 vectors
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
    head.judged += 1
    watch(model, f[0], y)
    if head.judged > PATIENT and head.judged % EVERY != 0:
        return
    w = min(w, HEAVIEST)
    if head.task == BINARY:
        if f[0] != 0.0:
            _calibrate_two(head, f[0], y, w)
    elif head.task == MULTICLASS:
        _calibrate_many(model, f, int(y), w)


@compiled(always_inlined=True)
def _begin(head, size):
    """The first score sets the scale."""
    head.slope = min(max(FIRST / size, 1.0 / STEEPEST), STEEPEST)
    head.slope_curvature = SLOPE_PRIOR


@compiled(always_inlined=True)
def _multiply(head, gradient, curvature):
    """slope *= exp(gradient / curvature), nearly: (2 + d) / (2 - d) with d within -1 and 1. One division."""
    g = within(gradient, curvature)
    slope = head.slope * ((2.0 * curvature + g) / (2.0 * curvature - g))
    head.slope = min(max(slope, 1.0 / STEEPEST), STEEPEST)


@compiled(always_inlined=True)
def _calibrate_two(head, score, y, w):
    if head.slope == 0.0:
        _begin(head, abs(score))
    z = min(head.slope * abs(score), FAR)
    p = 1.0 / (1.0 + exp_of(-z))  # of the predicted class
    error = (1.0 if (y > 0.0) == (score > 0.0) else 0.0) - p
    curvature = KEEP * head.slope_curvature + (1.0 - KEEP) * SLOPE_PRIOR
    curvature += w * p * (1.0 - p) * z * z
    head.slope_curvature = curvature
    _multiply(head, w * error * z, curvature)


@compiled
def _sums(f, highest, slope, lead):
    """Sums of exp(z - lead), z exp(z - lead) and z^2 exp(z - lead), with z = slope (f_r - highest)"""
    total, first, second = 0.0, 0.0, 0.0
    for r in range(f.shape[0]):
        z = slope * (f[r] - highest)
        z = z if z > -FAR else -FAR
        share = exp_of(z - lead)
        total += share
        first += share * z
        second += share * z * z
    return total, first, second


@shared(Need.CLASSES, NOTHING, MODEL, NUMBERS, WHOLE, REAL)
def _calibrate_many(model, f, y, w):
    head = model.head
    top, highest, lowest = 0, f[0], f[0]
    for r in range(1, f.shape[0]):
        top = r if f[r] > highest else top
        highest, lowest = max(highest, f[r]), min(lowest, f[r])
    if highest == lowest:
        return
    if head.slope == 0.0:
        _begin(head, highest - lowest)
    if head.lead_curvature == 0.0:
        head.lead_curvature = LEAD_PRIOR
    total, first, second = _sums(f, highest, head.slope, head.lead)
    total += 1.0 - exp_of(-head.lead)  # the highest score has the lead
    p = 1.0 / total
    mean = first * p
    a = head.slope_curvature * KEEP + (1.0 - KEEP) * SLOPE_PRIOR + w * (second * p - mean * mean)
    b = head.cross_curvature * KEEP - w * p * mean
    c = head.lead_curvature * KEEP + (1.0 - KEEP) * LEAD_PRIOR + w * p * (1.0 - p)
    along_slope = w * (max(head.slope * (f[y] - highest), -FAR) - mean)
    along_lead = w * ((1.0 if y == top else 0.0) - p) - (1.0 - KEEP) * LEAD_PRIOR * head.lead
    head.slope_curvature, head.cross_curvature, head.lead_curvature = a, b, c
    determinant = a * c - b * b
    if determinant <= SINGULAR * a * c:
        b, determinant = 0.0, a * c
    _multiply(head, c * along_slope - b * along_lead, determinant)
    lead_step = within((a * along_lead - b * along_slope) / determinant, 1.0)
    head.lead = min(max(head.lead + lead_step, 0.0), LONGEST_LEAD)

"""The mean of the iterates, kept beside the last one: rows of `per_vector` on the same support.

With constant steps the last iterate is noisy, and a mean is less so. The pass learns from the loss of the last
iterate, as if there were no mean, and predicts by the mean. Removing, merging or projecting
vectors changes the coefficients of both.

The mean of all iterates w_1 .. w_t gives late iterates more weight, as the first ones have learned little:
    m_t = m_(t-1) + share (w_t - m_(t-1)),    share = (1 + LATE_WEIGHT) / (t + LATE_WEIGHT)
O. Shamir, T. Zhang. Stochastic gradient descent for non-smooth optimization. ICML 2013, section 4.
With a horizon h the share stays at 1 / h, so that the mean forgets at this rate.

state.average: 0 none, 1 all of the past, otherwise the horizon; state.averaged: t.
"""

from __future__ import annotations

from ..block.limits import padded_count
from ..compiling.jit import REORDERED, compiled
from ..simd.vector_ops import dot
from .kernel_rows import kernel_row
from .scoring import each_row

LATE_WEIGHT = 3.0


@compiled(always_inlined=True)
def share_of(average, averaged):
    """The share of the last iterate in the mean, after `averaged` iterates."""
    share = (1.0 + LATE_WEIGHT) / (averaged + LATE_WEIGHT)
    return max(share, 1.0 / average) if average > 1.0 else share


@compiled(fastmath=REORDERED, always_inlined=True)
def move_towards(mean, row, scale, share, n):
    """mean += share (scale row - mean)"""
    for j in range(n):
        mean[j] += share * (scale * row[j] - mean[j])


@compiled(always_inlined=True)
def first_mean(model):
    """The row of per_vector with the mean of output 0. The means are its last rows, one per output."""
    return model.per_vector.shape[0] - model.coefficients.shape[0]


@compiled(always_inlined=True)
def update_mean(model, average, averaged):
    """Update the mean with the current iterate, which is number `averaged`. Modifies per_vector."""
    if average != 0.0:
        share, first, n = share_of(average, averaged), first_mean(model), padded_count(model)
        for r in range(model.coefficients.shape[0]):
            mean = model.per_vector[first + r]
            move_towards(mean, model.coefficients[r], model.head.scale, share, n)


@compiled(always_inlined=True)
def mean_scores(model, scores):
    """scores[r] = m_r(x) for the mean m, from the kernel row of x in model.row."""
    first, n = first_mean(model), padded_count(model)
    for r in range(scores.shape[0]):
        scores[r] = dot(model.row, model.per_vector[first + r], n)


@compiled(called_from_python=True)
def decide_mean(call):
    """scores[t] = m(x_t)"""
    return each_row(call, score_by_mean)


@compiled(always_inlined=True)
def score_by_mean(model, x, norm, scores):
    """`mean_scores` from scratch. Overwrites model.row."""
    kernel_row(model, x, norm)
    mean_scores(model, scores)

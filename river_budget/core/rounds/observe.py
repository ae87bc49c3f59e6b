"""The loop around every round: the loop over examples, what it refuses, calibration, the mean of
the iterates.

An algorithm is a function of one example:

    round_of(m, state, x, norm, f, y, w)      what the algorithm does with one example, as its paper
                                              has it
        m         the model (core/memory.py); the kernel row of x is in m.row
        state     the algorithm's own record
        x, norm   the example (core/expansion/examples.py) and its norm
        f, y, w   its scores, its target and its weight, which is positive

`learn_rows` runs it for every example of a call, behind `observe`, or behind `observe_with_mean`
for algorithms with a mean of the iterates.

An example is refused if a larger block is needed before it can be learned, or if a warning is due:
the pass returns its number, Python grows the block or issues the warning, and calls the pass again.

The mean of the iterates is kept beside the last one: rows of per_vector on the same support. With
constant steps the last iterate is noisy, and a mean is less so. The pass learns from the loss of
the last iterate, as if there were no mean, and predicts by the mean. Removing, merging or
projecting vectors changes the coefficients of both.

The mean of all iterates w_1 .. w_t gives late iterates more weight, as the first ones have learned
little:
    m_t = m_(t-1) + share (w_t - m_(t-1)),    share = (1 + LATE_WEIGHT) / (t + LATE_WEIGHT)
O. Shamir, T. Zhang. Stochastic gradient descent for non-smooth optimization. ICML 2013, section 4.
With a horizon h the share stays at 1 / h, so that the mean forgets at this rate.

state.average: 0 none, 1 all of the past, otherwise the horizon; state.averaged: t.
"""

from __future__ import annotations

from ..compiling import inlined, inner
from ..expansion.examples import example
from ..expansion.kernels import kernel_row, norm_of, padded
from ..expansion.scoring import mean_scores, score_row
from .calibration import calibrate
from .stream_warnings import is_far_from_all

REFUSED = -1.0  # instead of a norm
LATE_WEIGHT = 3.0


@inlined
def learn_rows(m, states, rows, observe, round_of):
    """Learn the examples in order; scores[t] = f(x_t) before example t is learned. Returns how many
    were learned.
    """
    state = states[0]
    for t in range(rows.scores.shape[0]):
        x, f, y, w = example(m, rows, t), rows.scores[t], rows.targets[t], rows.weights[t]
        norm, scores = observe(m, state, x, f, y, w)
        if norm < 0.0:
            return t
        if w > 0.0:
            round_of(m, state, x, norm, scores, y, w)
    return rows.scores.shape[0]


@inlined
def learn_rows_with(m, states, own, rows, observe, round_of):
    """The same for an algorithm with tables of its own: round_of(m, state, own, x, norm, f, y,
    w).
    """
    state = states[0]
    for t in range(rows.scores.shape[0]):
        x, f, y, w = example(m, rows, t), rows.scores[t], rows.targets[t], rows.weights[t]
        norm, scores = observe(m, state, x, f, y, w)
        if norm < 0.0:
            return t
        if w > 0.0:
            round_of(m, state, own, x, norm, scores, y, w)
    return rows.scores.shape[0]


@inlined
def observe(m, state, x, f, y, w):
    """(the norm of x or REFUSED, its scores f): overwrites f and, with the kernel row of x, m.row,
    and calibrates on f.
    """
    norm = score_newcomer(m, x, f)
    if norm >= 0.0:
        calibrate(m.head[0], f, y, w)
    return norm, f


@inlined
def observe_with_mean(m, state, x, f, y, w):
    """`observe`, where the caller of the pass gets the scores of the mean of the iterates, if one
    is kept, and the round those of the last iterate. The round ends with `count_iterate`.
    """
    norm, scores = score_newcomer(m, x, f), f
    if norm >= 0.0:
        if state.average != 0.0:
            scores = m.last
            for r in range(f.shape[0]):
                scores[r] = f[r]
            mean_scores(m, f)
        calibrate(m.head[0], f, y, w)
    return norm, scores


@inlined
def score_newcomer(m, x, f):
    """Overwrite m.row with the kernel row of x, and f with its scores. Returns the norm of x, or
    REFUSED.
    """
    head = m.head[0]
    if head.count >= head.capacity or head.alarm != 0:
        return REFUSED
    norm = norm_of(m, x)
    kernel_row(m, x, norm)
    score_row(m, m.row, f)
    if f[0] != 0.0:
        head.far_streak = 0
    elif is_far_from_all(m):
        return REFUSED
    return norm


@inner
def share_of(average, averaged):
    """The share of the last iterate in the mean, after `averaged` iterates."""
    share = (1.0 + LATE_WEIGHT) / (averaged + LATE_WEIGHT)
    return max(share, 1.0 / average) if average > 1.0 else share


@inlined
def count_iterate(m, state):
    """Count the current iterate, and update the mean of the iterates, if one is kept. Modifies
    per_vector.
    """
    state.averaged += 1.0
    if state.average != 0.0:
        a, scale, share = m.coefficients, m.head[0].scale, share_of(state.average, state.averaged)
        first, n = m.per_vector.shape[0] - a.shape[0], padded(m.head[0].count)
        for r in range(a.shape[0]):
            move_towards(m.per_vector[first + r], a[r], scale, share, n)


@inner
def move_towards(mean, row, scale, share, n):
    """mean += share (scale row - mean)"""
    for j in range(n):
        mean[j] += share * (scale * row[j] - mean[j])

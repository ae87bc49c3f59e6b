"""The kernelised stochastic batch Perceptron, on a window of examples.

A. Cotter, S. Shalev-Shwartz, N. Srebro. The kernelized stochastic batch Perceptron. ICML 2012,
algorithm 1, whose lines are numbered here; with a bias, a pair of examples takes the place of one.
The window is not in the paper, where all examples are known from the start.

    paper        here
    alpha_i y_i  coefficients[0, i]; in a refined model the scaled mean of the iterates, while row
                 KEPT of per_vector holds the last iterate
    c_i          per_vector[RESPONSES, i] = y_i <w, phi(x_i)>
    |w|^2        state.norm2; the paper calls sum_i alpha_i c_i the norm, which is its square
    nu           state.slack
    gamma        level
    eta          step
    T            state.iterations
    t            state.done

A small window stores its Gram matrix (in `factor`); for a large one the pass computes rows as it
needs them.
"""

from __future__ import annotations

import math

from ...compiling import inlined, inner, passes
from ...expansion.examples import example
from ...expansion.kernels import kernel_row, padded, row_of_vector, self_kernel
from ...expansion.scoring import score_example
from ...expansion.support import oldest, remove, replace_vector
from ...memory import record
from ...numerics import dot
from ...random_numbers import below
from ...rounds.calibration import STEEPEST, calibrate
from ...rounds.losses import clamp_step
from ...rounds.observe import learn_rows, score_newcomer
from .water_levels import (
    KEPT,
    LABELS,
    PULLS,
    RESPONSES,
    SUMS,
    TOLERANCE,
    bias_of,
    levels_of,
    pick,
    pick_pair,
    water_level,
)

PER_VECTOR = 5
CHECK_INTERVAL = 16  # arrivals between checks of |w|^2 and one response, each in turn
RESPONSE_DRIFT = (
    1e-7  # relative to |w| and the length of the example; rounding alone stays near 1e-13
)

STATE = record(
    "i8 steps fit_bias reservoir seen done iterations refined positives",
    "f8 slack norm2 bias last_bias last_slope",
)


# A stream


@passes
def learn(m, states, rows):
    """The learning pass."""
    return learn_rows(m, states, rows, observe_window, round_of)


@inlined
def observe_window(m, state, x, f, y, w):
    """As `observe`, with the bias."""
    norm = score_newcomer(m, x, f)
    if norm >= 0.0:
        f[0] += state.bias
        calibrate(m.head[0], f, y, w)
    return norm, f


@inlined
def round_of(m, state, x, norm, f, y, w):
    """Store the example in the window, or leave it out, and iterate."""
    if state.refined:
        restore_last_iterate(m, state)
    state.seen += 1
    slot = slot_for_newcomer(m, state)
    if slot >= 0:
        insert_in_window(m, state, slot, x, norm, y, clamp_step(w))
    if can_iterate(m, state):
        unit = first_step(m)
        for _ in range(state.steps):
            iterate(m, state, unit)
        if state.fit_bias:
            state.bias = bias_of(m, state)
    if state.seen % CHECK_INTERVAL == 0:
        check_responses(m, state)


@inner
def slot_for_newcomer(m, state):
    """A free slot, or the slot to overwrite, or -1 if reservoir sampling leaves out the
    newcomer.
    """
    head = m.head[0]
    if head.count < head.budget:
        return head.count
    if state.reservoir:
        drawn = below(m.head[0], state.seen)
        return drawn if drawn < head.budget else -1
    return oldest(m)


@inner
def insert_in_window(m, state, slot, x, norm, label, pull):
    """Store an example in a slot, which may be in use. m.row is its kernel row."""
    head, per_vector, row = m.head[0], m.per_vector, m.row
    if slot < head.count:
        remove_from_window(m, state, slot)
        if not head.factored and state.norm2 > 0.0:
            kernel_row(m, x, norm)  # as the removal has overwritten m.row
    else:
        head.count += 1
    replace_vector(m, slot, x, norm)
    row[slot], response = 0.0, 0.0  # row[slot] is the kernel value of the removed vector
    if state.norm2 > 0.0:
        for j in range(head.count):
            response += row[j] * m.coefficients[0, j]
    per_vector[LABELS, slot], per_vector[RESPONSES, slot] = label, label * response
    per_vector[PULLS, slot] = pull
    state.positives += label > 0.0
    if head.factored:
        row[slot] = self_kernel(m, norm)
        for j in range(head.count):
            m.factor[slot, j] = row[j]
            m.factor[j, slot] = row[j]


@inner
def remove_from_window(m, state, slot):
    """Subtract what an example contributes to w from w and from all responses."""
    labels, c = m.per_vector[LABELS], m.per_vector[RESPONSES]
    amount = m.coefficients[0, slot]
    if amount != 0.0:
        length = amount * amount * self_kernel(m, m.norms[slot])
        state.norm2 = max(state.norm2 - 2.0 * amount * labels[slot] * c[slot] + length, 0.0)
        add_response(m, gram_row(m, slot), -amount, 1.0)
        m.coefficients[0, slot] = 0.0
    state.positives -= labels[slot] > 0.0


@inlined
def gram_row(m, j):
    """The kernel row of vector j: from the Gram matrix, or computed in m.row."""
    if m.head[0].factored:
        return m.factor[j]
    row_of_vector(m, j)
    return m.row


@inner
def add_response(m, row, amount, factor):
    """c_j = factor (c_j + amount y_j row_j)"""
    labels, c = m.per_vector[LABELS], m.per_vector[RESPONSES]
    for j in range(padded(m.head[0].count)):
        c[j] = factor * (c[j] + amount * labels[j] * row[j])


@inner
def can_iterate(m, state):
    """Whether there are examples to iterate on; with a bias there must be both classes, or the
    margin has no bound.
    """
    n = m.head[0].count
    return n > 0 and (state.fit_bias == 0 or 0 < state.positives < n)


# Iterations


@inner
def first_step(m):
    """Line 1: 1 / the length of the longest example"""
    if m.head[0].bounded:
        return 1.0
    longest = 0.0
    for j in range(m.head[0].count):
        longest = max(longest, self_kernel(m, m.norms[j]))
    return 1.0 / math.sqrt(longest) if longest > 0.0 else 0.0


@inner
def iterate(m, state, unit):
    """One iteration: a step towards an example below the water level; with a bias, half a step to
    one of each class.
    """
    state.done += 1
    step = unit / math.sqrt(state.done)  # line 4
    if state.fit_bias:
        positive, negative = pick_pair(m, state)
        step_towards(m, state, positive, 0.5 * step, math.inf)
        step_towards(m, state, negative, 0.5 * step, 1.0)
    else:
        step_towards(m, state, pick(m, state), step, 1.0)


@inner
def step_towards(m, state, i, step, longest):
    """w += step y_i phi(x_i); if then |w|^2 > longest, w /= |w|. Updates responses and |w|^2."""
    label, c = m.per_vector[LABELS, i], m.per_vector[RESPONSES]
    amount, factor = step * m.per_vector[PULLS, i], 1.0
    k_ii = self_kernel(m, m.norms[i])
    state.norm2 += 2.0 * amount * c[i] + amount * amount * k_ii  # line 8
    m.coefficients[0, i] += amount * label  # line 7
    if state.norm2 > longest:  # lines 11 and 12
        factor = 1.0 / math.sqrt(state.norm2)
        state.norm2 = 1.0
        for j in range(padded(m.head[0].count)):
            m.coefficients[0, j] *= factor
    add_response(m, gram_row(m, i), amount * label, factor)  # lines 9 and 10


# Refinement


@passes
def refine(m, states):
    """More iterations on the window; the mean of these iterates predicts until the next arrival."""
    state, per_vector = states[0], m.per_vector
    if state.refined:
        restore_last_iterate(m, state)
    if state.iterations == 0 or not can_iterate(m, state):
        return
    n, unit = padded(m.head[0].count), first_step(m)
    for j in range(n):
        per_vector[KEPT, j] = per_vector[SUMS, j] = 0.0
    for _ in range(state.iterations):
        iterate(m, state, unit)
        for j in range(n):
            per_vector[KEPT, j] += m.coefficients[0, j]
            per_vector[SUMS, j] += per_vector[RESPONSES, j]
    predict_with_mean(m, state)


@inner
def predict_with_mean(m, state):
    """Lines 13 and 14: the mean of the iterates in the scale where the margin is 1."""
    per_vector, n = m.per_vector, padded(m.head[0].count)
    volume = m.head[0].count * state.slack
    for j in range(n):
        per_vector[SUMS, j] /= state.iterations
    state.last_bias, state.bias = state.bias, 0.0
    if state.fit_bias:
        state.last_bias = bias_of(m, state)
        plus, minus = levels_of(m, per_vector[SUMS], volume)
        margin, state.bias = 0.5 * (plus + minus), 0.5 * (minus - plus)
    else:
        margin = water_level(per_vector[SUMS], m.head[0].count, volume, m.buffer)
    # a margin that is 0 in exact arithmetic, as of equal examples with different labels, is noise
    scale = 1.0 / margin if margin > TOLERANCE else 1.0
    state.bias *= scale
    state.last_slope, before, after = m.head[0].slope, 0.0, 0.0
    for j in range(n):
        before += abs(m.coefficients[0, j])
        after += abs(scale * per_vector[KEPT, j] / state.iterations)
    if before > 0.0 and after > 0.0:  # adapt the calibration to the mean's scale
        m.head[0].slope = min(m.head[0].slope * (before / after), STEEPEST)
    for j in range(n):
        mean = per_vector[KEPT, j] / state.iterations
        per_vector[KEPT, j] = m.coefficients[0, j]
        m.coefficients[0, j] = scale * mean
    state.refined = 1


@inner
def restore_last_iterate(m, state):
    """Restore the last iterate after the mean of `refine` has predicted."""
    for j in range(padded(m.head[0].count)):
        m.coefficients[0, j] = m.per_vector[KEPT, j]
    state.bias, state.refined = state.last_bias, 0
    m.head[0].slope = state.last_slope


# Drift


@inner
def check_responses(m, state):
    """Check one response and |w|^2, and compute all responses and |w|^2 from scratch if they have
    drifted.
    """
    n, c = m.head[0].count, m.per_vector[RESPONSES]
    i = (state.seen // CHECK_INTERVAL) % n
    length = math.sqrt(state.norm2 * max(self_kernel(m, m.norms[i]), 0.0))
    wrong = abs(response_of(m, i) - c[i]) > RESPONSE_DRIFT * length
    if wrong or abs(norm2_of(m) - state.norm2) > RESPONSE_DRIFT * state.norm2:
        for j in range(n):
            c[j] = response_of(m, j)
        state.norm2 = max(norm2_of(m), 0.0)
        m.head[0].repairs += 1


@inner
def response_of(m, i):
    """y_i <w, phi(x_i)>"""
    row = gram_row(m, i)
    return m.per_vector[LABELS, i] * dot(row, m.coefficients[0], padded(m.head[0].count))


@inner
def norm2_of(m):
    """|w|^2 = sum_i alpha_i c_i"""
    total, labels, c = 0.0, m.per_vector[LABELS], m.per_vector[RESPONSES]
    for i in range(m.head[0].count):
        total += m.coefficients[0, i] * labels[i] * c[i]
    return total


# Scoring and shrinking


@passes
def score(m, states, rows):
    """scores[t] = f(x_t)"""
    for t in range(rows.scores.shape[0]):
        score_example(m, example(m, rows, t), rows.scores[t])
        rows.scores[t, 0] += states[0].bias
    return rows.scores.shape[0]


@passes
def shrink_to_window(m, states):
    """Remove the oldest examples until the model keeps its window, which a user has made
    smaller.
    """
    state, head = states[0], m.head[0]
    if state.refined:
        restore_last_iterate(m, state)
    while head.count > head.budget:
        slot, last = oldest(m), head.count - 1
        remove_from_window(m, state, slot)
        if head.factored and slot != last:
            for j in range(head.count):
                m.factor[slot, j] = m.factor[last, j]
            for j in range(head.count):
                m.factor[j, slot] = m.factor[j, last]
            m.factor[slot, slot] = self_kernel(m, m.norms[last])
        remove(m, slot)
    if state.fit_bias and can_iterate(m, state):
        state.bias = bias_of(m, state)

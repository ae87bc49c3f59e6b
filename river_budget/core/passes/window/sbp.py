"""The kernelised stochastic batch Perceptron, on a window of examples.

A. Cotter, S. Shalev-Shwartz, N. Srebro. The kernelized stochastic batch Perceptron. ICML 2012, algorithm 1,
whose lines are numbered here; with a bias, a pair of examples takes the place of one. The window is not in the
paper, where all examples are known from the start.

    paper        here
    alpha_i y_i  coefficients[0, i]; in a refined model the scaled mean of the iterates, while row KEPT of
                 per_vector holds the last iterate
    c_i          per_vector[RESPONSES, i] = y_i <w, phi(x_i)>
    |w|^2        state.norm2; the paper calls sum_i alpha_i c_i the norm, which is its square
    nu           state.slack
    gamma        level
    eta          step
    T            state.iterations
    t            state.done

A small window stores its Gram matrix (in `factor`); for a large one the pass computes rows as it needs them.
"""

from __future__ import annotations

import math

from ...block.limits import padded_count
from ...block.random_numbers import below
from ...compiling.array_views import carver, record
from ...compiling.jit import REORDERED, compiled
from ...examples.call import model_of
from ...expansion.kernel_rows import kernel_row, row_of_vector, score, self_kernel
from ...expansion.scoring import each_row
from ...expansion.support import oldest, remove, replace_vector
from ...rounds.calibration import STEEPEST, calibrate
from ...rounds.losses import clamp_step
from ...rounds.observe import learn_rows, score_example
from ...simd.vector_ops import dot
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
DRIFT = 1e-7  # relative to |w| and the length of the example; rounding alone stays near 1e-13

STATE = record(
    "i8 steps fit_bias reservoir seen done iterations refined positives",
    "f8 slack norm2 bias last_bias last_slope",
)
state_at = carver(STATE, 0)


# A stream


@compiled(called_from_python=True)
def learn(call):
    """The learning pass."""
    return learn_rows(call, state_at, observe_window, round_of)


@compiled(inlined=True)
def observe_window(model, state, stream, t):
    """As `observe`, with the bias."""
    x, f, y, w, norm = score_example(model, stream, t)
    if norm >= 0.0:
        f[0] += state.bias
        calibrate(model, f, y, w)
    return x, f, y, w, norm


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w):
    """Store the example in the window, or leave it out, and iterate."""
    if state.refined:
        restore_last_iterate(model, state)
    state.seen += 1
    slot = slot_for_newcomer(model, state)
    if slot >= 0:
        insert_in_window(model, state, slot, x, norm, y, clamp_step(w))
    if can_iterate(model, state):
        unit = first_step(model)
        for _ in range(state.steps):
            iterate(model, state, unit)
        if state.fit_bias:
            state.bias = bias_of(model, state)
    if state.seen % CHECK_INTERVAL == 0:
        check_responses(model, state)


@compiled
def slot_for_newcomer(model, state):
    """A free slot, or the slot to overwrite, or -1 if reservoir sampling leaves out the newcomer."""
    head = model.head
    if head.count < head.budget:
        return head.count
    if state.reservoir:
        drawn = below(model, state.seen)
        return drawn if drawn < head.budget else -1
    return oldest(model)


@compiled
def insert_in_window(model, state, slot, x, norm, label, pull):
    """Store an example in a slot, which may be in use. model.row is its kernel row."""
    head, per_vector, row = model.head, model.per_vector, model.row
    if slot < head.count:
        remove_from_window(model, state, slot)
        if not head.factored and state.norm2 > 0.0:
            kernel_row(model, x, norm)  # as the removal has overwritten model.row
    else:
        head.count += 1
    replace_vector(model, slot, x, norm)
    row[slot], response = 0.0, 0.0  # row[slot] is the kernel value of the removed vector
    if state.norm2 > 0.0:
        for j in range(head.count):
            response += row[j] * model.coefficients[0, j]
    per_vector[LABELS, slot], per_vector[RESPONSES, slot] = label, label * response
    per_vector[PULLS, slot] = pull
    state.positives += label > 0.0
    if head.factored:
        row[slot] = self_kernel(model, norm)
        for j in range(head.count):
            model.factor[slot, j] = row[j]
            model.factor[j, slot] = row[j]


@compiled
def remove_from_window(model, state, slot):
    """Subtract what an example contributes to w from w and from all responses."""
    labels, c = model.per_vector[LABELS], model.per_vector[RESPONSES]
    amount = model.coefficients[0, slot]
    if amount != 0.0:
        length = amount * amount * self_kernel(model, model.norms[slot])
        state.norm2 = max(state.norm2 - 2.0 * amount * labels[slot] * c[slot] + length, 0.0)
        add_response(model, gram_row(model, slot), -amount, 1.0)
        model.coefficients[0, slot] = 0.0
    state.positives -= labels[slot] > 0.0


@compiled
def gram_row(model, j):
    """The kernel row of vector j: from the Gram matrix, or computed in model.row."""
    if model.head.factored:
        return model.factor[j]
    row_of_vector(model, j)
    return model.row


@compiled(fastmath=REORDERED, always_inlined=True)
def add_response(model, row, amount, factor):
    """c_j = factor (c_j + amount y_j row_j)"""
    labels, c = model.per_vector[LABELS], model.per_vector[RESPONSES]
    for j in range(padded_count(model)):
        c[j] = factor * (c[j] + amount * labels[j] * row[j])


@compiled
def can_iterate(model, state):
    """Whether there are examples to iterate on; with a bias there must be both classes, or the margin has no bound."""
    n = model.head.count
    return n > 0 and (state.fit_bias == 0 or 0 < state.positives < n)


# Iterations


@compiled
def first_step(model):
    """Line 1: 1 / the length of the longest example"""
    if model.head.bounded:
        return 1.0
    longest = 0.0
    for j in range(model.head.count):
        longest = max(longest, self_kernel(model, model.norms[j]))
    return 1.0 / math.sqrt(longest) if longest > 0.0 else 0.0


@compiled
def iterate(model, state, unit):
    """One iteration: a step towards an example below the water level; with a bias, half a step to one of each class."""
    state.done += 1
    step = unit / math.sqrt(state.done)  # line 4
    if state.fit_bias:
        positive, negative = pick_pair(model, state)
        step_towards(model, state, positive, 0.5 * step, math.inf)
        step_towards(model, state, negative, 0.5 * step, 1.0)
    else:
        step_towards(model, state, pick(model, state), step, 1.0)


@compiled
def step_towards(model, state, i, step, longest):
    """w += step y_i phi(x_i); if then |w|^2 > longest, w /= |w|. Updates responses and |w|^2."""
    label, c = model.per_vector[LABELS, i], model.per_vector[RESPONSES]
    amount, factor = step * model.per_vector[PULLS, i], 1.0
    k_ii = self_kernel(model, model.norms[i])
    state.norm2 += 2.0 * amount * c[i] + amount * amount * k_ii  # line 8
    model.coefficients[0, i] += amount * label  # line 7
    if state.norm2 > longest:  # lines 11 and 12
        factor = 1.0 / math.sqrt(state.norm2)
        state.norm2 = 1.0
        for j in range(padded_count(model)):
            model.coefficients[0, j] *= factor
    add_response(model, gram_row(model, i), amount * label, factor)  # lines 9 and 10


# Refinement


@compiled(called_from_python=True)
def refine(call):
    """More iterations on the window; the mean of these iterates predicts until the next arrival."""
    model = model_of(call)
    state, per_vector = state_at(model.state), model.per_vector
    if state.refined:
        restore_last_iterate(model, state)
    if state.iterations == 0 or not can_iterate(model, state):
        return
    n, unit = padded_count(model), first_step(model)
    for j in range(n):
        per_vector[KEPT, j] = per_vector[SUMS, j] = 0.0
    for _ in range(state.iterations):
        iterate(model, state, unit)
        for j in range(n):
            per_vector[KEPT, j] += model.coefficients[0, j]
            per_vector[SUMS, j] += per_vector[RESPONSES, j]
    predict_with_mean(model, state)


@compiled
def predict_with_mean(model, state):
    """Lines 13 and 14: the mean of the iterates in the scale where the margin is 1."""
    per_vector, n = model.per_vector, padded_count(model)
    volume = model.head.count * state.slack
    for j in range(n):
        per_vector[SUMS, j] /= state.iterations
    state.last_bias, state.bias = state.bias, 0.0
    if state.fit_bias:
        state.last_bias = bias_of(model, state)
        plus, minus = levels_of(model, per_vector[SUMS], volume)
        margin, state.bias = 0.5 * (plus + minus), 0.5 * (minus - plus)
    else:
        margin = water_level(per_vector[SUMS], model.head.count, volume, model.buffer)
    # a margin that is 0 in exact arithmetic, as of equal examples with different labels, is noise
    scale = 1.0 / margin if margin > TOLERANCE else 1.0
    state.bias *= scale
    state.last_slope, before, after = model.head.slope, 0.0, 0.0
    for j in range(n):
        before += abs(model.coefficients[0, j])
        after += abs(scale * per_vector[KEPT, j] / state.iterations)
    if before > 0.0 and after > 0.0:  # adapt the calibration to the mean's scale
        model.head.slope = min(model.head.slope * (before / after), STEEPEST)
    for j in range(n):
        mean = per_vector[KEPT, j] / state.iterations
        per_vector[KEPT, j] = model.coefficients[0, j]
        model.coefficients[0, j] = scale * mean
    state.refined = 1


@compiled
def restore_last_iterate(model, state):
    """Restore the last iterate after the mean of `refine` has predicted."""
    for j in range(padded_count(model)):
        model.coefficients[0, j] = model.per_vector[KEPT, j]
    state.bias, state.refined = state.last_bias, 0
    model.head.slope = state.last_slope


# Drift


@compiled
def check_responses(model, state):
    """Check one response and |w|^2, and compute all responses and |w|^2 from scratch if they have drifted."""
    n, c = model.head.count, model.per_vector[RESPONSES]
    i = (state.seen // CHECK_INTERVAL) % n
    length = math.sqrt(state.norm2 * max(self_kernel(model, model.norms[i]), 0.0))
    wrong = abs(response_of(model, i) - c[i]) > DRIFT * length
    if wrong or abs(norm2_of(model) - state.norm2) > DRIFT * state.norm2:
        for j in range(n):
            c[j] = response_of(model, j)
        state.norm2 = max(norm2_of(model), 0.0)
        model.head.repairs += 1


@compiled
def response_of(model, i):
    """y_i <w, phi(x_i)>"""
    row = gram_row(model, i)
    return model.per_vector[LABELS, i] * dot(row, model.coefficients[0], padded_count(model))


@compiled
def norm2_of(model):
    """|w|^2 = sum_i alpha_i c_i"""
    total, labels, c = 0.0, model.per_vector[LABELS], model.per_vector[RESPONSES]
    for i in range(model.head.count):
        total += model.coefficients[0, i] * labels[i] * c[i]
    return total


# Scoring and shrinking


@compiled(called_from_python=True)
def decide(call):
    """scores[t] = f(x_t)"""
    return each_row(call, score_with_bias)


@compiled(always_inlined=True)
def score_with_bias(model, x, norm, f):
    """f[0] = f(x)"""
    score(model, x, norm, f)
    f[0] += state_at(model.state).bias


@compiled(called_from_python=True)
def shrink_to_window(call):
    """Remove the oldest examples until the model keeps its window, which a user has made smaller."""
    model = model_of(call)
    state, head = state_at(model.state), model.head
    if state.refined:
        restore_last_iterate(model, state)
    while head.count > head.budget:
        slot, last = oldest(model), head.count - 1
        remove_from_window(model, state, slot)
        if head.factored and slot != last:
            for j in range(head.count):
                model.factor[slot, j] = model.factor[last, j]
            for j in range(head.count):
                model.factor[j, slot] = model.factor[j, last]
            model.factor[slot, slot] = self_kernel(model, model.norms[last])
        remove(model, slot)
    if state.fit_bias and can_iterate(model, state):
        state.bias = bias_of(model, state)

"""The kernelised stochastic batch Perceptron, on a window of examples.

A. Cotter, S. Shalev-Shwartz, N. Srebro. The kernelized stochastic batch Perceptron. ICML 2012, algorithm 1,
whose lines are numbered here; with a bias, a pair of examples takes the place of one. The window is ours: the
paper knows all examples from the start.

    paper        here
    alpha_i y_i  coefficients[0, i]; in a refined model the scaled mean of the iterates, and the last
                 iterate waits in KEPT
    c_i          extras[RESPONSES, i] = y_i <w, phi(x_i)>
    |w|^2        own.norm2; the paper calls sum_i alpha_i c_i the norm, which is its square
    nu           own.slack
    gamma        level
    eta          step
    T            own.iterations
    t            own.done

Of the Gram matrix a small window keeps all (factor); of a large one, rows are computed when they are needed.
"""

from __future__ import annotations

import math

import numpy as np

from .jit import REORDERED, compiled
from .losses import limited
from .model import examples, unpack
from .randoms import below
from .rounds import REFUSED
from .rows import (
    HUGE,
    LAPLACIAN,
    dot,
    is_finite,
    kernel_row,
    lanes,
    norm_of,
    row_of,
    score,
    self_kernel,
)
from .rows import decide as decide_without_bias
from .support import has_room, oldest, place, remove, vector
from .views import carver, numbers
from .waterlevel import water_level, water_levels

LABELS, RESPONSES, PULLS, KEPT, SUMS = range(5)
EXTRAS = 5
TOLERANCE = 1e-12  # responses that are equal on paper differ in their last digits
EVERY = 16  # arrivals: then a response and |w|^2 are checked, one example after the other
DRIFT = 1e-7  # relative to |w| and the length of the example; rounding alone stays near 1e-13

_WHOLE = "steps fit_bias reservoir seen done iterations refined positives"
_REAL = "slack norm2 bias last_bias"
STATE = np.dtype(
    (
        np.record,
        [(name, "i8") for name in _WHOLE.split()] + [(name, "f8") for name in _REAL.split()],
    )
)
_state = carver(STATE, 0)


# A stream


@compiled(entry=True)
def learn(call):
    """Learn the rows in order; scores[t] = f(x_t) before it is learned. Returns how many were done."""
    model = unpack(call)
    rows, targets, weights, scores = examples(call)
    own = _state(model.own)
    for t in range(rows.shape[0]):
        x, f = row_of(rows, t), row_of(scores, t)
        norm = observe_window(model, own, x, f)
        if norm < 0.0:
            return t
        if weights[t] == 0.0:
            continue
        if own.refined:
            go_back(model, own)
        own.seen += 1
        slot = slot_for_newcomer(model, own)
        if slot >= 0:
            enter(model, own, slot, x, norm, targets[t], limited(weights[t]))
        if can_iterate(model, own):
            unit = first_step(model)
            for _ in range(own.steps):
                iterate(model, own, unit)
            if own.fit_bias:
                own.bias = bias_of(model, own)
        if own.seen % EVERY == 0:
            check_responses(model, own)
    return np.int64(rows.shape[0])


@compiled
def observe_window(model, own, x, f):
    """As rounds.observe; but a model of zeros needs no kernel row, unless it is to be kept."""
    norm = norm_of(model, x)
    if not ((norm < HUGE or is_finite(x)) and has_room(model)):
        return REFUSED
    f[0] = 0.0
    if own.norm2 > 0.0 or model.head.factored:
        score(model, x, norm, f)
    f[0] += own.bias
    return norm


@compiled
def slot_for_newcomer(model, own):
    """The first free slot, or the one to be given up, or -1 if the newcomer itself is left out."""
    head = model.head
    if head.count < head.budget:
        return head.count
    if own.reservoir:
        drawn = below(model, own.seen)
        return drawn if drawn < head.budget else -1
    return oldest(model)


@compiled
def enter(model, own, slot, x, norm, label, pull):
    """Put an example, whose kernel row is at hand, in a slot."""
    head, extras, row = model.head, model.extras, model.row
    if slot < head.count:
        take_out(model, own, slot)
        if not head.factored and own.norm2 > 0.0:
            kernel_row(model, x, norm)  # that of the other took its place
    else:
        head.count += 1
    place(model, slot, x, norm)
    response = 0.0
    if own.norm2 > 0.0:
        for j in range(head.count):
            response += row[j] * model.coefficients[0, j]  # 0 in the slot itself
    extras[LABELS, slot], extras[RESPONSES, slot] = label, label * response
    extras[PULLS, slot] = pull
    own.positives += label > 0.0
    if head.factored:
        row[slot] = self_kernel(model, norm)
        for j in range(head.count):
            model.factor[slot, j] = row[j]
            model.factor[j, slot] = row[j]


@compiled
def take_out(model, own, slot):
    """w without the example of a slot."""
    labels, c = model.extras[LABELS], model.extras[RESPONSES]
    amount = model.coefficients[0, slot]
    if amount != 0.0:
        length = amount * amount * self_kernel(model, model.norms[slot])
        own.norm2 = max(own.norm2 - 2.0 * amount * labels[slot] * c[slot] + length, 0.0)
        add_response(model, row_of_vector(model, slot), -amount, 1.0)
        model.coefficients[0, slot] = 0.0
    own.positives -= labels[slot] > 0.0


@compiled
def row_of_vector(model, j):
    """The kernel of vector j with all others."""
    if model.head.factored:
        return model.factor[j]
    vector(model, j, model.x)
    kernel_row(model, model.x, model.norms[j])
    return model.row


@compiled(fastmath=REORDERED, hot=True)
def add_response(model, row, amount, factor):
    """c_j = factor (c_j + amount y_j row_j)"""
    labels, c = model.extras[LABELS], model.extras[RESPONSES]
    for j in range(lanes(model)):
        c[j] = factor * (c[j] + amount * labels[j] * row[j])


@compiled
def can_iterate(model, own):
    """With one class only, a bias alone would classify by any margin."""
    n = model.head.count
    return n > 0 and (own.fit_bias == 0 or 0 < own.positives < n)


# Iterations


@compiled
def first_step(model):
    """Line 1: 1 / the length of the longest example"""
    if model.head.kernel <= LAPLACIAN:
        return 1.0
    longest = 0.0
    for j in range(model.head.count):
        longest = max(longest, self_kernel(model, model.norms[j]))
    return 1.0 / math.sqrt(longest) if longest > 0.0 else 0.0


@compiled
def iterate(model, own, unit):
    """One iteration: a step towards an example under water, or half a step to one of each class."""
    own.done += 1
    step = unit / math.sqrt(own.done)  # line 4
    if own.fit_bias:
        positive, negative = pick_pair(model, own)
        push(model, own, positive, 0.5 * step, math.inf)
        push(model, own, negative, 0.5 * step, 1.0)
    else:
        push(model, own, pick(model, own), step, 1.0)


@compiled
def push(model, own, i, step, longest):
    """w += step y_i phi(x_i); if |w|^2 exceeds `longest`, back into the unit ball"""
    label, c = model.extras[LABELS, i], model.extras[RESPONSES]
    amount, factor = step * model.extras[PULLS, i], 1.0
    k_ii = self_kernel(model, model.norms[i])
    own.norm2 += 2.0 * amount * c[i] + amount * amount * k_ii  # line 8
    model.coefficients[0, i] += amount * label  # line 7
    if own.norm2 > longest:  # lines 11 and 12
        factor = 1.0 / math.sqrt(own.norm2)
        own.norm2 = 1.0
        for j in range(lanes(model)):
            model.coefficients[0, j] *= factor
    add_response(model, row_of_vector(model, i), amount * label, factor)  # lines 9 and 10


@compiled
def tolerance(level):
    return TOLERANCE * max(1.0, abs(level))


@compiled
def pick(model, own):
    """Lines 5 and 6: a uniform one of the examples under water, counted in the order of the slots."""
    n, c = model.head.count, model.extras[RESPONSES]
    level = water_level(c, n, n * own.slack, model.scratch)
    level += tolerance(level)
    return find(model, 0.0, level, below(model, count_up_to(model, 0.0, level)))


@compiled(hot=True)
def count_up_to(model, sign, level):
    """How many examples of a class (sign 0: of both) do not stick out."""
    c, labels, count = model.extras[RESPONSES], model.extras[LABELS], 0
    for j in range(model.head.count):
        count += (c[j] <= level) & (labels[j] * sign >= 0.0)
    return count


@compiled(hot=True)
def find(model, sign, level, rank):
    """The place of the one of this rank among them."""
    c, labels, left = model.extras[RESPONSES], model.extras[LABELS], rank
    for j in range(model.head.count):
        if c[j] <= level and labels[j] * sign >= 0.0:
            if left == 0:
                return j
            left -= 1
    return model.head.count - 1


@compiled
def levels_of(model, c, volume):
    """The water levels of positives and negatives."""
    n, labels = model.head.count, model.extras[LABELS]
    room = 8 * model.head.capacity
    u, v = numbers(model.free, n), numbers(model.free + room, n)
    n_u = n_v = np.int64(0)
    for j in range(n):
        positive = labels[j] > 0.0
        u[n_u] = c[j]
        v[n_v] = c[j]
        n_u += positive
        n_v += not positive
    return water_levels(u, n_u, v, n_v, volume, numbers(model.free + 2 * room, n))


@compiled
def pick_pair(model, own):
    """A positive and a negative example, each a uniform one of the k lowest that do not stick out: those
    under water in the order of the slots, then those at the surface."""
    c, n = model.extras[RESPONSES], model.head.count
    plus, minus = levels_of(model, c, n * own.slack)
    high_plus, high_minus = plus + tolerance(plus), minus + tolerance(minus)
    k = min(count_up_to(model, 1.0, high_plus), count_up_to(model, -1.0, high_minus))
    positive = find_lowest_first(model, 1.0, plus, below(model, k))
    return positive, find_lowest_first(model, -1.0, minus, below(model, k))


@compiled
def find_lowest_first(model, sign, level, rank):
    """The one of this rank, where those at the surface come last."""
    c, labels = model.extras[RESPONSES], model.extras[LABELS]
    low, high = level - tolerance(level), level + tolerance(level)
    left = rank
    for j in range(model.head.count):
        if c[j] < low and labels[j] * sign > 0.0:
            if left == 0:
                return j
            left -= 1
    for j in range(model.head.count):
        if low <= c[j] <= high and labels[j] * sign > 0.0:
            if left == 0:
                return j
            left -= 1
    return model.head.count - 1


@compiled
def bias_of(model, own):
    n = model.head.count
    if own.norm2 == 0.0:  # all responses are 0, and the larger class wins
        smaller = min(own.positives, n - own.positives)
        surplus = np.sign(2 * own.positives - n)
        return 0.5 * surplus * n * own.slack / smaller
    plus, minus = levels_of(model, model.extras[RESPONSES], n * own.slack)
    return 0.5 * (minus - plus)


# Refinement


@compiled(entry=True)
def refine(call):
    """More iterations on the window; the mean of these iterates predicts until the next arrival."""
    model = unpack(call)
    own, extras = _state(model.own), model.extras
    if own.refined:
        go_back(model, own)
    if own.iterations == 0 or not can_iterate(model, own):
        return
    n, unit = lanes(model), first_step(model)
    for j in range(n):
        extras[KEPT, j] = extras[SUMS, j] = 0.0
    for _ in range(own.iterations):
        iterate(model, own, unit)
        for j in range(n):
            extras[KEPT, j] += model.coefficients[0, j]
            extras[SUMS, j] += extras[RESPONSES, j]
    predict_with_mean(model, own)


@compiled
def predict_with_mean(model, own):
    """Lines 13 and 14: the mean of the iterates in the scale where the margin is 1."""
    extras, n = model.extras, lanes(model)
    volume = model.head.count * own.slack
    for j in range(n):
        extras[SUMS, j] /= own.iterations
    own.last_bias, own.bias = own.bias, 0.0
    if own.fit_bias:
        own.last_bias = bias_of(model, own)
        plus, minus = levels_of(model, extras[SUMS], volume)
        margin, own.bias = 0.5 * (plus + minus), 0.5 * (minus - plus)
    else:
        margin = water_level(extras[SUMS], model.head.count, volume, model.scratch)
    # a margin of 0 on paper, as of equal examples with different labels, is rounding noise
    scale = 1.0 / margin if margin > TOLERANCE else 1.0
    own.bias *= scale
    for j in range(n):
        mean = extras[KEPT, j] / own.iterations
        extras[KEPT, j] = model.coefficients[0, j]
        model.coefficients[0, j] = scale * mean
    own.refined = 1


@compiled
def go_back(model, own):
    """From the mean to the last iterate."""
    for j in range(lanes(model)):
        model.coefficients[0, j] = model.extras[KEPT, j]
    own.bias, own.refined = own.last_bias, 0


# Drift


@compiled
def check_responses(model, own):
    """Compute what is kept up to date anew if it has drifted."""
    n, c = model.head.count, model.extras[RESPONSES]
    i = (own.seen // EVERY) % n
    length = math.sqrt(own.norm2 * max(self_kernel(model, model.norms[i]), 0.0))
    wrong = abs(response_of(model, i) - c[i]) > DRIFT * length
    if wrong or abs(norm2_of(model) - own.norm2) > DRIFT * own.norm2:
        for j in range(n):
            c[j] = response_of(model, j)
        own.norm2 = max(norm2_of(model), 0.0)
        model.head.repairs += 1


@compiled
def response_of(model, i):
    """y_i <w, phi(x_i)>"""
    row = row_of_vector(model, i)
    return model.extras[LABELS, i] * dot(row, model.coefficients[0], lanes(model))


@compiled
def norm2_of(model):
    """|w|^2 = sum_i alpha_i c_i"""
    total, labels, c = 0.0, model.extras[LABELS], model.extras[RESPONSES]
    for i in range(model.head.count):
        total += model.coefficients[0, i] * labels[i] * c[i]
    return total


# Scoring and shrinking


@compiled(entry=True)
def decide(call):
    """Scores of all rows. Returns how many were done: it stops at a row that is not finite."""
    done, model = decide_without_bias(call), unpack(call)
    _, _, _, scores = examples(call)
    for t in range(done):
        scores[t, 0] += _state(model.own).bias
    return done


@compiled(entry=True)
def shrink_to_window(call):
    """Take out the oldest until a window that has been made smaller is kept."""
    model = unpack(call)
    own, head = _state(model.own), model.head
    if own.refined:
        go_back(model, own)
    while head.count > head.budget:
        slot, last = oldest(model), head.count - 1
        take_out(model, own, slot)
        if head.factored and slot != last:
            for j in range(head.count):
                model.factor[slot, j] = model.factor[last, j]
            for j in range(head.count):
                model.factor[j, slot] = model.factor[j, last]
            model.factor[slot, slot] = self_kernel(model, model.norms[last])
        remove(model, slot)
    if own.fit_bias and can_iterate(model, own):
        own.bias = bias_of(model, own)

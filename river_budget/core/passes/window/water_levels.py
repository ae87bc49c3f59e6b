"""Water levels: how high a volume of water stands over columns of given heights; examples below the
level.

A. Cotter, S. Shalev-Shwartz, N. Srebro. The kernelized stochastic batch Perceptron. ICML 2012,
algorithms 2 and 3. The level gamma solves sum_i max(0, gamma - c_i) = volume, which makes it the
best margin that can be had for that much slack. With a bias there are two basins, one of positives
and one of negatives. The bias lowers one level as it lifts the other, and at the optimum as many
columns are under water in both.

    paper    here
    c        heights
    n nu     volume
    gamma    the level; with a bias the mean of both
    k        covered

Both take linear time on average: nothing is sorted.
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling import inner
from ...random_numbers import below


@inner
def water_level(heights, n, volume, rest):
    """The water level over n columns. `rest` is room for n numbers.

    If water covers all columns, the level is (volume + sum) / n. Columns above the level are left
    out, which lowers the level, until there are none.
    """
    total = 0.0
    for j in range(n):
        total += heights[j]
    level, count, wet = (volume + total) / n, n, heights
    while True:
        covered, total = 0, 0.0
        for j in range(count):
            height = wet[j]
            rest[covered] = height
            below = height < level
            covered += below
            total += height if below else 0.0
        if covered == count or covered == 0:  # 0: all are equal, up to rounding
            return level
        level, count, wet = (volume + total) / covered, covered, rest


@inner
def partition(values, low, high, pivot, rest):
    """Rearrange values[low:high] so that those below the pivot come first; returns where they end.

    Writes every value twice, without a branch: a mispredicted branch takes longer than a write.
    """
    below, above = low, 0
    for j in range(low, high):
        value = values[j]
        values[below] = value
        rest[above] = value
        smaller = value < pivot
        below += smaller
        above += not smaller
    for j in range(above):
        values[below + j] = rest[j]
    return below


@inner
def select(values, start, end, rank, rest):
    """Rearrange values[start:end] so that the one of this rank stands in its place, with none
    larger before it and none smaller behind it.
    """
    low, high = start, end
    while high - low > 1:
        a, b, c = values[low], values[(low + high) // 2], values[high - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        middle = partition(values, low, high, pivot, rest)
        if rank < middle:
            high = middle
            continue
        low = partition(values, middle, high, np.nextafter(pivot, np.inf), rest)
        if rank < low or low == middle:  # it is the pivot; or all others are infinite
            return


@inner
def total_of(values, low, high):
    """The sum of values[low:high]"""
    total = 0.0
    for j in range(low, high):
        total += values[j]
    return total


@inner
def room_above(values, n, covered, depth):
    """How far the water may rise above the highest covered column without covering another, at most
    `depth`.
    """
    room = depth
    for j in range(covered, n):
        room = min(room, values[j] - values[covered - 1])
    return room


@inner
def water_levels(u, n_u, v, n_v, volume, rest):
    """The levels over the columns u of positives and v of negatives, which it rearranges. `rest` is
    memory for as many numbers as the longer one has.

    `covered` is the largest number k such that filling both basins up to their k-th lowest columns
    takes less than the volume. Bisection finds it and only looks at columns that may still be the
    k-th. Among all biases that are equally good this takes the middle one.
    """
    first, last = 1, min(n_u, n_v)  # the interval in which k lies
    sorted_up_to, end_u, end_v = 0, n_u, n_v  # the columns that may be the k-th
    low_u, low_v = 0.0, 0.0  # sums of the columns below these
    covered, sum_u, sum_v = 0, 0.0, 0.0
    while first <= last:
        k = (first + last) // 2
        select(u, sorted_up_to, end_u, k - 1, rest)
        select(v, sorted_up_to, end_v, k - 1, rest)
        all_u = low_u + total_of(u, sorted_up_to, k)
        all_v = low_v + total_of(v, sorted_up_to, k)
        needed = k * u[k - 1] - all_u + k * v[k - 1] - all_v
        if needed < volume or k == 1:
            covered, sum_u, sum_v = k, all_u, all_v
            sorted_up_to, low_u, low_v, first = k, all_u, all_v, k + 1
        else:
            end_u, end_v, last = k - 1, k - 1, k - 1
    top_u, top_v = u[covered - 1], v[covered - 1]
    depth = (volume + sum_u + sum_v) / covered - top_u - top_v
    room_u = room_above(u, n_u, covered, depth)
    room_v = room_above(v, n_v, covered, depth)
    return top_u + 0.5 * (depth + room_u - room_v), top_v + 0.5 * (depth - room_u + room_v)


# an example below the water level: lines 5 and 6 of the batch Perceptron (symbols as in sbp.py),
# and its bias


LABELS, RESPONSES, PULLS, KEPT, SUMS = range(5)  # rows per vector
TOLERANCE = 1e-12  # responses equal in exact arithmetic differ in their last digits


@inner
def tolerance(level):
    """Responses that differ from the level by less count as equal to it."""
    return TOLERANCE * max(1.0, abs(level))


@inner
def pick(m, state):
    """Lines 5 and 6: draw one of the examples under water uniformly, counted in the order of the
    slots.
    """
    n, c = m.head[0].count, m.per_vector[RESPONSES]
    level = water_level(c, n, n * state.slack, m.buffer)
    high = level + tolerance(level)
    rank = below(m.head[0], count_between(m, 0.0, -math.inf, high))
    return slot_of_rank(m, 0.0, -math.inf, high, rank)


@inner
def count_between(m, sign, low, high):
    """The number of examples of a class (sign 0: of both) whose responses lie from low to high."""
    c, labels, count = m.per_vector[RESPONSES], m.per_vector[LABELS], 0
    for j in range(m.head[0].count):
        count += (low <= c[j] <= high) & (labels[j] * sign >= 0.0)
    return count


@inner
def slot_of_rank(m, sign, low, high, rank):
    """The slot of the example with this rank, in the order of slots, among those that
    `count_between` counts.
    """
    c, labels, left = m.per_vector[RESPONSES], m.per_vector[LABELS], rank
    for j in range(m.head[0].count):
        if low <= c[j] <= high and labels[j] * sign >= 0.0:
            if left == 0:
                return j
            left -= 1
    return m.head[0].count - 1


@inner
def levels_of(m, c, volume):
    """The water levels of positives and negatives."""
    n, labels = m.head[0].count, m.per_vector[LABELS]
    u, v = m.work[0], m.work[1]
    n_u = n_v = 0
    for j in range(n):
        positive = labels[j] > 0.0
        u[n_u] = c[j]
        v[n_v] = c[j]
        n_u += positive
        n_v += not positive
    return water_levels(u, n_u, v, n_v, volume, m.work[2])


@inner
def pick_pair(m, state):
    """Draw a positive and a negative example, each uniformly among the k lowest of its class at or
    below the level.
    """
    n = m.head[0].count
    plus, minus = levels_of(m, m.per_vector[RESPONSES], n * state.slack)
    n_plus = count_between(m, 1.0, -math.inf, plus + tolerance(plus))
    n_minus = count_between(m, -1.0, -math.inf, minus + tolerance(minus))
    k = min(n_plus, n_minus)
    positive = slot_of_lowest_rank(m, 1.0, plus, below(m.head[0], k))
    return positive, slot_of_lowest_rank(m, -1.0, minus, below(m.head[0], k))


@inner
def slot_of_lowest_rank(m, sign, level, rank):
    """The slot of the example with this rank: first those below the level, in the order of slots,
    then those at it.
    """
    low, high = level - tolerance(level), level + tolerance(level)
    under = np.nextafter(low, -np.inf)
    n_under = count_between(m, sign, -math.inf, under)
    if rank < n_under:
        return slot_of_rank(m, sign, -math.inf, under, rank)
    return slot_of_rank(m, sign, low, high, rank - n_under)


@inner
def bias_of(m, state):
    """The bias with which the water levels of both classes are equal."""
    n = m.head[0].count
    if state.norm2 == 0.0:  # all responses are 0, and the larger class wins
        smaller = min(state.positives, n - state.positives)
        surplus = np.sign(2 * state.positives - n)
        return 0.5 * surplus * n * state.slack / smaller
    plus, minus = levels_of(m, m.per_vector[RESPONSES], n * state.slack)
    return 0.5 * (minus - plus)

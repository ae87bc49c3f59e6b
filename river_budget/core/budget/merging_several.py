"""Merging several vectors into one at once, and pairs by equation (21) as printed (Gaussian
kernel).

S. Qaadan, T. Glasmachers. Multi-merge budget maintenance for stochastic gradient descent SVM
training. 2018, algorithm 1. A model with one vector too many merges `arity` vectors and then has
room for arity - 1 newcomers, so that it needs one search for partners for all of them.

Every merged vector is a combination z = sum_i share_i x_i of the members with shares that sum to 1.
So all distances follow from those between the members, and z is computed once, when its shares are
known:
    s(z, x) = sum_i share_i s(x_i, x) - 1/2 sum_ij share_i share_j s(x_i, x_j)

Symbols and the rows of a search as in merging.py; m.group (core/memory.py) holds the members.
"""

from __future__ import annotations

import math

import numpy as np

from ..codes import Method, Objective
from ..compiling import inner
from ..expansion.kernels import FARTHEST, along_row, padded, row_of_vector
from ..expansion.support import lightest, overwrite_vector, remove
from ..numerics import dot, exp_of, least_of
from .equation_21 import eq21_partners
from .merging import (
    HUGE,
    LOSS,
    MN,
    MORE_PARTNERS,
    NEGLIGIBLE,
    NN,
    PLACE,
    SPARE,
    S,
    estimate,
    measure_partners,
    solve,
    warn_of_long_vectors,
)

CASCADE, EQ21 = int(Method.CASCADE), int(Objective.EQ21)
ASCENT_STEPS = 100  # at most so many steps of gradient ascent
LEAST_GAIN = 1e-8  # relative gain below which the ascent ends


@inner
def merge_several(m, exact, n_features):
    """Merge the lightest vector with its `arity` - 1 best partners. The merged vector becomes the
    newest.

    n_features: of the example that was stored last. Returns (|delta|, the change of |w|^2 if
    `exact`), without the scale. Overwrites all scratch space.
    """
    head, group, a = m.head[0], m.group, m.coefficients
    n = min(head.arity, head.count)
    members, shares, s = group.members[:n], group.shares[0][:n], group.distances
    find_partners(m, lightest(m, m.work[NN]), members)
    for i in range(n):
        for f in range(m.vectors.shape[0]):
            group.points[i, f] = m.vectors[f, members[i]]
        for r in range(a.shape[0]):
            group.coefficients[i, r] = a[r, members[i]]
    measure_members(head, group.points, members, m.work[S], s)
    of_members, a_z = group.coefficients[:n], group.coefficients[group.coefficients.shape[0] - 2]
    place_merged(m, members, of_members, shares, a_z)
    loss = max(loss_by_merging(of_members, shares, s, a_z), 0.0)
    change = loss + 2.0 * gain_by_merging(m, members, shares, a_z) if exact else 0.0
    n_kept = replace_members(m, members, shares, a_z)
    warn_of_long_vectors(head, n_kept, n_features)
    return math.sqrt(loss), change


# The members


@inner
def find_partners(m, p, members):
    """members[0] = p, members[1:] = the partners with which p degrades least, the best first.

    Solves partners exactly, in the order of their lower bounds; writes the best h to work[PLACE].
    """
    search, losses, head = m.work, m.buffer, m.head[0]
    row_of_vector(m, p)
    measure_partners(m, p)
    members[0] = p
    n, wanted, mm = head.count, members.shape[0] - 1, search[NN, p]
    literal = head.objective == EQ21
    if literal:
        eq21_partners(m, p)
    else:
        estimate(search, m.rough, mm, padded(n))
    search[LOSS, p] = np.inf
    for found in range(wanted if literal else min(wanted + MORE_PARTNERS, n - 1)):
        j, least = 0, least_of(search[LOSS], n)
        while j < n - 1 and search[LOSS, j] != least:
            j += 1
        if found >= wanted and least > losses[members[wanted]]:
            break
        losses[j], search[LOSS, j] = search[LOSS, j], np.inf
        if not literal:
            search[PLACE, j], losses[j] = solve(
                search[PLACE, j], search[S, j], mm, search[NN, j], search[MN, j]
            )
        i = min(found, wanted)  # insert j into the sorted list of the best
        while i > 0 and losses[members[i]] > losses[j]:
            if i < wanted:
                members[i + 1] = members[i]
            i -= 1
        if i < wanted:
            members[i + 1] = j


@inner
def measure_members(head, points, members, first, s):
    """s[i, j] = gamma |x_i - x_j|^2 between members. `first` holds these distances from members[0]
    to all vectors.
    """
    for i in range(members.shape[0]):
        s[i, i] = 0.0
        for j in range(i):
            total = 0.0
            for f in range(points.shape[1]):
                apart = points[i, f] - points[j, f]
                total += apart * apart
            total = first[members[i]] if j == 0 else total * head.gamma
            s[i, j] = s[j, i] = total if total < FARTHEST else FARTHEST  # also after overflow


# The place of z


@inner
def place_merged(m, members, a, shares, a_z):
    """Compute the shares of z and its coefficients a_z: by gradient ascent, or two first and then
    one more at a time.
    """
    head, s, first = m.head[0], m.group.distances, members[1]
    if head.method != CASCADE and shares.shape[0] > 2:
        ascend(a, shares, s, a_z, m.group)
        return
    h = m.work[PLACE, first]
    shares[0], shares[1] = h, 1.0 - h
    for i in range(2, shares.shape[0]):
        shares[i] = 0.0
    combine(h, s[0, 1], a[0], a[1], a_z)
    cascade(a, shares, s, a_z)


@inner
def combine(h, s, a_m, a_n, a_z):
    """a_z = the coefficients of z = h m + (1 - h) n for m and n at distance s. The array a_z may be
    a_m itself.
    """
    p, q = math.exp(-s * (1.0 - h) ** 2), math.exp(-s * h * h)
    for r in range(a_z.shape[0]):
        a_z[r] = p * a_m[r] + q * a_n[r]


@inner
def cascade(a, shares, s, a_z):
    """MM-BSGD: merge the result for the first two with the third, then with the fourth, and so
    on.
    """
    for j in range(2, shares.shape[0]):
        distance = distance_to(shares, s, j)
        mm, nn, mn = product(a_z, a_z), product(a[j], a[j]), product(a_z, a[j])
        if mm <= nn:
            h, _ = solve(0.0, distance, mm, nn, mn)
        else:
            h, _ = solve(0.0, distance, nn, mm, mn)
            h = 1.0 - h
        for i in range(shares.shape[0]):
            shares[i] *= h
        shares[j] += 1.0 - h
        combine(h, distance, a_z, a[j], a_z)


@inner
def ascend(a, shares, s, a_z, group):
    """MM-GD: gradient ascent on |a_z(z)|^2 over all members at once; halves a step until |a_z(z)|^2
    grows.
    """
    n = shares.shape[0]
    pull, trial, a_trial = (
        group.shares[1][:n],
        group.shares[2][:n],
        group.coefficients[group.coefficients.shape[0] - 1],
    )
    best = start_of_ascent(a, shares, s, a_z, trial, a_trial)
    for _ in range(ASCENT_STEPS):
        # gradient = 4 gamma sum_i (a_i . a_z) k(x_i, z) (x_i - z); a step of 1 / (4 gamma |a_z|^2)
        # along the gradient is a mean shift, here written for the shares
        whole = 0.0
        for i in range(n):
            pull[i] = product(a[i], a_z) * math.exp(-distance_to(shares, s, i)) / best
            whole += pull[i]
        step, reached = 1.0, best
        while step > LEAST_GAIN:
            for i in range(n):
                trial[i] = shares[i] + step * (pull[i] - whole * shares[i])
            reached = best_coefficients(a, trial, s, a_trial)
            if reached > best:
                break
            step *= 0.5
        if not reached > best:
            break
        gain = reached - best
        copy(trial, shares)
        copy(a_trial, a_z)
        best = reached
        if gain <= LEAST_GAIN * best:
            break


@inner
def start_of_ascent(a, shares, s, a_z, trial, a_trial):
    """Start at the weighted mean of the members or at the best member, whichever is better. Returns
    |a_z|^2 there.
    """
    n, whole, size, best = shares.shape[0], 0.0, 0.0, -1.0
    for i in range(n):
        shares[i] = a[i, 0] if a.shape[1] == 1 else math.sqrt(product(a[i], a[i]))
        whole += shares[i]
        size += abs(shares[i])
    if abs(whole) > 1e-9 * size:
        for i in range(n):
            shares[i] /= whole
        best = best_coefficients(a, shares, s, a_z)
    for i in range(n):
        for j in range(n):
            trial[j] = 1.0 if j == i else 0.0
        reached = best_coefficients(a, trial, s, a_trial)
        if reached > best:
            best = reached
            copy(trial, shares)
            copy(a_trial, a_z)
    return max(best, 1e-300)


@inner
def best_coefficients(a, shares, s, a_z):
    """a_z = sum_i a_i k(x_i, z), the best coefficients at z. Returns their squared length."""
    for r in range(a_z.shape[0]):
        a_z[r] = 0.0
    for i in range(shares.shape[0]):
        k = math.exp(-distance_to(shares, s, i))
        for r in range(a_z.shape[0]):
            a_z[r] += k * a[i, r]
    return product(a_z, a_z)


@inner
def product(a, b):
    """a . b"""
    return dot(a, b, a.shape[0])


@inner
def copy(source, target):
    """target[:] = source"""
    for i in range(target.shape[0]):
        target[i] = source[i]


@inner
def inner_term(shares, s):
    """1/2 sum_ij share_i share_j s_ij"""
    total = 0.0
    for i in range(shares.shape[0]):
        for j in range(i):
            total += shares[i] * shares[j] * s[i, j]
    return total


@inner
def distance_to(shares, s, i):
    """s(z, x_i)"""
    total = -inner_term(shares, s)
    for j in range(shares.shape[0]):
        total += shares[j] * s[i, j]
    return max(total, 0.0)


# What changes


@inner
def loss_by_merging(a, shares, s, a_z):
    """|sum_i a_i k(x_i, .) - a_z k(z, .)|^2"""
    total = product(a_z, a_z)
    for i in range(a.shape[0]):
        total += product(a[i], a[i]) - 2.0 * math.exp(-distance_to(shares, s, i)) * product(
            a[i], a_z
        )
        for j in range(i):
            total += 2.0 * math.exp(-s[i, j]) * product(a[i], a[j])
    return total


@inner
def gain_by_merging(m, members, shares, a_z):
    """a_z . f(z) - sum_i a_i . f(x_i). The kernel row of z follows from those of the members: log
    k(z, .) = sum_i share_i log k(x_i, .) + inner term. Overwrites m.row, m.logs, m.buffer and
    work[SPARE].
    """
    n, of_z, gain = padded(m.head[0].count), m.work[SPARE], 0.0
    constant = inner_term(shares, m.group.distances)
    for j in range(n):
        of_z[j] = constant
    for i in range(members.shape[0]):
        row_of_vector(m, members[i])
        gain -= along_row(m, m.row, members[i])
        for j in range(n):
            of_z[j] += shares[i] * (m.logs[j] if m.logs[j] > -FARTHEST else -FARTHEST)
    for j in range(n):
        of_z[j] = exp_of(of_z[j] if of_z[j] < 0.0 else 0.0)
    for r in range(a_z.shape[0]):
        gain += a_z[r] * dot(of_z, m.coefficients[r], n)
    return gain


@inner
def replace_members(m, members, shares, a_z):
    """Write z with coefficients a_z to the lowest slot of the members, and remove the others. Sorts
    `members`. Returns the number of features of z. A mean of the iterates with coefficients c_i has
    sum_i k(x_i, z) c_i there.
    """
    s, slot = m.group.distances, members[0]
    for i in range(1, members.shape[0]):
        slot = min(slot, members[i])
    for e in range(m.per_vector.shape[0]):
        total = 0.0
        for i in range(members.shape[0]):
            total += math.exp(-distance_to(shares, s, i)) * m.per_vector[e, members[i]]
        m.per_vector[e, slot] = total
    n = combination(m, shares)
    sort_slots(members)
    for i in range(members.shape[0] - 1, 0, -1):  # from the back, so that slots stay valid
        remove(m, members[i])
    values = m.own_values[:n]
    overwrite_vector(m, slot, (m.own_places[:n], values, 0.0), dot(values, values, n))
    for r in range(a_z.shape[0]):
        m.coefficients[r, slot] = a_z[r]
    return n


@inner
def combination(m, shares):
    """Write z = sum_i share_i x_i, without negligible numbers, to m.own_places and m.own_values.
    Returns how many features it has.

    Where the sum overflows, z is the member with the largest share: no vector that differs is near
    any of them.
    """
    points, z, norm, largest, n = m.group.points, m.whole, 0.0, 0, 0
    for f in range(z.shape[0]):
        z[f] = 0.0
    for i in range(shares.shape[0]):
        largest = i if shares[i] > shares[largest] else largest
        for f in range(z.shape[0]):
            z[f] += shares[i] * points[i, f]
    for f in range(z.shape[0]):
        norm += z[f] * z[f]
    if not norm < HUGE:
        for f in range(z.shape[0]):
            z[f] = points[largest, f]
    least = NEGLIGIBLE * norm if norm < HUGE else 0.0
    for f in range(z.shape[0]):
        m.own_places[n], m.own_values[n] = f, z[f]
        n += z[f] * z[f] > least
    return n


@inner
def sort_slots(slots):
    """Sort a few slots in place, by insertion."""
    for i in range(1, slots.shape[0]):
        slot, j = slots[i], i
        while j > 0 and slots[j - 1] > slot:
            slots[j] = slots[j - 1]
            j -= 1
        slots[j] = slot

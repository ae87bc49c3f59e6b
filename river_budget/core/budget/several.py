"""Merging several support vectors into one at once (Gaussian kernel).

S. Qaadan, T. Glasmachers. Multi-merge budget maintenance for stochastic gradient descent SVM training.
2018. A model with one vector too many merges `arity` vectors and then has room for arity - 1 newcomers, so
that it needs one search for partners for all of them.

Every merged vector is a combination z = sum_i share_i x_i of the members with shares that sum to 1. So
all distances follow from those between the members, and z is computed once, when its shares are known:
    s(z, x) = sum_i share_i s(x_i, x) - 1/2 sum_ij share_i share_j s(x_i, x_j)
"""

from __future__ import annotations

import math

from ..block.codes import Method
from ..block.limits import FARTHEST, HUGE
from ..compiling.array_views import f64
from ..compiling.jit import FUSED, compiled
from ..examples.present_features import ZERO, present
from ..expansion.support import overwrite_vector
from ..simd.vector_ops import dot
from .degradation import solve
from .newcomer import remove_with_newcomer

CASCADE = int(Method.CASCADE)
ASCENT_STEPS = 100  # at most so many steps of gradient ascent
LEAST_GAIN = 1e-8  # relative gain below which the ascent ends


@compiled(always_inlined=True)
def member_distances(model, points, members, first, s):
    """s[i, j] = gamma |x_i - x_j|^2 between members. `first` holds these distances from members[0] to all vectors."""
    for i in range(members.shape[0]):
        s[i, i] = 0.0
        for j in range(i):
            if j == 0:
                s[i, j] = first[members[i]]
            else:
                total = 0.0
                for f in range(points.shape[1]):
                    difference = points[i, f] - points[j, f]
                    total += difference * difference
                total *= model.head.gamma
                s[i, j] = total if total < FARTHEST else FARTHEST  # also after overflow
            s[j, i] = s[i, j]


@compiled
def inner_term(shares, s):
    """1/2 sum_ij share_i share_j s_ij"""
    total = 0.0
    for i in range(shares.shape[0]):
        for j in range(i):
            total += shares[i] * shares[j] * s[i, j]
    return total


@compiled
def distance_to(shares, s, i):
    """s(z, x_i)"""
    total = -inner_term(shares, s)
    for j in range(shares.shape[0]):
        total += shares[j] * s[i, j]
    return max(total, 0.0)


@compiled
def best_coefficients(a, shares, s, a_z):
    """a_z = sum_i a_i k(x_i, z), the best coefficients at z. Returns their squared length."""
    for r in range(a_z.shape[0]):
        a_z[r] = 0.0
    for i in range(shares.shape[0]):
        k = math.exp(-distance_to(shares, s, i))
        for r in range(a_z.shape[0]):
            a_z[r] += k * a[i, r]
    return inner(a_z, a_z)


@compiled
def copy(source, target):
    """target[:] = source"""
    for i in range(target.shape[0]):
        target[i] = source[i]


@compiled
def combine(h, s, a_m, a_n, a_z):
    """a_z = the coefficients of z = h m + (1 - h) n for m and n at distance s. The array a_z may be a_m itself."""
    p, q = math.exp(-s * (1.0 - h) ** 2), math.exp(-s * h * h)
    for r in range(a_z.shape[0]):
        a_z[r] = p * a_m[r] + q * a_n[r]


@compiled
def cascade(a, s, shares, a_z):
    """MM-BSGD: merge the result for the first two with the third, then with the fourth, and so on."""
    for j in range(2, shares.shape[0]):
        distance = distance_to(shares, s, j)
        mm, nn, mn = inner(a_z, a_z), inner(a[j], a[j]), inner(a_z, a[j])
        if mm <= nn:
            h, _ = solve(0.0, distance, mm, nn, mn)
        else:
            h, _ = solve(0.0, distance, nn, mm, mn)
            h = 1.0 - h
        for i in range(shares.shape[0]):
            shares[i] *= h
        shares[j] += 1.0 - h
        combine(h, distance, a_z, a[j], a_z)


@compiled
def ascend(a, s, shares, a_z, room):
    """MM-GD: gradient ascent on |a_z(z)|^2 over all members at once; halves a step until |a_z(z)|^2 grows."""
    m = shares.shape[0]
    pull, trial = f64(room, m), f64(room + 8 * m, m)
    a_trial = f64(room + 16 * m, a_z.shape[0])
    best = start_of_ascent(a, s, shares, a_z, trial, a_trial)
    for _ in range(ASCENT_STEPS):
        # gradient = 4 gamma sum_i (a_i . a_z) k(x_i, z) (x_i - z); a step of 1 / (4 gamma |a_z|^2)
        # along the gradient is a mean shift, here written for the shares
        whole = 0.0
        for i in range(m):
            pull[i] = inner(a[i], a_z) * math.exp(-distance_to(shares, s, i)) / best
            whole += pull[i]
        step, reached = 1.0, best
        while step > LEAST_GAIN:
            for i in range(m):
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


@compiled
def start_of_ascent(a, s, shares, a_z, trial, a_trial):
    """Start at the weighted mean of the members or at the best member, whichever is better. Returns |a_z|^2 there."""
    m = shares.shape[0]
    whole, size = 0.0, 0.0
    for i in range(m):
        shares[i] = a[i, 0] if a.shape[1] == 1 else math.sqrt(inner(a[i], a[i]))
        whole += shares[i]
        size += abs(shares[i])
    best = -1.0
    if abs(whole) > 1e-9 * size:
        for i in range(m):
            shares[i] /= whole
        best = best_coefficients(a, shares, s, a_z)
    for i in range(m):
        for j in range(m):
            trial[j] = 1.0 if j == i else 0.0
        reached = best_coefficients(a, trial, s, a_trial)
        if reached > best:
            best = reached
            copy(trial, shares)
            copy(a_trial, a_z)
    return max(best, 1e-300)


@compiled(always_inlined=True)
def inner(a, b):
    """a . b"""
    return dot(a, b, a.shape[0])


# the merged vector: combine the members, store the result


# A number whose square is a smaller share of |z|^2 changes a distance by less than rounding does
NEGLIGIBLE = 1e-34


@compiled(fastmath=FUSED)
def combination(model, points, shares):
    """(z, its norm, its number of features) for z = sum_i share_i x_i, where numbers that are NEGLIGIBLE become 0.

    z has a number for every place, zeros included. Overwrites model.whole, model.x and model.nonzero. Where the sum
    overflows, z is the member with the largest share: no vector that differs is near any of them.
    """
    width = points.shape[1]
    z, places, values, n = model.whole[:width], model.nonzero, model.x, ZERO
    for f in range(width):
        z[f] = shares[0] * points[0, f]
    for i in range(1, shares.shape[0]):
        for f in range(width):
            z[f] += shares[i] * points[i, f]
    length = dot(z, z, width)
    if not (length < HUGE or is_finite(z)):
        largest = largest_of(shares)
        for f in range(width):
            z[f] = points[largest, f]
        length = dot(z, z, width)
    least = NEGLIGIBLE * length if length < HUGE else 0.0
    for f in range(width):
        kept = z[f] * z[f] > least
        places[f], z[f] = f, z[f] if kept else 0.0
        n += kept
    if n < width:  # seldom, after many merges
        n = ZERO
        for f in range(width):
            values[n] = z[f]
            n += z[f] != 0.0
        length = dot(values, values, n)
    return present(places, z, width), length, n


@compiled
def is_finite(z):
    """Whether no value of z is NaN or infinite."""
    total = 0.0
    for f in range(z.shape[0]):
        total += z[f] * 0.0
    return total == 0.0


@compiled
def largest_of(numbers):
    """The place of the largest number."""
    found = 0
    for i in range(1, numbers.shape[0]):
        if numbers[i] > numbers[found]:
            found = i
    return found


@compiled
def merge_own_rows(model, members, shares, s, place):
    """Merge the members' coefficients c_i in a mean of the iterates: write sum_i k(x_i, z) c_i to slot `place`."""
    for e in range(model.per_vector.shape[0]):
        total = 0.0
        for i in range(members.shape[0]):
            total += math.exp(-distance_to(shares, s, i)) * model.per_vector[e, members[i]]
        model.per_vector[e, place] = total


@compiled
def replace(model, members, z, norm, a_z, newcomer):
    """Write z with coefficients a_z to the first slot of the members, and remove the others. Sorts `members`."""
    sort_places(members)
    place = members[0]
    for i in range(members.shape[0] - 1, 0, -1):  # from the back, so that slots stay valid
        remove_with_newcomer(model, members[i], newcomer)
    overwrite_vector(model, place, z, norm)
    for r in range(a_z.shape[0]):
        model.coefficients[r, place] = a_z[r]


@compiled(always_inlined=True)
def first_of(members):
    """The lowest slot of the members, where z is written."""
    place = members[0]
    for i in range(1, members.shape[0]):
        place = min(place, members[i])
    return place


@compiled
def sort_places(places):
    """Sort a few slots in place, by insertion."""
    for i in range(1, places.shape[0]):
        place, j = places[i], i
        while j > 0 and places[j - 1] > place:
            places[j] = places[j - 1]
            j -= 1
        places[j] = place

"""Heavy vectors: merging examples of a few features into vectors of thousands, at the cost of the few.

Names without end make merged vectors long, and a merge that writes all their numbers anew would take a thousand
times as long as what an example needs. A model that has met such vectors gets tables for them:

multipliers[j]     vector j is this times what is stored of it
lengths[j]         how many numbers are stored
unsorted[j]        so many nodes at the head of its list are not in the order of the keys
distances[i, j]    s(i, j) = gamma |x_i - x_j|^2

A vector z = p x_m + q x_n, p + q = 1, has the multiplier q times that of the longer one, n, to whose numbers only
those of m are added. Nothing else is looked at, as
    s(z, j) = p s(m, j) + q s(n, j) - p q s(m, n)
    |z|^2   = p |x_m|^2 + q |x_n|^2 - p q |x_m - x_n|^2
for 0 <= p <= 1 rounding errors do not grow by this: those of n are multiplied by q. Still, now and then a vector is
looked at as a whole.

Who is light, and when the tables come, follows from the vectors alone: not from how they are stored or in which
chunks examples come.
"""

from __future__ import annotations

from .examples import NOBODY, NONE, places_of, values_of
from .exponential import exp_of
from .jit import compiled
from .lanes import dot
from .linked import vector
from .nodes import add_to_list, hand_over, other_than_zero
from .rows import FARTHEST, along_row, distances_into, norm_of, padded_count

LONG = 512  # numbers, from which on a vector may be heavy
FEW = 40  # times the numbers of the lighter one, or
LONGEST = 1024  # at any rate
MOST = 1000  # vectors of a model with tables for heavy ones: they grow with the square
FAINT = 1e-12  # a multiplier below it is not worth keeping: many numbers may have become too small to be felt
FAR = 100.0  # norms times gamma beyond would lose too much in the formula for |z|^2
UNFELT = 1e-34  # squared, in units of |z|^2: a number that is lost in the rounding of any distance
ROUNDS = 1024  # arrivals, after which a vector is looked at as a whole


@compiled(always_inlined=True)
def may_grow_heavy(model, length, x):
    """Whether merging examples like x into vectors of such a length calls for tables."""
    return length >= LONG and 0 < FEW * x[2] <= length and model.head.budget <= MOST


@compiled(always_inlined=True)
def observed_distance(log):
    """The distance of which the logarithm of a kernel value speaks."""
    return -log if log > -FARTHEST else FARTHEST


@compiled
def note_newcomer(model, newest, x):
    """x, whose kernel row has just been computed, is the newest vector; or there is none. Tables are filled first."""
    if model.head.noted == 0:
        for j in range(model.head.count):
            if j != newest:
                look_again(model, j)
        model.head.noted = 1
    if newest == NOBODY:
        return
    model.multipliers[newest], model.unsorted[newest] = 1.0, 0
    model.lengths[newest] = x[2]
    for j in range(newest):
        note_distance(model, newest, j, observed_distance(model.logs[j]))
    model.distances[newest, newest] = 0.0


@compiled(always_inlined=True)
def note_distance(model, i, j, s):
    model.distances[i, j] = s
    model.distances[j, i] = s


@compiled
def look_again(model, j):
    """What is kept of vector j, from scratch."""
    x, s = vector(model, j), model.buffer
    model.lengths[j], model.norms[j] = x[2], norm_of(model, x)
    distances_into(model, x, model.norms[j], s)
    for i in range(model.head.count):
        note_distance(model, i, j, s[i])
    model.distances[j, j] = 0.0


@compiled
def look_around(model):
    """Each vector is looked at again in its turn."""
    arrived = model.head.arrived
    if arrived % ROUNDS < 2:  # z and an example have come
        look_again(model, arrived // ROUNDS % model.head.count)


@compiled
def longer_member(model, members, shares, s, unwritten):
    """Which of two members the other one can be added to, or NOBODY: then z is written anew."""
    lengths = model.lengths
    longer = NONE + (lengths[members[1]] > lengths[members[0]])
    n, m = members[longer], members[1 - longer]
    fits = (
        n != unwritten
        and lengths[n] >= LONG
        and (lengths[n] >= LONGEST or lengths[n] >= FEW * lengths[m])
        and 0.0 <= shares[longer] <= 1.0
        and shares[longer] * model.multipliers[n] >= FAINT
        and model.head.gamma * max(model.norms[n], model.norms[m]) <= FAR
        and s[0, 1] < FARTHEST
    )
    return longer if fits else NOBODY


@compiled
def follow_distances(model, members, shares, s, a_z, place):
    """s(z, .) for a z that takes this place. Returns a_z . f(z) - sum_i a_i . f(x_i)"""
    n, row, z, gain = padded_count(model), model.row, model.buffer, 0.0
    for j in range(n):
        z[j] = -shares[0] * shares[1] * s[0, 1]
    for i in range(members.shape[0]):
        own, share = model.distances[members[i]], shares[i]
        for j in range(n):
            z[j] += share * own[j]
            row[j] = exp_of(-own[j])
        gain -= along_row(model, row, members[i])
    for j in range(n):
        z[j] = min(max(z[j], 0.0), FARTHEST)
        row[j] = exp_of(-z[j])
    for r in range(a_z.shape[0]):
        gain += a_z[r] * dot(row, model.coefficients[r], n)
    for j in range(model.head.count):
        note_distance(model, place, j, z[j])
    model.distances[place, place] = 0.0
    return gain


@compiled
def add_light(model, m, n, share, q, s, unwritten, x):
    """x_n becomes z = share x_m + q x_n. Returns its norm."""
    norms, gamma = model.norms, model.head.gamma
    norm = share * norms[m] + q * norms[n] - share * q * (s / gamma)
    multiplier = q * model.multipliers[n]
    if share * share * norms[m] > UNFELT * norm:
        share /= multiplier
        if m == unwritten:
            _add(model, n, x, share)
        elif model.head.slots:
            hand_over(model, m, n, share, model.multipliers[m])
        else:
            _add(model, n, vector(model, m), share)
    model.multipliers[n] = multiplier
    return max(norm, 0.0)


@compiled
def _add(model, n, x, share):
    """share x is added to what is stored of vector n."""
    places, values = places_of(x), values_of(x)
    if model.head.slots:
        add_to_list(model, n, places, values, share)
        return
    for i in range(places.shape[0]):
        stored = model.vectors[places[i], n]
        model.lengths[n] += stored == 0.0
        model.vectors[places[i], n] = other_than_zero(stored + share * values[i])

"""Long vectors: merge examples with few features into vectors with thousands, in time proportional to the few.

In streams where new feature names keep coming (such as words) merged vectors become long. To write all numbers of a
merged vector again would take a thousand times as long as the rest of learning. So a model with such vectors stores
each as a multiplier and numbers (core/vectors/multiples.py), and has these tables:

distances[i, j]    s(i, j) = gamma |x_i - x_j|^2
strains[j]         the factor by which merges may have multiplied rounding errors in the distances of vector j

The members of a merge (core/budget/degradation.py) are n, the longest, with share q, and others with shares p_i, where
q + sum_i p_i = 1. For z = q x_n + sum_i p_i x_i the multiplier of n is multiplied by q, and the numbers of the others
are added to those of n. Distances and norms follow from the tables: for two members
    s(z, j) = p s(m, j) + q s(n, j) - p q s(m, n)
    |z|^2   = p |x_m|^2 + q |x_n|^2 - p q |x_m - x_n|^2
and for more as in core/budget/several.py. These formulas multiply errors by the shares. With 0 <= q <= 1 they do not
grow. If the coefficients have opposite signs, z lies beyond its members and errors may grow: the distances of a
vector are computed from scratch when its strain exceeds LARGEST_STRAIN, and every vector's from time to time.

Which vector is the lightest, and when a model gets the tables, depends on the vectors alone, not on how they are stored
or on how examples are divided into calls.
"""

from __future__ import annotations

from ..block.limits import FARTHEST, observed_distance, padded_count
from ..compiling.array_views import address_of, i64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, MATRIX, MODEL, NOTHING, NUMBERS, REAL, WHOLE, WHOLES
from ..compiling.needs import Need
from ..examples.present_features import NO_VECTOR, ZERO
from ..expansion.kernel_rows import along_row, distances_into, norm_of
from ..expansion.support import make_newest, remove, write_into_freed_slot
from ..simd.exponential import exp_of
from ..simd.vector_ops import dot
from ..vectors.multiples import SMALLEST_MULTIPLIER, add_example, add_vector
from ..vectors.stored import (
    distances_are_kept,
    keep_distances,
    read_vector,
    request_distance_table,
    side_by_side,
    write_vector,
)
from .several import NEGLIGIBLE, combination, first_of, inner_term, merge_own_rows, sort_places

# A merge adds its other members to one with LONG numbers and LONGER_BY times theirs, or to one with SURELY_LONG
LONG, LONGER_BY, SURELY_LONG = 320, 20, 1024
# With larger budgets the table of distances, with budget^2 numbers, costs more than it saves
LARGEST_BUDGET = 1000
# If the longest member has a larger share, the merged vector is computed from scratch, as errors would grow
LARGEST_SHARE = 2.0
LARGEST_STRAIN = 64.0  # with a larger strain, distances are recomputed
LARGEST_LENGTH = 100.0  # gamma times a norm: with larger ones the formulas would cancel
# After so many arrivals one vector's distances are recomputed, which takes as long as learning hundreds of examples
RECOMPUTED_EVERY = 2**14


@shared(Need.HEAVY, NOTHING, MODEL, WHOLE, EXAMPLE)
def fill_distance_table(model, newest, x):
    """Write the row of the newest vector, x, from the logarithms of its kernel values; first all others in a new table.

    newest < 0: there is no newcomer.
    """
    if not distances_are_kept(model):
        keep_distances(model)
        for j in range(model.head.count):
            if j != newest:
                recompute_distances(model, j)
    if newest == NO_VECTOR:
        return
    model.multipliers[newest], model.strains[newest], model.unsorted[newest] = 1.0, 1.0, 0
    model.lengths[newest] = x[2]
    for j in range(newest):
        set_distance(model, newest, j, observed_distance(model.logs[j]))
    model.distances[newest, newest] = 0.0


@compiled(always_inlined=True)
def set_distance(model, i, j, s):
    """Set distances[i, j] and distances[j, i]."""
    model.distances[i, j] = s
    model.distances[j, i] = s


@compiled
def recompute_distances(model, j):
    """Compute the length, norm and distances of vector j from scratch. Overwrites model.row and model.buffer."""
    x, s = read_vector(model, j), model.buffer
    model.lengths[j], model.norms[j] = x[2], norm_of(model, x)
    distances_into(model, x, model.norms[j], s)
    for i in range(model.head.count):
        set_distance(model, i, j, s[i])
    model.distances[j, j], model.strains[j] = 0.0, 1.0


@compiled
def request_table_if_long(model, length, x):
    """Request the tables of this file if they would save time when x is merged into vectors with `length` numbers."""
    pays = length >= LONG and 0 < LONGER_BY * x[2] <= length
    request_distance_table(model, pays and model.head.budget <= LARGEST_BUDGET)


@shared(Need.HEAVY, NOTHING, MODEL, WHOLES, MATRIX)
def kept_distances_between(model, members, s):
    """s[i, j] = gamma |x_i - x_j|^2 between members, from the table of distances."""
    for i in range(members.shape[0]):
        for j in range(members.shape[0]):
            s[i, j] = model.distances[members[i], members[j]]


@shared(
    Need.HEAVY,
    REAL,
    *(MODEL, WHOLES, NUMBERS, MATRIX, NUMBERS),
    *(WHOLE, EXAMPLE, WHOLES, WHOLES, MATRIX),
)
def merge_long(model, members, shares, s, a_z, unwritten, x, cursors, places, points):
    """Replace the members by their combination z. Returns a_z . f(z) - sum_i a_i . f(x_i)"""
    exact = formulas_are_exact(model, members, s)
    longest = longest_member(model, members, shares, unwritten) if exact else NO_VECTOR
    place = first_of(members) if longest == NO_VECTOR else members[longest]
    gain = write_distances_of_merged(model, members, shares, s, a_z, place)
    strain = 0.0
    for i in range(members.shape[0]):
        strain += abs(shares[i]) * model.strains[members[i]]
    model.strains[place] = strain = max(strain, 1.0)
    merge_own_rows(model, members, shares, s, place)
    if longest == NO_VECTOR:
        n, unwritten = side_by_side(model, members, unwritten, x, cursors, places, points)
        z, norm = combination(model, i64(address_of(places), n), points, shares)
        # the others go first, as z may need the memory that they hold
        remove_others(model, members, place, unwritten, x)
        write_vector(model, place, z)
        model.norms[place] = norm
    else:
        add_to_longest(model, members, longest, shares, s, unwritten, x)
        place = remove_others(model, members, place, unwritten, x)
    make_newest(model, place)
    for r in range(a_z.shape[0]):
        model.coefficients[r, place] = a_z[r]
    if strain > LARGEST_STRAIN or not exact:
        recompute_distances(model, place)
    arrived = model.head.arrived
    if arrived % RECOMPUTED_EVERY < 2:  # 2: a merge has two arrivals, x and z
        recompute_distances(model, arrived // RECOMPUTED_EVERY % model.head.count)
    return gain


@compiled
def formulas_are_exact(model, members, s):
    """Whether rounding errors in the formulas for distances and |z|^2 are small."""
    exact = True
    for i in range(members.shape[0]):
        exact = exact and model.head.gamma * model.norms[members[i]] <= LARGEST_LENGTH
        for j in range(i):
            exact = exact and s[i, j] < FARTHEST
    return exact


@compiled
def longest_member(model, members, shares, unwritten):
    """The index of the member to which the others are added, or NO_VECTOR if z must be written anew."""
    lengths, longest, others = model.lengths, ZERO, ZERO
    for i in range(1, members.shape[0]):
        if lengths[members[i]] > lengths[members[longest]]:
            longest = i
    for i in range(members.shape[0]):
        if i != longest:
            others = max(others, lengths[members[i]])
    n, share = members[longest], shares[longest]
    fits = (
        n != unwritten
        and lengths[n] >= LONG
        and (lengths[n] >= SURELY_LONG or lengths[n] >= LONGER_BY * others)
        and 0.0 <= share <= LARGEST_SHARE
        and SMALLEST_MULTIPLIER <= share * model.multipliers[n] <= 1.0 / SMALLEST_MULTIPLIER
    )
    return longest if fits else NO_VECTOR


@compiled
def write_distances_of_merged(model, members, shares, s, a_z, place):
    """Write the distances s(z, .) to the row and column `place`, the slot of z. Returns a_z . f(z) - sum_i a_i . f(x_i).

    Overwrites model.row and model.buffer.
    """
    n, row, z, gain = padded_count(model), model.row, model.buffer, 0.0
    constant = -inner_term(shares, s)
    for j in range(n):
        z[j] = constant
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
        set_distance(model, place, j, z[j])
    model.distances[place, place] = 0.0
    return gain


@compiled
def add_to_longest(model, members, longest, shares, s, unwritten, x):
    """Turn the longest member, n, into z = q x_n + sum_i p_i x_i by adding the others to it."""
    n, norms = members[longest], model.norms
    norm = -inner_term(shares, s) / model.head.gamma
    for i in range(members.shape[0]):
        norm += shares[i] * norms[members[i]]
    model.multipliers[n] *= shares[longest]
    for i in range(members.shape[0]):
        m, p = members[i], shares[i]
        if i != longest and p * p * norms[m] > NEGLIGIBLE * norm:
            if m == unwritten:
                add_example(model, n, p, x)
            else:
                add_vector(model, n, p, m)
    norms[n] = max(norm, 0.0)


@compiled
def remove_others(model, members, place, unwritten, x):
    """Remove all members but the one in the slot `place`. Returns the slot of this member afterwards. Sorts `members`."""
    sort_places(members)
    for i in range(members.shape[0] - 1, -1, -1):  # from the back, so that slots stay valid
        p = members[i]
        if p != place:
            was_last = place == model.head.count - 1
            remove_member(model, p, unwritten, x)
            place = p if was_last else place
    return place


@compiled
def remove_member(model, p, unwritten, x):
    """Remove vector p, from the tables too. Its slot takes the last vector; or x, if there is an unwritten newcomer x."""
    last = model.head.count - 1
    if p != last:
        model.strains[p] = model.strains[last]
        for j in range(last):
            set_distance(model, p, j, model.distances[last, j])
        model.distances[p, p] = 0.0
    if unwritten == NO_VECTOR:
        remove(model, p)
    else:
        write_into_freed_slot(model, x, p)

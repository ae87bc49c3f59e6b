"""Heavy vectors: merging examples of a few features into vectors of thousands, at the cost of the few.

Names without end make merged vectors long, and a merge that writes all their numbers anew would take a thousand
times as long as what an example needs. A model that has met such vectors gets tables for them:

multipliers[j]     vector j is this times what is stored of it
lengths[j]         how many numbers are stored
unsorted[j]        so many nodes at the head of its list are not in the order of the keys
distances[i, j]    s(i, j) = gamma |x_i - x_j|^2
strains[j]         how many times an error in what is kept of vector j may have been multiplied
brief[j]           in which places a column of a table is not 0, if they are few (behind one more than their number)
head.noted         whether these are filled

The members of a merge (core/budget/degradation.py) are n, which is the longest, and others; their shares q and p_i have the sum 1.
z = q x_n + sum_i p_i x_i has q times the multiplier of n, to whose numbers only those of the others are added. Nothing
else is looked at, as for two of them
    s(z, j) = p s(m, j) + q s(n, j) - p q s(m, n)
    |z|^2   = p |x_m|^2 + q |x_n|^2 - p q |x_m - x_n|^2
and for more as in core/budget/several.py.
Errors are multiplied by the shares. With 0 <= q <= 1 they do not grow. Beyond its members, where z lies if their
coefficients have opposite signs, they may: a vector is looked at as a whole when they may have done so by STRAINED,
and, whatever happens, now and then.

Who is light, and when the tables come, follows from the vectors alone: not from how they are stored or in which
chunks examples come.
"""

from __future__ import annotations

from ..block.limits import FARTHEST, observed_distance, padded_count
from ..compiling.array_views import address_of, i64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, MATRIX, MODEL, NOTHING, NUMBERS, REAL, WHOLE, WHOLES
from ..compiling.needs import Need
from ..examples.present_features import NOBODY, NONE, places_of, present, values_of
from ..expansion.kernel_rows import along_row, distances_into, norm_of
from ..expansion.support import leave_empty, move, move_numbers, stamp
from ..simd.exponential import exp_of
from ..simd.vector_ops import dot
from ..vectors.sparse_nodes import add_to_list, hand_over, other_than_zero, sort_list, unlink
from ..vectors.stored import set_vector, vector
from .merged_vector import UNFELT, combination, first_of, merge_own_rows, sort, write_out
from .several import inner_term

LONG = 320  # numbers, from which on a vector may be heavy
FEW = 20  # times the numbers of the others, or
LONGEST = 1024  # at any rate
MOST = 1000  # vectors of a model with tables for heavy ones: they grow with the square
FAINT = 1e-12  # a multiplier below it is not worth keeping: many numbers may have become too small to be felt
WILD = 2.0  # the share of the longest, beyond which z is written anew
STRAINED = 64.0  # errors that may have grown so much call for a look
FAR = 100.0  # norms times gamma: beyond, the formulas would lose too much
ROUNDS = 2**14  # arrivals between looks at a vector as a whole, as long as hundreds of examples


@shared(Need.HEAVY, NOTHING, MODEL, WHOLE, EXAMPLE)
def note_newcomer(model, newest, x):
    """x, whose kernel row has just been computed, is the newest vector; or there is none. Tables are filled first."""
    if model.head.noted == 0:
        for j in range(model.head.count):
            if j != newest:
                look_again(model, j)
        model.head.noted = 1
    if newest == NOBODY:
        return
    model.multipliers[newest], model.strains[newest], model.unsorted[newest] = 1.0, 1.0, 0
    model.lengths[newest] = x[2]
    for j in range(newest):
        note_distance(model, newest, j, observed_distance(model.logs[j]))
    model.distances[newest, newest] = 0.0


@compiled(always_inlined=True)
def note_distance(model, i, j, s):
    model.distances[i, j] = s
    model.distances[j, i] = s


@shared(Need.HEAVY, NOTHING, MODEL, WHOLE, EXAMPLE)
def write(model, j, x):
    """Vector j becomes x."""
    places, values = places_of(x), values_of(x)
    if model.head.slots:
        if model.unsorted[j] > 0:
            unlink(model, j)
        set_vector(model, j, x)
    else:
        _wipe(model, j)
        for i in range(places.shape[0]):
            model.vectors[places[i], j] = values[i]
        _note_places(model, j, places)
    model.multipliers[j], model.lengths[j], model.unsorted[j] = 1.0, places.shape[0], 0


@compiled
def _wipe(model, j):
    """Column j of the table becomes 0."""
    vectors, brief = model.vectors, model.brief[j]
    if brief[0] > 0:
        for i in range(1, brief[0]):
            vectors[brief[i], j] = 0.0
    else:
        for i in range(vectors.shape[0]):
            vectors[i, j] = 0.0


@compiled
def _note_places(model, j, places):
    """Where column j of the table is not 0, if that is in a few places: the others need not be looked at then."""
    brief, n = model.brief[j], places.shape[0]
    brief[0] = n + 1 if n < brief.shape[0] else 0
    for i in range(1, brief[0]):
        brief[i] = places[i - 1]


@compiled
def read(model, j):
    """Vector j as an example, in scratch space."""
    if model.head.slots:
        sort_list(model, j)
    elif model.brief[j, 0] > 0:
        return _read_few(model, j)
    x, multiplier = vector(model, j), model.multipliers[j]
    values = values_of(x)
    for i in range(values.shape[0]):
        values[i] *= multiplier
    return x


@compiled
def _read_few(model, j):
    """The same from the few places that are noted."""
    places, values, brief = model.nonzero, model.x, model.brief[j]
    n = brief[0] - 1
    for i in range(n):
        places[i] = brief[1 + i]
        values[i] = model.multipliers[j] * model.vectors[places[i], j]
    return present(places, values, n)


@compiled
def leave_place(model, p, unwritten, x):
    """Vector p leaves its place to the last one; x, if that is unwritten."""
    last = model.head.count - 1
    if p != last:
        if unwritten == NOBODY:
            move(model, last, p)
            model.brief[p, 0] = 0
        else:
            write(model, p, x)
            move_numbers(model, last, p)
        model.multipliers[p], model.lengths[p] = model.multipliers[last], model.lengths[last]
        model.unsorted[p], model.strains[p] = model.unsorted[last], model.strains[last]
        for j in range(last):
            note_distance(model, p, j, model.distances[last, j])
        model.distances[p, p] = 0.0
    leave_empty(model, last)


@compiled
def look_again(model, j):
    """What is kept of vector j, from scratch."""
    x, s = read(model, j), model.buffer
    model.lengths[j], model.norms[j] = x[2], norm_of(model, x)
    distances_into(model, x, model.norms[j], s)
    for i in range(model.head.count):
        note_distance(model, i, j, s[i])
    model.distances[j, j], model.strains[j] = 0.0, 1.0


@compiled
def look_at_length(model, length, x):
    """Whether merging examples like x into vectors of such a length calls for tables."""
    head = model.head
    may_be = head.budget <= MOST and head.narrow == 0
    head.outgrown = may_be and length >= LONG and 0 < FEW * x[2] <= length


@shared(Need.HEAVY, NOTHING, MODEL, WHOLES, MATRIX)
def noted_between(model, members, s):
    """s[i, j] = s(x_i, x_j) of members."""
    for i in range(members.shape[0]):
        for j in range(members.shape[0]):
            s[i, j] = model.distances[members[i], members[j]]


@shared(
    Need.HEAVY,
    REAL,
    *(MODEL, WHOLES, NUMBERS, MATRIX, NUMBERS),
    *(WHOLE, EXAMPLE, WHOLES, WHOLES, MATRIX),
)
def merge_heavy(model, members, shares, s, a_z, unwritten, x, cursors, places, points):
    """The members become their combination z. Returns a_z . f(z) - sum_i a_i . f(x_i)"""
    near = are_near(model, members, s)
    longest = longest_member(model, members, shares, unwritten) if near else NOBODY
    place = first_of(members) if longest == NOBODY else members[longest]
    gain = follow_distances(model, members, shares, s, a_z, place)
    model.strains[place] = strain = strain_of(model, members, shares)
    merge_own_rows(model, members, shares, s, place)
    if longest == NOBODY:
        write_anew(model, members, shares, place, unwritten, x, cursors, places, points)
    else:
        add_to_longest(model, members, longest, shares, s, unwritten, x)
        place = leave_for(model, members, place, unwritten, x)
    stamp(model, place)
    for r in range(a_z.shape[0]):
        model.coefficients[r, place] = a_z[r]
    if strain > STRAINED or not near:
        look_again(model, place)
    arrived = model.head.arrived
    if arrived % ROUNDS < 2:  # z and an example have come: each vector is looked at in its turn
        look_again(model, arrived // ROUNDS % model.head.count)
    return gain


@compiled
def are_near(model, members, s):
    """Whether the formulas for distances and |z|^2 lose nothing."""
    near = True
    for i in range(members.shape[0]):
        near = near and model.head.gamma * model.norms[members[i]] <= FAR
        for j in range(i):
            near = near and s[i, j] < FARTHEST
    return near


@compiled
def longest_member(model, members, shares, unwritten):
    """Which of the members the others can be added to, or NOBODY: then z is written anew."""
    lengths, longest, others = model.lengths, NONE, NONE
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
        and (lengths[n] >= LONGEST or lengths[n] >= FEW * others)
        and 0.0 <= share <= WILD
        and FAINT <= share * model.multipliers[n] <= 1.0 / FAINT
    )
    return longest if fits else NOBODY


@compiled
def strain_of(model, members, shares):
    """What the strain of z is."""
    strain = 0.0
    for i in range(members.shape[0]):
        strain += abs(shares[i]) * model.strains[members[i]]
    return max(strain, 1.0)


@compiled
def follow_distances(model, members, shares, s, a_z, place):
    """s(z, .) for a z that takes this place. Returns a_z . f(z) - sum_i a_i . f(x_i)"""
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
        note_distance(model, place, j, z[j])
    model.distances[place, place] = 0.0
    return gain


@compiled
def write_anew(model, members, shares, place, unwritten, x, cursors, places, points):
    """z takes the place of its first member; the others leave."""
    if model.head.slots:
        for i in range(members.shape[0]):
            sort_list(model, members[i])
    u, unwritten = write_out(model, members, unwritten, x, cursors, places, points)
    for i in range(members.shape[0]):
        for f in range(u):
            points[i, f] *= model.multipliers[members[i]]
    z, norm = combination(model, i64(address_of(places), u), points, shares)
    leave_for(model, members, place, unwritten, x)  # first, as z may need what they hold
    write(model, place, z)
    model.norms[place] = norm


@compiled
def add_to_longest(model, members, longest, shares, s, unwritten, x):
    """The longest member, n, becomes the combination z = q x_n + sum_i p_i x_i."""
    n, norms = members[longest], model.norms
    norm = -inner_term(shares, s) / model.head.gamma
    for i in range(members.shape[0]):
        norm += shares[i] * norms[members[i]]
    model.multipliers[n] *= shares[longest]
    for i in range(members.shape[0]):
        m, p = members[i], shares[i]
        if i != longest and p * p * norms[m] > UNFELT * norm:
            share = p / model.multipliers[n]
            if m != unwritten and model.head.slots:
                hand_over(model, m, n, share, model.multipliers[m])
            else:
                _add(model, n, x if m == unwritten else read(model, m), share)
    norms[n] = max(norm, 0.0)


@compiled
def leave_for(model, members, place, unwritten, x):
    """All members but the one in this place leave. Returns where that one is then."""
    sort(members)
    for i in range(members.shape[0] - 1, -1, -1):  # from the back, so that places stay valid
        p = members[i]
        if p != place:
            was_last = place == model.head.count - 1
            leave_place(model, p, unwritten, x)
            place = p if was_last else place
    return place


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

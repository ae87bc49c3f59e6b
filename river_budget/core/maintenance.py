"""Budget maintenance: a model with one vector too many gives up what it misses least.

`keep_budget` knows what it does to the model's length. With w' = w + delta, |w|^2 changes by
2 <w, delta> + |delta|^2, and the products <w, k(x, .)> = f(x) come from kernel rows of the vectors that
change. That costs as much as the search for them; |delta| alone, which bounds the change of |w|, is free.
The functions below `keep_budget` leave out the scale of the coefficients.

`strategy` is the kind of strategy: REMOVE, PAIRS, MANY, FACTOR. Callers pass it as a constant, so
that only their kind is compiled.
"""

from __future__ import annotations

import math

from .codes import Choice, Maintenance, Strategy
from .differences import distances_by_differences
from .examples import NOBODY, NONE, present
from .exponential import exp_of
from .heavy import (
    UNFELT,
    add_light,
    follow_distances,
    longer_member,
    look_around,
    may_grow_heavy,
    note_newcomer,
)
from .jit import FUSED, compiled
from .lanes import dot
from .layout import SEARCH_ROWS
from .linked import set_vector, vectors_side_by_side
from .merging import PLACE, S, best_partners, new_search
from .multimerge import (
    CASCADE,
    ascend,
    cascade,
    distance_to,
    inner,
    inner_term,
    member_distances,
    merge_pair,
)
from .numba_types import address_of, f64, f64_matrix, i64
from .products import dot_products
from .projection import cheapest, join, project_out
from .removal import REMOVALS, chosen_for_removal
from .rows import (
    HUGE,
    along_row,
    cancels,
    norm_of,
    padded_count,
    rbf_from_distances_into,
    rbf_into,
    row_of_vector,
    self_kernel,
)
from .support import (
    add_to,
    announce,
    lightest,
    overwrite,
    remove,
    stamp,
    take_place,
    weight_of,
)

MERGE, PROJECT = int(Maintenance.MERGE), int(Maintenance.PROJECT)
BEST = int(Choice.BEST)
REMOVE, PAIRS, MANY, FACTOR = map(int, Strategy)
STRATEGIES = (
    *REMOVALS,
    PROJECT,
    MERGE,
)  # those that keep_budget knows; models of others are refused


@compiled
def strategy_of(model):
    """The kind of a model's strategy."""
    if model.head.maintenance == MERGE:
        return MANY if model.head.arity > 2 else PAIRS
    return FACTOR if model.head.maintenance == PROJECT else REMOVE


@compiled(inlined=True)
def writes_late(exact, strategy):
    """Whether a newcomer is written only when it is known in whose place, if at all: the removal of another one
    does not read it, and for merging it is at hand."""
    return not exact and strategy in (REMOVE, PAIRS)


@compiled(inlined=True)
def store(model, x, norm, plus, minus, amount, strategy, late):
    """Add amount (e_plus - e_minus) k(x, .) as the strategy of the model does. Returns (squared length of what
    was added, what |w|^2 loses as vectors are kept apart). `late`: x waits for `keep_budget`."""
    if strategy == FACTOR:
        length, lost, _ = join(model, x, norm, plus, minus, amount)
        return length, lost
    j = announce(model, norm)
    if not late:
        set_vector(model, j, x)
    add_to(model, j, plus, minus, amount)
    return self_kernel(model, norm), 0.0


@compiled(inlined=True)
def keep_budget(model, exact, strategy, observed, unwritten, x):
    """Maintain until the budget is kept. Returns the change of |w|^2 if `exact`, and otherwise how much
    |w| may have grown. `observed`: the vector whose kernel row has just been computed, or NOBODY.
    `unwritten`: the newcomer x, if its vector waits to be written, or NOBODY.

    head.cost becomes the sum of the lengths of what w was changed by."""
    head, change = model.head, 0.0
    head.cost = 0.0
    if strategy == PAIRS and head.heavy != 0:
        note_newcomer(model, observed, x)
    while head.count > head.budget:
        if strategy == REMOVE:
            p = chosen_for_removal(model)
            change += change_by_removal(model, p, exact)
            leave(model, p, unwritten, x)
        elif strategy == FACTOR:
            if head.choice == BEST:
                p = cheapest(model, head.count)
                weight = weight_of(model, p)
            else:
                p = lightest(model, model.buffer)
                weight = model.buffer[p] / self_kernel(model, model.norms[p])
            distance = project_out(model, p)
            head.cost += head.scale * math.sqrt(weight * max(distance, 0.0))
            change -= weight * distance if exact else 0.0
        else:
            change += merge(model, exact, strategy, observed, unwritten, x)
        observed, unwritten = NOBODY, NOBODY
    if unwritten != NOBODY:
        set_vector(model, unwritten, x)
    return head.scale * (head.scale * change if exact else change)


@compiled(always_inlined=True)
def leave(model, p, unwritten, x):
    """Vector p leaves its place to the last one."""
    if unwritten != NOBODY:
        take_place(model, x, p)
    else:
        remove(model, p)


@compiled(inlined=True)
def change_by_removal(model, p, exact):
    """-2 a_p . f(x_p) + |a_p|^2 k(x_p, x_p), or the root of its second part"""
    length = max(weight_of(model, p) * self_kernel(model, model.norms[p]), 0.0)
    model.head.cost += model.head.scale * math.sqrt(length)
    if not exact:
        return math.sqrt(length)
    row_of_vector(model, p)
    return length - 2.0 * along_row(model, model.row, p)


@compiled(inlined=True)
def merge(model, exact, strategy, observed, unwritten, x):
    """Merge the lightest vector with its `arity` - 1 best partners into the newest vector."""
    head = model.head
    outputs, m = model.coefficients.shape[0], min(head.arity, head.count)
    heap = model.heap + 8 * SEARCH_ROWS * padded_count(model)
    members, shares, s = i64(heap, m), f64(heap + 8 * m, m), f64_matrix(heap + 16 * m, m, m)
    heap += 8 * m * (m + 2)
    a, a_z = f64_matrix(heap, m, outputs), f64(heap + 8 * m * outputs, outputs)
    heap += 8 * (m + 1) * outputs
    width = model.head.width + 1
    points, places = f64_matrix(heap, m, width), i64(heap + 8 * m * width, width)
    room = heap + 8 * (m + 1) * width
    search = new_search(model)
    best_partners(model, lightest(model, model.buffer), observed, unwritten, search, members)
    u, longer, heavy = NONE, NOBODY, strategy == PAIRS and head.heavy != 0
    if strategy == MANY:
        u, unwritten = write_out_members(model, members, unwritten, x, i64(room, m), places, points)
    for i in range(m):
        for r in range(outputs):
            a[i, r] = model.coefficients[r, members[i]]
    member_distances(model, points, u, members, search[S], s)
    if strategy == MANY and head.method != CASCADE and m > 2:
        ascend(a, s, shares, a_z, room)
    else:
        merge_pair(a, s, search[PLACE, members[1]], shares, a_z)
        if strategy == MANY:
            cascade(a, s, shares, a_z)
    loss = max(loss_by_merging(shares, s, a, a_z), 0.0)
    head.cost += head.scale * math.sqrt(loss)
    if heavy:
        longer = longer_member(model, members, shares, s, unwritten)
    if strategy != MANY and longer == NOBODY:
        u, unwritten = write_out_members(model, members, unwritten, x, i64(room, m), places, points)
    places = i64(address_of(places), u)
    place = first_of(members) if longer == NOBODY else members[longer]
    change = 0.0
    if heavy:
        change = loss + 2.0 * follow_distances(model, members, shares, s, a_z, place)
    elif exact:
        gain = gain_by_merging(model, search[S], places, points, members, shares, s, a_z)
        change = loss + 2.0 * gain
    merge_own_rows(model, members, shares, s, place)
    if longer == NOBODY:
        replace(model, places, points, members, shares, a_z, unwritten, x)
    else:
        add_to_longer(model, members, longer, shares, s, a_z, unwritten, x)
    if heavy:
        look_around(model)
    elif strategy == PAIRS and may_grow_heavy(model, u, x):
        head.outgrown = 1
    return change if exact else math.sqrt(loss)


@compiled
def write_out_members(model, members, unwritten, x, cursors, places, points):
    """The members side by side. Returns of how many features, and which vector is still unwritten."""
    if model.head.slots:
        for i in range(members.shape[0]):
            if members[i] == unwritten:
                set_vector(model, unwritten, x)
                unwritten = NOBODY
    u = vectors_side_by_side(model, members, unwritten, x, cursors, places, points)
    return u, unwritten


@compiled(always_inlined=True)
def first_of(members):
    """The member whose place z takes."""
    place = members[0]
    for i in range(1, members.shape[0]):
        place = min(place, members[i])
    return place


@compiled
def loss_by_merging(shares, s, a, a_z):
    """|sum_i a_i k(x_i, .) - a_z k(z, .)|^2"""
    total = inner(a_z, a_z)
    for i in range(a.shape[0]):
        total += inner(a[i], a[i]) - 2.0 * math.exp(-distance_to(shares, s, i)) * inner(a[i], a_z)
        for j in range(i):
            total += 2.0 * math.exp(-s[i, j]) * inner(a[i], a[j])
    return total


@compiled
def gain_by_merging(model, first, places, points, members, shares, s, a_z):
    """a_z . f(z) - sum_i a_i . f(x_i)

    `first`: the distances s of the first member to all vectors. The row of z needs no distances:
    log k(z, .) = sum_i share_i log k(x_i, .) + inner term.
    """
    n, m = padded_count(model), members.shape[0]
    z_row, row = model.buffer, model.row
    constant = inner_term(shares, s)
    for j in range(n):
        row[j] = exp_of(-first[j])
        z_row[j] = constant - shares[0] * first[j]
    gain = -along_row(model, row, members[0])
    for i in range(1, m):
        dot_products(model, present(places, points[i], places.shape[0]), row, n)
        gain -= gain_of_member(model, places, points[i], row, members[i], shares[i], z_row)
    for j in range(n):
        z_row[j] = exp_of(min(z_row[j], 0.0))
    for r in range(a_z.shape[0]):
        gain += a_z[r] * dot(z_row, model.coefficients[r], n)
    return gain


@compiled
def gain_of_member(model, places, x_p, row, p, share, z_row):
    """a_p . f(x_p), from the inner products of x_p, which takes part in the row of z."""
    n, gamma = padded_count(model), model.head.gamma
    if cancels(model, model.norms[p]):
        distances_by_differences(model, present(places, x_p, places.shape[0]), row, n)
        rbf_from_distances_into(row, gamma, share, z_row, n)
    else:
        rbf_into(row, model.norms, model.norms[p], gamma, share, z_row, n)
    return along_row(model, row, p)


@compiled
def replace(model, places, points, members, shares, a_z, unwritten, x):
    """The combination of the members takes the place of one of them; the others leave."""
    z, norm = combination(model, places, points, shares)
    sort(members)
    place = members[0]
    for i in range(members.shape[0] - 1, 0, -1):  # from the back, so that places stay valid
        leave(model, members[i], unwritten, x)
    overwrite(model, place, z, norm)
    for r in range(a_z.shape[0]):
        model.coefficients[r, place] = a_z[r]


@compiled
def add_to_longer(model, members, longer, shares, s, a_z, unwritten, x):
    """The longer one of two members becomes their combination; the other one leaves."""
    n, m = members[longer], members[1 - longer]
    share = shares[1 - longer]
    model.norms[n] = add_light(model, m, n, share, shares[longer], s[0, 1], unwritten, x)
    stamp(model, n)
    for r in range(a_z.shape[0]):
        model.coefficients[r, n] = a_z[r]
    leave(model, m, unwritten, x)


@compiled(fastmath=FUSED)
def combination(model, places, points, shares):
    """z = sum_i share_i x_i and its norm, without what no distance can feel any more."""
    kept, z, n = model.nonzero, model.x, places.shape[0]
    for f in range(n):
        z[f] = shares[0] * points[0, f]
    for i in range(1, shares.shape[0]):
        for f in range(n):
            z[f] += shares[i] * points[i, f]
    norm, unfelt = norm_of(model, present(places, z, n)), 0
    least = UNFELT * norm if norm < HUGE else 0.0
    for f in range(n):
        unfelt += z[f] * z[f] <= least
    if unfelt == 0:
        return present(places, z, n), norm
    i = 0
    for f in range(n):
        kept[i], z[i] = places[f], z[f]
        i += z[f] * z[f] > least
    felt = present(kept, z, n - unfelt)
    return felt, norm_of(model, felt)


@compiled
def merge_own_rows(model, members, shares, s, place):
    """What a model that merges keeps per vector are the coefficients of another function, a mean: they become
    those of its projection on the new vector, sum_i k(x_i, z) c_i, in the place where that will be."""
    for e in range(model.per_vector.shape[0]):
        total = 0.0
        for i in range(members.shape[0]):
            total += math.exp(-distance_to(shares, s, i)) * model.per_vector[e, members[i]]
        model.per_vector[e, place] = total


@compiled
def sort(places):
    for i in range(1, places.shape[0]):
        place, j = places[i], i
        while j > 0 and places[j - 1] > place:
            places[j] = places[j - 1]
            j -= 1
        places[j] = place

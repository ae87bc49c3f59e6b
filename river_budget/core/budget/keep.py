"""Budget maintenance: a model with one vector too many gives up what it misses least.

`keep_budget` knows what it does to the model's length. With w' = w + delta, |w|^2 changes by
2 <w, delta> + |delta|^2, and the products <w, k(x, .)> = f(x) come from kernel rows of the vectors that
change. That costs as much as the search for them; |delta| alone, which bounds the change of |w|, is free.
The functions below `keep_budget` leave out the scale of the coefficients.

`strategy` is the kind of strategy: REMOVE, PAIRS, MANY, FACTOR. `follows` says whether the model may have heavy
vectors, which are merged in another way (core/budget/long_vectors.py). Callers pass both as constants, so that only their kind
is compiled.
"""

from __future__ import annotations

import math

from ..block.codes import Choice, Maintenance, Strategy
from ..block.layout import SEARCH_ROWS
from ..block.limits import cancels, padded_count
from ..compiling.array_views import address_of, f64, f64_matrix, i64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import MATRIX, NUMBERS, REAL
from ..compiling.needs import Need
from ..examples.call import model_of
from ..examples.present_features import NOBODY, NONE, nobody, present
from ..expansion.distances import distances_by_differences
from ..expansion.kernel_rows import (
    along_row,
    rbf_from_distances_into,
    rbf_into,
    row_of_vector,
    self_kernel,
)
from ..expansion.support import add_to, announce, lightest, weight_of
from ..simd.exponential import exp_of
from ..simd.vector_ops import dot
from ..vectors.stored import dot_products, side_by_side, write_vector
from .float32_estimates import NN, S, new_search, search_width
from .long_vectors import add_distance_row, check_length, kept_distances_between, merge_long
from .merged_vector import combination, first_of, leave, merge_own_rows, replace
from .partner_search import EQ21, best_partners, place_of_pair
from .projection import cheapest, join, project_out
from .removal import REMOVALS, chosen_for_removal
from .several import (
    CASCADE,
    ascend,
    cascade,
    distance_to,
    inner,
    inner_term,
    member_distances,
    merge_pair,
)

MERGE, PROJECT = int(Maintenance.MERGE), int(Maintenance.PROJECT)
BEST = int(Choice.BEST)
REMOVE, PAIRS, MANY, FACTOR = map(int, Strategy)
NO, YES = 0, 1  # what `follows` may be
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
        write_vector(model, j, x)
    add_to(model, j, plus, minus, amount)
    return self_kernel(model, norm), 0.0


@compiled(inlined=True)
def keep_budget(model, exact, strategy, follows, observed, unwritten, x):
    """Maintain until the budget is kept. Returns the change of |w|^2 if `exact`, and otherwise how much
    |w| may have grown. `observed`: the vector whose kernel row has just been computed, or NOBODY.
    `unwritten`: the newcomer x, if its vector waits to be written, or NOBODY.

    head.cost becomes the sum of the lengths of what w was changed by."""
    head, change = model.head, 0.0
    head.cost = 0.0
    if follows == YES and head.heavy:
        add_distance_row(model, observed, x)
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
            change += merge(model, exact, strategy, follows, observed, unwritten, x)
        observed, unwritten = NOBODY, NOBODY
    if unwritten != NOBODY:
        write_vector(model, unwritten, x)
    return head.scale * (head.scale * change if exact else change)


@compiled(inlined=True)
def add_within_budget(model, x, norm, plus, minus, amount, strategy, follows):
    """Add amount (e_plus - e_minus) k(x, .), whose kernel row has just been computed, and keep the budget: for models
    that need not know |w|."""
    late = writes_late(False, strategy)
    store(model, x, norm, plus, minus, amount, strategy, late)
    newest = model.head.count - 1
    keep_budget(model, False, strategy, follows, newest, newest if late else NOBODY, x)


@compiled(called_from_python=True)
def shrink_to_budget(call):
    """Maintain until a budget that has been made smaller is kept."""
    model = model_of(call)
    keep_budget(model, False, strategy_of(model), YES, NOBODY, NOBODY, nobody(model))


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
def merge(model, exact, strategy, follows, observed, unwritten, x):
    """Merge the lightest vector with its `arity` - 1 best partners into the newest vector."""
    head = model.head
    outputs, m = model.coefficients.shape[0], min(head.arity, head.count)
    heap = model.heap + 8 * SEARCH_ROWS * search_width(model)
    members, shares, s = i64(heap, m), f64(heap + 8 * m, m), f64_matrix(heap + 16 * m, m, m)
    heap += 8 * m * (m + 2)
    a, a_z = f64_matrix(heap, m, outputs), f64(heap + 8 * m * outputs, outputs)
    heap += 8 * (m + 1) * outputs
    width = model.head.width + 1
    points, places = f64_matrix(heap, m, width), i64(heap + 8 * m * width, width)
    room = heap + 8 * (m + 1) * width
    search = new_search(model)
    best_partners(model, lightest(model, search[NN]), observed, unwritten, search, members)
    u, cursors, loss = NONE, i64(room, m), 0.0
    heavy = follows == YES and head.noted != 0
    if not heavy:
        u, unwritten = side_by_side(model, members, unwritten, x, cursors, places, points)
    for i in range(m):
        for r in range(outputs):
            a[i, r] = model.coefficients[r, members[i]]
    if strategy == MANY and heavy:
        kept_distances_between(model, members, s)
    else:
        member_distances(model, points, u, members, search[S], s)
    if strategy == MANY and head.method != CASCADE and m > 2:
        ascend(a, s, shares, a_z, room)
    else:
        place, loss = place_of_pair(model, search, members)
        merge_pair(a, s, place, shares, a_z)
        if strategy == MANY:
            cascade(a, s, shares, a_z)
    if strategy == MANY:
        loss = loss_by_merging(shares, s, a, a_z)
    elif head.objective == EQ21:
        loss = literal_loss(shares, s, a, a_z)
    loss = max(loss, 0.0)
    head.cost += head.scale * math.sqrt(loss)
    change = loss
    if heavy:
        change += 2.0 * merge_long(
            model, members, shares, s, a_z, unwritten, x, cursors, places, points
        )
    else:
        places = i64(address_of(places), u)
        if exact:
            change += 2.0 * gain_by_merging(
                model, search[S], places, points, members, shares, s, a_z
            )
        z, norm = combination(model, places, points, shares)
        merge_own_rows(model, members, shares, s, first_of(members))
        replace(model, members, z, norm, a_z, unwritten, x)
        if follows == YES:
            check_length(model, u, x)
    return change if exact else math.sqrt(loss)


@compiled
def loss_by_merging(shares, s, a, a_z):
    """|sum_i a_i k(x_i, .) - a_z k(z, .)|^2"""
    total = inner(a_z, a_z)
    for i in range(a.shape[0]):
        total += inner(a[i], a[i]) - 2.0 * math.exp(-distance_to(shares, s, i)) * inner(a[i], a_z)
        for j in range(i):
            total += 2.0 * math.exp(-s[i, j]) * inner(a[i], a[j])
    return total


@shared(Need.LITERAL, REAL, NUMBERS, MATRIX, MATRIX, NUMBERS)
def literal_loss(shares, s, a, a_z):
    """The same for a pair at the place of equation (21), about which its search says nothing."""
    return loss_by_merging(shares, s, a, a_z)


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

"""The archive: the latest rows, many more than the memory holds. A prediction compares a few dozen of them.

Every row has links to rows near it. A search starts at the nearest rows of the memory, follows their links to rows of
the archive, and then the links of the nearest of these. So it finds the K nearest rows of both together, or nearly all
of them, in a time that does not grow with the archive.

Y. Malkov, D. Yashunin. Efficient and robust approximate nearest neighbor search using hierarchical navigable small
world graphs. IEEE TPAMI 42, 2020 (links to the nearest, in both directions; here without a hierarchy, as the memory
says where to begin).

    here
    row       a row of room.archive, by its number; its other numbers are in room.links and room.archived
    archived  state.archived: the number of rows so far; the next one overwrites the oldest
    links     of a row: LINKED to the nearest rows when it was stored, then LINKED from later rows; an unused link is
              the row's own number
    pool      desk.pool: the K nearest so far, by distance, and behind them the rows to be compared. pool.row of a row
              that only the memory holds is its place plus the size of the archive; pool.open is 1 until the links of
              the row have been followed
    far       desk.far: the K nearest of memory and archive in the end, of equal ones those found first, with targets
              and weights
    seen      a bit for every row that was already in the pool

A row stays as it was stored.
"""

from __future__ import annotations

import numpy as np

from ...compiling.array_views import as_i64
from ...compiling.jit import compiled
from ...simd.table_sums import row_distances
from .memory import LEAST_VOTE_WEIGHT, NO_BOUND, rank, recent_places
from .tables import (
    FOLLOWED,
    LINKED,
    LINKS,
    NEIGHBOURS,
    ROUNDED_NEIGHBOURS,
    desk_of,
    memory_of,
    room_of,
)

WORD_BITS, LAST_BIT = np.uint64(6), np.uint64(63)  # 64 bits in a word of seen
NONE, ONE = np.uint64(0), np.uint64(1)


@compiled
def find_far(model, state, n, steps):
    """Write the K nearest rows of memory and archive; n are near in the memory. Each step follows the links of FOLLOWED
    rows. Returns how many there are."""
    begin_in_memory(model, state, n)
    desk, weights, number = desk_of(model), room_of(model).metric.weight, n
    rows, distances, values = desk.pool.row, desk.pool.distance, desk.scaled[1:]
    for _ in range(steps):
        end = follow_links(model, state, number)
        row_distances(
            room_of(model).archive,
            *(rows[number:], end - number),
            *(values, weights, state.features),
            distances[number:],
        )
        number = keep_nearest(model, number, end)
    look_up_targets(model, number)
    return number


@compiled
def begin_in_memory(model, state, n):
    """Begin the pool with the nearest rows of the memory."""
    desk, arrivals, rows = desk_of(model), memory_of(model).arrival, room_of(model).archive.shape[0]
    pool, near, seen, archived = desk.pool, desk.near, desk.seen, state.archived
    pool_rows, opened, distances, places = pool.row, pool.open, pool.distance, near.place
    next_row, kept = archived % rows, min(archived, rows)
    for i in range(seen.shape[0]):
        seen[i] = 0
    for k in range(n):
        age = state.rounds - np.int64(arrivals[places[k]])
        known = 0 < age <= kept
        row = next_row - age + (rows if age > next_row else 0)
        row = np.uint64(row if known else rows + np.int64(places[k]))
        distances[k], pool_rows[k], opened[k] = near.distance[k], row, np.uint64(known)
        if known:
            seen[row >> WORD_BITS] |= ONE << (row & LAST_BIT)


@compiled
def follow_links(model, state, number):
    """Append to the pool the rows linked from its nearest rows that have not been followed yet, without rows already
    seen and without recent ones, which the memory holds. Returns the end of the pool."""
    desk, links, rows = (
        desk_of(model),
        room_of(model).links,
        np.uint64(room_of(model).links.shape[0]),
    )
    opened, chosen, seen, followed = desk.pool.open, desk.pool.row, desk.seen, desk.followed
    next_row, recent = np.uint64(state.archived) % rows, np.uint64(recent_places(model))
    end, n = np.uint64(number), np.uint64(0)
    for k in range(number):
        if opened[k] != 0 and n < FOLLOWED:
            opened[k] = 0
            followed[n] = chosen[k]
            n += ONE
    for k in range(n):
        own = links[followed[k]]
        for m in range(LINKS):
            row = np.uint64(own[m])
            word, bit = seen[row >> WORD_BITS], ONE << (row & LAST_BIT)
            seen[row >> WORD_BITS] = word | bit
            chosen[end] = row
            age = next_row - row + (rows if row >= next_row else NONE)
            end += ONE if age > recent and word & bit == NONE else NONE
    return np.int64(end)


@compiled
def keep_nearest(model, number, end):
    """Keep the K nearest of the pool, by distance; new rows begin at `number`. Returns how many stay."""
    pool, ordered, ranks = desk_of(model).pool, desk_of(model).ordered, desk_of(model).ranks
    distances, rows, opened = as_i64(pool.distance), pool.row, pool.open
    bound = distances[NEIGHBOURS - 1] if number == NEIGHBOURS else NO_BOUND
    n = number
    for i in range(number, end):
        distance = distances[i]
        distances[n], rows[n], opened[n] = distance, rows[i], ONE
        n += np.int64(distance < bound)
    if n == number:
        return n
    rank(distances, n, ranks)
    in_order, ordered_rows, ordered_opened = as_i64(ordered.distance), ordered.row, ordered.open
    for i in range(n):
        k = ranks[i]
        in_order[k], ordered_rows[k], ordered_opened[k] = distances[i], rows[i], opened[i]
    n = min(n, NEIGHBOURS)
    for k in range(ROUNDED_NEIGHBOURS):
        distances[k] = in_order[k]
    for k in range(ROUNDED_NEIGHBOURS):
        rows[k] = ordered_rows[k]
    for k in range(ROUNDED_NEIGHBOURS):
        opened[k] = ordered_opened[k]
    return n


@compiled
def look_up_targets(model, number):
    """Write the far rows: the rows of the pool, with their targets and weights."""
    pool, far, memory, facts = (
        desk_of(model).pool,
        desk_of(model).far,
        memory_of(model),
        room_of(model).archived,
    )
    rows, targets, weights, distances = pool.row, far.target, far.weight, far.distance
    all_rows = np.uint64(facts.target.shape[0])
    for k in range(number, NEIGHBOURS):
        rows[k] = all_rows
    for k in range(number):
        row, distances[k] = rows[k], pool.distance[k]
        if row < all_rows:
            targets[k], weights[k] = facts.target[row], facts.weight[row]
        else:
            targets[k], weights[k] = memory.target[row - all_rows], memory.weight[row - all_rows]


@compiled
def archive_row(model, state, target, weight):
    """Store the row in the archive, with links to the nearest of its far rows and from them."""
    room, desk = room_of(model), desk_of(model)
    archive, links, scaled, pool_rows = room.archive, room.links, desk.scaled, desk.pool.row
    row = state.archived % archive.shape[0]
    for f in range(state.features):
        archive[row, f] = scaled[1 + f]
    room.archived.target[row] = target
    room.archived.weight[row] = max(weight, LEAST_VOTE_WEIGHT)
    for m in range(LINKS):
        links[row, m] = row
    for k in range(LINKED):
        other = pool_rows[k]
        if other < archive.shape[0]:
            links[row, k] = other
            links[other, LINKED + row % LINKED] = row
    state.archived += 1

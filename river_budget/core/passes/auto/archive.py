"""The archive: the latest rows, many more than the memory holds, whose rows are here too. A prediction compares a few
dozen of the others.

Every row has links to rows near it. A search starts at the nearest rows of the memory, follows their links, and then
the links of the nearest of these. So it finds the K nearest rows of all, or nearly all of them, in a time that does
not grow with the archive.

Y. Malkov, D. Yashunin. Efficient and robust approximate nearest neighbor search using hierarchical navigable small
world graphs. IEEE TPAMI 42, 2020 (links to the nearest, in both directions; here without a hierarchy, as the memory
says where to begin).

    here
    row       a row of room.archive, by its number; its other numbers are in room.links and room.archived
    held      a bit for every row that the memory holds: it is not overwritten, and its distance is known
    archived  state.archived: the number of places that were written so far or, as held, passed over; the next row
              overwrites the oldest that is not held
    links     of a row: LINKED to the nearest rows when it was stored, then LINKED from later rows; an unused link is
              the row's own number
    far       desk.far: the K nearest so far, by distance. far.place is twice the number of the row, plus CLOSED when its
              links have been followed
    seen      a bit for every row that was already compared
"""

from __future__ import annotations

import numpy as np

from ...compiling.jit import compiled
from ...simd.vector_ops import squared_distance
from .memory import LEAST_VOTE_WEIGHT, insert
from .tables import FOLLOWED, LINKED, LINKS, columns_of, desk_of, found_of, room_of

WORD_BITS, LAST_BIT = np.uint64(6), np.uint64(63)  # 64 bits in a word of seen and held
NONE, ONE = np.uint64(0), np.uint64(1)
CLOSED = ONE
# With many classes, where other work takes longer and the far vote counts for more, a search takes more steps, and the
# vote is sharper. Many short steps find nearer rows than few long ones with as many comparisons.
STEPS, MORE_STEPS, MANY_COLUMNS = 3, 10, 8


@compiled
def hold(model, row):
    """The memory holds this row from now on, or no longer."""
    room_of(model).held[row >> WORD_BITS] ^= ONE << (row & LAST_BIT)


@compiled
def find_far(model, state, n):
    """Write the K nearest rows of memory and archive; n are near in the memory. Each step follows the links of FOLLOWED
    rows. Returns how many there are."""
    desk, room = desk_of(model), room_of(model)
    near, far, seen, compared = desk.near, desk.far, desk.seen, desk.compared
    held, facts = room.held, room.archived
    for i in range(seen.shape[0]):
        seen[i] = held[i]
    for k in range(n):  # begin in the memory
        far.distance[k], far.place[k] = near.distance[k], near.row[k] << ONE
    for _ in range(MORE_STEPS if columns_of(model) >= MANY_COLUMNS else STEPS):
        number = compare_linked(model, state, n)
        for i in range(number):
            n = insert(far, n, compared.distance[i], compared.place[i] << ONE)
    for k in range(n):
        row = far.place[k] >> ONE
        far.row[k], far.target[k], far.weight[k] = row, facts.target[row], facts.weight[row]
    return n


@compiled
def compare_linked(model, state, n):
    """Write the rows linked from the nearest rows that have not been followed yet, without rows already seen, and their
    distances. Returns how many there are."""
    desk, room = desk_of(model), room_of(model)
    links, archive, weights, x = room.links, room.archive, room.metric.weight, desk.scaled
    far, seen, distances, found = desk.far, desk.seen, desk.compared.distance, desk.compared.place
    followed, end = 0, np.uint64(0)
    for k in range(n):
        if far.place[k] & CLOSED == NONE and followed < FOLLOWED:
            own = links[far.place[k] >> ONE]
            far.place[k] |= CLOSED
            followed += 1
            for m in range(LINKS):
                row = np.uint64(own[m])
                word, bit = seen[row >> WORD_BITS], ONE << (row & LAST_BIT)
                seen[row >> WORD_BITS] = word | bit
                found[end] = row
                end += ONE if word & bit == NONE else NONE
    for i in range(end):
        distances[i] = squared_distance(archive[found[i]], x, weights, state.features)
    return np.int64(end)


@compiled
def archive_row(model, state, target, weight):
    """Store the row, with links to the nearest of its far rows and from them. Returns its number."""
    room, desk = room_of(model), desk_of(model)
    links, far, rows = room.links, desk.far, room.archive.shape[0]
    row = np.uint64(state.archived % rows)
    while room.held[row >> WORD_BITS] >> (row & LAST_BIT) & ONE != NONE:
        state.archived += 1
        row = np.uint64(state.archived % rows)
    for f in range(state.features):
        room.archive[row, f] = desk.scaled[f]
    room.archived.target[row] = target
    room.archived.weight[row] = max(weight, LEAST_VOTE_WEIGHT)
    for m in range(LINKS):
        links[row, m] = row
    for k in range(min(found_of(model).far, LINKED)):
        other = far.row[k]
        links[row, k] = other
        links[other, LINKED + row % LINKED] = row
    hold(model, row)
    state.archived += 1
    return row

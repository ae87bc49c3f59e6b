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
    far       desk.far: the K nearest so far, by distance. far.place is twice the number of the row, plus CLOSED when its
              links have been followed; of a row that only the memory holds the number is its place plus the size of
              the archive
    seen      a bit for every row that was already compared
"""

from __future__ import annotations

import numpy as np

from ...compiling.jit import REORDERED, compiled
from .memory import LEAST_VOTE_WEIGHT, insert, recent_places
from .tables import FOLLOWED, LINKED, LINKS, desk_of, found_of, memory_of, room_of

WORD_BITS, LAST_BIT = np.uint64(6), np.uint64(63)  # 64 bits in a word of seen
NONE, ONE = np.uint64(0), np.uint64(1)
CLOSED = ONE


@compiled
def find_far(model, state, n, steps):
    """Write the K nearest rows of memory and archive; n are near in the memory. Each step follows the links of FOLLOWED
    rows. Returns how many there are."""
    desk, memory, facts = desk_of(model), memory_of(model), room_of(model).archived
    near, far, seen, compared = desk.near, desk.far, desk.seen, desk.compared
    rows = facts.target.shape[0]
    for i in range(seen.shape[0]):
        seen[i] = NONE
    for k in range(n):  # begin in the memory
        place = near.place[k]
        age = state.rounds - np.int64(memory.arrival[place])
        far.distance[k] = near.distance[k]
        far.place[k] = ((np.uint64(rows) + place) << ONE) + CLOSED
        if age <= min(state.archived, rows):
            row = np.uint64((state.archived - age) % rows)
            far.place[k] = row << ONE
            seen[row >> WORD_BITS] |= ONE << (row & LAST_BIT)
    for _ in range(steps):
        number = compare_linked(model, state, n)
        for i in range(number):
            n = insert(far, n, compared.distance[i], compared.place[i] << ONE)
    for k in range(n):
        row = far.place[k] >> ONE
        if row < np.uint64(rows):
            far.target[k], far.weight[k] = facts.target[row], facts.weight[row]
        else:
            place = row - np.uint64(rows)
            far.target[k], far.weight[k] = memory.target[place], memory.weight[place]
    return n


@compiled(fastmath=REORDERED)
def compare_linked(model, state, n):
    """Write the rows linked from the nearest rows that have not been followed yet, without rows already seen and without
    recent ones, which the memory holds, and their distances. Returns how many there are."""
    desk, room, recent = desk_of(model), room_of(model), recent_places(model)
    links, archive, weights, x = (room.links, room.archive, room.metric.weight, desk.scaled)
    far, found, seen, distances = (desk.far, desk.compared.place, desk.seen, desk.compared.distance)
    rows, followed, end = links.shape[0], 0, np.uint64(0)
    next_row = state.archived % rows
    for k in range(n):
        if far.place[k] & CLOSED == NONE and followed < FOLLOWED:
            own = links[far.place[k] >> ONE]
            far.place[k] |= CLOSED
            followed += 1
            for m in range(LINKS):
                row = np.uint64(own[m])
                word, bit = seen[row >> WORD_BITS], ONE << (row & LAST_BIT)
                seen[row >> WORD_BITS] = word | bit
                age = next_row - own[m] + (rows if own[m] >= next_row else 0)
                found[end] = row
                end += ONE if age > recent and word & bit == NONE else NONE
    for i in range(end):
        row, total = archive[found[i]], 0.0
        for f in range(state.features):
            apart = row[f] - x[f]
            total += weights[f] * apart * apart
        distances[i] = total
    return np.int64(end)


@compiled
def archive_row(model, state, target, weight):
    """Store the row, with links to the nearest of its far rows and from them."""
    room, desk = room_of(model), desk_of(model)
    links, far, row = room.links, desk.far, state.archived % room.archive.shape[0]
    for f in range(state.features):
        room.archive[row, f] = desk.scaled[f]
    room.archived.target[row] = target
    room.archived.weight[row] = max(weight, LEAST_VOTE_WEIGHT)
    for m in range(LINKS):
        links[row, m] = row
    for k in range(min(int(found_of(model).far), LINKED)):
        other = far.place[k] >> ONE
        if other < np.uint64(links.shape[0]):
            links[row, k] = other
            links[other, LINKED + row % LINKED] = row
    state.archived += 1

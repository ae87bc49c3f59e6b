"""The archive: the latest rows, many more than the memory holds, of which a prediction looks at about a hundred.

Every row keeps links to rows near it. The nearest rows of the memory are known; their links lead to rows of the
archive, and the links of the nearest of these further on. So the K nearest rows of both together are found, or nearly
all of them, at a cost that does not grow with the archive.

Y. Malkov, D. Yashunin. Efficient and robust approximate nearest neighbor search using hierarchical navigable small
world graphs. IEEE TPAMI 42, 2020 (links to the nearest, in both directions; here without a hierarchy, as the memory
says where to begin).

    here
    row       a row of room.archive, by its number; room.links and room.archived say more of it
    archived  state.archived: how many rows have come; the next is written over the oldest
    links     of a row: LINKED to the nearest when it came, then LINKED from rows that came later; where there is none,
              its own number stands
    far       the K nearest of memory and archive, by distance, of equals those found first. far.row is NOWHERE for a
              row that only the memory holds, and far.open is 1 until its links have been followed
    seen      a bit for every row that was among the far ones or the candidates

A row moves through the archive as it came: when a feature is bent, which changes its units, the archive begins anew.
"""

from __future__ import annotations

import numpy as np

from ...compiling.jit import compiled
from ...simd.table_sums import row_distances
from .memory import LEAST_VOTE_WEIGHT, recent_places
from .tables import (
    LINKED,
    LINKS,
    NEIGHBOURS,
    desk_of,
    memory_of,
    room_of,
)

STEPS, FOLLOWED = 3, 6  # links of so many rows are followed in each step
NOWHERE = np.int64(-1)
WORD_BITS, LAST_BIT = 6, 63  # 64 bits in a word of seen


@compiled
def find_far(model, state, n):
    """Write the K nearest rows of memory and archive; n are near in the memory. Returns how many there are."""
    begin_in_memory(model, state, n)
    desk, weights, number = desk_of(model), room_of(model).metric.weight, n
    rows, distances, row = desk.candidates.row, desk.candidates.distance, desk.scaled[1:]
    for _ in range(STEPS):
        found = follow_links(model, state, number)
        row_distances(room_of(model).archive, rows, found, row, weights, state.features, distances)
        number = take_nearest(model, number, found)
    return number


@compiled
def begin_in_memory(model, state, n):
    """The far rows are those near in the memory, at first."""
    desk, memory, rows = desk_of(model), memory_of(model), room_of(model).archive.shape[0]
    far, near, seen, archived = desk.far, desk.near, desk.seen, state.archived
    far_rows, opened, arrivals, places = far.row, far.open, memory.arrival, near.place
    next_row, kept = archived % rows, min(archived, rows)
    for i in range(seen.shape[0]):
        seen[i] = 0
    for k in range(far_rows.shape[0]):
        far_rows[k], opened[k] = NOWHERE, 0
    for k in range(n):
        place = places[k]
        far.distance[k], far.target[k] = near.distance[k], memory.target[place]
        far.weight[k] = memory.weight[place]
        age = state.rounds - np.int64(arrivals[place])
        if 0 < age <= kept:
            row = next_row - age
            row += rows if row < 0 else 0
            far_rows[k], opened[k] = row, 1
            seen[row >> WORD_BITS] |= np.int64(1) << (row & LAST_BIT)


@compiled
def follow_links(model, state, number):
    """Write the rows to which the nearest far rows lead, of those that have not been followed. Rows that were seen are
    left out, and recent ones, which the memory holds. Returns how many there are."""
    desk, all_links, rows = desk_of(model), room_of(model).links, room_of(model).archive.shape[0]
    opened, places, chosen, seen = desk.far.open, desk.far.row, desk.candidates.row, desk.seen
    next_row, recent = state.archived % rows, recent_places(model)
    found, followed = np.int64(0), 0
    for k in range(number):
        if opened[k] != 0 and followed < FOLLOWED:
            opened[k] = 0
            followed += 1
            links = all_links[places[k]]
            for m in range(LINKS):
                row = np.int64(links[m])
                age = next_row - row
                age += rows if age <= 0 else 0
                word, bit = seen[row >> WORD_BITS], np.int64(1) << (row & LAST_BIT)
                seen[row >> WORD_BITS] = word | bit
                chosen[found] = row
                found += np.int64(age > recent) & np.int64(word & bit == 0)
    return found


@compiled
def take_nearest(model, number, found):
    """Candidates that are nearer than the last of the far rows take their places. Returns how many far rows there are."""
    far, candidates, facts = desk_of(model).far, desk_of(model).candidates, room_of(model).archived
    rows, opened, distances, targets, weights = (
        far.row,
        far.open,
        far.distance,
        far.target,
        far.weight,
    )
    lengths, numbers = candidates.distance, candidates.row
    for i in range(found):
        length = lengths[i]
        if number == NEIGHBOURS and length >= distances[NEIGHBOURS - 1]:
            continue
        number = min(number + 1, NEIGHBOURS)
        k = number - 1
        while k > 0 and distances[k - 1] > length:
            distances[k], rows[k], opened[k] = distances[k - 1], rows[k - 1], opened[k - 1]
            targets[k], weights[k] = targets[k - 1], weights[k - 1]
            k -= 1
        distances[k], rows[k], opened[k] = length, numbers[i], 1
        targets[k], weights[k] = facts.target[numbers[i]], facts.weight[numbers[i]]
    return number


@compiled
def archive_row(model, state, target, weight):
    """The row enters the archive, with links to the nearest of its far rows, and from them."""
    room, desk = room_of(model), desk_of(model)
    archive, links, scaled, far_rows = room.archive, room.links, desk.scaled, desk.far.row
    row = state.archived % archive.shape[0]
    for f in range(state.features):
        archive[row, f] = scaled[1 + f]
    room.archived.target[row] = target
    room.archived.weight[row] = max(weight, LEAST_VOTE_WEIGHT)
    for m in range(LINKS):
        links[row, m] = row
    for k in range(LINKED):
        other = far_rows[k]
        if other != NOWHERE:
            links[row, k] = other
            links[other, LINKED + row % LINKED] = row
    state.archived += 1

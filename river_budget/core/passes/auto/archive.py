"""The archive: the latest rows, many more than the memory holds, whose rows are here too. A
prediction compares a few dozen of the others (examples/auto_kernel.md, Archive).

Every row has links to rows near it. A search starts at the nearest rows of the memory, follows
their links, and then the links of the nearest of these. So it finds the K nearest rows of all, or
nearly all of them, in a time that does not grow with the archive.

Y. Malkov, D. Yashunin. Efficient and robust approximate nearest neighbor search using hierarchical
navigable small world graphs. IEEE TPAMI 42, 2020 (links to the nearest, in both directions; here
without a hierarchy, as the memory says where to begin).

    row       a row of archive.rows, by its number; its other numbers are in archive.links and
              archive.facts
    held      a bit for every row that the memory holds: it is not overwritten, and its distance is
              known
    archived  state.archived: the number of places that were written so far or, as held, passed
              over; the next row overwrites the oldest that is not held
    links     of a row: LINKED to the nearest rows when it was stored, then LINKED from later rows;
              an unused link is the row's own number
    far       the K nearest so far, by distance. far[PLACE] is twice the number of the row, plus 1
              when its links have been followed
    seen      a bit for every row that was already compared
"""

from __future__ import annotations

import numpy as np

from ...compiling import inlined, inner
from .memory import LEAST_VOTE_WEIGHT, insert_neighbour, note_facts
from .tables import DISTANCE, FOLLOWED, LINKED, LINKS, PLACE, ROW, TARGET, W

WORD_BITS, LAST_BIT = 6, 63  # 64 bits in a word of seen and held
# With many classes, where other work takes longer and the far vote counts for more, a search takes
# more steps, and the vote is sharper. Many short steps find nearer rows than few long ones with as
# many comparisons.
STEPS, MORE_STEPS, MANY_COLUMNS = 3, 10, 8


@inner
def hold(held, row):
    """The memory holds this row from now on, or no longer."""
    held[row >> WORD_BITS] ^= 1 << (row & LAST_BIT)


@inlined
def find_far(archive, search, weights, x, n, d, steps):
    """Write the K nearest rows of memory and archive; n are near in the memory. Each step follows
    the links of FOLLOWED rows. Returns how many there are. d: features in use.
    """
    near, far, compared, seen = search.near, search.far, search.compared, search.seen
    for i in range(seen.shape[0]):
        seen[i] = archive.held[i]
    for k in range(n):  # begin in the memory
        far[DISTANCE, k], far[PLACE, k] = near[DISTANCE, k], 2.0 * near[ROW, k]
    for _ in range(steps):
        number = follow_links(archive.links, far[PLACE], n, seen, compared[PLACE])
        for i in range(number):
            row = archive.rows[np.int64(compared[PLACE, i])]
            compared[DISTANCE, i] = distance_from(row, x, weights, d)
        for i in range(number):
            n = insert_neighbour(far, n, compared[DISTANCE, i], 2.0 * compared[PLACE, i])
    for k in range(n):
        note_facts(far, k, np.int64(far[PLACE, k]) >> 1, archive.facts)
    return n


@inner
def follow_links(links, far, n, seen, places):
    """Write the rows linked from the nearest rows that have not been followed yet, without rows
    already seen. Returns how many there are.
    """
    followed, end = 0, 0
    for k in range(n):
        place = np.int64(far[k])
        if place & 1 == 0 and followed < FOLLOWED:
            far[k] = place + 1
            followed += 1
            own = links[place >> 1]
            for i in range(own.shape[0]):
                row = np.int64(own[i])
                word, bit = seen[row >> WORD_BITS], 1 << (row & LAST_BIT)
                seen[row >> WORD_BITS] = word | bit
                places[end] = row
                end += word & bit == 0
    return end


@inner
def distance_from(row, x, weights, d):
    """sum_f weights[f] (row[f] - x[f])^2 over d features, in four sums of every fourth square: in
    this order on every processor.
    """
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for f in range(0, d - 3, 4):
        a, b = row[f] - x[f], row[f + 1] - x[f + 1]
        c, e = row[f + 2] - x[f + 2], row[f + 3] - x[f + 3]
        p, q = p + weights[f] * a * a, q + weights[f + 1] * b * b
        r, s = r + weights[f + 2] * c * c, s + weights[f + 3] * e * e
    for f in range(d & ~3, d):
        a = row[f] - x[f]
        p += weights[f] * a * a
    return (p + q) + (r + s)


@inlined
def archive_row(archive, state, x, target, weight, far, n):
    """Store the row, with links to the nearest of its n far rows and from them. Returns its
    number.
    """
    rows, links, held = archive.rows, archive.links, archive.held
    row = state.archived % rows.shape[0]
    while held[row >> WORD_BITS] >> (row & LAST_BIT) & 1 != 0:
        state.archived += 1
        row = state.archived % rows.shape[0]
    for f in range(state.features):
        rows[row, f] = x[f]
    archive.facts[TARGET, row], archive.facts[W, row] = target, max(weight, LEAST_VOTE_WEIGHT)
    for i in range(LINKS):
        links[row, i] = row
    for k in range(min(n, LINKED)):
        other = np.int64(far[ROW, k])
        links[row, k], links[other, LINKED + row % LINKED] = other, row
    hold(held, row)
    state.archived += 1
    return row

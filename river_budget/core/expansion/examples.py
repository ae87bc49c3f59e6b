"""Examples as passes use them: x = (places, values, rest).

places, values   of the features that are not 0 and have a place, in the order of their places
rest             what features without a place add to the norm of x: the sum of their squares, or of
                 their absolute values for the Laplacian kernel. It adds to distances, too

Sums over features go in this order, whatever form the caller's examples had.
"""

from __future__ import annotations

from ..codes import Kernel
from ..compiling import inlined, inner

LAPLACIAN, CUSTOM = int(Kernel.LAPLACIAN), int(Kernel.CUSTOM)


@inlined
def example(m, rows, t):
    """x of example t. Overwrites m.near and m.values, in which it may lie."""
    starts, width = rows.starts, rows.places.shape[0]
    if starts.shape[0] > 0:
        n, rest = read_list(
            m, rows.places[starts[t] : starts[t + 1]], rows.values[starts[t] : starts[t + 1]]
        )
        return m.near[:n], m.values[:n], rest
    row, n = rows.values[width * t : width * (t + 1)], 0
    while n < width and row[n] != 0.0:
        n += 1
    if (
        n == width or m.head[0].kernel == CUSTOM
    ):  # used without a copy; a user's function sees zeros, too
        return rows.places, row, 0.0
    n = read_present(row, m.near, m.values)
    return m.near[:n], m.values[:n], 0.0


@inner
def read_present(row, places, values):
    """Write the numbers of a row that are not 0, and their indexes. Returns how many there are."""
    n = 0
    for i in range(row.shape[0]):
        places[n], values[n] = i, row[i]
        n += row[i] != 0.0  # branch-free: the branches would mispredict
    return n


@inner
def read_list(m, places, values):
    """Write a list of features to m.near and m.values, sorted by place. Returns (their number, the
    rest).
    """
    near, found, n, last, ordered = m.near, m.values, 0, -1, True
    squares, absolutes = 0.0, 0.0
    for i in range(places.shape[0]):
        place, value = places[i], values[i]
        if place >= m.vectors.shape[0]:
            raise IndexError("a place of an example lies behind the table of vectors")
        if place < 0:
            absolutes += abs(value)
            squares += (
                value * value
            )  # alone, to be fused as in `dot`: a name that gets a place changes no norm
        elif value != 0.0:
            near[n], found[n] = place, value
            ordered &= place > last
            last = place
            n += 1
    if not ordered:
        sort_by_place(near, found, n)
    return n, absolutes if m.head[0].kernel == LAPLACIAN else squares


@inner
def sort_by_place(places, values, n):
    """Sort the first n features by place, in place. Shell sort: most lists are short, and long ones
    are mostly in order.
    """
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            place, value, j = places[i], values[i], i
            while j >= gap and places[j - gap] > place:
                places[j], values[j] = places[j - gap], values[j - gap]
                j -= gap
            places[j], values[j] = place, value
        gap //= 3


@inner
def write_whole(x, whole):
    """Write x as a dense row of the features that have a place, zeros included. Overwrites
    `whole`.
    """
    places, values, _ = x
    for f in range(whole.shape[0]):
        whole[f] = 0.0
    for i in range(places.shape[0]):
        whole[places[i]] = values[i]


@inner
def read_vector(m, j):
    """Vector j as an example; for a user's kernel function, zeros included. Overwrites m.own_places
    and m.own_values.
    """
    places, values, n, custom = m.own_places, m.own_values, 0, m.head[0].kernel == CUSTOM
    for i in range(m.vectors.shape[0]):
        value = m.vectors[i, j]
        places[n], values[n] = i, value
        n += (value != 0.0) | custom
    return places[:n], values[:n], 0.0

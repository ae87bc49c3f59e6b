"""Examples as passes see them: what is present in them, in an order that depends on names only.

x stands for the features that are not 0 and that the model knows, in the order of their keys: `places_of(x)`, and
`values_of(x)`. Those that it does not know count for the length of x alone: `all_of(x)`. (With the Laplacian kernel
they stand among the others, with a place below 0.) Sums over features go in this
order, one product after the other. So it makes no difference, to the last bit, in which order features have become
known, whether an example comes as a row or as a list, and whether a model keeps names that no vector uses.
"""

from __future__ import annotations

import math

from .calls import CALL, DESK, KEYS, LONGEST, PLACES, ROWS, STARTS, row_of, scores_of
from .codes import Kernel
from .jit import compiled
from .numba_types import address_of, f64, i64

LAPLACIAN = int(Kernel.LAPLACIAN)
ALL_PLACES = 3  # row of the desk: 0, 1, 2, ...
WHOLE = 2**16
EVERYTHING = 4  # with what the model does not know


@compiled(always_inlined=True)
def places_of(x):
    return i64(x[0], x[2])


@compiled(always_inlined=True)
def values_of(x):
    return f64(x[1], x[2])


@compiled(always_inlined=True)
def all_of(x):
    return f64(x[3], x[4])


@compiled(always_inlined=True)
def present(places, values, n):
    """The first n places and values as an example."""
    at = address_of(values)
    return address_of(places), at, n, at, n


@compiled(always_inlined=True)
def example(model, stream, t):
    """(x, f, y, w): what is present in example t, the place of its scores, its target and its weight"""
    x, f = example_and_scores(model, stream, t)
    return x, f, stream[1][t], stream[2][t]


@compiled(always_inlined=True)
def example_and_scores(model, stream, t):
    """(x, f)"""
    call = stream[CALL]
    if call[STARTS] == 0:
        x = from_row(model, row_of(stream[0], t), call)
    else:
        x = from_list(model, call, t)
    return x, scores_of(stream, t)


@compiled(always_inlined=True)
def from_row(model, row, call):
    """What is not 0 in a row; for a kernel function everything."""
    desk, longest, n = call[DESK], call[LONGEST], 0
    if model.head.custom:
        return present(i64(desk + 8 * ALL_PLACES * longest, longest), row, row.shape[0])
    while n < row.shape[0] and row[n] != 0.0:
        n += 1
    if n == row.shape[0] and model.head.shuffled == 0:
        return present(i64(desk + 8 * ALL_PLACES * longest, longest), row, n)
    return from_sparse_row(model, row, desk, longest)


@compiled
def from_sparse_row(model, row, desk, longest):
    places, values, n = i64(desk, longest), f64(desk + 8 * longest, longest), 0
    for i in range(row.shape[0]):
        places[n] = i
        n += row[i] != 0.0
    for i in range(n):
        values[i] = row[places[i]]
    if model.head.shuffled:
        keys = f64(desk + 16 * longest, longest)
        for i in range(n):
            keys[i] = model.keys[places[i]]
        sort_by_key(keys, places, values, n)
    return present(places, values, n)


@compiled
def from_list(model, call, t):
    """What is not 0 in a list."""
    desk, longest = call[DESK], call[LONGEST]
    starts = i64(call[STARTS] + 8 * t, 2)
    first, length = starts[0], starts[1] - starts[0]
    given_places, given = i64(call[PLACES] + 8 * first, length), f64(call[ROWS] + 8 * first, length)
    keyed = call[KEYS] != 0
    given_keys = f64(call[KEYS] + 8 * first, length)
    places, values = i64(desk, longest), f64(desk + 8 * longest, longest)
    keys, known_keys = f64(desk + 16 * longest, longest), model.keys
    n, strangers, ordered, last = 0, 0, True, -math.inf
    for i in range(length):
        if given[i] != 0.0:
            place = given_places[i]
            strange_key = given_keys[i] if keyed else math.inf
            key = known_keys[place] if place >= 0 else strange_key
            places[n], values[n], keys[n] = place, given[i], key
            strangers += place < 0
            ordered &= key >= last
            last = key
            n += 1
    if not ordered:
        sort_by_key(keys, places, values, n)
    if strangers == 0:
        return present(places, values, n)
    if model.head.kernel == LAPLACIAN:  # which adds them to every distance, in their turn
        if not keyed:
            values[0] = math.nan
        return present(places, values, n)
    everything, known = f64(desk + 8 * EVERYTHING * longest, longest), 0
    for i in range(n):
        everything[i] = values[i]
        places[known], values[known] = places[i], values[i]
        known += places[i] >= 0
    if not (keyed or added_exactly(everything, n)):
        everything[0] = math.nan  # the caller tries again, with keys
    return address_of(places), address_of(values), known, address_of(everything), n


@compiled
def added_exactly(values, n):
    """Whether the sum of the squares is the same in any order: those of small whole numbers are."""
    whole = n < WHOLE
    for i in range(n):
        whole &= abs(values[i]) < WHOLE and values[i] == math.floor(values[i])
    return whole


@compiled
def sort_by_key(keys, places, values, n):
    """Shell's method: short lists are what mostly comes, and long ones are mostly in order."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key, place, value, j = keys[i], places[i], values[i], i
            while j >= gap and keys[j - gap] > key:
                keys[j], places[j], values[j] = keys[j - gap], places[j - gap], values[j - gap]
                j -= gap
            keys[j], places[j], values[j] = key, place, value
        gap //= 3

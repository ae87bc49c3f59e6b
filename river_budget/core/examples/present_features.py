"""Examples as passes use them: the features that are not 0 and have a place, in the order of their places, and the rest.

x is (address of places, address of values, their number, rest). The rest is what features without a place add to the norm
of x: the sum of their squares, or of their absolute values for the Laplacian kernel. It adds to distances, too.
"""

from __future__ import annotations

import numpy as np

from ..block.codes import Kernel
from ..compiling.array_views import address_of, f64, i64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import CALL, WHOLE
from ..compiling.needs import Need
from .call import (
    AT_ONCE,
    DESK,
    DESK_END,
    DONE,
    EVERY_PLACE,
    GATHERED,
    LISTED,
    LONGEST,
    PARTS,
    PLACES,
    ROWS,
    STARTS,
    row_of,
    scores_of,
    unpack_rows,
)

# 0 and -1 as typed integers: a literal has its own numba type, for which numba would compile
# callees once more
ZERO, NO_VECTOR = np.int64(0), np.int64(-1)
LAPLACIAN = int(Kernel.LAPLACIAN)


@compiled(always_inlined=True)
def places_of(x):
    """The places of the features of x: their indexes in the model's tables."""
    return i64(x[0], x[2])


@compiled(always_inlined=True)
def values_of(x):
    """The values of these features."""
    return f64(x[1], x[2])


@compiled(always_inlined=True)
def rest_of(x):
    """What features without a place add to the norm of x."""
    return x[3]


@compiled(always_inlined=True)
def present(places, values, n):
    """An example made of the first n places and values, without a copy."""
    return address_of(places), address_of(values), n, 0.0


@compiled(always_inlined=True)
def write_whole(x, whole):
    """Write x as a dense row of the features that have a place, zeros included. Overwrites `whole`."""
    places, values = places_of(x), values_of(x)
    for f in range(whole.shape[0]):
        whole[f] = 0.0
    for i in range(places.shape[0]):
        whole[places[i]] = values[i]


@compiled(always_inlined=True)
def unpack(call):
    """(model, stream, n) for a pass. Gathers the present features of the first n examples.

    If n is less than the number of examples of the call, the caller calls the pass again for the rest.
    """
    model, stream, _ = unpack_rows(call)
    return model, stream, gather(call)


@compiled(always_inlined=True)
def example(model, stream, t):
    """(x, f, y, w): the present features of example t, the row for its scores, its target and its weight."""
    x, f = example_and_scores(model, stream, t)
    return x, f, stream[1][t], stream[2][t]


@compiled(always_inlined=True)
def example_and_scores(model, stream, t):
    """(x, f): the present features of example t, which `gather` has noted, and the row for its scores."""
    at = stream[GATHERED] + 8 * PARTS * t
    parts = i64(at, PARTS)
    return (parts[0], parts[1], parts[2], f64(at + 24, 1)[0]), scores_of(stream, t)


@compiled(always_inlined=True)
def note(stream, t, x):
    """Store x as the present features of example t. Overwrites its entry in the gathered list."""
    at = stream[GATHERED] + 8 * PARTS * t
    parts = i64(at, PARTS)
    parts[0], parts[1], parts[2] = x[0], x[1], x[2]
    f64(at + 24, 1)[0] = x[3]


@shared(Need.EXAMPLES, WHOLE, CALL)
def gather(call):
    """Gather the present features of the examples of a call; returns for how many the memory was enough.

    A pass calls it before it learns the first example. To gather inside the loop makes learning with 100
    vectors a tenth slower, as LLVM then reloads all pointers into the model for every example.
    """
    model, stream, n = unpack_rows(call)
    room, needed, most = call[DESK], 8 * LISTED * call[LONGEST], min(n, call[AT_ONCE])
    for t in range(most):
        if room + needed > call[DESK_END]:
            most = t
            break
        if call[STARTS] != 0:
            x = from_list(model, call, t, room)
            room += 16 * length_of_list(call, t)
        else:
            row = row_of(stream[0], t)
            if model.head.custom != 0 or is_whole(row):
                x = present(i64(call[EVERY_PLACE], row.shape[0]), row, row.shape[0])
            else:
                x = from_row(row, call, room)
                room += 16 * x[2]
        note(stream, t, x)
    call[DONE] = most
    return most


@compiled(always_inlined=True)
def is_whole(row):
    """Whether a row contains no zero, so that it can be used without a copy."""
    f = 0
    while f < row.shape[0] and row[f] != 0.0:
        f += 1
    return f == row.shape[0]


@compiled
def from_row(row, call, room):
    """The features of a row that are not 0, written to memory at `room`."""
    places = i64(room, call[LONGEST])
    n = write_places(row, places)
    values = f64(room + 8 * n, n)
    for i in range(n):
        values[i] = row[np.uint64(places[i])]  # a signed index below 0 would count from the end
    return present(places, values, n)


@compiled(always_inlined=True)
def write_places(numbers, places):
    """Write the indexes of all numbers that are not 0; returns how many there are. Overwrites `places`."""
    n = ZERO
    for i in range(numbers.shape[0]):
        found = not abs(numbers[i]) <= 0.0  # one comparison, which finds NaN too
        places[n] = i
        n += found
    return n


@compiled(always_inlined=True)
def length_of_list(call, t):
    """The number of entries in the list of example t."""
    ends = i64(call[STARTS] + 8 * t, 2)
    return ends[1] - ends[0]


@compiled
def from_list(model, call, t, room):
    """The features of list t that are not 0, sorted by place, written to memory at `room`; the others as the rest."""
    first, length = i64(call[STARTS] + 8 * t, 1)[0], length_of_list(call, t)
    given_places, given = i64(call[PLACES] + 8 * first, length), f64(call[ROWS] + 8 * first, length)
    places, values = i64(room, length), f64(room + 8 * length, length)
    n, ordered, last, rest = ZERO, True, NO_VECTOR, 0.0
    absolute = model.head.kernel == LAPLACIAN
    for i in range(length):
        place, value = given_places[i], given[i]
        if place < 0:
            rest += abs(value) if absolute else value * value
        elif value != 0.0:
            places[n], values[n] = place, value
            ordered &= place > last
            last = place
            n += 1
    if not ordered:
        sort_by_place(places, values, n)
    return address_of(places), address_of(values), n, rest


@compiled
def sort_by_place(places, values, n):
    """Sort the first n features by place, in place. Shell sort: most lists are short, and long ones are mostly in order."""
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

"""Examples as passes use them: the features that are not 0, in an order that depends on their names only.

x consists of the places and values of the features that are not 0 and that the model knows, sorted by key:
`places_of(x)` and `values_of(x)`. Unknown features contribute to the norm and to distances: `all_of(x)` holds all
values. If there are unknown ones, it holds sizes, and those of unknown features are negative. (With the Laplacian
kernel they stand among the others instead, with a place below 0.) Sums over features have this order. So a result
is the same to the last bit in whatever order features became known, whether an example comes as a row or as a list,
and whether or not a model keeps names that no vector uses.
"""

from __future__ import annotations

import math

import numpy as np

from ..block.codes import Kernel
from ..compiling.array_views import address_of, as_u64, f64, i64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import CALL, EXAMPLE, MODEL, WHOLE, WHOLES
from ..compiling.needs import Need
from ..simd.vector_ops import LANES, append_nonzero
from .call import (
    AT_ONCE,
    DESK,
    DESK_END,
    DONE,
    EVERY_PLACE,
    GATHERED,
    KEYS,
    LISTED,
    LONGEST,
    PARTS,
    PLACES,
    ROWS,
    SIZE,
    SORTED,
    STARTS,
    TIES,
    WIDTH,
    row_of,
    scores_of,
    unpack_rows,
    words_of,
)

LAPLACIAN = int(Kernel.LAPLACIAN)
EXACT_SQUARES = 2**16  # the sum of so many squares of integers below it has no rounding error
# 0 and -1 as typed integers: a literal has its own numba type, for which numba would compile
# callees once more
ZERO, NO_VECTOR = np.int64(0), np.int64(-1)
NO_PLACE = NO_VECTOR  # the place of a feature that the model does not know
NO_TIES = ZERO  # instead of an address of ties
ROWS_AT_A_TIME = 32  # rows that are checked for zeros in one loop


@compiled(always_inlined=True)
def places_of(x):
    """The places of the features of x: their indexes in the model's tables."""
    return i64(x[0], x[2])


@compiled(always_inlined=True)
def values_of(x):
    """The values of these features."""
    return f64(x[1], x[2])


@compiled(always_inlined=True)
def all_of(x):
    """The values of all features of x; if some are unknown, the sizes of all, negative for unknown features."""
    return f64(x[3], x[4])


@compiled(always_inlined=True)
def all_have_places(x):
    """Whether `places_of(x)` has an entry for each feature: none is unknown, or the kernel is Laplacian."""
    return x[2] == x[4]


@compiled(always_inlined=True)
def is_unknown(x, i):
    """Whether the model does not know feature i of `all_of(x)`."""
    if all_have_places(x):
        return places_of(x)[i] < 0
    return all_of(x)[i] < 0.0


@compiled(always_inlined=True)
def stands_in_places(x, unknown):
    """Whether a feature of `all_of(x)` is also one of `places_of(x)`."""
    return all_have_places(x) or not unknown


@compiled(always_inlined=True)
def present(places, values, n):
    """An example made of the first n places and values, without a copy."""
    at = address_of(values)
    return address_of(places), at, n, at, n


@compiled(always_inlined=True)
def write_whole(x, whole):
    """Write x as a dense row of the features that the model knows, zeros included. Overwrites `whole`."""
    places, values = places_of(x), values_of(x)
    for f in range(whole.shape[0]):
        whole[f] = 0.0
    for i in range(places.shape[0]):
        if places[i] >= 0:
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
    """(x, f): the present features of example t and the row for its scores."""
    return gathered_example(stream[GATHERED], t), scores_of(stream, t)


@compiled(always_inlined=True)
def gathered_example(gathered, t):
    """The present features of example t, which `gather` has stored."""
    x = i64(gathered + 8 * PARTS * t, PARTS)
    return x[0], x[1], x[2], x[3], x[4]


@shared(Need.EXAMPLES, WHOLE, CALL)
def gather(call):
    """Gather the present features of the examples of a call; returns for how many the memory was enough.

    A pass calls it before it learns the first example. To gather inside the loop makes learning with 100
    vectors a tenth slower, as LLVM then reloads all pointers into the model for every example.
    """
    model, stream, _ = unpack_rows(call)
    words, n, room = words_of(call), min(call[SIZE], call[AT_ONCE]), call[DESK]
    for first in range(0, n, ROWS_AT_A_TIME):
        last = min(first + ROWS_AT_A_TIME, n)
        if call[STARTS] == 0 and all_whole(model, stream, words, first, last):
            for t in range(first, last):
                note(stream, t, whole_example(words, row_of(stream[0], t)))
        else:
            last, room = gather_some(model, stream, words, first, last, room)
            if last < first + ROWS_AT_A_TIME:
                n = min(last, n)
                break
    call[DONE] = n
    return n


@compiled(always_inlined=True)
def all_whole(model, stream, call, first, last):
    """Whether all these rows can be used without a copy: no zeros, and places in the order of the keys; or any rows, for
    a user's kernel function."""
    head, row, n = model.head, row_of(stream[0], first), 0
    if head.custom != 0:
        return True
    while n < row.shape[0] and row[n] != 0.0:
        n += 1
    if n < row.shape[0] or head.shuffled != 0:
        return False
    width, zeros = call[WIDTH], 0
    numbers = f64(call[ROWS] + 8 * width * first, width * (last - first))
    for i in range(numbers.shape[0]):
        zeros += numbers[i] == 0.0
    return zeros == 0


@compiled(always_inlined=True)
def whole_example(call, row):
    """A whole row as an example, without a copy."""
    return present(i64(call[EVERY_PLACE], row.shape[0]), row, row.shape[0])


@compiled(always_inlined=True)
def note(stream, t, x):
    """Store x as the present features of example t. Overwrites its entry in the gathered list."""
    parts = i64(stream[GATHERED] + 8 * PARTS * t, PARTS)
    parts[0], parts[1], parts[2], parts[3], parts[4] = x


@compiled
def gather_some(model, stream, call, first, last, room):
    """Gather the examples from `first` to `last`, for rows with zeros or lists.

    Returns the index behind the last example gathered, and the address of the memory that is left.
    """
    needed = 8 * LISTED * call[LONGEST]
    for t in range(first, last):
        if room + needed > call[DESK_END]:
            return t, room
        if call[STARTS] != 0:
            note(stream, t, from_list(model, call, t, room))
            room += 8 * LISTED * length_of_list(call, t)
            continue
        x = from_row(model, row_of(stream[0], t), call, room)
        note(stream, t, x)
        if x[0] == room:
            room += 16 * x[2]
    return last, room


@compiled
def from_row(model, row, call, room):
    """The features of a row that are not 0, written to memory at `room`."""
    longest = call[LONGEST]
    places = i64(room, longest)
    n, found = write_places(row, places), as_u64(places)
    if n == row.shape[0] and model.head.shuffled == 0:
        return whole_example(call, row)
    values = f64(room + 8 * n, n)
    for i in range(n):
        values[i] = row[found[i]]
    if model.head.shuffled:
        keys = f64(call[SORTED], longest)
        for i in range(n):
            keys[i] = model.keys[places[i]]
        sort_by_key(keys, places, values, n, model.ties, NO_TIES)
    return present(places, values, n)


@compiled(always_inlined=True)
def write_places(numbers, places):
    """Write the indexes of all numbers that are not 0; returns how many there are.

    Overwrites `places`, which may be the memory of the numbers themselves.
    """
    n, whole = ZERO, numbers.shape[0] // LANES * LANES
    for i in range(0, whole, LANES):
        n = append_nonzero(numbers, i, places, n)
    for i in range(whole, numbers.shape[0]):
        found = numbers[i] != 0.0
        places[n] = i
        n += found
    return n


@compiled(always_inlined=True)
def length_of_list(call, t):
    """The number of entries in the list of example t."""
    ends = i64(call[STARTS] + 8 * t, 2)
    return ends[1] - ends[0]


@shared(Need.LISTED_EXAMPLES, EXAMPLE, MODEL, WHOLES, WHOLE, WHOLE)
def from_list(model, call, t, room):
    """The features of list t that are not 0, sorted by key, written to memory at `room`."""
    first, length = i64(call[STARTS] + 8 * t, 1)[0], length_of_list(call, t)
    given_places, given = i64(call[PLACES] + 8 * first, length), f64(call[ROWS] + 8 * first, length)
    keyed = call[KEYS] != 0
    given_keys = f64(call[KEYS] + 8 * first, length)
    places, values = i64(room, length), f64(room + 8 * length, length)
    keys, known_keys = f64(call[SORTED], length), model.keys
    n, strangers, ordered, last = ZERO, 0, True, -math.inf
    for i in range(length):
        if given[i] != 0.0:
            place = given_places[i]
            strange_key = given_keys[i] if keyed else math.inf
            key = known_keys[place] if place >= 0 else strange_key
            # the place of an unknown feature is ~i, below 0, where i is the index of its tie
            places[n], values[n], keys[n] = place if place >= 0 else ~i, given[i], key
            strangers += place < 0
            ordered &= key > last
            last = key
            n += 1
    if not ordered:
        sort_by_key(keys, places, values, n, model.ties, call[TIES])
        if keyed and strangers > 0 and call[TIES] == 0 and has_tie(keys, places, n):
            values[0] = math.nan  # so the pass refuses x; the caller tries again with ties
    if strangers == 0:
        return present(places, values, n)
    if model.head.kernel == LAPLACIAN:  # unknown features contribute to distances, in their order
        if not keyed:
            values[0] = math.nan
        return present(places, values, n)
    everything, known = f64(room + 16 * length, length), 0
    for i in range(n):
        everything[i] = abs(values[i]) if places[i] >= 0 else -abs(values[i])
        places[known], values[known] = places[i], values[i]
        known += places[i] >= 0
    if not (keyed or added_exactly(everything, n)):
        everything[0] = math.nan  # so the pass refuses x; the caller tries again with keys
    return address_of(places), address_of(values), known, address_of(everything), n


@compiled
def added_exactly(values, n):
    """Whether all values are small integers: the sum of their squares is then the same in any order."""
    whole = n < EXACT_SQUARES
    for i in range(n):
        whole &= abs(values[i]) < EXACT_SQUARES and values[i] == math.floor(values[i])
    return whole


@compiled
def has_tie(keys, places, n):
    """Whether an unknown feature has the same key as another one.

    The keys are sorted, so features with equal keys are neighbours.
    """
    tied = False
    for i in range(1, n):
        tied |= keys[i] == keys[i - 1] and min(places[i], places[i - 1]) < 0
    return tied


@compiled(always_inlined=True)
def tie_of(place, known_ties, given_ties):
    """The second sort key of a feature: the model's own, or the caller's for an unknown feature."""
    if place >= 0:
        return np.int64(known_ties[place])
    return i64(given_ties + 8 * ~place, 1)[0] if given_ties != NO_TIES else ZERO


@compiled
def comes_later(place, other, known_ties, given_ties):
    """Whether a feature comes behind another one with the same sort key: by tie, the second key, then by place.

    The same order as in `precedes` of core/vectors/sparse_nodes.py.
    """
    own, others = tie_of(place, known_ties, given_ties), tie_of(other, known_ties, given_ties)
    return own > others or (own == others and place > other)


@compiled
def sort_by_key(keys, places, values, n, known_ties, given_ties):
    """Sort the first n features by key, then by tie. Modifies `keys`, `places` and `values` in place.

    Shell sort: most lists are short, and long ones are mostly in order.
    given_ties: the address of the ties of unknown features, or 0.
    """
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key, place, value, j = keys[i], places[i], values[i], i
            while j >= gap and (
                keys[j - gap] > key
                or (
                    keys[j - gap] == key
                    and comes_later(places[j - gap], place, known_ties, given_ties)
                )
            ):
                keys[j], places[j], values[j] = keys[j - gap], places[j - gap], values[j - gap]
                j -= gap
            keys[j], places[j], values[j] = key, place, value
        gap //= 3

"""The names of a model of words: their slots, and which names give way to new ones.

    name i of the example    hashes[i], values[i] = x_i, places[i]: its slot, or -1; in the order of their hashes
    room.word_index          a row per bucket: the hashes of its names, 0 for none, and when each came last, plus 1
    state.held               how many names have a slot

A name belongs into one bucket, as its hash says. Where that is full, the name that was not seen for longest gives way.
So memory is bounded, and names that come back are as good as in a dict without end.
"""

from __future__ import annotations

import math

import numpy as np

from ....block.limits import within
from ....compiling.array_views import f64, i64
from ....compiling.jit import compiled
from ....examples.call import DESK, KEYS, LONGEST, ROWS, STARTS
from ....examples.present_features import length_of_list
from ....simd.exponential import exp_of
from ..tables import BUCKET, WORD_SUMS, columns_of, room_of

LOG_FADING = math.log(0.9998)  # of counts, for every round
LARGEST_WORD = 1e100  # of a value
REFUSED, NO_SLOT = np.int64(-1), np.int64(-1)
HALF = np.uint64(32)
LARGEST_TABLE = 2**22  # numbers
FIRST_SLOTS, MOST_SLOTS = 2**12, 2**18


@compiled
def is_full(model, state):
    """Whether half of the slots are taken, and there may be more."""
    width = room_of(model).words.shape[1]
    grows = 2 * state.slots * width <= LARGEST_TABLE and state.slots < MOST_SLOTS
    return grows and 2 * state.held >= state.slots


@compiled(always_inlined=True)
def words_in(call, n):
    """(hashes, values, places) of the first n names that `read_words` has written."""
    at, step = call[DESK], 8 * call[LONGEST]
    return i64(at, n), f64(at + step, n), i64(at + 2 * step, n)


@compiled
def read_words(model, call, t):
    """Write the names of example t to the desk of the call, sorted by hash, equal ones in one. Returns their number;
    REFUSED if a value is not finite, or names come without keys."""
    length = length_of_list(call, t) if call[STARTS] != 0 else np.int64(0)
    if length == 0:
        return length
    first = i64(call[STARTS] + 8 * t, 1)[0]
    given, keys = f64(call[ROWS] + 8 * first, length), i64(call[KEYS] + 8 * first, length)
    if call[KEYS] == 0:
        return REFUSED
    hashes, values, places = words_in(call, length)
    n = np.int64(0)
    for i in range(length):
        value = within(given[i], LARGEST_WORD)
        if not abs(given[i]) < np.inf:
            return REFUSED
        if value != 0.0:
            hashes[n], values[n] = keys[i], value
            n += 1
    sort_by_hash(hashes, values, n)
    n = sum_equal_hashes(hashes, values, n)
    index = room_of(model).word_index
    for i in range(n):
        places[i] = slot_of(index, hashes[i])
    return n


@compiled
def sort_by_hash(hashes, values, n):
    """Shell sort; equal hashes by value."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key, value, j = hashes[i], values[i], i
            while j >= gap and (
                hashes[j - gap] > key or (hashes[j - gap] == key and values[j - gap] > value)
            ):
                hashes[j], values[j] = hashes[j - gap], values[j - gap]
                j -= gap
            hashes[j], values[j] = key, value
        gap //= 3


@compiled
def sum_equal_hashes(hashes, values, n):
    """Sum the values of equal hashes, which stand side by side. Returns the number of different hashes."""
    last = np.int64(-1)
    for i in range(n):
        if last >= 0 and hashes[last] == hashes[i]:
            values[last] += values[i]
        else:
            last += 1
            hashes[last], values[last] = hashes[i], values[i]
    return last + 1


@compiled
def bucket_of(index, key):
    """The row of the index where a name belongs: as its first bits say."""
    bits = np.uint64(key) >> HALF
    return np.int64((bits * np.uint64(index.shape[0])) >> HALF)


@compiled
def slot_of(index, key):
    """The slot of a name, or NO_SLOT."""
    bucket = bucket_of(index, key)
    names, found = index[bucket], NO_SLOT
    for k in range(BUCKET):
        found = k if names[k] == key else found
    return BUCKET * bucket + found if found != NO_SLOT else NO_SLOT


@compiled
def take_slots(model, state, words):
    """Counts of names that are known fade, and names that are not get slots: empty ones, or those of names that have
    not come for longest. (If all of a bucket are of this row, the name has none.)"""
    hashes, _, places = words
    index, table, now = room_of(model).word_index, room_of(model).words, state.rounds + 1
    counts = 2 * columns_of(model) + WORD_SUMS
    for i in range(hashes.shape[0]):
        if places[i] != NO_SLOT:
            row, fading = table[places[i]], fading_of(index, places[i], state.rounds)
            for c in range(counts, row.shape[0]):
                row[c] *= fading
            index[places[i] // BUCKET, BUCKET + places[i] % BUCKET] = now
    for i in range(hashes.shape[0]):
        if places[i] == NO_SLOT:
            bucket, oldest = bucket_of(index, hashes[i]), 0
            names = index[bucket]
            for k in range(1, BUCKET):
                oldest = k if names[BUCKET + k] < names[BUCKET + oldest] else oldest
            if names[BUCKET + oldest] < now:
                state.held += names[oldest] == 0
                names[oldest], names[BUCKET + oldest] = hashes[i], now
                places[i] = BUCKET * bucket + oldest
                table[places[i]][:] = 0.0


@compiled
def fading_of(index, place, rounds):
    """By how much the counts of a name have faded since it came last."""
    return exp_of(LOG_FADING * (rounds - index[place // BUCKET, BUCKET + place % BUCKET]))

"""Examples as Python has them: dicts, which compiled code reads by itself.

It has Python's lock, so that nothing changes while an example is read. Numbers and names whose conversion would run code
of Python are out of the ordinary: a number becomes NaN, which no pass takes, and a name ends the reading.
"""

from __future__ import annotations

import math

import numpy as np

from .ahead import are_many, ask_for_names
from .calls import KEYS, LONGEST, N_WORDS, PLACES, ROWS, STARTS
from .codes import Need
from .cpython import (
    clear_error,
    dict_get,
    dict_next,
    dict_size,
    error_set,
    float_value,
    int_value,
    release,
    repr_new,
    tuple_get,
    tuple_size,
    type_of,
    utf8_of,
)
from .entries import KEY, LENGTH, N_DICTS, N_NUMBERS, POSITION, VALUE, entry_at
from .examples import NOBODY, NONE
from .jit import compiled
from .numba_types import FLAG, WHOLE, carver, f64, i64
from .shared import shared

EXACT = 2.0**53  # up to which whole numbers are floats as they are
STRANGE = np.int64(-2)  # the place of a name that is out of the ordinary

octets, u32 = carver(np.uint8), carver(np.uint32)


@compiled
def read(entry, at, x):
    """Write an example down for the call that suits it. Returns where that is, or 0 if it is out of the ordinary."""
    entry.new = 0
    if not is_among(type_of(x), entry.dicts, N_DICTS):
        return NONE
    n = dict_size(x)
    if entry.row != 0 and n == entry.known and read_row(entry, at, x):
        return entry.row
    if entry.list != 0 and n < i64(entry.list, N_WORDS)[LONGEST] and read_list(at, x, n):
        return entry.list
    return NONE


@compiled(always_inlined=True)
def read_row(entry, at, x):
    """An example of all known names, mostly in the order of the last one."""
    n, i, call = entry.known, 0, i64(entry.row, N_WORDS)
    expected, places = i64(entry.expected, n), i64(entry.expected_places, n)
    names, values = i64(entry.names, n), f64(call[ROWS], n)
    entry.position = 0
    while i < n and dict_next(x, at + POSITION, at + KEY, at + VALUE) != 0:
        if entry.key != expected[i]:
            place = place_of(entry, entry.key)
            if place < 0:
                return False
            expected[i], places[i] = names[place], place  # which live as long as this
        values[places[i]] = number_of(entry, entry.value)
        i += 1
    return i == n


@shared(Need.NAMES, FLAG, WHOLE, WHOLE, WHOLE)
def read_list(at, x, n):
    """What there is in an example. Names that are not known are noted."""
    entry = entry_at(at)
    call, i = i64(entry.list, N_WORDS), 0
    starts, places = i64(call[STARTS], 2), i64(call[PLACES], n)
    values, keys, strangers = f64(call[ROWS], n), f64(call[KEYS], n), i64(entry.strangers, n)
    if entry.foreseen != 0 and are_many(entry.places):
        look_ahead(entry, at, x, strangers, places)
    entry.new = entry.position = 0
    while i < n and dict_next(x, at + POSITION, at + KEY, at + VALUE) != 0:
        place = place_of(entry, entry.key)
        if place < 0:
            odd = place == STRANGE or entry.new_names == 0
            keys[i] = math.nan if odd else key_of(entry, at, entry.key)
            if math.isnan(keys[i]):
                return False
            strangers[entry.new] = entry.key
            entry.new += 1
        values[i], places[i] = number_of(entry, entry.value), place
        i += 1
    starts[0], starts[1] = 0, i
    return i == n


@compiled
def look_ahead(entry, at, x, names, notes):
    """Ask for the memory in which the names of an example will be looked for."""
    i = entry.position = 0
    while i < names.shape[0] and dict_next(x, at + POSITION, at + KEY, at + VALUE) != 0:
        names[i] = entry.key
        i += 1
    ask_for_names(entry.places, names[:i], notes, entry.text)


@compiled(always_inlined=True)
def is_among(kind, addresses, n):
    kinds, i = i64(addresses, n), 0
    while i < n and kinds[i] != kind:
        i += 1
    return i < n


@compiled(always_inlined=True)
def number_of(entry, value):
    """A value as a float; NaN, which no pass takes, if it is out of the ordinary."""
    if not is_among(type_of(value), entry.numbers, N_NUMBERS):
        return math.nan
    number = float_value(value)
    if number == -1.0 and error_set() != 0:  # a whole number that is too large
        clear_error()
        return math.nan
    return number


@compiled(always_inlined=True)
def place_of(entry, name):
    """Where a name stands; NOBODY if it is not known."""
    kind = type_of(name)
    if kind != entry.text and kind != entry.whole and not is_tuple_of_texts(entry, name):
        return STRANGE
    found = dict_get(entry.places, name)
    if found != 0:
        return int_value(found)
    if error_set() != 0:
        clear_error()
        return STRANGE
    return NOBODY


@compiled(always_inlined=True)
def is_tuple_of_texts(entry, name):
    """Whether it is, so that no code of Python runs when it is compared, or printed."""
    if type_of(name) != entry.several:
        return False
    i, n = 0, tuple_size(name)
    while i < n and type_of(tuple_get(name, i)) == entry.text:
        i += 1
    return i == n


@compiled
def key_of(entry, at, name):
    """As model/lists.py has it; NaN if the name is out of the ordinary."""
    kind = type_of(name)
    if kind == entry.text:
        return key_of_text(entry, at, name)
    if kind == entry.whole:
        number = float_value(name)
        if number == -1.0 and error_set() != 0:
            clear_error()
        return number if abs(number) < EXACT and number != -1.0 else math.nan
    text = repr_new(name)
    if text == 0:  # no memory
        clear_error()
        return math.nan
    key = key_of_text(entry, at, text)
    release(text)
    return key


@compiled
def key_of_text(entry, at, name):
    text = utf8_of(name, at + LENGTH)
    if text == 0:  # half a character
        clear_error()
        return math.nan
    return crc32(octets(text, entry.size), u32(entry.remainders, 256))


@compiled(always_inlined=True)
def crc32(text, remainders):
    """As zlib's."""
    rest = np.uint32(0xFFFFFFFF)
    for i in range(text.shape[0]):
        rest = remainders[np.uint8(rest) ^ text[i]] ^ (rest >> np.uint32(8))
    return float(rest ^ np.uint32(0xFFFFFFFF))

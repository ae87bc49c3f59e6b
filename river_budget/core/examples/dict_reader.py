"""Examples as Python has them: dicts, which compiled code reads by itself.

It has Python's lock. Whatever would run code of Python is left to Python: only names that are exactly texts, whole numbers
or tuples of these are read, and only models are served that know no others (model/inputs/features.py), so that no `__eq__` or
`__hash__` of a user's is called. A value of another type than those listed is read as NaN, which no pass takes.

References are borrowed from the example and from the dict of places while nothing can run in between. Only the
`repr` of a tuple may (a garbage collection may call finalizers): new names are held from the moment they are read.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiling.array_views import carver, f64, i64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import FLAG, WHOLE
from ..compiling.needs import Need
from .call import KEYS, LONGEST, N_WORDS, PLACES, ROWS, STARTS
from .dict_reader_state import KEY, LENGTH, N_DICTS, N_NUMBERS, POSITION, VALUE, entry_at
from .present_features import NOBODY, NONE
from .python_objects import (
    clear_error,
    dict_get,
    dict_next,
    dict_size,
    error_set,
    float_value,
    hash_of,
    hold,
    int_value,
    release,
    repr_new,
    tuple_get,
    tuple_size,
    type_of,
    utf8_of,
)

EXACT = 2.0**53  # up to which whole numbers are floats as they are
STRANGE = np.int64(-2)  # the place of a name that is out of the ordinary
ALL_BITS = 2**32 - 1

# How the tie of a name is made (model/inputs/sparse_examples.py)
TEXT_MODULUS, NUMBER_MODULUS = np.uint64(1973272913), 2**31 - 1
OF_TEXT, OF_TUPLE = np.uint64(1), np.uint64(2)

octets, u32 = carver(np.uint8), carver(np.uint32)


@compiled
def read(entry, at, x):
    """Write an example down for the call that suits it. Returns where that is, or 0 if it is out of the ordinary.

    What is new in it is held; `forget_strangers` lets go of it.
    """
    entry.new, version = 0, entry.version
    if not is_among(type_of(x), entry.dicts, N_DICTS):
        return NONE
    n = dict_size(x)
    if entry.row != 0 and n == entry.known and read_row(entry, at, x):
        return entry.row
    if entry.list != 0 and n < i64(entry.list, N_WORDS)[LONGEST] and read_list(at, x, n):
        # a finalizer may have changed the model
        return entry.list if i64(entry.given_back, 1)[0] == version else NONE
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
    """What there is in an example. Names that are not known are noted, and held."""
    entry = entry_at(at)
    call, i = i64(entry.list, N_WORDS), 0
    starts, places = i64(call[STARTS], 2), i64(call[PLACES], n)
    values, keys, strangers = f64(call[ROWS], n), f64(call[KEYS], n), i64(entry.strangers, n)
    entry.position = 0
    while i < n and dict_next(x, at + POSITION, at + KEY, at + VALUE) != 0:
        values[i] = number_of(entry, entry.value)
        places[i] = place = place_of(entry, entry.key)
        if place == STRANGE or (place < 0 and entry.new_names == 0):
            return False
        if place < 0:
            hold(entry.key)
            strangers[entry.new] = entry.key
            entry.new += 1
            keys[i] = key_of(entry, at, strangers[entry.new - 1])
            if math.isnan(keys[i]):
                return False
        i += 1
    starts[0], starts[1] = 0, i
    return i == n


@compiled
def forget_strangers(entry):
    """Let go of the new names of an example."""
    strangers = i64(entry.strangers, entry.new)
    entry.new = 0
    for i in range(strangers.shape[0]):
        release(strangers[i])


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
    if kind != entry.text and kind != entry.whole and not is_plain_tuple(entry, name):
        return STRANGE
    found = dict_get(entry.places, name)
    if found != 0:
        return int_value(found)
    if error_set() != 0:
        clear_error()
        return STRANGE
    return NOBODY


@compiled(always_inlined=True)
def is_plain_tuple(entry, name):
    """Whether it is a tuple of texts and whole numbers, so that no code of Python runs when it is compared, or printed."""
    if type_of(name) != entry.several:
        return False
    i, n = 0, tuple_size(name)
    while i < n and is_plain(entry, type_of(tuple_get(name, i))):
        i += 1
    return i == n


@compiled(always_inlined=True)
def is_plain(entry, kind):
    return kind == entry.text or kind == entry.whole


@compiled
def key_of(entry, at, name):
    """As model/inputs/sparse_examples.py has it; NaN if the name is out of the ordinary."""
    kind = type_of(name)
    if kind == entry.text:
        return key_of_text(entry, at, name)
    if kind == entry.whole:
        number = whole_number(name)
        return number if entry.key_mask == ALL_BITS else math.nan
    text = repr_new(name)
    if text == 0:  # no memory, or a number of too many digits
        clear_error()
        return math.nan
    key = key_of_text(entry, at, text)
    release(text)
    return key


@compiled(always_inlined=True)
def whole_number(name):
    """A whole number as a float, or NaN where that would round it."""
    number = float_value(name)
    if number == -1.0 and error_set() != 0:
        clear_error()
        return math.nan
    return number if abs(number) < EXACT else math.nan


@compiled
def key_of_text(entry, at, name):
    text = utf8_of(name, at + LENGTH)
    if text == 0:  # half a character
        clear_error()
        return math.nan
    crc = crc32(octets(text, entry.size), u32(entry.remainders, 256))
    return float(np.int64(crc) & entry.key_mask)


@compiled
def tie_of(entry, at, name):
    """As model/inputs/sparse_examples.py has it, for names that have a key. (0 if there is no memory to print it: then an error is set.)"""
    kind = type_of(name)
    if kind == entry.text:
        return tie_of_text(entry, at, name, OF_TEXT)
    if kind == entry.whole:
        return -1 - hash_of(name) % NUMBER_MODULUS
    text = repr_new(name)
    if text == 0:
        return NONE
    tie = tie_of_text(entry, at, text, OF_TUPLE)
    release(text)
    return tie


@compiled
def tie_of_text(entry, at, name, kind):
    """The octets behind one for the kind of the name, as one whole number, modulo a prime."""
    text = utf8_of(name, at + LENGTH)
    if text == 0:
        return NONE
    text, rest = octets(text, entry.size), kind
    for i in range(text.shape[0]):
        rest = ((rest << np.uint64(8)) | np.uint64(text[i])) % TEXT_MODULUS
    return np.int64(rest)


@compiled(always_inlined=True)
def crc32(text, remainders):
    """As zlib's."""
    rest = np.uint32(0xFFFFFFFF)
    for i in range(text.shape[0]):
        rest = remainders[np.uint8(rest) ^ text[i]] ^ (rest >> np.uint32(8))
    return rest ^ np.uint32(0xFFFFFFFF)

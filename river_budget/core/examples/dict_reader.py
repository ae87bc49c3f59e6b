"""Read an example from a Python dict in compiled code, into the arrays of a call.

The reader holds the GIL, and it must not run Python code. So it reads only keys that are exactly str, int
or tuples of these, and only for models whose names are all of these types (model/inputs/features.py): then no
user-defined `__eq__` or `__hash__` is called. It reads a value of an unknown type as NaN, for which the pass
refuses the row; an example with a key of another type is read by Python instead.

The reader borrows references from the example and from the dict of places, as no other code runs in between
- except in the `repr` of a tuple, where a garbage collection may call finalizers. So it takes a reference to
each new name as soon as it has read the name.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiling.array_views import carver, f64, i64, record
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import FLAG, WHOLE
from ..compiling.needs import Need
from . import python_objects as python
from .call import KEYS, LONGEST, N_WORDS, PLACES, ROWS, STARTS
from .present_features import NO_PLACE, ZERO

EXACT_INTEGERS = 2.0**53  # floats represent all integers up to it exactly
NOT_READABLE = np.int64(-2)  # the place of a name that Python has to look up
ALL_BITS = 2**32 - 1

# Constants of the second sort key, the tie, of a name, as in model/inputs/sparse_examples.py
TEXT_MODULUS, NUMBER_MODULUS = np.uint64(1973272913), 2**31 - 1
OF_TEXT, OF_TUPLE = np.uint64(1), np.uint64(2)

# Addresses and sizes that the reader needs; model/calls/fast_path.py fills the record
ENTRY = record(
    "i8 busy",  # 1 while an example is being read into the arrays of the calls
    "i8 nothing",  # the address of None
    "i8 true",  # that of True
    # address of a counter of changes that take places from names; its value when this record was made
    "i8 given_back version",
    # addresses of the passes that score and learn, or 0; whether the model is large: passes release the GIL
    "i8 scoring learning large",
    # addresses of the passes' arguments (core/examples/call.py), with a row and with a list, or 0
    "i8 row list",
    # known names
    "i8 places",  # the dict {name: place}
    "i8 known",  # its length
    "i8 names",  # the names by place, for whole rows
    "i8 expected",  # the names of the last whole row, in its own order
    "i8 expected_places",
    # models that add and forget names during a stream
    "i8 fixed",  # 1 in models that do not
    "i8 vacant",  # the free places; the last ones are assigned first
    "i8 left",  # the address of the number of free places
    "i8 new_names",  # whether examples may have new names: 2 if names need no places
    "i8 names_at",  # the name at each place, or 0
    "i8 strangers",  # the new names of an example, with a reference to each
    "i8 new",  # the number of new names
    "i8 met",  # total number of unknown names in learned examples
    "i8 look",  # the arrival at which Python reconsiders the storage of vectors
    "i8 thin",  # sparse storage from so many known features per present one on
    # addresses of types, and of the table of CRC-32
    "i8 dicts numbers text whole",
    "i8 several",  # tuple, the type of names such as n-grams of words
    "i8 remainders",
    "i8 key_mask",  # the bits of keys that are used: all, except in tests
    # output arguments of functions of CPython
    "i8 position key value size",
    # of a scaler (core/examples/scaled_dict.py): what it does, and addresses of its arrays
    "i8 scaling",
    "i8 columns",  # the number of places
    "i8 statistics",  # three numbers for each place, as a matrix of three rows
    "i8 numbers_read",  # the values of the last example
)
POSITION, KEY, VALUE, LENGTH = (
    int(ENTRY.fields[name][1])  # type: ignore[index]
    for name in ("position", "key", "value", "size")
)
N_DICTS, N_NUMBERS = np.int64(4), np.int64(12)  # types

entry_at = carver(ENTRY, 0)

octets, u32 = carver(np.uint8), carver(np.uint32)


@compiled
def read_example(entry, at, x):
    """Read an example into the arrays of a call, as a row or as a list, and return the address of this call.

    Returns 0 if Python has to read the example. Takes references to its new names, which the caller
    releases by `release_new_names`.
    """
    entry.new, version = 0, entry.version
    if not is_among(python.type_of(x), entry.dicts, N_DICTS):
        return ZERO
    n = python.dict_size(x)
    if entry.row != 0 and n == entry.known and read_row(entry, at, x):
        return entry.row
    if entry.list != 0 and n < i64(entry.list, N_WORDS)[LONGEST] and read_list(at, x, n):
        # the `repr` of a name may have run a finalizer that changed the model
        return entry.list if i64(entry.given_back, 1)[0] == version else ZERO
    return ZERO


@compiled(always_inlined=True)
def read_row(entry, at, x):
    """Read an example into a row; False if its names are not exactly those that the model knows.

    Fastest if the names have the order of the last example: comparing addresses replaces dict lookups.
    """
    n, i, call = entry.known, 0, i64(entry.row, N_WORDS)
    expected, places = i64(entry.expected, n), i64(entry.expected_places, n)
    names, values = i64(entry.names, n), f64(call[ROWS], n)
    entry.position = 0
    while i < n and python.dict_next(x, at + POSITION, at + KEY, at + VALUE) != 0:
        if entry.key != expected[i]:
            place = place_of(entry, entry.key)
            if place < 0:
                return False
            expected[i], places[i] = names[place], place  # `names` keeps these alive
        values[places[i]] = number_of(entry, entry.value)
        i += 1
    return i == n


@shared(Need.NAMES, FLAG, WHOLE, WHOLE, WHOLE)
def read_list(at, x, n):
    """Read an example into a list of present features; False if Python has to read it.

    Writes unknown names to `strangers`, with a reference to each.
    """
    entry = entry_at(at)
    call, i = i64(entry.list, N_WORDS), 0
    starts, places = i64(call[STARTS], 2), i64(call[PLACES], n)
    values, keys, strangers = f64(call[ROWS], n), f64(call[KEYS], n), i64(entry.strangers, n)
    entry.position = 0
    while i < n and python.dict_next(x, at + POSITION, at + KEY, at + VALUE) != 0:
        values[i] = number_of(entry, entry.value)
        places[i] = place = place_of(entry, entry.key)
        if place == NOT_READABLE or (place < 0 and entry.new_names == 0):
            return False
        if place < 0:
            python.hold(entry.key)
            strangers[entry.new] = entry.key
            entry.new += 1
            keys[i] = key_of(entry, at, strangers[entry.new - 1])
            if math.isnan(keys[i]):
                return False
        i += 1
    starts[0], starts[1] = 0, i
    return i == n


@compiled
def release_new_names(entry):
    """Release the references to the new names of an example."""
    strangers = i64(entry.strangers, entry.new)
    entry.new = 0
    for i in range(strangers.shape[0]):
        python.release(strangers[i])


@compiled(always_inlined=True)
def is_among(kind, addresses, n):
    """Whether a type is one of the n types in a table."""
    kinds, i = i64(addresses, n), 0
    while i < n and kinds[i] != kind:
        i += 1
    return i < n


@compiled(always_inlined=True)
def number_of(entry, value):
    """A value as a float; NaN, which passes refuse, if its type is none of the number types in the record."""
    if not is_among(python.type_of(value), entry.numbers, N_NUMBERS):
        return math.nan
    number = python.float_value(value)
    if number == -1.0 and python.error_set() != 0:  # an int that is too large for a float
        python.clear_error()
        return math.nan
    return number


@compiled(always_inlined=True)
def place_of(entry, name):
    """The place of a name; NO_PLACE if the model does not know it, NOT_READABLE if Python has to look it up."""
    kind = python.type_of(name)
    if kind != entry.text and kind != entry.whole and not is_plain_tuple(entry, name):
        return NOT_READABLE
    found = python.dict_get(entry.places, name)
    if found != 0:
        return python.int_value(found)
    if python.error_set() != 0:
        python.clear_error()
        return NOT_READABLE
    return NO_PLACE


@compiled(always_inlined=True)
def is_plain_tuple(entry, name):
    """Whether a name is a tuple of str and int only: comparing it and its `repr` then run no Python code."""
    if python.type_of(name) != entry.several:
        return False
    i, n = 0, python.tuple_size(name)
    while i < n and is_plain(entry, python.type_of(python.tuple_get(name, i))):
        i += 1
    return i == n


@compiled(always_inlined=True)
def is_plain(entry, kind):
    """Whether a type is exactly str or int."""
    return kind == entry.text or kind == entry.whole


@compiled
def key_of(entry, at, name):
    """The sort key of a name, as in model/inputs/sparse_examples.py; NaN if Python has to compute it."""
    kind = python.type_of(name)
    if kind == entry.text:
        return key_of_text(entry, at, name)
    if kind == entry.whole:
        number = whole_number(name)
        return number if entry.key_mask == ALL_BITS else math.nan
    text = python.repr_new(name)
    if text == 0:  # no memory, or an int with too many digits
        python.clear_error()
        return math.nan
    key = key_of_text(entry, at, text)
    python.release(text)
    return key


@compiled(always_inlined=True)
def whole_number(name):
    """An int as a float, or NaN if the float would be rounded."""
    number = python.float_value(name)
    if number == -1.0 and python.error_set() != 0:
        python.clear_error()
        return math.nan
    return number if abs(number) < EXACT_INTEGERS else math.nan


@compiled
def key_of_text(entry, at, name):
    """The sort key of a str: the CRC-32 of its UTF-8 octets."""
    text = python.utf8_of(name, at + LENGTH)
    if text == 0:  # a lone surrogate has no UTF-8 form
        python.clear_error()
        return math.nan
    crc = crc32(octets(text, entry.size), u32(entry.remainders, 256))
    return float(np.int64(crc) & entry.key_mask)


@compiled
def tie_of(entry, at, name):
    """The second sort key of a name, for names with equal first keys, as in model/inputs/sparse_examples.py.

    Returns 0 with an error set if there is no memory for its `repr`.
    """
    kind = python.type_of(name)
    if kind == entry.text:
        return tie_of_text(entry, at, name, OF_TEXT)
    if kind == entry.whole:
        return -1 - python.hash_of(name) % NUMBER_MODULUS
    text = python.repr_new(name)
    if text == 0:
        return ZERO
    tie = tie_of_text(entry, at, text, OF_TUPLE)
    python.release(text)
    return tie


@compiled
def tie_of_text(entry, at, name, kind):
    """An octet for the kind of name and the octets of a str, read as one large integer modulo a prime."""
    text = python.utf8_of(name, at + LENGTH)
    if text == 0:
        return ZERO
    text, rest = octets(text, entry.size), kind
    for i in range(text.shape[0]):
        rest = ((rest << np.uint64(8)) | np.uint64(text[i])) % TEXT_MODULUS
    return np.int64(rest)


@compiled(always_inlined=True)
def crc32(text, remainders):
    """The CRC-32 of octets, as zlib computes it."""
    rest = np.uint32(0xFFFFFFFF)
    for i in range(text.shape[0]):
        rest = remainders[np.uint8(rest) ^ text[i]] ^ (rest >> np.uint32(8))
    return rest ^ np.uint32(0xFFFFFFFF)

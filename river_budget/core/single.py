"""One example, from a dict to the scores, in one call of a C function: Python would take longer than the passes.

`score` and `learn` are made functions of Python by model/at_once.py. They return None for whatever is out of the
ordinary, and then nothing has happened: the example goes the long way.

They have Python's lock, so that nothing changes while an example is read; numbers and names whose conversion would run
code of Python are out of the ordinary. Only passes over large models let others go on.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba.core import types

from .calls import (
    BLOCK,
    KEYS,
    LONGEST,
    OUTPUTS,
    PLACES,
    ROWS,
    SCORES,
    SCRATCH,
    STARTS,
    TARGETS,
    WEIGHTS,
)
from .cpython import (
    address_value,
    clear_error,
    dict_get,
    dict_next,
    dict_remove,
    dict_set,
    dict_size,
    error_set,
    float_new,
    float_value,
    hold,
    int_new,
    int_value,
    leave_lock,
    list_new,
    list_set,
    release,
    repr_new,
    take_lock,
    tuple_get,
    tuple_size,
    type_of,
    utf8_of,
)
from .examples import NOBODY, NONE
from .jit import compiled
from .layout import model_at
from .numba_types import carve, carver, compiled_as, f64, i64

ENTRY = np.dtype(
    (
        np.record,
        [
            ("busy", "i8"),
            ("nothing", "i8"),  # None
            # what counts how often names have lost their places, and when this was made
            ("given_back", "i8"),
            ("version", "i8"),
            # where the passes are, or 0; and whether others shall go on meanwhile
            ("scoring", "i8"),
            ("learning", "i8"),
            ("large", "i8"),
            # the calls that they are given, or 0
            ("row", "i8"),
            ("list", "i8"),
            # places of names
            ("places", "i8"),  # a dict
            ("known", "i8"),  # how many there are
            ("names", "i8"),  # of whole rows, by place
            ("expected", "i8"),  # the names of the last whole row, in its own order
            ("expected_places", "i8"),
            # where names come and go
            ("fixed", "i8"),  # whether they do not
            ("vacant", "i8"),  # places, of which the last are offered first
            ("left", "i8"),  # what counts them
            ("new_names", "i8"),  # whether there may be any
            ("names_at", "i8"),  # of each place, or 0
            ("strangers", "i8"),  # the new names of an example
            ("new", "i8"),  # how many these are
            ("look", "i8"),  # when a table with many zeros is looked at
            ("thin", "i8"),
            # types, and the table of CRC-32
            ("dicts", "i8"),
            ("numbers", "i8"),
            ("text", "i8"),
            ("whole", "i8"),
            ("several", "i8"),  # a tuple, as of words that follow each other
            ("remainders", "i8"),
            # answers of the interpreter
            ("position", "i8"),
            ("key", "i8"),
            ("value", "i8"),
            ("size", "i8"),
        ],
    )
)
POSITION, KEY, VALUE, LENGTH = (
    int(ENTRY.fields[name][1])  # type: ignore[index]
    for name in ("position", "key", "value", "size")
)
SIZE = LONGEST + 1  # of a call
N_DICTS, N_NUMBERS = np.int64(4), np.int64(12)  # types
EXACT = 2.0**53  # up to which whole numbers are floats as they are
STRANGE = np.int64(-2)  # the place of a name that is out of the ordinary

entry_at = carver(ENTRY, 0)
octets = carver(np.uint8)
u32 = carver(np.uint32)


@compiled(called_from_python=True)
def score(this, x):
    """The scores of an example."""
    at = address_value(this)
    entry = entry_at(at)
    if not is_ready(entry, entry.scoring):
        return nothing(entry)
    entry.busy = 1
    call = read(entry, at, x)
    if call != 0 and done(entry, entry.scoring, call):
        answer = scores_of(i64(call, SIZE))
    else:
        answer = nothing(entry)
    entry.busy = 0
    return answer


@compiled(called_from_python=True)
def learn(this, given, count):
    """Learn an example, with the target and the weight that are given. Returns its scores before."""
    at = address_value(this)
    entry = entry_at(at)
    if count != 3 or not is_ready(entry, entry.learning):
        return nothing(entry)
    arguments = i64(given, 3)
    entry.busy = 1
    call = read(entry, at, arguments[0])
    if call != 0 and learned(entry, call, arguments[1], arguments[2]):
        answer = NONE if error_set() != 0 else scores_of(i64(call, SIZE))
    else:
        answer = nothing(entry)
    entry.busy = 0
    return answer


@compiled(always_inlined=True)
def is_ready(entry, function):
    """Whether it can be used: no thread is about to, and the places of names are still theirs."""
    return function != 0 and entry.busy == 0 and i64(entry.given_back, 1)[0] == entry.version


@compiled(always_inlined=True)
def nothing(entry):
    hold(entry.nothing)
    return entry.nothing


@compiled(always_inlined=True)
def scores_of(call):
    """A new list."""
    n = call[OUTPUTS]
    scores, found = f64(call[SCORES], n), list_new(n)
    for i in range(n):
        number = float_new(scores[i]) if found != 0 else NONE
        if number == 0:  # no memory, as the error that is set says
            return NONE
        list_set(found, i, number)
    return found


def call_pass(function, call):
    """Call the pass at an address with the call at an address."""
    raise NotImplementedError


@compiled_as(call_pass, types.intp, types.Integer, types.Integer)
def _call_pass(context, builder, signature, args):
    function, call = (
        context.cast(builder, value, kind, types.intp)
        for value, kind in zip(args, signature.args, strict=True)
    )
    size = context.get_constant(types.intp, SIZE)
    array = carve(context, builder, types.Array(types.int64, 1, "C"), call, [size])
    kind = ir.FunctionType(context.get_value_type(types.intp), [array.type])
    return builder.call(builder.inttoptr(function, kind.as_pointer()), [array])


@compiled(always_inlined=True)
def done(entry, function, call):
    """Whether a pass has done the example."""
    if entry.large == 0:
        return call_pass(function, call) != 0
    thread = leave_lock()
    rows = call_pass(function, call)
    take_lock(thread)
    return rows != 0


@compiled
def learned(entry, call_at, target, weight):
    """Whether an example that has been written down could be learned."""
    call = i64(call_at, SIZE)
    f64(call[TARGETS], 1)[0], f64(call[WEIGHTS], 1)[0] = float_value(target), float_value(weight)
    if call_at == entry.row:
        return done(entry, entry.learning, call_at)
    if entry.fixed == 0:
        return learned_with_new_names(entry, call, call_at)
    looks = model_at(call[BLOCK], call[SCRATCH]).head.arrived >= entry.look
    if entry.new > 0 or (looks and entry.thin * i64(call[STARTS], 2)[1] < entry.known):
        return False
    return done(entry, entry.learning, call_at)


@compiled(always_inlined=True)
def learned_with_new_names(entry, call, call_at):
    """The same for a model in which names come and go."""
    new, model = entry.new, model_at(call[BLOCK], call[SCRATCH])
    if new > i64(entry.left, 1)[0]:
        return False
    strangers = i64(entry.strangers, new)
    offer_places(entry, call, model)
    for i in range(new):
        hold(strangers[i])  # others may change the dict meanwhile
    model.emptied[0] = 0
    found = done(entry, entry.learning, call_at)
    register(entry, model, new)
    give_up(entry, model)
    for i in range(new):
        release(strangers[i])
    return found


@compiled(always_inlined=True)
def offer_places(entry, call, model):
    """New names get the last of the vacant places, for the time being."""
    left = i64(entry.left, 1)[0]
    vacant, n = i64(entry.vacant, left), i64(call[STARTS], 2)[1]
    places, keys, known_keys = i64(call[PLACES], n), f64(call[KEYS], n), model.keys
    offered = left - entry.new
    for i in range(n):
        if places[i] < 0:
            places[i] = vacant[offered]
            known_keys[places[i]] = keys[i]
            offered += 1


@compiled(always_inlined=True)
def register(entry, model, new):
    """New names that a vector uses now keep what they were offered."""
    left, columns = i64(entry.left, 1), model.columns
    end, strangers = left[0], i64(entry.strangers, new)
    vacant, names_at = i64(entry.vacant, end), i64(entry.names_at, columns.shape[0])
    left[0] -= new
    for i in range(new):
        place = vacant[end - new + i]
        if columns[place] == 0:
            vacant[left[0]] = place
            left[0] += 1
        else:
            number = int_new(place)
            dict_set(entry.places, strangers[i], number)
            release(number)
            names_at[place] = strangers[i]


@compiled(always_inlined=True)
def give_up(entry, model):
    """Names that no vector uses any more lose their places."""
    emptied, columns, left = model.emptied, model.columns, i64(entry.left, 1)
    names_at = i64(entry.names_at, columns.shape[0])
    vacant, before = i64(entry.vacant, columns.shape[0]), left[0]
    for i in range(1, emptied[0] + 1):
        place = emptied[i]
        if columns[place] == 0 and names_at[place] != 0:
            if dict_remove(entry.places, names_at[place]) != 0:
                clear_error()
            names_at[place] = 0
            vacant[left[0]] = place
            left[0] += 1
    if left[0] != before:
        version = i64(entry.given_back, 1)
        version[0] += 1
        entry.version = version[0]


@compiled
def read(entry, at, x):
    """Write an example down for the call that suits it. Returns where that is, or 0 if it is out of the ordinary."""
    entry.new = 0
    if not is_among(type_of(x), entry.dicts, N_DICTS):
        return NONE
    n = dict_size(x)
    if entry.row != 0 and n == entry.known and read_row(entry, at, x):
        return entry.row
    if entry.list != 0 and n < i64(entry.list, SIZE)[LONGEST] and read_list(entry, at, x, n):
        return entry.list
    return NONE


@compiled(always_inlined=True)
def read_row(entry, at, x):
    """An example of all known names, mostly in the order of the last one."""
    n, i, call = entry.known, 0, i64(entry.row, SIZE)
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


@compiled(always_inlined=True)
def read_list(entry, at, x, n):
    """What there is in an example. Names that are not known are noted."""
    call, i = i64(entry.list, SIZE), 0
    starts, places = i64(call[STARTS], 2), i64(call[PLACES], n)
    values, keys, strangers = f64(call[ROWS], n), f64(call[KEYS], n), i64(entry.strangers, n)
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

"""One example, from a dict to the scores, in one call of a C function: Python would take longer than the passes.

`score` and `learn` are made functions of Python by model/at_once.py. They return None for whatever is out of the
ordinary, and then nothing has happened: the example goes the long way. Only passes over large models let other threads
go on meanwhile.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types

from .calls import (
    BLOCK,
    KEYS,
    N_WORDS,
    OUTPUTS,
    PLACES,
    SCORES,
    SCRATCH,
    STARTS,
    TARGETS,
    WEIGHTS,
    WIDTH,
)
from .codes import Need
from .cpython import (
    address_value,
    clear_error,
    dict_remove,
    dict_set,
    error_set,
    float_new,
    float_value,
    hold,
    int_new,
    leave_lock,
    list_new,
    list_set,
    release,
    take_lock,
)
from .dicts import read
from .entries import entry_at
from .examples import NONE
from .jit import compiled
from .layout import WIPED, model_at
from .numba_types import FLAG, WHOLE, carve, compiled_as, f64, i64
from .shared import shared


@compiled(called_from_python=True)
def score(this, x):
    """The scores of an example."""
    at = address_value(this)
    entry = entry_at(at)
    if not is_ready(entry, entry.scoring):
        return nothing(entry)
    busy = i64(entry.busy_at, 1)
    busy[0] = 1
    call = read(entry, at, x)
    if call != 0 and done(entry, entry.scoring, call):
        answer = scores_of(i64(call, N_WORDS))
    else:
        answer = nothing(entry)
    busy[0] = 0
    return answer


@compiled(called_from_python=True)
def learn(this, given, count):
    """Learn an example, with the target and the weight that are given. Returns its scores before."""
    at = address_value(this)
    entry = entry_at(at)
    if count != 3 or not is_ready(entry, entry.learning):
        return nothing(entry)
    arguments = i64(given, 3)
    busy = i64(entry.busy_at, 1)
    busy[0] = 1
    call = read(entry, at, arguments[0])
    if call != 0 and learned(entry, at, call, arguments[1], arguments[2]):
        answer = NONE if error_set() != 0 else scores_of(i64(call, N_WORDS))
    else:
        answer = nothing(entry)
    busy[0] = 0
    return answer


@compiled(always_inlined=True)
def is_ready(entry, function):
    """Whether it can be used: nobody is about to, and the places of names are still theirs."""
    if function == 0 or i64(entry.busy_at, 1)[0] != 0:
        return False
    return i64(entry.given_back, 1)[0] == entry.version


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


@compiled(always_inlined=True)
def take_turn(entry, call):
    """The row is for this model now. What another one has left in scratch space is not for it."""
    if call[BLOCK] != entry.block:
        call[BLOCK], call[WIDTH] = entry.block, entry.known
        notes = i64(call[SCRATCH], WIPED // 8)
        for i in range(notes.shape[0]):
            notes[i] = 0


def call_pass(function, call):
    """Call the pass at an address with the call at an address."""
    raise NotImplementedError


@compiled_as(call_pass, types.intp, types.Integer, types.Integer)
def _call_pass(context, builder, signature, args):
    function, call = (
        context.cast(builder, value, kind, types.intp)
        for value, kind in zip(args, signature.args, strict=True)
    )
    size = context.get_constant(types.intp, N_WORDS)
    array = carve(context, builder, types.Array(types.int64, 1, "C"), call, [size])
    kind = ir.FunctionType(context.get_value_type(types.intp), [array.type])
    return builder.call(builder.inttoptr(function, kind.as_pointer()), [array])


@compiled(always_inlined=True)
def done(entry, function, call):
    """Whether a pass has done the example."""
    if call == entry.row:
        take_turn(entry, i64(call, N_WORDS))
    if entry.large == 0:
        return call_pass(function, call) != 0
    thread = leave_lock()
    rows = call_pass(function, call)
    take_lock(thread)
    return rows != 0


@compiled
def learned(entry, at, call_at, target, weight):
    """Whether an example that has been written down could be learned."""
    call = i64(call_at, N_WORDS)
    f64(call[TARGETS], 1)[0], f64(call[WEIGHTS], 1)[0] = float_value(target), float_value(weight)
    if call_at == entry.row:
        return done(entry, entry.learning, call_at)
    looks = model_at(call[BLOCK], call[SCRATCH]).head.arrived >= entry.look
    if entry.fixed == 0:
        return not looks and learned_with_new_names(at, call_at)
    if entry.new > 0 or (looks and entry.thin * i64(call[STARTS], 2)[1] < entry.known):
        return False
    return done(entry, entry.learning, call_at)


@shared(Need.NAMES, FLAG, WHOLE, WHOLE)
def learned_with_new_names(at, call_at):
    """The same for a model in which names come and go."""
    entry, call = entry_at(at), i64(call_at, N_WORDS)
    new, model = entry.new, model_at(call[BLOCK], call[SCRATCH])
    if new > i64(entry.left, 1)[0]:
        return False
    strangers = i64(entry.strangers, new)
    offer_places(entry, call, model)
    for i in range(new):
        hold(strangers[i])  # others may change the dict meanwhile
    model.n_emptied[0] = 0
    found = done(entry, entry.learning, call_at)
    entry.met += new
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
        if columns[place].count == 0:
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
    for i in range(model.n_emptied[0]):
        place = emptied[i]
        if columns[place].count == 0 and names_at[place] != 0:
            if dict_remove(entry.places, names_at[place]) != 0:
                clear_error()
            names_at[place] = 0
            vacant[left[0]] = place
            left[0] += 1
    if left[0] != before:
        version = i64(entry.given_back, 1)
        version[0] += 1
        entry.version = version[0]

"""One example, from a dict to the scores, in one call of a C function: Python would take longer than the passes.

`score` and `learn` are made functions of Python by model/calls/fast_path.py. They return None for whatever is out of the
ordinary, and then nothing has happened: the example goes the long way. They raise where there is no memory left, and then
nothing has happened either. Only passes over large models let other threads go on meanwhile.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types

from ..block.layout import model_at
from ..compiling.array_views import carve, compiled_as, f64, i32, i64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import FLAG, WHOLE
from ..compiling.needs import Need
from .call import BLOCK, KEYS, N_WORDS, OUTPUTS, PLACES, SCORES, SCRATCH, STARTS, TARGETS, WEIGHTS
from .dict_reader import forget_strangers, read, tie_of
from .dict_reader_state import entry_at
from .present_features import NONE
from .python_objects import (
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

MOST_SPARE = 64  # floats for which memory is put aside


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
        outputs = i64(call, N_WORDS)[OUTPUTS]
        answer = with_scores(list_new(outputs), call, outputs)
    else:
        answer = nothing(entry)
    forget_strangers(entry)
    entry.busy = 0
    return answer


@compiled(called_from_python=True)
def learn(this, given, count):
    """Learn an example, with the target and the weight that are given. Returns True; with anything behind these three, its
    scores before it was learned."""
    at = address_value(this)
    entry = entry_at(at)
    if count < 3 or not is_ready(entry, entry.learning):
        return nothing(entry)
    arguments = i64(given, 3)
    entry.busy = 1
    call = read(entry, at, arguments[0])
    if call == 0:
        answer = nothing(entry)
    else:
        answer = learned(entry, at, call, arguments[1], arguments[2], count > 3)
    forget_strangers(entry)
    entry.busy = 0
    return answer


@compiled(always_inlined=True)
def is_ready(entry, function):
    """Whether it can be used: no example is being read, and the places of names are still theirs."""
    if function == 0 or entry.busy != 0:
        return False
    return i64(entry.given_back, 1)[0] == entry.version


@compiled(always_inlined=True)
def nothing(entry):
    hold(entry.nothing)
    return entry.nothing


@compiled(always_inlined=True)
def with_scores(found, call_at, outputs):
    """A new list with the scores in it. 0 if there is no memory, as the error that is set says."""
    scores = f64(i64(call_at, N_WORDS)[SCORES], outputs)
    for i in range(outputs if found != 0 else 0):
        number = float_new(scores[i])
        if number == 0:
            release(found)
            return NONE
        list_set(found, i, number)
    return found


@compiled
def room_for_scores(entry, outputs):
    """A list of None, made before an example is learned: later there may be no memory, and no way back. Of so many floats
    Python keeps the memory at hand when they are given back here."""
    found = list_new(outputs)
    for i in range(min(outputs, MOST_SPARE) if found != 0 else 0):
        number = float_new(0.0)
        if number == 0:
            release(found)
            return NONE
        list_set(found, i, number)
    for i in range(outputs if found != 0 else 0):
        list_set(found, i, nothing(entry))
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
    size = context.get_constant(types.intp, N_WORDS)
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
def learned(entry, at, call_at, target, weight, wants_scores):
    """Learn an example that has been written down. Returns True or its scores, None if it must go the long way, or 0 with
    an error set."""
    call = i64(call_at, N_WORDS)
    f64(call[TARGETS], 1)[0], f64(call[WEIGHTS], 1)[0] = float_value(target), float_value(weight)
    if error_set() != 0:
        return NONE
    whole = call_at == entry.row
    if not whole and goes_the_long_way(entry, call):
        return nothing(entry)
    scores = entry.true
    if wants_scores:
        scores = room_for_scores(entry, call[OUTPUTS])
        if scores == 0:
            return NONE
    else:
        hold(scores)
    if whole or entry.fixed:
        found = done(entry, entry.learning, call_at)
    else:
        found = learned_with_new_names(at, call_at)
    if not found:
        release(scores)
        return NONE if error_set() != 0 else nothing(entry)
    return with_scores(scores, call_at, call[OUTPUTS]) if wants_scores else scores


@compiled(always_inlined=True)
def goes_the_long_way(entry, call):
    """Whether an example with some of the names is one that Python has to look at first."""
    looks = model_at(call[BLOCK], call[SCRATCH]).head.arrived >= entry.look
    if entry.fixed == 0:
        return looks or entry.new > i64(entry.left, 1)[0]
    return entry.new > 0 or (looks and entry.thin * i64(call[STARTS], 2)[1] < entry.known)


@shared(Need.NAMES, FLAG, WHOLE, WHOLE)
def learned_with_new_names(at, call_at):
    """The same for a model in which names come and go. New names get their places before the example is learned: to
    give one may fail, to take it back may not."""
    entry, call = entry_at(at), i64(call_at, N_WORDS)
    model = model_at(call[BLOCK], call[SCRATCH])
    if not offer_places(entry, at, call, model):
        return False
    model.n_emptied[0] = 0
    found = done(entry, entry.learning, call_at)
    entry.met += entry.new if found else 0
    keep_used(entry, model)
    give_up(entry, model)
    return found


@compiled(always_inlined=True)
def offer_places(entry, at, call, model):
    """New names get the last of the vacant places. False if there is no memory, and then none has one."""
    n, strangers = i64(call[STARTS], 2)[1], i64(entry.strangers, entry.new)
    places, keys = i64(call[PLACES], n), f64(call[KEYS], n)
    vacant, offered = last_vacant(entry), 0
    for i in range(n):
        if places[i] < 0:
            places[i] = np.int64(vacant[offered])
            model.keys[places[i]] = keys[i]
            model.ties[places[i]] = tie_of(entry, at, strangers[offered])
            if error_set() != 0 or not register(entry, strangers[offered], places[i]):
                take_back(entry, strangers[:offered])
                return False
            offered += 1
    return True


@compiled(always_inlined=True)
def last_vacant(entry):
    """The places of the new names."""
    left = i64(entry.left, 1)[0]
    return i32(entry.vacant + 4 * (left - entry.new), entry.new)


@compiled
def register(entry, name, place):
    """Whether a name could get a place."""
    number = int_new(place)
    if number == 0:
        return False
    failed = dict_set(entry.places, name, number)
    release(number)
    return failed == 0


@compiled
def take_back(entry, names):
    """Names lose their places. An error that is set stays: to remove a name needs no memory."""
    for i in range(names.shape[0]):
        dict_remove(entry.places, names[i])


@compiled(always_inlined=True)
def keep_used(entry, model):
    """New names that a vector uses now keep their places, the others lose them."""
    columns, strangers = model.columns, i64(entry.strangers, entry.new)
    vacant, names_at = last_vacant(entry), i64(entry.names_at, columns.shape[0])
    unused = 0
    for i in range(entry.new):
        place = np.int64(vacant[i])
        if columns[place].count == 0 and removed(entry, strangers[i]):
            vacant[unused] = place
            unused += 1
        else:
            names_at[place] = strangers[i]
    left = i64(entry.left, 1)
    left[0] -= entry.new - unused


@compiled
def removed(entry, name):
    """Whether a name could lose its place."""
    if dict_remove(entry.places, name) == 0:
        return True
    clear_error()
    return False


@compiled(always_inlined=True)
def give_up(entry, model):
    """Names that no vector uses any more lose their places."""
    emptied, columns, left = model.emptied, model.columns, i64(entry.left, 1)
    names_at = i64(entry.names_at, columns.shape[0])
    vacant, before = i32(entry.vacant, columns.shape[0]), left[0]
    for i in range(model.n_emptied[0]):
        place = emptied[i]
        unused = columns[place].count == 0 and names_at[place] != 0
        if unused and removed(entry, names_at[place]):
            names_at[place] = 0
            vacant[left[0]] = place
            left[0] += 1
    if left[0] != before:
        version = i64(entry.given_back, 1)
        version[0] += 1
        entry.version = version[0]

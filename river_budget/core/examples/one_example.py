"""Score or learn one example, from the dict to the scores, in one compiled function.

For small models Python code around the pass would take longer than the pass. model/calls/fast_path.py turns
`score` and `learn` into Python functions. They return None for every example that the dict
reader refuses, which Python then handles; if there is no memory they raise MemoryError. In both cases the
model is unchanged. The GIL is released only around passes over large models.
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
from . import python_objects as python
from .call import BLOCK, KEYS, N_WORDS, OUTPUTS, PLACES, SCORES, SCRATCH, STARTS, TARGETS, WEIGHTS
from .dict_reader import entry_at, read_example, release_new_names, tie_of
from .present_features import ZERO

NEED_NO_PLACES = 2  # names of a model that finds them by their keys
PREPARED_FLOATS = 64  # floats for which Python's free list is filled before an example is learned


@compiled(called_from_python=True)
def score(this, x):
    """The scores of the dict x as a new list, or None if Python has to read it.

    `this`: the record's address, an int.
    """
    at = python.address_value(this)
    entry = entry_at(at)
    if not may_be_used(entry, entry.scoring):
        return none(entry)
    entry.busy = 1
    call = read_example(entry, at, x)
    if call != 0 and run_pass(entry, entry.scoring, call):
        outputs = i64(call, N_WORDS)[OUTPUTS]
        answer = fill_with_scores(python.list_new(outputs), call, outputs)
    else:
        answer = none(entry)
    release_new_names(entry)
    entry.busy = 0
    return answer


@compiled(called_from_python=True)
def learn(this, given, count):
    """Learn an example; `given` are the arguments (dict, target, weight[, anything]) of a Python call.

    Returns True, or with a fourth argument the scores before learning; None if Python has to read the
    example.
    """
    at = python.address_value(this)
    entry = entry_at(at)
    if count < 3 or not may_be_used(entry, entry.learning):
        return none(entry)
    arguments = i64(given, 3)
    entry.busy = 1
    call = read_example(entry, at, arguments[0])
    if call == 0:
        answer = none(entry)
    else:
        answer = learn_prepared(entry, at, call, arguments[1], arguments[2], count > 3)
    release_new_names(entry)
    entry.busy = 0
    return answer


@compiled(always_inlined=True)
def may_be_used(entry, function):
    """Whether the record may be used: no call is using it, and no name has lost its place since it was made."""
    if function == 0 or entry.busy != 0:
        return False
    return i64(entry.given_back, 1)[0] == entry.version


@compiled(always_inlined=True)
def none(entry):
    """None, as a new reference."""
    python.hold(entry.nothing)
    return entry.nothing


@compiled(always_inlined=True)
def fill_with_scores(found, call_at, outputs):
    """Write the scores of a call into a list and return it; 0, with an error set, if there is no memory."""
    scores = f64(i64(call_at, N_WORDS)[SCORES], outputs)
    for i in range(outputs if found != 0 else 0):
        number = python.float_new(scores[i])
        if number == 0:
            python.release(found)
            return ZERO
        python.list_set(found, i, number)
    return found


@compiled
def room_for_scores(entry, outputs):
    """A list of None for the scores, made before an example is learned: after learning no error may occur.

    First creates floats and releases them again: Python keeps their memory on a free list, for the scores.
    """
    found = python.list_new(outputs)
    for i in range(min(outputs, PREPARED_FLOATS) if found != 0 else 0):
        number = python.float_new(0.0)
        if number == 0:
            python.release(found)
            return ZERO
        python.list_set(found, i, number)
    for i in range(outputs if found != 0 else 0):
        python.list_set(found, i, none(entry))
    return found


def call_pass(function, call):
    """Call the pass at one address with the call at another; returns how many examples it has processed."""
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
def run_pass(entry, function, call):
    """Run a pass over the example. Returns whether it was processed. Releases the GIL if the model is large."""
    if entry.large == 0:
        return call_pass(function, call) != 0
    thread = python.leave_lock()
    rows = call_pass(function, call)
    python.take_lock(thread)
    return rows != 0


@compiled
def learn_prepared(entry, at, call_at, target, weight, wants_scores):
    """Learn the example that was read into a call.

    Returns True or its scores, None if Python has to learn it, or 0 with an error set.
    """
    call = i64(call_at, N_WORDS)
    f64(call[TARGETS], 1)[0] = python.float_value(target)
    f64(call[WEIGHTS], 1)[0] = python.float_value(weight)
    if python.error_set() != 0:
        return ZERO
    whole = call_at == entry.row
    if not whole and needs_python(entry, call):
        return none(entry)
    scores = entry.true
    if wants_scores:
        scores = room_for_scores(entry, call[OUTPUTS])
        if scores == 0:
            return ZERO
    else:
        python.hold(scores)
    if whole or entry.fixed:
        found = run_pass(entry, entry.learning, call_at)
    else:
        found = learn_with_new_names(at, call_at)
    if not found:
        python.release(scores)
        return ZERO if python.error_set() != 0 else none(entry)
    return fill_with_scores(scores, call_at, call[OUTPUTS]) if wants_scores else scores


@compiled(always_inlined=True)
def needs_python(entry, call):
    """Whether Python has to learn this example: to reconsider the storage, or as places for new names are missing."""
    if entry.new_names == NEED_NO_PLACES:
        return False
    looks = model_at(call[BLOCK], call[SCRATCH]).head.arrived >= entry.look
    if entry.fixed == 0:
        return looks or entry.new > i64(entry.left, 1)[0]
    return entry.new > 0 or (looks and entry.thin * i64(call[STARTS], 2)[1] < entry.known)


@shared(Need.NAMES, FLAG, WHOLE, WHOLE)
def learn_with_new_names(at, call_at):
    """Learn an example of a model that adds and forgets names; returns whether it was learned.

    New names get places before the example is learned: assigning a place may fail for lack of memory, taking
    it back cannot fail.
    """
    entry, call = entry_at(at), i64(call_at, N_WORDS)
    model = model_at(call[BLOCK], call[SCRATCH])
    if not assign_places(entry, at, call, model):
        return False
    model.n_emptied[0] = 0
    found = run_pass(entry, entry.learning, call_at)
    entry.met += entry.new if found else 0
    keep_used_names(entry, model)
    free_unused_places(entry, model)
    return found


@compiled(always_inlined=True)
def assign_places(entry, at, call, model):
    """Assign the last vacant places to the new names. Returns False, and assigns none, if there is no memory.

    Modifies the places of the call, and model.keys and model.ties at these places.
    """
    n, strangers = i64(call[STARTS], 2)[1], i64(entry.strangers, entry.new)
    places, keys = i64(call[PLACES], n), f64(call[KEYS], n)
    vacant, offered = last_vacant(entry), 0
    for i in range(n):
        if places[i] < 0:
            places[i] = np.int64(vacant[offered])
            model.keys[places[i]] = keys[i]
            model.ties[places[i]] = tie_of(entry, at, strangers[offered])
            if python.error_set() != 0 or not register(entry, strangers[offered], places[i]):
                for k in range(offered):  # needs no memory, and leaves the error as it is
                    python.dict_remove(entry.places, strangers[k])
                return False
            offered += 1
    return True


@compiled(always_inlined=True)
def last_vacant(entry):
    """The vacant places that the new names get: the last ones."""
    left = i64(entry.left, 1)[0]
    return i32(entry.vacant + 4 * (left - entry.new), entry.new)


@compiled
def register(entry, name, place):
    """Enter a name into the dict of places; False, with an error set, if there is no memory."""
    number = python.int_new(place)
    if number == 0:
        return False
    failed = python.dict_set(entry.places, name, number)
    python.release(number)
    return failed == 0


@compiled(always_inlined=True)
def keep_used_names(entry, model):
    """Keep the places of new names that a vector uses now, and remove the other new names."""
    columns, strangers = model.columns, i64(entry.strangers, entry.new)
    vacant, names_at = last_vacant(entry), i64(entry.names_at, columns.shape[0])
    unused = 0
    for i in range(entry.new):
        place = np.int64(vacant[i])
        if columns[place].count == 0 and remove_name(entry, strangers[i]):
            vacant[unused] = place
            unused += 1
        else:
            names_at[place] = strangers[i]
    left = i64(entry.left, 1)
    left[0] -= entry.new - unused


@compiled
def remove_name(entry, name):
    """Remove a name from the dict of places; False if that failed."""
    if python.dict_remove(entry.places, name) == 0:
        return True
    python.clear_error()
    return False


@compiled(always_inlined=True)
def free_unused_places(entry, model):
    """Remove names that no vector uses any more, and make their places vacant.

    Increments the version: this invalidates other records with these names.
    """
    emptied, columns, left = model.emptied, model.columns, i64(entry.left, 1)
    names_at = i64(entry.names_at, columns.shape[0])
    vacant, before = i32(entry.vacant, columns.shape[0]), left[0]
    for i in range(model.n_emptied[0]):
        place = emptied[i]
        unused = columns[place].count == 0 and names_at[place] != 0
        if unused and remove_name(entry, names_at[place]):
            names_at[place] = 0
            vacant[left[0]] = place
            left[0] += 1
    if left[0] != before:
        version = i64(entry.given_back, 1)
        version[0] += 1
        entry.version = version[0]

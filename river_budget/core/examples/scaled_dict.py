"""Learn and scale one example in one compiled function, from a dict to a new dict of floats.

River's scalers look up every feature in several dicts. Here a feature's statistics are a column of a matrix,
and an example with the names of the last one, in its order, needs no look-up at all
(algorithms/scaling/scalers.py makes Python functions of `learn_scales` and `scale`).

Both return None for an example that Python has to read: one with a value that is no number, or with a name
that is not exactly str, int or a tuple of these; `learn_scales` also for one with a new name. The scaler is
then unchanged, as it is if there is no memory.
"""

from __future__ import annotations

import math

from ..compiling.array_views import f64, f64_matrix, i64
from ..compiling.jit import compiled
from . import python_objects as python
from .dict_reader import (
    KEY,
    N_DICTS,
    NOT_READABLE,
    POSITION,
    VALUE,
    entry_at,
    is_among,
    number_of,
    place_of,
)
from .one_example import none
from .present_features import NO_PLACE, ZERO

CENTERING, STANDARDISING, RANGES = 0, 1, 2  # what a scaler does
N_STATISTICS = 3  # per feature: count, mean and variance; or least, largest and an unused one


@compiled(called_from_python=True)
def learn_scales(this, x):
    """Update the statistics by the dict x; returns True, or None if Python has to read it.

    `this`: the record's address, an int.
    """
    at = python.address_value(this)
    entry = entry_at(at)
    if not is_among(python.type_of(x), entry.dicts, N_DICTS):
        return none(entry)
    n = python.dict_size(x)
    if n > entry.columns or not read_known(entry, at, x, n):
        return none(entry)
    update_statistics(entry, n)
    python.hold(entry.true)
    return entry.true


@compiled(called_from_python=True)
def scale(this, x):
    """The dict x with its values scaled, as a new dict; None if Python has to read it.

    The new dict begins as a copy of x: it has room for all names, and no other code can change it. Copying may
    run finalizers, so the values are read after it.
    """
    at = python.address_value(this)
    entry = entry_at(at)
    if python.type_of(x) != i64(entry.dicts, 1)[0]:  # exactly dict
        return none(entry)
    found = python.dict_copy(x)
    if found == 0:
        return ZERO
    entry.position, i = 0, ZERO
    while python.dict_next(found, at + POSITION, at + KEY, at + VALUE) != 0:
        place = expected_place(entry, min(i, entry.columns - 1), entry.key)
        number = number_of(entry, entry.value)
        if place == NOT_READABLE or is_no_number(entry, number):
            python.hold(entry.nothing)
            python.release(found)
            return entry.nothing
        if not set_number(found, entry.key, scaled(entry, place, number)):
            python.release(found)
            return ZERO
        i += 1
    return found


@compiled(always_inlined=True)
def read_known(entry, at, x, n):
    """Read the values of an example; False if it has an unknown name, or a value that is no number."""
    numbers, i = f64(entry.numbers_read, n), ZERO
    entry.position = 0
    while i < n and python.dict_next(x, at + POSITION, at + KEY, at + VALUE) != 0:
        if expected_place(entry, i, entry.key) < 0:
            return False
        numbers[i] = number_of(entry, entry.value)
        if is_no_number(entry, numbers[i]):
            return False
        i += 1
    return i == n


@compiled(always_inlined=True)
def expected_place(entry, i, name):
    """The place of `name`, number i in its example; tries the place of number i in the last example first.

    NO_PLACE if the name is not known, NOT_READABLE if Python has to look it up.
    """
    expected = i64(entry.expected_places, entry.columns)
    if i64(entry.names_at, entry.columns)[expected[i]] == name:
        return expected[i]
    place = place_of(entry, name)
    if place >= entry.columns:  # a finalizer has added names to the scaler
        return NOT_READABLE
    if place >= 0:
        expected[i] = place
    return place


@compiled(always_inlined=True)
def is_no_number(entry, number):
    """Whether the value that was read last is neither a number nor a NaN of type float."""
    return math.isnan(number) and python.type_of(entry.value) != i64(entry.numbers, 1)[0]


@compiled(always_inlined=True)
def set_number(found, name, value):
    """Set an item of a dict to a float; False, with an error set, if there is no memory."""
    number = python.float_new(value)
    if number == 0:
        return False
    failed = python.dict_set(found, name, number)
    python.release(number)
    return failed == 0


@compiled(always_inlined=True)
def update_statistics(entry, n):
    """Add the n values that were read to the statistics of their features."""
    numbers, places = f64(entry.numbers_read, n), i64(entry.expected_places, n)
    statistics = f64_matrix(entry.statistics, N_STATISTICS, entry.columns)
    for i in range(n):
        x, place = numbers[i], places[i]
        if entry.scaling == RANGES:
            if x < statistics[0, place]:
                statistics[0, place] = x
            if x > statistics[1, place]:
                statistics[1, place] = x
            continue
        count, old = statistics[0, place] + 1.0, statistics[1, place]
        mean = old + (x - old) / count
        statistics[0, place], statistics[1, place] = count, mean
        if entry.scaling == STANDARDISING:
            variance = statistics[2, place]
            statistics[2, place] = variance + ((x - old) * (x - mean) - variance) / count


@compiled(always_inlined=True)
def scaled(entry, place, x):
    """A value, scaled by the statistics of its feature, or by initial ones for an unknown feature (NO_PLACE)."""
    statistics = f64_matrix(entry.statistics, N_STATISTICS, entry.columns)
    column = entry.columns - 1 if place == NO_PLACE else place  # the last: initial statistics
    if entry.scaling == RANGES:
        low = statistics[0, column]
        width = statistics[1, column] - low
        return (x - low) / width if width != 0.0 else 0.0
    difference = x - statistics[1, column]
    if entry.scaling == CENTERING:
        return difference
    variance = statistics[2, column]
    return 0.0 if variance <= 0.0 else difference / math.sqrt(variance)

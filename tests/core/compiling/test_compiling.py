"""How functions are compiled: core/compiling/numba_pipeline.py. That it gives what numba's own way gives, core/compiling/test_plain.py says."""

from __future__ import annotations

import json

import numba
import numpy as np
import pytest
from numba.core.cpu import CPUContext
from optional import needs_compiler
from processes import output_of

from river_budget.core.compiling.array_views import f64_matrix
from river_budget.core.compiling.jit import compiled
from river_budget.core.compiling.plain import PLAIN

if PLAIN:
    pytest.skip("RIVER_BUDGET_PLAIN is set: numba compiles its own way", allow_module_level=True)

from river_budget.core.compiling import numba_pipeline

pytestmark = needs_compiler  # with NUMBA_DISABLE_JIT there is no pipeline


WATCHED = """
import gc, json, sys, threading
import river_budget as rb
from llvmlite.binding import ffi

def state():
    callbacks = ffi.lib._lock._cblist
    return gc.isenabled(), gc.get_threshold(), id(callbacks), *map(id, callbacks)

def watch():
    while not done.wait(0.001):
        seen.append(state())

model = rb.RandomFourier(5)
gc.set_threshold(701, 12, 13)  # of this program, and not Python's own
before, seen, done = state(), [], threading.Event()
watcher = threading.Thread(target=watch)
watcher.start()
model.transform_one({"a": 1.0})
done.set()
watcher.join()
print(json.dumps([len(seen), sum(found != before for found in seen), len(before) - 3]))
"""


def test_compiling_leaves_the_garbage_collector_and_the_lock_of_the_process_alone(tmp_path):
    """As another thread sees them while a model compiles for the first time."""
    printed = output_of("-c", WATCHED, NUMBA_CACHE_DIR=str(tmp_path))
    looks, different, callbacks = json.loads(printed)
    assert list(tmp_path.rglob("*.nbi"))  # something was compiled
    assert looks > 50
    assert different == 0
    assert callbacks > 0  # numba's own


def in_the_package(function):
    """Compiled as one of the package: steps are left out, and references are not counted."""
    function.__module__ = "river_budget.core.compiling.numba_pipeline"
    return function


@compiled(inlined=True)
@in_the_package
def inner(x, kind):
    if kind == 1:
        return x + 1.0
    return x.something_that_numbers_lack


@compiled(inlined=True)
@in_the_package
def outer(x, kind):
    return 2.0 * inner(x, kind) + inner(x, kind)


@compiled(called_from_python=True)
@in_the_package
def with_a_constant(x):
    return outer(x, 1)


@compiled(called_from_python=True)
def of_somebody_else(x):
    return outer(x, 1)


def test_branches_that_a_constant_rules_out_are_dropped_two_functions_down():
    assert with_a_constant(2.0) == of_somebody_else(2.0) == 9.0


@compiled(called_from_python=True)
def with_all_that_numba_knows(numbers):
    if numbers[0] < 0.0:
        raise ValueError("below 0", numbers[0])
    twice = [2.0 * x for x in numbers]
    return (lambda x: x + twice[0])(numbers[0]) + (numbers * numbers + 1.0).sum()


def test_a_pass_of_ones_own_may_contain_what_those_of_the_package_do_not():
    assert with_all_that_numba_knows(np.array([1.0, 2.0])) == 3.0 + 7.0
    with pytest.raises(ValueError, match="below 0"):
        with_all_that_numba_knows(np.array([-1.0]))


@compiled
@in_the_package
def sum_of(numbers):
    total = 0.0
    for i in range(numbers.shape[0]):
        total += numbers[i]
    return total


@compiled(called_from_python=True)
@in_the_package
def sums_of(numbers, others):
    """The same operations as in sum_of, on the same and on other types."""
    total = sum_of(numbers) + sum_of(others)
    for i in range(others.shape[0]):
        total += numbers[0] * others[i]
    return total


def test_what_is_remembered_of_an_operation_is_for_its_types():
    numbers = np.array([0.5, 0.25])
    for others in (np.array([1, 2]), np.array([1.5, 2.0]), np.array([1, 2], np.float32)):
        assert sums_of(numbers, others) == 0.75 + others.sum() + 0.5 * others.sum()


@compiled(called_from_python=True)
def of_a_user(matrix):
    """Rows that outlive the loop."""
    total, row = 0.0, matrix[0]
    for i in range(matrix.shape[0]):
        row = matrix[i]
        total += row[0]
    return total, row


def test_functions_of_users_count_references():
    total, row = of_a_user(np.arange(6.0).reshape(3, 2) + 0.0)
    assert (total, row.tolist()) == (6.0, [4.0, 5.0])


def test_steps_are_left_out_of_functions_of_the_package_only():
    def of_somebody_else(x):
        return (lambda z: z + 1.0)(x)

    assert numba.njit(of_somebody_else, pipeline_class=numba_pipeline.Compiler)(2.0) == 3.0
    with pytest.raises(numba.core.errors.NumbaError):
        numba.njit(in_the_package(of_somebody_else), pipeline_class=numba_pipeline.Compiler)(2.0)


def test_no_function_of_the_package_holds_the_address_of_another(monkeypatch):
    """numba keeps none on disk that does, though a call does not use the address."""
    asked, ask = [], CPUContext.add_dynamic_addr

    def noted(context, builder, address, info):
        asked.append(info)
        return ask(context, builder, address, info)

    def twice(numbers):
        return sum_of(numbers) + sum_of(numbers)

    monkeypatch.setattr(CPUContext, "add_dynamic_addr", noted)
    options = {"pipeline_class": numba_pipeline.Compiler}
    assert numba.njit(twice, **options)(np.ones(3)) == 6.0
    assert set(asked) == {"CPUDispatcher"}
    asked.clear()
    assert numba.njit(in_the_package(twice), **options)(np.ones(3)) == 6.0
    assert not asked


@compiled(called_from_python=True)
def of_matrix_at(address, rows, columns):
    """A part of a matrix, a row of it and a number, by shape and strides."""
    matrix = f64_matrix(address, rows, columns)
    return matrix[1:, 2].sum(), matrix[-1].sum(), matrix.T[3, 1], matrix.size


def test_matrices_at_an_address():
    matrix = np.arange(20.0).reshape(4, 5)
    expected = (matrix[1:, 2].sum(), matrix[-1].sum(), matrix[1, 3], 20)
    assert of_matrix_at(matrix.ctypes.data, 4, 5) == expected

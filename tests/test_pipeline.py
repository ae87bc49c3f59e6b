"""How functions are compiled: core/pipeline.py. That it gives what numba's own way gives, tests/test_start.py says."""

from __future__ import annotations

import gc
import sys
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from llvmlite.binding import ffi
from numba.core import event
from optional import needs_compiler

from river_budget.core import pipeline
from river_budget.core.jit import compiled

pytestmark = needs_compiler  # with NUMBA_DISABLE_JIT there is no pipeline


@pytest.fixture
def collected(monkeypatch):
    """The generations that were collected, with Python's own collecting as it was before."""
    generations, enabled, collect = [], gc.isenabled(), gc.collect
    monkeypatch.setattr(gc, "collect", lambda g=2: (generations.append(g), collect(g)))
    yield generations
    (gc.enable if enabled else gc.disable)()


@pytest.mark.parametrize("fails", [False, True])
def test_garbage_is_collected_by_python_again_when_all_is_compiled(fails, collected):
    gc.enable()
    try:
        with pipeline._sweeping():
            with pipeline._sweeping():
                assert gc.isenabled() != pipeline.GENERATIONS
            assert gc.isenabled() != pipeline.GENERATIONS
            if fails:
                raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    assert gc.isenabled()
    assert collected == [0, 0] * pipeline.GENERATIONS


def test_who_collects_no_garbage_is_left_alone(collected):
    gc.disable()
    with pipeline._sweeping():
        assert not gc.isenabled()
    assert not gc.isenabled()
    assert not collected


def told_of(calls):
    """How many calls of LLVM numba is told of while a function is compiled."""
    lock = ffi.lib._lock
    before = list(lock._cblist)
    ffi.register_lock_callback(*(told := (lambda: calls.append(1), lambda: None)))
    try:
        assert numba.njit(lambda x: x + 2.0, pipeline_class=pipeline.Compiler)(1.0) == 3.0
    finally:
        ffi.unregister_lock_callback(*told)
    assert lock._cblist == before
    return len(calls)


def test_calls_of_llvm_are_events_where_somebody_listens():
    told_of([])  # what numba does once
    assert told_of([]) < 50  # before and after compiling
    with event.install_recorder("numba:llvm_lock") as recorder:
        assert told_of([]) > 200
    assert len(recorder.buffer) > 400


def test_what_compiling_changed_is_as_it_was_if_that_fails():
    before = ffi.lib._lock._cblist
    with pytest.raises(numba.core.errors.NumbaError):
        numba.njit(lambda x: x.nothing, pipeline_class=pipeline.Compiler)(1.0)
    assert ffi.lib._lock._cblist is before


def test_rules_are_looked_for_again_when_there_are_new_modules(monkeypatch):
    asked = []
    context = SimpleNamespace(get_abi_sizeof=None, refresh=lambda: asked.append(len(sys.modules)))
    pipeline._spare(context)
    context.refresh()
    context.refresh()
    before = len(asked)
    assert before <= 1
    monkeypatch.setitem(sys.modules, "rules_of_somebody", SimpleNamespace())
    context.refresh()
    context.refresh()
    assert len(asked) == before + 1


def in_the_package(function):
    """As if it were one of the package, where steps are left out."""
    function.__module__ = pipeline.__name__
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


def test_loops_are_as_wide_as_the_registers():
    plain = numba.njit(lambda x: x + 1.0)
    ours = numba.njit(lambda x: x + 1.0, pipeline_class=pipeline.Compiler)
    for function, expected in ((plain, False), (ours, True)):
        assert function(1.0) == 2.0
        (code,) = function.inspect_llvm().values()
        assert ("prefer-vector-width" in code) == expected


def test_steps_are_left_out_of_functions_of_the_package_only():
    def of_somebody_else(x):
        return (lambda z: z + 1.0)(x)

    assert numba.njit(of_somebody_else, pipeline_class=pipeline.Compiler)(2.0) == 3.0
    with pytest.raises(numba.core.errors.NumbaError):
        numba.njit(in_the_package(of_somebody_else), pipeline_class=pipeline.Compiler)(2.0)

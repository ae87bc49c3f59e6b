"""Instructions of our own (core/compiling/own_instructions.py, and calls) give what Python and numpy give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from in_package import in_the_package
from optional import needs_compiler

from river_budget.core.compiling.array_views import f64_matrix
from river_budget.core.compiling.jit import compiled
from river_budget.core.compiling.plain import PLAIN

if PLAIN:
    pytest.skip("RIVER_BUDGET_PLAIN is set: numba compiles its own way", allow_module_level=True)

pytestmark = needs_compiler

LIMITS = (-7, -2, -1, 0, 1, 2, 3, 8)
KINDS = (np.float64, np.float32, np.int64, np.int32, np.uint64)


def counted(start, stop, step):
    """What loops over ranges with one, two and three limits visit."""
    visited = np.zeros(64, np.int64)
    n = 0
    for i in range(stop):
        visited[n] = i
        n += 1
    for i in range(start, stop):
        visited[n] = 100 + i
        n += 1
    for i in range(start, stop, step):
        visited[n] = 200 + i
        n += 1
    for _ in range(3):
        n += 1
    return visited, n


counted_in_the_package = compiled(called_from_python=True)(in_the_package(counted))


def test_ranges():
    for start, stop, step in itertools.product(LIMITS, LIMITS, [s for s in LIMITS if s]):
        visited, n = counted_in_the_package(start, stop, step)
        expected = [*range(stop), *(100 + i for i in range(start, stop))]
        expected += [200 + i for i in range(start, stop, step)]
        assert n == len(expected) + 3
        assert visited[: n - 3].tolist() == expected


@compiled(called_from_python=True)
@in_the_package
def items(row, matrix, i, j):
    """A number of each, and of rows, read with whole numbers that may be below 0."""
    line = matrix[i]
    return row[j], matrix[i, j], line[j], line.shape[0], line.sum(), row[0], matrix[0, -1], line[-1]


@compiled(called_from_python=True)
@in_the_package
def set_items(row, matrix, i, j, value):
    row[j] = value
    matrix[i, j] = value
    matrix[i][0] = value + 1
    row[-1] += 2


def a_row_and_a_matrix(kind):
    return np.arange(5).astype(kind), np.arange(1, 16).reshape(3, 5).astype(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_arrays(kind):
    row, matrix = a_row_and_a_matrix(kind)
    for i, j in itertools.product(range(-3, 3), range(-5, 5)):
        line = matrix[i]
        expected = (row[j], matrix[i, j], line[j], 5, line.sum(), row[0], matrix[0, -1], line[-1])
        assert items(row, matrix, i, j) == expected
    places = np.uint64(2), np.uint64(4)
    assert items(row, matrix, *places)[:3] == (row[4], matrix[2, 4], matrix[2, 4])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [3, 3.75, True])
def test_numbers_are_set(kind, value):
    for i, j in itertools.product(range(-3, 3), range(-5, 5)):
        ours, numpys = a_row_and_a_matrix(kind), a_row_and_a_matrix(kind)
        set_items(*ours, i, j, value)
        set_items.py_func(*numpys, i, j, value)
        for a, b in zip(ours, numpys, strict=True):
            assert a.tolist() == b.tolist()


@compiled(called_from_python=True)
@in_the_package
def of_a_part(matrix, row):
    return matrix[1, 2] + row[1] + matrix[-1][-1]


def test_arrays_in_other_orders_are_left_to_numba():
    matrix = np.arange(30.0).reshape(5, 6)
    for part, row in ((matrix[::2, ::2], matrix[0, ::2]), (matrix.T, matrix[:, 1])):
        assert of_a_part(part, row) == part[1, 2] + row[1] + part[-1, -1]


@compiled(called_from_python=True)
@in_the_package
def of_matrix_at(address, rows, columns):
    """A part of a matrix, a row of it and a number, by shape and strides."""
    matrix = f64_matrix(address, rows, columns)
    return matrix[1:, 2].sum(), matrix[-1].sum(), matrix.T[3, 1], matrix.size


def test_matrices_at_an_address():
    matrix = np.arange(20.0).reshape(4, 5)
    expected = (matrix[1:, 2].sum(), matrix[-1].sum(), matrix[1, 3], 20)
    assert of_matrix_at(matrix.ctypes.data, 4, 5) == expected


@compiled(called_from_python=True)
@in_the_package
def set_in(row):
    row[0] = 1.0


def test_arrays_that_may_not_change_are_refused():
    row = np.zeros(2)
    row.flags.writeable = False
    with pytest.raises(Exception, match="readonly"):
        set_in(row)
    assert not row.any()


@compiled
@in_the_package
def refuse(x):
    if x < 0.0:
        raise ValueError("below 0")
    return 2.0 * x


@compiled
@in_the_package
def pair_of(x):
    return refuse(x), refuse(x + 1.0)


@compiled(called_from_python=True)
@in_the_package
def sum_of_pairs(numbers):
    total = 0.0
    for i in range(numbers.shape[0]):
        a, b = pair_of(numbers[i])
        total += a + b
    return total


def test_exceptions_reach_python_through_several_functions():
    assert sum_of_pairs(np.array([0.5, 1.0])) == 2.0 * (0.5 + 1.5 + 1.0 + 2.0)
    with pytest.raises(ValueError, match="below 0"):
        sum_of_pairs(np.array([0.5, -1.0]))


@compiled
@in_the_package
def positive_or_none(x):
    if x > 0.0:
        return x
    return None


@compiled(called_from_python=True)
@in_the_package
def or_minus_one(x):
    found = positive_or_none(x)
    if found is None:
        return -1.0
    return found


def test_results_that_may_be_none():
    assert or_minus_one(2.0) == 2.0
    assert or_minus_one(-2.0) == -1.0


@compiled(called_from_python=True)
def of_a_user(matrix, step):
    """Rows that outlive the loop, and numba's check of the step."""
    total, row = 0.0, matrix[0]
    for i in range(0, matrix.shape[0], step):
        row = matrix[i]
        total += row[0]
    return total, row


def test_functions_of_users_count_references_and_check_steps():
    matrix = np.arange(6.0).reshape(3, 2)
    total, row = of_a_user(matrix + 0.0, 1)
    assert (total, row.tolist()) == (6.0, [4.0, 5.0])
    with pytest.raises(ValueError, match="must not be zero"):
        of_a_user(matrix, 0)

"""Functions on many rows, classes or vectors at once, against their plain forms. (They see views, as in the passes.)"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
import pytest
from optional import given, settings, st

from river_budget.core.compiling.array_views import address_of, f64, f64_matrix
from river_budget.core.expansion.support import TIE, oldest, oldest_of_lightest
from river_budget.core.simd.exponential import softmax
from river_budget.core.simd.table_sums import add_rows, add_to_rows, all_dots
from river_budget.core.simd.vector_ops import combine, write_ranks

WIDTHS = (1, 2, 7, 8, 9, 16, 26, 33)
GUARD = -7.0  # what stands around results and must stay


@numba.njit
def rows_added(table, places, sums):
    add_rows(table, places, np.int64(places.shape[0]), sums)


@numba.njit
def added_to_rows(table, places, factors, numbers):
    add_to_rows(table, places, np.int64(places.shape[0]), factors, numbers)


@numba.njit
def view(numbers):
    return f64(address_of(numbers), numbers.shape[0])


@numba.njit
def dots_of(numbers, table, first, step, results):
    rows = f64_matrix(address_of(table), table.shape[0], table.shape[1])
    all_dots(view(numbers), rows, np.int64(first), np.int64(step), view(results))


@numba.njit
def combined(a, scale, factor, b):
    combine(a, scale, factor, b, np.int64(a.shape[0]))


@numba.njit
def shares_of(scores, shares):
    softmax(scores, shares)


@numba.njit
def ranks_of(numbers, ranks):
    write_ranks(numbers, np.int64(numbers.shape[0]), ranks)


def guarded(n):
    """(room for n results, all of it with a guard behind)"""
    whole = np.full(n + 8, GUARD)
    return whole[:n], whole


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("more", [0, 1])
def test_rows_are_added_up(columns, more):
    rng = np.random.default_rng(columns)
    table, places = rng.normal(size=(50, columns + more)), rng.integers(0, 50, 12)
    sums, whole = guarded(columns)
    rows_added(table, places, sums)
    assert sums == pytest.approx(table[places, :columns].sum(axis=0), rel=1e-12, abs=1e-12)
    assert (whole[columns:] == GUARD).all()


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("more", [0, 1])
def test_numbers_are_added_to_rows_and_what_stands_behind_them_stays(columns, more):
    rng = np.random.default_rng(columns)
    table, places = rng.normal(size=(50, columns + more)), rng.permutation(50)[:12]
    factors, numbers = rng.normal(size=12), rng.normal(size=columns)
    expected = table.copy()
    expected[places, :columns] += np.outer(factors, numbers)
    others = np.setdiff1d(np.arange(50), places)
    behind, before = table[:, columns:].copy(), table[others].copy()

    added_to_rows(table, places, factors, numbers)

    assert table == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert (table[:, columns:] == behind).all()
    assert (table[others] == before).all()


@pytest.mark.parametrize("rows", WIDTHS)
@pytest.mark.parametrize("n", [8, 40, 1000])
def test_products_with_many_rows(rows, n):
    rng = np.random.default_rng(rows)
    table, numbers = rng.normal(size=(3 * rows + 1, n + 8)), rng.normal(size=n)
    results, whole = guarded(rows)
    dots_of(numbers, table, 1, 3, results)
    assert results == pytest.approx(table[1::3, :n] @ numbers, rel=1e-12, abs=1e-11)
    assert (whole[rows:] == GUARD).all()


def test_rows_are_combined():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 24))
    expected = 0.5 * a - 3.0 * b
    combined(a, 0.5, -3.0, b)
    assert a == pytest.approx(expected, rel=1e-15, abs=1e-15)


@pytest.mark.parametrize("classes", WIDTHS[1:])
@pytest.mark.parametrize("size", [1e-3, 1.0, 500.0])
def test_softmax(classes, size):
    scores = np.random.default_rng(classes).normal(scale=size, size=classes)
    shares, whole = guarded(classes)
    powers = np.exp(scores - scores.max())
    shares_of(scores, shares)
    assert shares == pytest.approx(powers / powers.sum(), rel=1e-13, abs=1e-300)
    assert (whole[classes:] == GUARD).all()


# who is the oldest, and who weighs least


class Head(NamedTuple):
    count: int


class Model(NamedTuple):
    """What these functions see of a model."""

    arrivals: np.ndarray
    head: Head


NUMBERS = st.one_of(st.floats(0.0, 10.0), st.sampled_from([0.0, 1.0, 5e-324, math.inf, math.nan]))


@numba.njit
def oldest_found(model):
    return oldest(model)


@numba.njit
def light_one_found(model, weights):
    return oldest_of_lightest(model, weights)


def with_room(numbers, behind, kind):
    """An array with something behind the numbers that would win if it counted."""
    return np.array([*numbers, behind, behind], kind)


@settings(max_examples=200, deadline=None)
@given(values=st.lists(NUMBERS, min_size=1, max_size=70), data=st.data())
def test_the_oldest_of_those_that_weigh_least_is_found(values, data):
    arrivals = data.draw(st.permutations(range(len(values))))
    model = Model(with_room(arrivals, -1, np.int64), Head(len(values)))
    assert oldest_found(model) == np.argmin(arrivals)
    if not np.isnan(values).all():
        least = min(value for value in values if not math.isnan(value))
        ties = [j for j in range(len(values)) if values[j] <= least * TIE]
        expected = min(ties, key=lambda j: arrivals[j])
        assert light_one_found(model, with_room(values, 0.0, float)) == expected


@pytest.mark.parametrize("n", [1, 8, 9])
def test_a_place_comes_out_where_all_is_not_a_number(n):
    found = light_one_found(Model(np.arange(24), Head(n)), with_room([math.nan] * n, 0.0, float))
    assert 0 <= found < n


def test_a_tie_is_what_differs_by_rounding():
    model = Model(np.array([3, 2, 1, 0, 7, 6, 5, 4]), Head(4))
    for values, expected in (
        ([1.0, 1.0 + 1e-12, 1.0 + 1e-8, 2.0], 1),
        ([1.0 + 1e-12, 1.0, 1.0, 1.0 + 1e-10], 3),
        ([0.0, 0.0, 1e-300, 1.0], 1),
    ):
        assert light_one_found(model, with_room(values, 0.0, float)) == expected


@pytest.mark.parametrize("groups", [1, 2, 5])
@pytest.mark.parametrize("different", [1, 3, 1000])
def test_ranks_are_places_in_order_and_equal_numbers_keep_theirs(groups, different):
    rng = np.random.default_rng(groups)
    numbers = rng.integers(-different, different, 8 * groups)
    numbers[:2] = np.iinfo(np.int64).min, np.float64(np.inf).view(np.int64)
    ranks = np.full(len(numbers) + 8, 99)
    ranks_of(numbers, ranks)
    expected = np.empty(len(numbers), int)
    expected[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
    assert (ranks[: len(numbers)] == expected).all()
    assert (ranks[len(numbers) :] == 99).all()


# matrices at an address


@numba.njit
def of_matrix_at(address, rows, columns):
    """A part of a matrix, a row of it and a number, by shape and strides."""
    matrix = f64_matrix(address, rows, columns)
    return matrix[1:, 2].sum(), matrix[-1].sum(), matrix.T[3, 1], matrix.size


def test_matrices_at_an_address():
    matrix = np.arange(20.0).reshape(4, 5)
    expected = (matrix[1:, 2].sum(), matrix[-1].sum(), matrix[1, 3], 20)
    assert of_matrix_at(matrix.ctypes.data, 4, 5) == expected

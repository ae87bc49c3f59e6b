"""Functions on many rows and classes at once, against their plain forms. (They see views, as in the passes.)"""

from __future__ import annotations

import numba
import numpy as np
import pytest

from river_budget.core.compiling.array_views import address_of, f64, f64_matrix
from river_budget.core.simd.exponential import softmax
from river_budget.core.simd.table_sums import add_rows, add_to_rows, all_dots
from river_budget.core.simd.vector_ops import combine

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

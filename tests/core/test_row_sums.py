"""Functions on many classes or vectors at once, against their plain forms. (They see views, as in the passes.)"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
import pytest
from optional import given, settings, st

from river_budget.core.compiling.array_views import f64_matrix
from river_budget.core.expansion.support import TIE, oldest, oldest_of_lightest
from river_budget.core.simd.exponential import softmax
from river_budget.core.simd.vector_ops import combine

WIDTHS = (1, 2, 7, 8, 9, 16, 26, 33)
GUARD = -7.0  # what stands around results and must stay


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


def apart(function):
    """The function compiled by itself: those of the package have one signature each (test_laws.py)."""
    return numba.njit(getattr(function, "py_func", function))


oldest_found, light_one_found = apart(oldest), apart(oldest_of_lightest)


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

"""Who is the oldest, and who weighs least, against their plain forms."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from optional import given, settings, st

from river_budget.core.simd.argmin import oldest_of, oldest_of_least

TIE = 1.0 + 1e-9
NUMBERS = st.one_of(st.floats(0.0, 10.0), st.sampled_from([0.0, 1.0, 5e-324, math.inf, math.nan]))


@numba.njit
def oldest_found(arrivals, n):
    return oldest_of(arrivals, n)


@numba.njit
def light_one_found(values, n, arrivals):
    return oldest_of_least(values, n, TIE, arrivals)


def with_room(numbers, behind, kind):
    """An array of whole groups of eight, with something behind the numbers that would win if it counted."""
    room = np.full(-(-len(numbers) // 8) * 8, behind, kind)
    room[: len(numbers)] = numbers
    return room


@settings(max_examples=200, deadline=None)
@given(values=st.lists(NUMBERS, min_size=1, max_size=70), data=st.data())
def test_the_oldest_of_those_that_weigh_least_is_found(values, data):
    n = len(values)
    arrivals = data.draw(st.permutations(range(n)))
    weights, order = with_room(values, 0.0, float), with_room(arrivals, -1, np.int64)

    assert oldest_found(order, n) == oldest_of(order, n) == np.argmin(arrivals)
    if not np.isnan(values).all():
        found = light_one_found(weights, n, order)
        assert found == oldest_of_least(weights, n, TIE, order)
        least = min(value for value in values if not math.isnan(value))
        ties = [j for j in range(n) if values[j] <= least * TIE]
        assert found == min(ties, key=lambda j: arrivals[j])


@pytest.mark.parametrize("n", [1, 8, 9, 16, 17])
def test_a_place_comes_out_where_all_is_not_a_number(n):
    found = light_one_found(with_room([math.nan] * n, 0.0, float), n, np.arange(24))

    assert 0 <= found < n


def test_a_tie_is_what_differs_by_rounding():
    arrivals = np.array([3, 2, 1, 0, 7, 6, 5, 4])

    for values, oldest in (
        ([1.0, 1.0 + 1e-12, 1.0 + 1e-8, 2.0], 1),
        ([1.0 + 1e-12, 1.0, 1.0, 1.0 + 1e-10], 3),
        ([0.0, 0.0, 1e-300, 1.0], 1),
    ):
        assert light_one_found(with_room(values, 0.0, float), 4, arrivals) == oldest

"""The numerical pieces of the core: exponential, random numbers, kernel rows, checks of rows.

Core functions are called from compiled functions, with views, as they are in the passes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numba
import numpy as np
import pytest
from inside import holding, plain
from models import KERNELS
from optional import given, settings, st
from oracles.randoms import SplitMix

import river_budget as rb
from river_budget.core import memory
from river_budget.core.expansion.examples import example
from river_budget.core.expansion.kernels import kernel_row, norm_of, self_kernel
from river_budget.core.expansion.support import oldest_of_lightest
from river_budget.core.numerics import dot, exp_of, log_of, rough_exp_of
from river_budget.core.random_numbers import below, uniform
from river_budget.core.trigonometry import LARGEST_ANGLE, PART_1, PART_2, sines_and_cosines
from river_budget.inputs.lists import Lists
from river_budget.kernels import RBF, Laplacian
from river_budget.maintenance import RemoveOldest
from river_budget.model.calls import rows_for


@numba.njit
def exponentials(x, result):
    for i in range(x.shape[0]):
        result[i] = exp_of(x[i])


@numba.njit
def rough_exponentials(x, result):
    for i in range(x.shape[0]):
        result[i] = rough_exp_of(x[i])


@numba.njit
def logarithms_of(x, result):
    for i in range(x.shape[0]):
        result[i] = log_of(x[i])


@numba.njit
def turn(cosines, sines):
    sines_and_cosines(cosines, sines, cosines.shape[0])


@numba.njit
def draw(m, result):
    for i in range(result.shape[0]):
        result[i] = uniform(m.head[0])


@numba.njit
def draw_below(m, n, result):
    for i in range(result.shape[0]):
        result[i] = below(m.head[0], n)


@numba.njit
def kernel_rows(m, rows, result, own):
    for t in range(result.shape[0]):
        x = example(m, rows, t)
        norm = norm_of(m, x)
        kernel_row(m, x, norm)
        own[t] = self_kernel(m, norm)
        for j in range(result.shape[1]):
            result[t, j] = m.row[j]


@numba.njit
def sum_of_products(a, b, n):
    return dot(a, b, n)


# Sums.


def in_the_stated_order(a, n):
    lanes, whole = np.zeros(8), n // 8 * 8
    for start in range(0, whole, 8):
        lanes += a[start : start + 8]
    for value in a[whole:n]:
        lanes[0] += value
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return lanes[0]


@settings(deadline=None)  # the first call compiles
@given(st.integers(0, 150), st.integers(0, 2**32))
def test_a_sum_has_its_stated_order(n, seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n)
    b = np.ones(n)  # products are exact, so that only the order of the sum matters
    assert sum_of_products(a, b, n) == in_the_stated_order(a, n)


# Sine and cosine.


def sines_cosines(angles):
    cosines, sines = angles.copy(), np.empty_like(angles)
    turn(cosines, sines)
    return sines, cosines


def worst_ulp(computed, expected):
    return (np.abs(computed - expected) / np.spacing(np.abs(expected))).max()


@pytest.mark.parametrize("largest", [1.0, 10.0, 1e3, 1e5, 1e6, LARGEST_ANGLE, 1e9, 1e15])
def test_sine_and_cosine_are_good_to_2_ulp(largest):
    rng = np.random.default_rng(0)
    angles = rng.uniform(-largest, largest, 100_000)
    quarters = (
        0.5 * math.pi * rng.integers(-int(largest), int(largest) + 1, 10_000)
    )  # zeros of both
    for x in (angles, quarters[np.abs(quarters) <= largest], angles[:13]):
        sines, cosines = sines_cosines(x)
        assert worst_ulp(sines, np.sin(x)) <= 2.0
        assert worst_ulp(cosines, np.cos(x)) <= 2.0


def test_quarter_turns_are_taken_off_without_rounding():
    """As long as the products are exact, also on processors that round before they subtract."""
    most = math.ceil(LARGEST_ANGLE * 2.0 / math.pi)
    for k in [most, most - 1, *range(1, most, 997)]:
        for part in (PART_1, PART_2):
            assert Fraction(k * part) == k * Fraction(part)


def test_sine_and_cosine_of_what_is_no_angle_are_finite():
    sines, cosines = sines_cosines(
        np.array([0.0, 1.0, math.inf, -math.inf, math.nan, 1e300, -1e16])
    )
    assert (sines[0], cosines[0]) == (0.0, 1.0)
    assert sines[1] == pytest.approx(math.sin(1.0))
    assert (sines[2:] == 0.0).all()
    assert (cosines[2:] == 1.0).all()
    lonely, _ = sines_cosines(np.array([0.5, math.nan]))
    assert np.isfinite(lonely).all()


# The exponential.


def exp_of_all(x):
    result = np.empty_like(x)
    exponentials(x, result)
    return result


def relative_errors(computed, x):
    expected = np.array([math.exp(value) for value in x.tolist()])
    return np.abs(computed / expected - 1.0)


def test_the_exponential_is_exact_to_1e_14():
    rng = np.random.default_rng(0)
    halves = np.arange(2042) * -0.5 * math.log(2.0)  # where the reduction changes its mind
    x = np.concatenate(
        [
            np.linspace(-708.0, 0.0, 100_001),
            -(10.0 ** rng.uniform(-20.0, 2.85, size=50_000)),
            np.nextafter(halves, -np.inf),
            halves,
            np.nextafter(halves, np.inf)[1:],
        ]
    )
    x = x[x >= -708.0]

    errors = relative_errors(exp_of_all(x), x)

    assert errors.max() < 1e-14


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([0.0, -0.0, -5e-324, -1e-300], 1.0),
        ([np.nextafter(-708.0, -np.inf), -709.0, -745.0, -1e4, -1e9, -1e300, -np.inf], 0.0),
        ([np.nan, -np.nan], 0.0),
    ],
    ids=["zero", "below its range", "NaN"],
)
def test_the_exponential_at_its_ends(x, expected):
    assert exp_of_all(np.array(x)).tolist() == [expected] * len(x)


def test_the_exponential_never_grows_as_its_argument_falls():
    x = -np.sort(10.0 ** np.random.default_rng(1).uniform(-3.0, 2.9, size=20_000))
    result = exp_of_all(x)
    assert (np.diff(result) <= 4e-16 * result[:-1]).all()


# The logarithm.


def test_the_logarithm_is_exact_to_1e_15():
    rng = np.random.default_rng(0)
    halves = np.exp2(np.arange(-1000.5, 1000.0, 0.5))  # where the reduction changes its mind
    x = np.concatenate(
        [
            10.0 ** rng.uniform(-300.0, 300.0, 20_000),
            rng.uniform(0.5, 2.0, 20_000),
            1.0 + rng.uniform(-1.0, 1.0, 20_000) * 10.0 ** rng.uniform(-16.0, -1.0, 20_000),
            np.nextafter(halves, 0.0),
            halves,
            np.nextafter(halves, np.inf),
        ]
    )
    x = x[: len(x) // 8 * 8]
    result = np.empty_like(x)
    logarithms_of(x, result)
    expected = np.array([math.log(value) for value in x.tolist()])

    assert (np.abs(result - expected) <= 1e-15 * np.abs(expected)).all()


def test_the_rough_exponential_is_good_to_1e_6():
    x = np.linspace(-40.0, 0.0, 20_001).astype(np.float32)
    result = np.empty_like(x)
    rough_exponentials(x, result)
    assert relative_errors(result.astype(float), x).max() < 1e-6


def test_the_rough_exponential_of_what_is_far_leaves_no_denormal_product():
    x = np.array([-41.0, -88.0, -700.0, -1e30], np.float32)
    result = np.empty_like(x)
    rough_exponentials(x, result)
    assert (result == result[0]).all()
    assert result[0] ** 2 * np.float32(1e-2) >= np.finfo(np.float32).tiny


# Random numbers.


def drawing(seed):
    model = rb.BSGDClassifier(5, seed=seed)
    model.learn_one({"a": 1.0}, True)
    return memory.cut(model._block)


@pytest.mark.parametrize("seed", [0, 1, 42, 2**63, 2**64 - 1])
def test_random_numbers_are_those_of_splitmix64(seed):
    reference = SplitMix(seed)
    expected = [reference.uniform() for _ in range(1000)]
    computed = np.empty(1000)
    draw(drawing(seed), computed)
    assert computed.tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_random_places_are_those_of_splitmix64(n):
    reference = SplitMix(5)
    expected = [reference.below(n) for _ in range(1000)]
    computed = np.empty(1000, np.int64)
    draw_below(drawing(5), n, computed)
    assert computed.tolist() == expected


# Kernel rows.


def rows_of(kernel, vectors, rows):
    """(k(row t, vector j), k(row t, row t)) by the core."""
    model = holding(vectors, np.ones((len(vectors), 1)), RemoveOldest(), kernel)
    computed, own = np.empty((len(rows), len(vectors))), np.empty(len(rows))
    d = len(model._features)
    if rows.shape[1] > d and model._takes_lists:
        lists = Lists.of_table(rows)
        rows = Lists(lists.starts, np.where(lists.places < d, lists.places, -1), lists.values)
    n = np.zeros(len(rows))
    kernel_rows(memory.cut(model._block), rows_for(rows, n, n, computed), computed, own)
    return computed, own


def sparse(rng, n, n_features):
    return rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.4)


def assert_rows(kernel, vectors, rows):
    """Against the reference, with zeros where rows and vectors differ in width."""
    width = max(vectors.shape[1], rows.shape[1])
    wide = [np.pad(m, ((0, 0), (0, width - m.shape[1]))) for m in (vectors, rows)]
    expected = plain(kernel)(wide[1], wide[0])
    computed, own = rows_of(kernel, vectors, rows)
    np.testing.assert_allclose(computed, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(own, np.diag(plain(kernel)(rows, rows)), rtol=1e-12)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 3.0])
def test_a_width_is_that_of_the_bell(sigma):
    a, b = np.zeros((1, 1)), np.array([[sigma]])
    assert plain(RBF.from_width(sigma))(a, b) == pytest.approx(math.exp(-0.5))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n_features", [1, 3, 4, 5, 8, 23])
def test_kernel_rows_are_those_of_the_reference(kernel, n_features):
    rng = np.random.default_rng(n_features)
    assert_rows(kernel, rng.normal(size=(21, n_features)), rng.normal(size=(30, n_features)))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(
    ("n_vectors", "known", "given"),
    [
        *((n, 6, 6) for n in (1, 7, 8, 9, 16, 40)),
        pytest.param(21, 11, 11, id="an empty row"),
        pytest.param(21, 5, 9, id="unknown features"),
        pytest.param(21, 9, 5, id="fewer features than the model knows"),
    ],
)
def test_sparse_rows_have_the_kernel_values_of_the_reference(kernel, n_vectors, known, given):
    rng = np.random.default_rng(n_vectors)
    rows = sparse(rng, 30, given)
    rows[5] = 0.0
    assert_rows(kernel, sparse(rng, n_vectors, known), rows)


@pytest.mark.parametrize("kernel", [RBF(1 / 32), Laplacian(1.0)], ids=repr)
def test_tiny_kernel_values_keep_their_digits(data, kernel):
    rows, _ = data("german.numer")
    vectors, rows = rows[:20].copy(), rows[20:120].copy()
    expected = plain(kernel)(rows, vectors)
    computed, _ = rows_of(kernel, vectors, rows)
    normal = expected > 1e-300
    assert expected[normal].min() < 1e-100
    np.testing.assert_allclose(computed[normal], expected[normal], rtol=1e-10)


# Who weighs least, and which of several is the oldest.


class Arrived(NamedTuple):
    """What the search sees of a model."""

    arrivals: np.ndarray
    head: np.ndarray


def arrived(arrivals, count):
    head = np.zeros(1, memory.HEAD)
    head["count"] = count
    return Arrived(np.array(arrivals), head)


@numba.njit
def light_one_found(m, weights):
    return oldest_of_lightest(m, weights)


def test_a_tie_is_what_differs_by_rounding_and_the_oldest_of_them_is_found():
    model = arrived([3, 2, 1, 0, 7, 6, 5, 4], 4)
    for values, expected in (
        ([1.0, 1.0 + 1e-12, 1.0 + 1e-8, 2.0], 1),
        ([1.0 + 1e-12, 1.0, 1.0, 1.0 + 1e-10], 3),
        ([0.0, 0.0, 1e-300, 1.0], 1),
    ):
        assert light_one_found(model, np.array([*values, 0.0, 0.0])) == expected

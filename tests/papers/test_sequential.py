"""The two curves of the 2012 paper that are solved by other methods: SMO without a bias, and random waves."""

from __future__ import annotations

import numpy as np
import pytest
from batch_problem import GAMMA, ascended, dual, gram, objective, problem, signs, split

from river_budget.experiments.rivals import linear_on_features, smo


def solved(X, y, C):
    *_, (evaluations, coefficients) = smo.optimise(X, y, gamma=GAMMA, C=C)
    return evaluations, coefficients[:, 0]


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_smo_closes_the_duality_gap_within_its_bounds(C):
    X, y = problem()
    _, found = solved(X, y, C)
    l2 = 1 / (C * len(X))
    assert np.all((signs(y) * found >= 0.0) & (signs(y) * found <= C))
    assert -1e-9 < objective(found, X, y, l2) - dual(found, X, y, l2) < 1e-3


def test_smo_and_coordinate_ascent_find_the_same_machine():
    X, y = problem()
    _, found = solved(X, y, 1.0)
    assert gram(X) @ found == pytest.approx(gram(X) @ ascended(X, y, 1 / len(X)), abs=5e-3)


def test_a_row_of_the_kernel_matrix_counts_once():
    X, y = problem()
    evaluations, found = solved(X, y, 1.0)
    assert evaluations % len(X) == 0
    assert np.count_nonzero(found) <= evaluations // len(X) <= len(X)
    counts = [count for count, _ in smo.optimise(X, y, gamma=GAMMA, C=1.0)]
    assert counts == sorted(counts)


def test_two_coefficients_take_the_best_step_within_their_bounds():
    rng = np.random.default_rng(3)
    for _ in range(50):
        alpha, gradient = rng.random(2), rng.normal(size=2)
        k = rng.uniform(-0.95, 0.95)
        steps = smo._steps(alpha, gradient, k, 1.0)
        grid = np.linspace(0.0, 1.0, 201)
        a, b = np.meshgrid(grid - alpha[0], grid - alpha[1])
        gain = gradient[0] * a + gradient[1] * b - 0.5 * (a * a + b * b) - k * a * b
        ours = gradient @ steps - 0.5 * steps @ steps - k * steps[0] * steps[1]
        assert ours >= gain.max() - 1e-9
        assert np.all((alpha + steps >= 0.0) & (alpha + steps <= 1.0))


def test_more_waves_come_nearer_to_the_kernel_machine():
    data = split(n=150, n_test=400)
    points = linear_on_features.fourier_curve(data, gamma=GAMMA, C=1.0, most=64, seed=0)
    assert [point.evaluations for point in points] == [150 * 2**i for i in range(7)]
    (exact,) = smo.curve(data, gamma=GAMMA, C=1.0)[-1:]
    assert abs(points[-1].error - exact.error) < 0.05
    assert points[0].error > points[-1].error + 0.05


def test_inner_products_of_pairs_of_waves_approximate_the_kernel():
    X, _ = problem()
    waves = np.random.default_rng(0).normal(scale=np.sqrt(2.0 * GAMMA), size=(2, 20_000))
    pairs = linear_on_features._pairs_of(X, waves)
    assert pairs @ pairs.T == pytest.approx(gram(X), abs=0.05)

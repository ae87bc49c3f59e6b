"""The batch rival with landmarks: its parts do what they say, and together they learn."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.kernels import rbf

from river_budget.experiments.rivals import linear_on_features


def rings(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    angles, radius = rng.uniform(0, 2 * np.pi, n), np.where(y, 1.0, 2.0)
    return (radius * [np.cos(angles), np.sin(angles)]).T + 0.1 * rng.normal(size=(n, 2)), y


def test_means_lower_the_distance_of_every_example_to_its_landmark():
    X, _ = rings(300)
    rng = np.random.default_rng(1)
    first = X[rng.permutation(300)[:20]]
    found = linear_on_features.means(X, 20, np.random.default_rng(1))
    nearest = [linear_on_features.distances(X, Z).min(axis=1).sum() for Z in (first, found)]
    assert nearest[1] < 0.8 * nearest[0]


def test_features_have_the_inner_products_of_the_kernel_on_the_landmarks():
    Z, _ = rings(15)
    F = linear_on_features.kernel(Z, Z, 0.5) @ linear_on_features.basis(Z, 0.5)
    np.testing.assert_allclose(F @ F.T, rbf(0.5)(Z, Z), atol=1e-4)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_linear_machine_comes_close_to_its_optimum(C, monkeypatch):
    monkeypatch.setattr(linear_on_features, "SVM_PASSES", 100)
    X, y = rings(200)
    F, signs = linear_on_features.kernel(X, X[:30], 0.5), np.where(y, 1.0, -1.0)

    def objective(w):
        return 0.5 * w @ w + C * np.maximum(0.0, 1.0 - signs * (F @ w)).sum()

    w = linear_on_features.linear_svm(F, signs, C, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    around = [w + 10.0**-k * rng.normal(size=len(w)) for k in (1, 2, 3) for _ in range(200)]
    assert objective(w) <= 1.01 * min(map(objective, around))


def test_it_learns_what_no_linear_model_can():
    split = (*rings(400), *rings(400, seed=1))
    options = {"gamma": 1.0, "C": 10.0, "landmarks": 20}
    point = linear_on_features.llsvm(split, **options, seed=0)
    assert point.error < 0.02
    assert linear_on_features.llsvm(split, **options, seed=0).error == point.error

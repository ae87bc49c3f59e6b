"""KRLS-T replays its reference, which is written in the mean and covariance of the paper."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from oracles.kernels import laplacian, polynomial, rbf
from oracles.krls_tracker import KRLSTracker
from oracles.rounds import REGRESSION
from replaying import some_weights
from river import datasets, preprocessing, proba

import river_budget as rb
from river_budget.kernels import RBF, Laplacian, Polynomial

# huge targets
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

CLOSE = 1e-9


def replayed(model, oracle, X, y, weights=None):
    """The largest differences of means and variances, relative to the largest of each."""
    found, expected = [], []
    for x, target, w in zip(X, y, weights or [1.0] * len(X), strict=True):
        example = dict(enumerate(x.tolist()))
        if model.n_examples:
            p = model.predict_one(example, with_dist=True)
            found.append((p.mu, p.sigma**2))
            expected.append(oracle.predict(x))
            assert p.mu == model.predict_one(example)
        model.learn_one(example, float(target), w)
        oracle.step(x, float(target), w)
    assert model.n_support_vectors == len(oracle.X)
    found, expected = np.array(found), np.array(expected)
    return np.abs(found - expected).max(axis=0) / np.abs(expected).max(axis=0)


def pair(kernel, reference, **parameters):
    model = rb.KRLSTRegressor(kernel=kernel, **parameters)
    return model, KRLSTracker(reference, REGRESSION, **parameters)


def trump(n):
    """A real stream: scaled rows and targets."""
    scaler, rows, targets = preprocessing.StandardScaler(), [], []
    for x, y in datasets.TrumpApproval().take(n):
        scaler.learn_one(x)
        rows.append(list(scaler.transform_one(x).values()))
        targets.append((y - 41.0) / 2.0)
    return np.array(rows), np.array(targets)


def drifting(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2.0 * X[:, 0] + np.arange(n) / 100.0) + 0.1 * rng.normal(size=n)


PARAMETERS = [
    {"budget": 30, "forgetting": 0.99, "noise": 0.1},
    {"budget": 100, "forgetting": 1.0, "noise": 0.01},
    {"budget": 7, "forgetting": 0.8, "noise": 1.0},
    {"budget": 1, "forgetting": 0.95, "noise": 0.1},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@pytest.mark.parametrize("stream", [trump, drifting])
def test_real_and_drifting_streams_are_replayed(stream, parameters):
    model, oracle = pair(RBF(0.5), rbf(0.5), **parameters)
    assert max(replayed(model, oracle, *stream(400))) < CLOSE


@pytest.mark.parametrize(
    ("kernel", "reference"),
    [(Laplacian(0.3), laplacian(0.3)), (Polynomial(2, 0.5, 1.0), polynomial(2, 0.5, 1.0))],
    ids=lambda value: type(value).__name__,
)
def test_other_kernels_and_weights_are_replayed(kernel, reference):
    X, y = drifting(300)
    model, oracle = pair(kernel, reference, **PARAMETERS[0])
    weights = some_weights(y)
    assert max(replayed(model, oracle, X, y, weights)) < CLOSE


def duplicates():
    X = np.random.default_rng(0).integers(0, 3, (300, 2)).astype(float)
    return X, X.sum(axis=1) + np.random.default_rng(1).normal(size=300)


def constant():
    return np.random.default_rng(0).normal(size=(200, 2)), np.ones(200)


def zeros():
    return np.random.default_rng(0).normal(size=(200, 2)), np.zeros(200) + (np.arange(200) < 1)


def huge():
    X, y = drifting(200)
    return X * np.where(np.arange(200) % 5, 1.0, 1e150)[:, None], y * 1e80


def outliers():
    X, y = drifting(300)
    return X, np.where(np.arange(300) % 50, y, 1e6)


@pytest.mark.parametrize("budget", [1, 8, 60])
@pytest.mark.parametrize("stream", [duplicates, constant, zeros, huge, outliers])
def test_adversarial_streams_are_replayed(stream, budget):
    model, oracle = pair(RBF(4.0), rbf(4.0), budget=budget, forgetting=0.98, noise=0.1)
    assert max(replayed(model, oracle, *stream())) < CLOSE


@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(), Polynomial(3), rb.kernels.Linear()])
def test_values_of_any_size_leave_everything_finite(kernel):
    rng = np.random.default_rng(0)
    model = rb.KRLSTRegressor(5, 0.9, 1e-300, kernel)
    for _ in range(300):
        size = 10.0 ** rng.choice([-300, -150, -30, 0, 30, 150, 300])
        x = {0: size * rng.normal(), 1: rng.normal()}
        model.learn_one(x, float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.choice([-300, 0, 300])))
        found = model.predict_one(x, with_dist=True)
        assert math.isfinite(found.mu)
        assert math.isfinite(found.sigma)
    assert pickle.loads(pickle.dumps(model)).predict_one({0: 1.0}) == model.predict_one({0: 1.0})


def test_a_nearly_dependent_basis_stays_precise():
    """A wide kernel, for which the inverse of the kernel matrix has entries of a million."""
    X, y = drifting(3000)
    model = rb.KRLSTRegressor(kernel=RBF(0.02), noise=0.1)
    model.learn_many(X, y)
    K, known = model._gram(), model.algorithm.columns.tables(model)["known"]
    assert np.linalg.cond(K) > 1e6
    variances = np.diag(K - K @ known @ K)
    assert variances.min() > 0.0
    assert variances.max() < 0.1
    assert model._n_repairs == 0


def test_the_distribution_covers_the_targets():
    X, y = drifting(3000)
    model, inside = rb.KRLSTRegressor(kernel=RBF(1.0), noise=0.05), []
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        example = dict(enumerate(x))
        found = model.predict_one(example, with_dist=True)
        assert isinstance(found, proba.Gaussian)
        inside.append(abs(target - found.mu) < 1.645 * found.sigma)
        model.learn_one(example, target)
    assert np.mean(inside[500:]) == pytest.approx(0.9, abs=0.04)


def test_before_the_first_example_nothing_is_known():
    found = rb.KRLSTRegressor().predict_one({"a": 1.0}, with_dist=True)
    assert (found.mu, found.sigma) == (0.0, math.inf)


def test_a_smaller_budget_loses_least():
    X, y = drifting(500)
    model = rb.KRLSTRegressor(60, kernel=RBF(0.3))
    model.learn_many(X, y)
    model.mutate({"budget": 59})
    assert model.n_support_vectors == 59
    error = np.mean((model.predict_many(X[-100:]) - y[-100:]) ** 2)
    model.mutate({"budget": 30})
    assert np.mean((model.predict_many(X[-100:]) - y[-100:]) ** 2) < error + 0.1


def test_a_file_that_only_predicts_knows_the_variance(tmp_path):
    model = rb.KRLSTRegressor(20)
    model.learn_many(*drifting(200))
    rb.save(model, tmp_path / "model")
    only = rb.load(tmp_path / "model", predict_only=True)
    x = {0: 0.1, 1: 0.2, 2: 0.3}
    assert repr(only.predict_one(x, with_dist=True)) == repr(model.predict_one(x, with_dist=True))


def test_models_are_not_merged():
    with pytest.raises(ValueError, match="the covariances of two models have no sum"):
        rb.merge([rb.KRLSTRegressor(), rb.KRLSTRegressor()])

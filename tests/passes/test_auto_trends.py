"""The automatic regressor on trends, and on features whose values are names."""

from __future__ import annotations

import numpy as np
import pytest

import river_budget as rb
from river_budget.core.passes.auto import tables as core

LAGS = (1, 2, 12)


def lagged(series, lags=LAGS):
    """(rows of earlier values, the values)"""
    most = max(lags)
    rows = [series[most - lag : len(series) - lag] for lag in lags]
    return np.array(rows).T.copy(), series[most:].copy()


def least_squares(X, y):
    """Predictions by all earlier rows."""
    rows = np.hstack([np.ones((len(y), 1)), X - X[0]])
    P, weights, found = 1e3 * np.eye(rows.shape[1]), np.zeros(rows.shape[1]), []
    for row, target in zip(rows, y - y[0], strict=True):
        found.append(y[0] + row @ weights)
        gain = P @ row / (1.0 + row @ P @ row)
        weights = weights + gain * (target - row @ weights)
        P = P - np.outer(gain, row @ P)
    return np.array(found)


def walk(n, rng):
    return 100.0 + np.cumsum(0.5 + rng.normal(size=n))


def growth(n, rng):
    return 100.0 * np.exp(np.cumsum(0.001 + 1e-4 * rng.normal(size=n)))


def momentum(n, rng):
    """Changes that follow each other."""
    steps = np.convolve(rng.normal(size=n + 20), 0.8 ** np.arange(20), "valid")[:n]
    return 5000.0 + np.cumsum(3.0 + steps)


def line(n, rng):
    return 50.0 - 0.3 * np.arange(n) + rng.normal(size=n)


@pytest.mark.parametrize("make", [walk, growth, momentum, line])
@pytest.mark.parametrize("n", [150, 900])
def test_a_trend_is_followed_as_closely_as_by_a_straight_line_or_the_last_target(make, n):
    X, y = lagged(make(n, np.random.default_rng(4)))
    first, same = n // 6, np.append(0.0, y[:-1])
    straight, best = least_squares(X, y), np.inf
    for other in (same, straight):
        best = min(best, np.abs(other - y)[first:].mean())
    model = rb.AutoKernelRegressor(100, seed=1)
    assert np.abs(model.predict_then_learn_many(X, y) - y)[first:].mean() < 1.05 * best
    assert model.experts()[-1]["name"] == "trend"


def test_a_trend_in_time_alone_is_followed():
    rng = np.random.default_rng(2)
    y = line(1000, rng)
    found = rb.AutoKernelRegressor(100, seed=1).predict_then_learn_many(
        np.arange(1000.0)[:, None], y
    )
    assert np.abs(found - y)[200:].mean() < 1.05 * np.sqrt(2.0 / np.pi)


def test_targets_without_order_are_left_to_the_mixture():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 4))
    model = rb.AutoKernelRegressor(100, seed=1)
    model.learn_many(X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=600))
    assert model.experts()[-1]["weight"] < 0.1


def test_tables_stay_finite_where_a_series_grows_beyond_all_bounds():
    rng = np.random.default_rng(1)
    X, y = lagged(np.exp(0.1 * np.arange(3300)) * (1.0 + 0.01 * rng.normal(size=3300)))
    model = rb.AutoKernelRegressor(20, seed=1)
    errors = np.abs(model.predict_then_learn_many(X, y) / y - 1.0)
    assert np.median(errors[100:]) < 0.05
    covariance = model._table("covariance")
    assert np.isfinite(covariance).all()
    assert (covariance == covariance.T).all()
    assert all(np.isfinite(table).all() for table in model._tables.values())


def test_the_covariance_stays_positive_over_long_series_with_outliers():
    rng = np.random.default_rng(5)
    X, y = lagged(np.cumsum(0.1 + rng.standard_t(1.5, size=30_000)))
    model = rb.AutoKernelRegressor(20, seed=1)
    model.predict_then_learn_many(X, y)
    n = model._state_record().second_order + 1
    assert np.linalg.eigvalsh(model._table("covariance")[:n, :n]).min() > 0.0


# target means


def shops(n, seed=0, names=30):
    rng = np.random.default_rng(seed)
    levels = rng.normal(size=names)
    X = np.column_stack([rng.integers(names, size=n), rng.normal(size=(n, 3))])
    return X, levels[X[:, 0].astype(int)] + np.sin(X[:, 1]) + 0.2 * rng.normal(size=n)


def test_names_of_shops_are_found_by_their_target_means():
    X, y = shops(1200)
    shuffled = X.copy()
    shuffled[:, 0] += 0.01 * np.arange(1200)  # no name comes twice
    errors = []
    for rows in (X, shuffled):
        model = rb.AutoKernelRegressor(200, seed=1)
        errors.append(np.mean((model.predict_then_learn_many(rows, y) - y)[400:] ** 2))
        assert model._n_means == (rows is X)
    assert errors[0] < 0.4 * errors[1]


@pytest.mark.parametrize("n", [150, 200, 201, 260])
def test_rows_in_one_call_are_learned_as_one_by_one(n, tmp_path):
    X, y = shops(300)
    whole, single = rb.AutoKernelRegressor(30, seed=1), rb.AutoKernelRegressor(30, seed=1)
    expected = whole.predict_then_learn_many(X, y)
    found = []
    for t, (x, target) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        if t == n:  # copies and files know as much
            single.predict_one({0: 1.0})
            rb.save(single.clone(include_attributes=True), tmp_path / "model")
            single = rb.load(tmp_path / "model")
        found.append(single.predict_one(dict(enumerate(x))))
        single.learn_one(dict(enumerate(x)), target)
    assert found == expected.tolist()
    for name, table in whole._tables.items():
        assert (single._table(name) == table).all(), name


def test_names_and_features_that_come_late_are_learned():
    X, y = shops(500)
    model = rb.AutoKernelRegressor(60, seed=1)
    model.learn_many(X, y)
    before = model.predict_many(X[:20])
    x = dict(enumerate(X[0].tolist()))
    assert model.predict_one(x | {"new": 5.0}) == before[0]
    model.learn_one(x | {"new": 5.0}, 1.0)
    model.learn_one(x | {"new": 6.0, "newer": 1.0}, 1.0)
    weights = model.importances()
    assert list(weights) == [0, 1, 2, 3, "new", "newer"]
    assert sum(weights.values()) == pytest.approx(6.0)
    assert max(weights, key=weights.get) == 0
    found = model.explain_one(x)
    assert sum(found["features"].values()) == pytest.approx(1.0)
    assert found["examples"][0]["features"].keys() == weights.keys()
    model.mutate({"budget": 20})
    model.learn_many(X, y)
    assert model.n_support_vectors == 20


@pytest.mark.parametrize(
    "spoil",
    [
        lambda room: room["coded"].fill(9.0),
        lambda room: room["coded"].fill(0.5),
        lambda room: room["counts"].fill(1.0),
        lambda room: room["counts"].__setitem__((0, 0), -1.0),
        lambda room: room["trend"].__setitem__((0, core.ERROR), -1.0),
        lambda room: room["trend"].__setitem__((0, core.NEWEST), 1e200),
        lambda room: room["reference"].__setitem__((core.UNIT, 0), -1.0),
        lambda room: room["covariance"].__setitem__((1, 1), -1.0),
    ],
)
def test_a_file_with_numbers_that_cannot_be_is_refused(spoil, tmp_path):
    model = rb.AutoKernelRegressor(20, seed=1)
    model.learn_many(*shops(230))
    rb.save(model, tmp_path / "model")
    spoil(model._tables)
    with pytest.raises(rb.SavedModelError, match="it would not load"):
        rb.save(model, tmp_path / "model")

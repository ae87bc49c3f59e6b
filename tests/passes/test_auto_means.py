"""The automatic regressor on features whose values are names, and on trends."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from oracles.auto import Text
from oracles.auto_regression import AutoRegressor

import river_budget as rb
from river_budget.algorithms.auto import categories
from river_budget.algorithms.auto.categories import OTHER
from river_budget.algorithms.auto.table_reader import MOST_VALUES
from river_budget.core.passes.auto import tables as core

pd = pytest.importorskip("pandas")

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


def test_gaps_do_not_hide_names():
    X, y = shops(1200)
    rng = np.random.default_rng(1)
    rows = [{f"f{k}": value for k, value in enumerate(row)} for row in X.tolist()]
    for x in rows[40:]:
        if rng.random() < 0.1:
            x["f0"] = None
    model = rb.AutoKernelRegressor(100, seed=1)
    for x, target in zip(rows, y.tolist(), strict=True):
        model.learn_one(x, target)
    assert model._n_means == 1
    values = model._table("values")[model._table("counts") > 0.0]
    assert (values == np.round(values)).all()
    assert len(values) == 30


def test_without_such_columns_no_digit_changes():
    X, y = shops(500)
    X[:, 0] += 0.01 * np.arange(500)  # no name comes twice
    plain, usual = rb.AutoKernelRegressor(60, seed=1), rb.AutoKernelRegressor(60, seed=1)
    plain._watches = 0  # keeps no rows and never decides
    expected = plain.predict_then_learn_many(X, y)
    assert (usual.predict_then_learn_many(X, y) == expected).all()
    assert usual._n_means == 0
    for name, table in plain._tables.items():
        assert name == "first_rows" or (usual._table(name) == table).all(), name


# text


def colours(n, seed=0, known=12):
    """Targets with levels of a column of text; one more text comes late."""
    rng = np.random.default_rng(seed)
    levels, found = 3.0 * rng.normal(size=known + 1), []
    for t in range(n):
        colour = int(rng.integers(known + (t > 240)))
        x = {"size": float(rng.normal()), "colour": f"c{colour:02d}"}
        found.append((x, float(levels[colour] + np.sin(2.0 * x["size"]) + 0.1 * rng.normal())))
    return found


def test_texts_have_target_means_too(monkeypatch):
    stream, errors = colours(900, known=40), []
    for least in (3, 1000):
        monkeypatch.setattr(categories, "LEAST_VALUES", least)
        model, total = rb.AutoKernelRegressor(200, seed=1), 0.0
        for t, (x, y) in enumerate(stream):
            total += (t > 300) * (model.predict_one(x) - y) ** 2
            model.learn_one(x, y)
        errors.append(total)
        assert model._n_means == (least == 3)
    assert errors[0] < 0.95 * errors[1]


@pytest.mark.parametrize("budget", [8, 60])
def test_target_means_of_texts_are_replayed(budget):
    model, oracle = rb.AutoKernelRegressor(budget, seed=7), AutoRegressor(7, budget)
    for t, (x, y) in enumerate(colours(330)):
        row = {"size": x["size"], Text("colour", x["colour"]): 1.0}
        w = (1.0, 0.5, 0.0, 3.0, 1.0)[t % 5]
        expected = oracle.predict(row)
        found = model.predict_one(x, with_dist=True)
        assert found.mu == pytest.approx(expected[0], rel=1e-9, abs=1e-9)
        assert found.sigma == pytest.approx(expected[1], rel=1e-9, abs=1e-9)
        model.learn_one(x, y, w)
        oracle.learn(row, y, w)
    assert list(oracle.coded) == [Text("colour", None)]
    assert model._n_means == 1


def test_a_text_that_takes_over_a_feature_begins_without_targets():
    rng, model = np.random.default_rng(0), rb.AutoKernelRegressor(30, seed=1)
    for t in range(3000):
        text = int(rng.integers(50)) if t < 300 else int(50 + rng.integers(60))
        model.learn_one({"size": float(rng.normal()), "colour": f"c{text}"}, float(text))
    texts, names = model._table("texts"), model._features.in_rows
    own = [f for f, name in enumerate(names) if name[0] == "colour" and name[1] != OTHER]
    assert len(own) <= MOST_VALUES
    assert (texts[core.COLUMN, own] == 1.0).all()
    for f in own:
        total, number = texts[core.TOTAL :, f]
        assert total == pytest.approx(number * int(names[f][1][1:]))
    assert len({names[f][1] for f in own} & {f"c{k}" for k in range(50, 110)}) > 10


def test_many_examples_with_text_are_a_loop(tmp_path):
    stream = colours(300)
    single, whole = rb.AutoKernelRegressor(30, seed=1), rb.AutoKernelRegressor(30, seed=1)
    found = []
    for t, (x, y) in enumerate(stream):
        if t in (120, 260):
            rb.save(single, tmp_path / "model")
            single = pickle.loads(pickle.dumps(rb.load(tmp_path / "model")))
        found.append(single.predict_one(x))
        single.learn_one(x, y)
    frame, targets = pd.DataFrame([x for x, _ in stream]), pd.Series([y for _, y in stream])
    expected = np.concatenate(
        [
            np.asarray(whole.predict_then_learn_many(frame[a:b], targets[a:b]))
            for a, b in ((0, 3), (3, 150), (150, 201), (201, 300))
        ]
    )
    assert found == expected.tolist()
    for name, table in whole._tables.items():
        assert (single._table(name) == table).all(), name
    weights = single.importances()
    assert sum(weights.values()) == pytest.approx(len(weights))
    explained = single.explain_one(stream[0][0])
    assert sum(explained["features"].values()) == pytest.approx(1.0)


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
        lambda room: room["coded"].fill(core.TEXTS),  # there are none
        lambda room: room["texts"].fill(1.0),
        lambda room: room["texts"].__setitem__((core.NUMBER, 0), -1.0),
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


# trends

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
@pytest.mark.parametrize(("n", "most"), [(150, 1.15), (900, 1.05)])
def test_a_trend_is_followed_as_by_a_straight_line_or_the_last_target(make, n, most):
    X, y = lagged(make(n, np.random.default_rng(4)))
    first, same = n // 6, np.append(0.0, y[:-1])
    straight, best = least_squares(X, y), np.inf
    for other in (same, straight):
        best = min(best, np.abs(other - y)[first:].mean())
    model = rb.AutoKernelRegressor(100, seed=1)
    assert np.abs(model.predict_then_learn_many(X, y) - y)[first:].mean() < most * best
    weights = {expert["name"]: expert["weight"] for expert in model.experts()}
    assert weights["least squares"] > 0.5


def test_a_trend_in_time_alone_is_followed():
    rng = np.random.default_rng(2)
    y = line(1000, rng)
    found = rb.AutoKernelRegressor(100, seed=1).predict_then_learn_many(
        np.arange(1000.0)[:, None], y
    )
    assert np.abs(found - y)[200:].mean() < 1.05 * np.sqrt(2.0 / np.pi)


def test_what_is_not_linear_is_left_to_the_mixture():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 4))
    model = rb.AutoKernelRegressor(100, seed=1)
    model.learn_many(X, np.sin(3.0 * X[:, 0]) + 0.1 * rng.normal(size=600))
    assert model._straight_share() < 0.1


@pytest.mark.parametrize("late", [2, 3, 6])
def test_labels_that_come_late_do_not_lead_astray(late):
    y = walk(900, np.random.default_rng(6))
    X = np.array([y[12 - lag : len(y) - late - lag] for lag in LAGS]).T  # known when predicted
    targets = y[12 + late - 1 :][: len(X)]
    model, straight, waiting, errors = rb.AutoKernelRegressor(100, seed=1), [], [], []
    for row, target in zip(X, targets, strict=True):
        x = dict(enumerate(row.tolist()))
        errors.append(abs(model.predict_one(x) - target))
        straight.append(abs(row[0] + 0.5 * late - target))  # who knows the drift
        waiting.append((x, target))
        if len(waiting) == late:
            model.learn_one(*waiting.pop(0))
    assert np.mean(errors[150:]) < 1.5 * np.mean(straight[150:])


def test_experts_a_thousand_times_worse_have_no_weight():
    X, y = lagged(growth(2000, np.random.default_rng(1)))
    model = rb.AutoKernelRegressor(100, seed=1)
    model.learn_many(X, y)
    experts = model.experts()
    best = min(expert["loss"] for expert in experts)
    far = [expert for expert in experts if expert["loss"] > 1000.0 * best]
    assert far
    assert all(abs(expert["weight"]) < 0.05 for expert in far)


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

"""The automatic learners make the predictions of a plain reference written from their
specification.
"""

from __future__ import annotations

import numpy as np
import pytest
from oracles.auto_classification import AutoClassifier
from oracles.auto_regression import LEVELS, AutoRegressor
from replaying import assert_classes_replay, assert_close, some_weights
from streams import emerging, examples, smooth

import river_budget as rb

SEED = 7


def replay_classes(stream, budget, classes=None, weights=None):
    model = rb.AutoKernelClassifier(budget, classes, seed=SEED)
    oracle = AutoClassifier(SEED, budget, len(classes) if classes else 2)
    assert_classes_replay(model, oracle, stream, classes or (), weights)
    return model, oracle


def replay_numbers(stream, budget, weights=None):
    model, oracle = rb.AutoKernelRegressor(budget, seed=SEED), AutoRegressor(SEED, budget)
    computed, expected = [], []
    for (x, y), w in zip(stream, weights or [1.0] * len(stream), strict=True):
        found = model.predict_one(x, with_dist=True)
        assert model.predict_one(x) == found.mu
        computed.append((found.mu, found.sigma, *map(found.quantile, LEVELS)))
        expected.append(oracle.predict(x))
        model.learn_one(x, y, w)
        oracle.learn(x, y, w)
    for column in range(2 + len(LEVELS)):
        assert_close(np.array(computed)[:, column], np.array(expected)[:, column])
    return model, oracle


@pytest.mark.parametrize("budget", [pytest.param(30, marks=pytest.mark.slow), 150])
def test_two_classes_are_replayed_on_real_data(data, budget):
    rows, targets = data("german.numer")
    stream = examples(rows[:260], targets[:260])
    model, oracle = replay_classes(stream, budget, classes=(-1.0, 1.0))
    assert_close(list(model.importances().values()), oracle.a)
    assert_close([e["weight"] for e in model.experts()], oracle.w)


def test_three_classes_and_more_features_than_least_squares_takes_are_replayed(data):
    rows, targets = data("dna.scale")
    stream = examples(rows[:160], targets[:160])
    model, oracle = replay_classes(stream, 100, classes=(1.0, 2.0, 3.0))
    assert len(model.experts()) == oracle.E == 7


@pytest.mark.parametrize(("budget", "seed"), [(1, 0), (2, 1), (7, 0), (60, 1)])
def test_emerging_features_and_classes_are_replayed(budget, seed):
    stream = emerging(180, seed=seed)
    replay_classes(stream, budget, weights=some_weights(stream))


def test_regression_is_replayed_on_real_data(data):
    rows, targets = data("housing")
    replay_numbers(examples(rows[:260], targets[:260]), 150)


@pytest.mark.parametrize(("budget", "seed"), [(1, 0), (2, 1), (7, 0), (60, 1)])
def test_emerging_features_are_replayed_in_regression(budget, seed):
    stream = smooth(180, seed=seed)
    replay_numbers(stream, budget, some_weights(stream))


def shops(n, seed=0):
    """Targets with levels of shops, which are numbered, and of grades; one more shop and another
    feature come late.
    """
    rng = np.random.default_rng(seed)
    levels, stream = 3.0 * rng.normal(size=21), []
    for t in range(n):
        shop, size = int(rng.integers(20 if t < 290 else 21)), float(rng.normal())
        x = {"grade": float(rng.integers(4)), "shop": shop, "size": size, "few": t % 2}
        if t > 300:
            x["late"] = float(rng.normal())
        stream.append((x, float(levels[shop] + np.sin(size) + x["grade"] ** 2 % 5)))
    return stream


@pytest.mark.parametrize("budget", [8, 60])
def test_target_means_are_replayed(budget):
    stream = shops(350)
    model, oracle = replay_numbers(stream, budget, some_weights(stream))
    assert list(oracle.coded) == ["grade", "shop"]
    assert model.importances().keys() == stream[-1][0].keys()


def test_values_beyond_those_that_are_kept_count_as_new():
    stream = [({"shop": 7 * (t % (50 if t < 200 else 400))}, float(t % 5)) for t in range(620)]
    replay_numbers(stream, 20)


def hostile(n, seed=0):
    """Constant features, copies of rows, outliers, empty rows, and values of all sizes."""
    rng = np.random.default_rng(seed)
    stream = []
    for t in range(n):
        x = {"constant": 3.7, "tiny": 1e-30 * rng.normal(), "rare": float(t % 17 == 0)}
        x |= {"large": 1e9 + rng.normal(), "heavy": float(rng.standard_cauchy())}
        if t % 5 == 1:
            x = dict(stream[-1][0])
        if t % 23 == 7:
            x = {}
        stream.append((x, float(np.sin(3.0 * x.get("large", 0.0)) + 100.0 * (t % 41 == 40))))
    return stream


def test_hostile_rows_are_replayed():
    stream = hostile(100)
    replay_numbers(stream, 50)
    replay_classes([(x, y > 0.2) for x, y in stream], 50, classes=(False, True))
    replay_classes([(x, f"{round(y) % 4}") for x, y in stream], 50)


def test_targets_that_stay_the_same_for_long_are_replayed():
    stream = [(x, 5.0 if t < 60 else y) for t, (x, y) in enumerate(smooth(200))]
    model, _ = replay_numbers(stream, 50)
    errors = [abs(model.predict_one(x) - y) for x, y in stream[-50:]]
    assert np.mean(errors) < 1.0

"""Every algorithm of the Perceptron family makes the mistakes of its plain reference, with the same scores."""

from __future__ import annotations

import numpy as np
import pytest
from replayed_cases import CASES, REGRESSION, pair
from replaying import (
    CLOSE,
    CLOSE_PROJECTED,
    assert_close,
    assert_same,
    run,
    run_reference,
    run_regression,
    some_weights,
)
from streams import emerging, examples, smooth

from river_budget.kernels import RBF

# estimator without "Classifier" or "Regressor", its parameters, the oracle, its parameters


def closeness(name):
    return CLOSE_PROJECTED if "roject" in name else CLOSE


@pytest.mark.parametrize("name", CASES)
def test_two_classes_are_replayed_on_real_data(name, data):
    stream = examples(*data("german.numer"))
    if name == "Projectron-threshold":  # the reference solves a growing system for every example
        stream = stream[:500]
    model, oracle = pair(CASES[name], "binary", RBF(1 / 128), classes=(-1, 1))
    expected = run_reference(oracle, stream, labels=(-1, 1))
    assert_same(run(model, stream), expected, closeness(name))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("CKS", "NORMA")])
def test_three_classes_are_replayed_on_real_data(name, data):
    rows, targets = data("dna.scale")
    stream = examples(rows[:400], targets[:400])
    model, oracle = pair(CASES[name], "multiclass", RBF(0.05), 3, classes=(1, 2, 3))
    expected = run_reference(oracle, stream, labels=(1, 2, 3))
    assert_same(run(model, stream), expected, closeness(name))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("CKS", "NORMA")])
@pytest.mark.parametrize("seed", [0, 1])
def test_emerging_features_and_classes_are_replayed(name, seed):
    stream = emerging(400, seed=seed)
    # narrow for BPA-P, which folds a newcomer that the others span, where the reference exchanges it
    kernel = RBF(4.0) if name == "BPA-projection" else RBF(0.5)
    model, oracle = pair(CASES[name], "binary", kernel)
    weights = some_weights(stream)
    expected = run_reference(oracle, stream, weights=weights)
    assert_same(run(model, stream, weights), expected, closeness(name))


@pytest.mark.parametrize("name", REGRESSION)
@pytest.mark.parametrize("seed", [0, 1])
def test_regression_is_replayed(name, seed):
    stream = smooth(400, seed=seed)
    model, oracle = pair(REGRESSION[name], "regression", RBF(0.3))
    weights = some_weights(stream)
    expected = run_regression(oracle, stream, weights)
    _, scores = run(model, stream, weights)
    assert_close(scores[:, 0], np.asarray(expected), closeness(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Projectron", "Projectron++", "BPA-projection"])
def test_the_factor_stays_good_over_ten_thousand_updates(name):
    rng = np.random.default_rng(0)
    X, y = (
        rng.normal(size=(20_000, 5)),
        rng.choice([-1, 1], 20_000),
    )  # noise: most rounds are updates
    model, oracle = pair(CASES[name], "binary", RBF(0.3), classes=(-1, 1))
    scores, expected = [], []
    for x, label in zip(X, y.tolist(), strict=True):
        example = dict(enumerate(x.tolist()))
        scores.append(model.decision_function_one(example))
        expected.append(oracle.step(x, label)[0])
        model.learn_one(example, label)
    assert_close(np.array(scores), np.array(expected), CLOSE_PROJECTED)

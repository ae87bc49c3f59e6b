"""Every algorithm of the Perceptron family makes the mistakes of its plain reference, with the same
scores.
"""

from __future__ import annotations

import numpy as np
import pytest
from inside import plain
from models import stream_for
from oracles.perceptrons import BudgetPerceptron, KernelPerceptron
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
from streams import LABELS, emerging, examples, smooth

import river_budget as rb
from river_budget.kernels import RBF, Linear
from river_budget.maintenance import Merge, Project, RemoveRandom, RemoveSmallest


def closeness(name):
    return CLOSE_PROJECTED if "roject" in name and "class" not in name else CLOSE


@pytest.mark.parametrize("name", CASES)
def test_two_classes_are_replayed_on_real_data(name, data):
    rows, targets = data("german.numer")
    stream = examples(rows[:500], targets[:500])
    model, oracle = pair(CASES[name], "binary", RBF(1 / 128), classes=(-1, 1))
    expected = run_reference(oracle, stream, labels=(-1, 1))
    assert_same(run(model, stream), expected, closeness(name))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("CKS", "NORMA")])
def test_three_classes_are_replayed_on_real_data(name, data):
    rows, targets = data("dna.scale")
    stream = examples(rows[:250], targets[:250])
    model, oracle = pair(CASES[name], "multiclass", RBF(0.05), 3, classes=(1, 2, 3))
    expected = run_reference(oracle, stream, labels=(1, 2, 3))
    assert_same(run(model, stream), expected, closeness(name))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("CKS", "NORMA")])
@pytest.mark.parametrize("seed", [0, 1])
def test_emerging_features_and_classes_are_replayed(name, seed):
    stream = emerging(250, seed=seed)
    # narrow for BPA-P, which folds a newcomer that the others span, where the reference exchanges
    # it
    kernel = RBF(4.0) if name == "BPA-projection" else RBF(0.5)
    model, oracle = pair(CASES[name], "binary", kernel)
    weights = some_weights(stream)
    expected = run_reference(oracle, stream, weights=weights)
    assert_same(run(model, stream, weights), expected, closeness(name))


@pytest.mark.parametrize("name", REGRESSION)
@pytest.mark.parametrize("seed", [0, 1])
def test_regression_is_replayed(name, seed):
    stream = smooth(250, seed=seed)
    model, oracle = pair(REGRESSION[name], "regression", RBF(0.3))
    weights = some_weights(stream)
    expected = run_regression(oracle, stream, weights)
    _, scores = run(model, stream, weights)
    assert_close(scores[:, 0], np.asarray(expected), closeness(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Projectron", "Projectron++", "BPA-projection"])
def test_the_factor_stays_good_over_ten_thousand_updates(name):
    rng = np.random.default_rng(0)
    # noise: most rounds are updates
    X, y = rng.normal(size=(20_000, 5)), rng.choice([-1, 1], 20_000)
    model, oracle = pair(CASES[name], "binary", RBF(0.3), classes=(-1, 1))
    stream = examples(X, y)
    _, expected = run_reference(oracle, stream, labels=(-1, 1))
    _, scores = run(model, stream)
    assert_close(scores, expected, CLOSE_PROJECTED)


def test_equal_margins_go_by_age():
    """Two examples that mirror each other have equal margins on paper; rounding must not choose."""
    kernel = RBF(0.3)
    rng = np.random.default_rng(0)
    for seed in range(20):
        rows = rng.normal(size=(7, 2)) * 3.0
        rows = np.vstack([rows, rows[:, ::-1]])  # the kernel is symmetric in the two features
        labels = np.tile(rng.choice([-1, 1], 7), 2)
        model = rb.BudgetPerceptronClassifier(5, kernel, margin=5.0, classes=(-1, 1))
        oracle = BudgetPerceptron(plain(kernel), "binary", budget=5, margin=5.0)
        for row, label in zip(rows, labels.tolist(), strict=True):
            model.learn_one(dict(enumerate(row.tolist())), label)
            oracle.step(row, label)
        vectors = [each["features"] for each in model.support_vectors()]
        found = sorted((x[0], x[1]) for x in vectors)
        assert found == sorted(map(tuple, np.array(oracle.X).tolist())), seed


class OldestPerceptron(KernelPerceptron):
    def store(self, x, coefficients):
        self.add(x, coefficients)
        if len(self.X) > 15:
            self.remove(0)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_perceptron_that_removes_the_oldest_replays_its_reference(seed):
    stream = [(x, y == LABELS[0]) for x, y in emerging(400, seed=seed)]
    model = rb.KernelPerceptronClassifier(RBF(0.5), budget=15, classes=(False, True))
    oracle = OldestPerceptron(plain(RBF(0.5)), "binary")
    assert_same(run(model, stream), run_reference(oracle, stream, labels=(False, True)))
    assert model.n_support_vectors == 15


def test_a_perceptron_that_removes_at_random_is_rbp():
    random = rb.KernelPerceptronClassifier(RBF(0.5), budget=15, maintenance=RemoveRandom(), seed=3)
    rbp = rb.RBPClassifier(15, RBF(0.5), seed=3)
    for x, y in stream_for(rbp, 400):
        assert random.decision_function_one(x) == rbp.decision_function_one(x)
        random.learn_one(x, y)
        rbp.learn_one(x, y)


@pytest.mark.parametrize("strategy", [Merge(), Merge(3), Project(), RemoveSmallest()], ids=repr)
def test_a_perceptron_keeps_its_budget_by_any_maintenance(strategy):
    model = rb.KernelPerceptronClassifier(RBF(0.5), budget=10, maintenance=strategy)
    for x, y in stream_for(model, 200):
        model.learn_one(x, y)
        assert model.n_support_vectors <= 10
    model.mutate({"budget": 4})
    assert model.n_support_vectors <= 4
    with pytest.raises(ValueError, match="Gaussian"):
        rb.KernelPerceptronClassifier(Linear(), budget=5, maintenance=Merge())

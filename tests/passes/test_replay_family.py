"""Every algorithm of the Perceptron family makes the mistakes of its plain reference, with the same scores."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.bpa import BPA
from oracles.forgetron import Forgetron
from oracles.nystroem import NOGD
from oracles.perceptrons import BOGD, NORMA, RBP, BudgetPerceptron, KernelOGD, KernelPerceptron
from oracles.projectrons import Projectron, ProjectronPP
from oracles.randoms import SplitMix
from streams import emerging, examples, smooth
from test_replay import (
    CLOSE,
    CLOSE_PROJECTED,
    assert_close,
    assert_same,
    plain,
    run,
    run_reference,
    run_regression,
    some_weights,
)

import river_budget as rb
from river_budget.kernels import RBF

SEED = 7
BOUNDED = {"removal": "random", "max_coefficient": 5.0}

# estimator without "Classifier" or "Regressor", its parameters, the oracle, its parameters
CASES = {
    "Perceptron": (rb.KernelPerceptronClassifier, {}, KernelPerceptron, {}),
    "OGD": (rb.KernelOGDClassifier, {"learning_rate": 0.3}, KernelOGD, {"learning_rate": 0.3}),
    "RBP": (rb.RBPClassifier, {"budget": 20, "seed": SEED}, RBP, {"budget": 20, "choose": 0}),
    "Forgetron": (rb.ForgetronClassifier, {"budget": 20}, Forgetron, {"budget": 20}),
    "CKS": (rb.BudgetPerceptronClassifier, {"budget": 20}, BudgetPerceptron, {"budget": 20}),
    "Projectron": (rb.ProjectronClassifier, {"budget": 20}, Projectron, {"budget": 20}),
    "Projectron-threshold": (
        rb.ProjectronClassifier,
        {"budget": None, "threshold": 0.1},
        Projectron,
        {"threshold": 0.1},
    ),
    "Projectron++": (rb.ProjectronPPClassifier, {"budget": 20}, ProjectronPP, {"budget": 20}),
    "Projectron++-threshold": (
        rb.ProjectronPPClassifier,
        {"budget": 25, "threshold": 0.1},
        ProjectronPP,
        {"budget": 25, "threshold": 0.1},
    ),
    "BPA-simple": (
        rb.BPAClassifier,
        {"budget": 20, "C": 1.0, "update": "simple"},
        BPA,
        {"budget": 20},
    ),
    "BPA-nearest": (
        rb.BPAClassifier,
        {"budget": 20, "C": 1.0, "update": "nearest"},
        BPA,
        {"budget": 20, "update": "nearest"},
    ),
    "BPA-projection": (
        rb.BPAClassifier,
        {"budget": 20, "C": 1.0, "update": "projection"},
        BPA,
        {"budget": 20, "update": "projection"},
    ),
    "BOGD": (
        rb.BOGDClassifier,
        {"budget": 20, "learning_rate": 0.2, "l2": 0.01, "seed": SEED} | BOUNDED,
        BOGD,
        {"budget": 20, "l2": 0.01, "choose": 0} | BOUNDED,
    ),
    "BOGD++": (
        rb.BOGDClassifier,
        {"budget": 20, "learning_rate": 0.2, "sampling": "nonuniform", "seed": SEED},
        BOGD,
        {"budget": 20, "sampling": "nonuniform", "uniform": 0},
    ),
    "BOGD-oldest": (
        rb.BOGDClassifier,
        {"budget": 20, "learning_rate": 0.2, "removal": "oldest", "max_coefficient": 0.9},
        BOGD,
        {"budget": 20, "removal": "oldest", "max_coefficient": 0.9},
    ),
    "NORMA": (rb.NORMAClassifier, {"budget": 20}, NORMA, {"budget": 20, "margin": None}),
    "NOGD": (rb.NOGDClassifier, {"budget": 20, "learning_rate": 0.2}, NOGD, {"budget": 20}),
    "NOGD-rank": (
        rb.NOGDClassifier,
        {"budget": 30, "rank": 12, "learning_rate": 0.5},
        NOGD,
        {"budget": 30, "rank": 12, "learning_rate": 0.5},
    ),
}
REGRESSION = {
    "Perceptron": (rb.KernelPerceptronRegressor, {}, KernelPerceptron, {}),
    "OGD": (rb.KernelOGDRegressor, {}, KernelOGD, {}),
    "RBP": (rb.RBPRegressor, {"budget": 20, "seed": SEED}, RBP, {"budget": 20, "choose": 0}),
    "Forgetron": (rb.ForgetronRegressor, {"budget": 20}, Forgetron, {"budget": 20}),
    "Forgetron-long-steps": (  # with short ones it never has to shrink
        rb.ForgetronRegressor,
        {"budget": 20, "learning_rate": 0.7},
        Forgetron,
        {"budget": 20, "learning_rate": 0.7},
    ),
    "Projectron": (
        rb.ProjectronRegressor,
        {"budget": 20, "threshold": 0.0, "learning_rate": 0.1},
        Projectron,
        {"budget": 20},
    ),
    "BOGD": (
        rb.BOGDRegressor,
        {"budget": 20, "l2": 0.03},
        BOGD,
        {"budget": 20, "l2": 0.03},
    ),
    "NORMA": (rb.NORMARegressor, {"budget": 20, "learning_rate": 0.03}, NORMA, {"budget": 20}),
    "NOGD": (
        rb.NOGDRegressor,
        {"budget": 20, "learning_rate": 0.2, "max_error": None},
        NOGD,
        {"budget": 20},
    ),
    "NOGD-clip": (
        rb.NOGDRegressor,
        {"budget": 20},
        NOGD,
        {"budget": 20, "learning_rate": 0.28, "clip": 1.0},
    ),
}


def pair(case, task, kernel, outputs=1, **further):
    """The model and its reference, which draw the same random numbers."""
    estimator, parameters, oracle, options = case
    draws, options = SplitMix(SEED), dict(options)
    for name, draw in (("choose", draws.below), ("uniform", draws.uniform)):
        if name in options:
            options[name] = draw
    model = estimator(kernel=kernel, **parameters, **further)
    return model, oracle(plain(kernel), task, outputs, **options)


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

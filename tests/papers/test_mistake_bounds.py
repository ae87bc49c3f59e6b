"""Mistake bounds as numbers: the papers' formulas, their limits, and that algorithms keep them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.kernels import rbf

import river_budget as rb
from river_budget.kernels import RBF

PERCEPTRON = rb.KernelPerceptronClassifier()


@pytest.mark.parametrize(
    ("model", "norm", "losses", "expected"),
    [
        (PERCEPTRON, 3.0, 5.0, 9 + 2 * 5),  # theorem 1 of 2005
        (rb.ForgetronClassifier(100), 1.0, 5.0, 2 * 1 + 4 * 5),  # theorem 2
        (rb.ProjectronClassifier(None, threshold=0.0), 3.0, 5.0, 9 + 2 * 5),
        (rb.ProjectronClassifier(None, threshold=0.01), 5.0, 2.0, (5 / 0.5) ** 2 + 2 * 2 / 0.5),
        (rb.RBPClassifier(100), 5.0, 4000.0, (4000 + 5 * 100) / 0.5),  # |w| <= B at the end
        (rb.RBPClassifier(10_000), 50.0, 100.0, 20_397.96),  # m / 2 = 100 + 50 sqrt(2 m)
    ],
)
def test_a_bound_is_the_papers_formula(model, norm, losses, expected):
    assert rb.mistake_bound(model, norm, losses) == pytest.approx(expected, rel=1e-4)
    assert rb.mistake_bound(model, norm, [losses / 4] * 4) == pytest.approx(expected, rel=1e-4)


def test_the_second_bound_of_the_rbp_solves_its_equation():
    m = rb.mistake_bound(rb.RBPClassifier(10_000), 50.0, 100.0)
    assert 0.5 * m == pytest.approx(100.0 + 50.0 * math.sqrt(2.0 * m))


def test_a_competitor_beyond_the_theorem_has_no_bound():
    limit = math.sqrt(101 / math.log(101)) / 4
    forgetron = rb.ForgetronClassifier(100)
    assert rb.mistake_bound(forgetron, 0.999 * limit, 0.0) < math.inf
    assert rb.mistake_bound(forgetron, 1.001 * limit, 0.0) == math.inf
    assert rb.mistake_bound(rb.ForgetronClassifier(82), 0.1, 0.0) == math.inf
    assert rb.mistake_bound(rb.RBPClassifier(25), 5.0, 0.0) == math.inf
    assert rb.mistake_bound(rb.ProjectronClassifier(None, threshold=0.04), 5.0, 0.0) == math.inf


def test_a_kernel_above_one_is_the_same_with_a_longer_competitor():
    """k / 4 has the same predictions, and functions twice as long."""
    bound = rb.mistake_bound(PERCEPTRON, 3.0, 5.0, largest=4.0)
    assert bound == rb.mistake_bound(PERCEPTRON, 6.0, 5.0)
    wide, same = (rb.ProjectronClassifier(None, threshold=t) for t in (0.04, 0.01))
    bound = rb.mistake_bound(wide, 2.0, 5.0, largest=4.0)
    assert bound == pytest.approx(rb.mistake_bound(same, 4.0, 5.0))


def test_a_pipeline_has_the_bound_of_its_last_step():
    pipeline = rb.StandardScaler() | rb.ForgetronClassifier(100)
    assert rb.mistake_bound(pipeline, 1.0, 5.0) == 22.0


@pytest.mark.parametrize(
    ("model", "norm", "losses", "message"),
    [
        (rb.KernelPerceptronClassifier(budget=10), 1.0, 0.0, "budget=None"),
        (rb.ProjectronClassifier(10), 1.0, 0.0, "budget=None"),
        (rb.BSGDClassifier(), 1.0, 0.0, "BSGDClassifier has no mistake bound"),
        (rb.ForgetronClassifier(classes=("a", "b", "c")), 1.0, 0.0, "two classes, not for 3"),
        (PERCEPTRON, -1.0, 0.0, "norm must be a number of at least 0"),
        (PERCEPTRON, math.nan, 0.0, "norm must be"),
        (PERCEPTRON, 1.0, [1.0, math.nan], "the sum of losses must be"),
    ],
)
def test_what_has_no_bound_says_why(model, norm, losses, message):
    with pytest.raises(ValueError, match=message):
        rb.mistake_bound(model, norm, losses)


def stream(n, seed, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] * X[:, 1] > 0
    return X[abs(X[:, 0] * X[:, 1]) > 0.2], (y ^ (rng.random(n) < noise))[
        abs(X[:, 0] * X[:, 1]) > 0.2
    ]


def competitors(X, y):
    """(norm, sum of hinge losses) of ridge solutions and multiples of them."""
    K, signs = rbf(1.0)(X, X), np.where(y, 1.0, -1.0)
    for ridge in (0.01, 1.0, 100.0):
        a = np.linalg.solve(K + ridge * np.eye(len(K)), signs)
        for factor in (0.3, 1.0, 3.0):
            g = factor * K @ a
            yield factor * math.sqrt(a @ K @ a), np.maximum(0.0, 1.0 - signs * g).sum()


MODELS = [
    rb.KernelPerceptronClassifier(RBF(1.0)),
    rb.ForgetronClassifier(300, RBF(1.0)),
    rb.RBPClassifier(300, RBF(1.0), seed=1),
    rb.ProjectronClassifier(None, RBF(1.0), threshold=0.001),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_no_algorithm_errs_more_often_than_its_bound(model, noise):
    for seed in range(3):
        X, y = stream(500, seed, noise)
        wrong = np.sum(model.clone({"classes": (False, True)}).predict_then_learn_many(X, y) != y)
        bounds = [rb.mistake_bound(model, *g) for g in competitors(X, y)]
        assert wrong <= min(bounds)
        assert min(bounds) < math.inf


def test_the_perceptron_reaches_its_bound_on_distant_examples():
    """Kernel values are nearly 0, and those of neighbours mislead, so every example is a mistake
    once: |g|^2 of them.
    """
    X = 20.0 * np.arange(50.0)[:, None]  # exp(-400) is not 0, of which a model would warn
    y = np.arange(50) % 2 == 1
    model = rb.KernelPerceptronClassifier(RBF(1.0), classes=(False, True))
    wrong = sum(np.sum(model.predict_then_learn_many(X, y) != y) for _ in range(3))
    assert wrong == 50 == round(rb.mistake_bound(model, math.sqrt(50.0), 0.0))

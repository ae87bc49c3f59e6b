"""Losses of one's own: gradient descent on them, with every rule that keeps a budget."""

from __future__ import annotations

import numpy as np
import pytest

import river_budget as rb
from river_budget import extending as ext

K = rb.kernels.RBF(1.0)


@ext.compiled
def pinball(f, y, state):
    """The loss of a quantile: f is above y in a share `quantile` of all examples."""
    side = state.quantile if y > f else state.quantile - 1.0
    return side * (y - f), -side


@ext.compiled
def logistic(f, y):
    return np.log1p(np.exp(-y * f)), -y / (1.0 + np.exp(y * f))


@ext.compiled
def keeping_two_oldest(m, state):
    """A rule of one's own: remove the last but one."""
    ext.remove(m, m.head[0].count - 2)


def quantiles(rule):
    class QuantileRegressor(ext.Regressor):
        algorithm = ext.algorithm(ext.descent_on(pinball), "learning_rate l2 quantile", rule)
        quantile = ext.Mutable(ext.share)

        def __init__(self, budget=80, kernel=K, learning_rate=0.1, l2=1e-4, quantile: float = 0.5):
            super().__init__(locals())

    return QuantileRegressor


class LogisticClassifier(ext.Classifier):
    algorithm = ext.algorithm(
        ext.descent_on(logistic), "learning_rate l2", ext.remove_oldest, binary=True
    )

    def __init__(self, budget=50, kernel=K, learning_rate=0.5, l2=0.01, classes=None):
        super().__init__(locals())


def targets(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 1))
    return X, np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_the_pinball_loss_finds_its_quantile(quantile):
    model = quantiles(ext.merge_pair)(quantile=quantile)
    model.learn_many(*targets(5000))
    X, y = targets(2000, 1)
    assert np.mean(y < model.predict_many(X)) == pytest.approx(quantile, abs=0.05)


def test_the_steps_are_those_of_the_loss():
    """Gradient descent written out in numpy."""
    X, y = targets(60)
    model = quantiles(ext.remove_oldest)(budget=20, quantile=0.8)
    V, a = np.zeros((0, 1)), np.zeros(0)
    for x, target in zip(X, y, strict=True):
        f = float(np.exp(-np.sum((V - x) ** 2, axis=1)) @ a)
        assert model.predict_one(dict(enumerate(x))) == pytest.approx(f, abs=1e-12)
        model.learn_one(dict(enumerate(x)), target)
        step = 0.1 * (0.8 if target > f else -0.2)
        V, a = np.vstack([V, x])[-20:], np.append((1.0 - 0.1 * 1e-4) * a, step)[-20:]


def test_a_rule_of_ones_own():
    model = quantiles(keeping_two_oldest)(budget=5)
    model.learn_many(*targets(100))
    arrivals = [vector["arrival"] for vector in model.support_vectors()]
    assert arrivals == [0, 1, 2, 3, 99]


def test_a_loss_of_the_margin_separates_two_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = X[:, 0] * X[:, 1] > 0.0
    model = LogisticClassifier()
    assert np.mean(model.predict_then_learn_many(X, y)[500:] == y[500:]) > 0.8
    with pytest.raises(ValueError, match="third"):
        model.learn_one({0: 1.0}, "third")


def test_a_loss_of_f_alone_is_not_for_several_classes():
    class Several(ext.Classifier):
        algorithm = ext.algorithm(ext.descent_on(logistic), "learning_rate l2", ext.remove_oldest)

        def __init__(self, budget=50, kernel=K, learning_rate=0.5, l2=0.01, classes=None):
            super().__init__(locals())

    model = Several(classes=("a", "b", "c"))
    with pytest.raises(RuntimeError, match=r"binary=True"):
        model.learn_one({0: 1.0}, "a")

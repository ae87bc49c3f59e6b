"""Scores of several examples at a time are those of one after the other, to the last bit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import river_budget as rb
from river_budget.kernels import RBF, Laplacian, Linear, Normalised, Polynomial
from river_budget.maintenance import RemoveOldest

ALL = [RBF(0.3), RBF(1e-9), RBF(1e5), Laplacian(0.2), Polynomial(3), Normalised(Polynomial(2))]
ALL += [Linear(), Normalised(Linear())]


def one_by_one(model, X):
    return np.array([model.predict_one(dict(enumerate(x))) for x in X.tolist()])


def taught(kernel, d, budget, n=300, far=0.0):
    rng = np.random.default_rng(d + budget)
    model = rb.BSGDRegressor(budget, kernel, maintenance=RemoveOldest())
    with warnings.catch_warnings():  # some kernels do not suit
        warnings.simplefilter("ignore", rb.StreamWarning)
        model.learn_many(far + rng.normal(size=(n, d)), rng.normal(size=n))
    return model, rng


@pytest.mark.parametrize("kernel", ALL, ids=repr)
@pytest.mark.parametrize("budget", [1, 7, 8, 33, 70, 104, 131])
def test_examples_at_a_time_score_as_alone(kernel, budget):
    model, rng = taught(kernel, 5, budget)
    X = rng.normal(size=(11, 5))
    X[5, 2] = 0.0  # one that lacks a feature stands among the others
    expected = one_by_one(model, X)

    for n in range(1, 12):
        assert (model.predict_many(X[:n]) == expected[:n]).all()
        assert (model.predict_many(X[n - 1 :]) == expected[n - 1 :]).all()


@pytest.mark.parametrize("d", [1, 2, 21, 64])
def test_examples_of_any_width_score_as_alone(d):
    model, rng = taught(RBF(1.0 / d), d, 100)
    X = rng.normal(size=(50, d))

    assert (model.predict_many(X) == one_by_one(model, X)).all()


def test_lengths_at_which_distances_are_differences():
    """Far from the origin, but near the vectors, distances must not come from products; nor for one among others."""
    model, rng = taught(RBF(0.5), 3, 50, far=1e5)
    X = rng.normal(size=(12, 3))
    X[4:] += 1e5
    X[9] = 1.0
    X[11] *= 1e155
    scores = model.predict_many(X)

    assert (scores == one_by_one(model, X)).all()
    assert (scores[4:9] != 0.0).all()


@pytest.mark.parametrize("bad", range(9))
def test_an_example_with_a_gap_scores_as_alone(bad):
    model, rng = taught(RBF(0.5), 3, 50)
    X = rng.normal(size=(9, 3))
    X[bad, 1] = np.nan

    assert (model.predict_many(X) == one_by_one(model, X)).all()

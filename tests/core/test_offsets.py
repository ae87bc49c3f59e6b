"""Features with a large common part: timestamps, prices, coordinates. Distances keep their
digits.
"""

from __future__ import annotations

import numpy as np
import pytest

import river_budget as rb
from river_budget.core.expansion.kernels import CANCELS
from river_budget.core.memory import views
from river_budget.kernels import RBF, Laplacian
from river_budget.maintenance import Merge, Project, RemoveOldest

OFFSETS = [0.0, 1e3, 1e6, 1e9]
N = 400


def exact(model, X):
    """The scores by differences of the vectors as they are stored."""
    block = views(model._block)
    n = int(block.head.count)
    apart = X[:, np.newaxis, :] - block.vectors[: X.shape[1], :n].T
    laplacian = isinstance(model.kernel, Laplacian)
    far = np.abs(apart).sum(axis=2) if laplacian else (apart**2).sum(axis=2)
    return np.exp(-model.kernel.gamma * far) @ (block.head.scale * block.coefficients[0, :n])


def data(offset, seed=0):
    base = np.random.default_rng(seed).normal(size=(N, 4))
    return base + offset, np.sin(3.0 * base[:, 0]) * base[:, 1] > 0.0


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("kernel", [RBF(0.5), Laplacian(0.5)], ids=repr)
@pytest.mark.parametrize("maintenance", [RemoveOldest(), Project(), Merge(), Merge(4)], ids=repr)
def test_scores_have_all_their_digits_at_any_offset(maintenance, kernel, offset):
    if maintenance.needs_rbf and not isinstance(kernel, RBF):
        kernel = RBF(1.5)
    X, y = data(offset)
    model = rb.BSGDClassifier(30, kernel, maintenance)
    model.learn_many(X, y)
    expected = exact(model, X[:50])
    found = [model.decision_function_one(dict(enumerate(row))) for row in X[:50].tolist()]
    assert np.ptp(expected) > 0.1
    assert np.max(np.abs(expected - found)) < 1e-9


@pytest.mark.parametrize("offset", [1e6, 1e9])
@pytest.mark.parametrize(
    "model",
    [
        rb.KernelPerceptronClassifier(RBF(0.5)),
        rb.BSGDClassifier(20, RBF(0.5), Merge(), average=True),
        rb.SBPClassifier(40, RBF(0.5), seed=1),
        rb.BPAClassifier(20, RBF(0.5), update="projection"),
        rb.NOGDClassifier(20, RBF(0.5)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_shift_that_loses_no_digit_changes_no_prediction(model, offset):
    """Of features that are multiples of 2^-20, so that sums with the offset are exact."""
    X, y = data(0.0)
    X = np.round(X * 2.0**20) / 2.0**20
    here, there = model.clone(), model.clone()
    found = here.predict_then_learn_many(X, y), there.predict_then_learn_many(X + offset, y)
    assert np.mean(found[0] != found[1]) < 0.02  # what is merged is rounded to the digits there are


def test_near_the_threshold_both_ways_agree():
    """Norms from a tenth to ten times that from which differences are taken."""
    rng = np.random.default_rng(0)
    for factor in np.geomspace(0.1, 10.0, 9):
        X = rng.normal(size=(200, 3)) + np.sqrt(factor * CANCELS / 3.0)
        model = rb.KernelOGDClassifier(RBF(1.0))
        model.learn_many(X, X[:, 0] > X[:, 1])
        assert np.max(np.abs(exact(model, X) - model._score_rows(X)[:, 0])) < 1e-9


def test_an_example_with_unknown_features_is_as_far_as_it_is():
    model = rb.KernelOGDClassifier(RBF(0.5), learning_rate=1.0)
    model.learn_one({"a": 1e9}, True)
    near = model.decision_function_one({"a": 1e9, "b": 1.0})
    far = model.decision_function_one({"a": 1e9, "b": 100.0})
    assert near == pytest.approx(np.exp(-0.5))
    assert far == 0.0

"""The mean of the iterates: what it is, what maintenance does to it, and that the last iterate is
left alone.
"""

from __future__ import annotations

import numpy as np
import pytest
from inside import plain
from oracles.averages import Mean
from replayed_cases import CASES, REGRESSION, pair, pair_of_waves
from replaying import (
    assert_close,
    assert_same,
    reference,
    run,
    run_reference,
    run_regression,
    some_weights,
)
from streams import emerging, names, smooth

import river_budget as rb
from river_budget.core.memory import views
from river_budget.kernels import RBF
from river_budget.maintenance import Merge, Project, RemoveOldest

KERNEL = RBF(0.5)
NAMES = ["Perceptron", "OGD", "BSGD", "NOGD", "FOGD"]


def pair_of(name, task, order):
    """A model without a mean, and its reference; `order` lists the features as they appear."""
    binary = task == "binary"
    if name == "FOGD":
        kind = rb.FOGDClassifier if binary else rb.FOGDRegressor
        clip = {} if binary else {"clip": 0.5, "max_error": 0.5}
        return pair_of_waves(kind, task, KERNEL, order, n=30, **clip)
    if name == "BSGD":
        kind = rb.BSGDClassifier if binary else rb.BSGDRegressor
        steps = {"l2": 1e-2, "learning_rate": 0.6 if binary else 0.2}
        return kind(20, KERNEL, RemoveOldest(), **steps), reference(
            "oldest", 20, KERNEL, task, **steps
        )
    return pair((CASES if binary else REGRESSION)[name], task, KERNEL)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("average", [True, 40])
def test_the_mean_is_replayed_while_features_and_classes_appear(name, average):
    stream = emerging(300, seed=3)
    model, oracle = pair_of(name, "binary", names(stream))
    mean, weights = Mean(oracle, None if average is True else average), some_weights(stream)
    expected = run_reference(mean, stream, weights=weights)
    assert_same(run(model.clone({"average": average}), stream, weights), expected)


@pytest.mark.parametrize("name", NAMES[1:])
def test_the_mean_is_replayed_in_regression(name):
    stream = smooth(300, seed=3)
    model, oracle = pair_of(name, "regression", names(stream))
    weights = some_weights(stream)
    expected = run_regression(Mean(oracle), stream, weights)
    _, scores = run(model.clone({"average": True}), stream, weights)
    assert_close(scores[:, 0], expected)


@pytest.mark.parametrize("maintenance", [None, Merge(), Merge(3), Project()], ids=repr)
def test_the_last_iterate_is_that_of_a_model_without_a_mean(maintenance):
    stream = emerging(300, seed=4)
    for name in ["BSGD"] if maintenance else NAMES:
        model, _ = pair_of(name, "binary", names(stream))
        if maintenance:
            model = model.clone({"maintenance": maintenance})
        averaged = model.clone({"average": True})
        for x, y in stream:
            model.learn_one(x, y)
            averaged.learn_one(x, y)
        assert averaged._state_record().averaged == len(stream)
        for x, _ in stream[:20]:
            assert averaged.last_iterate_one(x) == model.decision_function_one(x)


def means(model):
    """{arrival: (vector, coefficients of the mean)}"""
    block, n = views(model._block), model.n_support_vectors
    rows, table = block.vectors[:, :n].T, model._mean_rows()[:, :n].T
    return {
        int(a): (x.copy(), c.copy())
        for a, x, c in zip(block.arrivals[:n], rows, table, strict=True)
    }


def test_merging_projects_the_mean_on_the_new_vector():
    model = rb.BSGDClassifier(20, KERNEL, Merge(), average=True)
    for x, y in emerging(200, seed=5):
        model.learn_one(x, y)
    before = means(model)
    model.budget = 19
    after = means(model)
    (new,) = after.keys() - before.keys()
    z, merged = after[new]
    expected = sum(
        np.exp(-0.5 * np.sum((before[a][0] - z) ** 2)) * before[a][1]
        for a in before.keys() - after.keys()
    )
    np.testing.assert_allclose(merged, expected, rtol=0, atol=1e-9)
    for a in after.keys() & before.keys():
        np.testing.assert_array_equal(after[a][1], before[a][1])


def test_projection_leaves_the_mean_as_it_is_on_the_support():
    model = rb.BSGDClassifier(20, KERNEL, Project(), average=True)
    stream = emerging(200, seed=5)
    for x, y in stream:
        model.learn_one(x, y)
    before = means(model)
    stacked = np.array([x for x, _ in before.values()])
    old = np.array([c for _, c in before.values()])
    model.budget = 12
    after = means(model)
    X, new = (np.array([pair[i] for pair in after.values()]) for i in (0, 1))
    k = plain(KERNEL)
    np.testing.assert_allclose(k(X, X) @ new, k(X, stacked) @ old, rtol=0, atol=1e-6)

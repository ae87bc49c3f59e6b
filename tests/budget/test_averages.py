"""The mean of the iterates: what it is, what maintenance does to it, and that the last iterate is left alone."""

from __future__ import annotations

import numpy as np
import pytest
from inside import plain
from oracles.averages import Mean
from oracles.budgeted_sgd import BudgetedSGD
from oracles.nystroem import NOGD
from oracles.perceptrons import KernelOGD, KernelPerceptron
from oracles.random_features import FOGD
from replaying import (
    CLOSE,
    assert_close,
    assert_same,
    plain_frequencies,
    run,
    run_reference,
    some_weights,
)
from replaying import run_regression as reference_of_regression
from streams import emerging, names, smooth

import river_budget as rb
from river_budget.core.block.blocks import views
from river_budget.kernels import RBF
from river_budget.maintenance import Merge, Project, RemoveOldest

KERNEL = RBF(0.5)
SEED = 7


def waves(order, n):
    return lambda place: plain_frequencies(order[place], KERNEL, n)


def classifiers(order):
    k = plain(KERNEL)
    yield "Perceptron", rb.KernelPerceptronClassifier(KERNEL), KernelPerceptron(k, "binary")
    yield "OGD", rb.KernelOGDClassifier(KERNEL, 0.3), KernelOGD(k, "binary", 1, 0.3)
    sgd = rb.BSGDClassifier(20, KERNEL, RemoveOldest(), l2=1e-2, learning_rate=0.6)
    yield "BSGD", sgd, BudgetedSGD(k, "binary", 1, 20, "oldest", 1e-2, learning_rate=0.6)
    yield (
        "NOGD",
        rb.NOGDClassifier(20, KERNEL, None, 0.5),
        NOGD(k, "binary", learning_rate=0.5, budget=20),
    )
    fogd = FOGD(None, "binary", 1, 0.8, n_components=30, frequencies=waves(order, 30))
    yield "FOGD", rb.FOGDClassifier(30, KERNEL, 0.8, seed=SEED), fogd


def regressors(order):
    k = plain(KERNEL)
    yield "OGD", rb.KernelOGDRegressor(KERNEL, 0.3), KernelOGD(k, "regression", 1, 0.3)
    sgd = rb.BSGDRegressor(20, KERNEL, RemoveOldest(), l2=1e-2, learning_rate=0.2)
    yield "BSGD", sgd, BudgetedSGD(k, "regression", 1, 20, "oldest", 1e-2, learning_rate=0.2)
    yield "NOGD", rb.NOGDRegressor(20, KERNEL), NOGD(k, "regression", 1, 0.28, clip=1.0, budget=20)
    fogd = FOGD(
        None, "regression", 1, 0.29, clip=1.0, n_components=30, frequencies=waves(order, 30)
    )
    yield "FOGD", rb.FOGDRegressor(30, KERNEL, seed=SEED), fogd


NAMES = ["Perceptron", "OGD", "BSGD", "NOGD", "FOGD"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("average", [True, 40])
def test_the_mean_is_replayed_while_features_and_classes_appear(name, average):
    stream = emerging(300, seed=3)
    model, oracle = {n: (m, o) for n, m, o in classifiers(names(stream))}[name]
    model, mean = (
        model.clone({"average": average}),
        Mean(oracle, None if average is True else average),
    )
    weights = some_weights(stream)
    expected = run_reference(mean, stream, weights=weights)
    assert_same(run(model, stream, weights), expected, CLOSE)


@pytest.mark.parametrize("name", NAMES[1:])
def test_the_mean_is_replayed_in_regression(name):
    stream = smooth(300, seed=3)
    model, oracle = {n: (m, o) for n, m, o in regressors(names(stream))}[name]
    weights = some_weights(stream)
    expected = reference_of_regression(Mean(oracle), stream, weights)
    _, scores = run(model.clone({"average": True}), stream, weights)
    assert_close(scores[:, 0], expected, CLOSE)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("maintenance", [Merge(), Merge(3), Project()], ids=repr)
def test_the_last_iterate_is_that_of_a_model_without_a_mean(name, maintenance):
    stream = emerging(300, seed=4)
    model = {n: m for n, m, _ in classifiers(names(stream))}[name]
    if name == "BSGD":
        model = model.clone({"maintenance": maintenance})
    averaged = model.clone({"average": True})
    for x, y in stream:
        model.learn_one(x, y)
        averaged.learn_one(x, y)
    assert averaged.averaged == len(stream)
    for x, _ in stream[:20]:
        assert averaged.last_iterate_one(x) == model.decision_function_one(x)


def means(model):
    """{arrival: (vector, coefficients of the mean)}"""
    block, n = views(model.block), model.n_support_vectors
    rows, table = block.vectors[:, :n].T, model.mean_rows()[:, :n].T
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


@pytest.mark.parametrize("value", [0, 1, 1.0, -5, "yes", None, float("nan")])
def test_what_is_no_horizon_is_refused(value):
    with pytest.raises(ValueError, match="average"):
        rb.BSGDClassifier(average=value)

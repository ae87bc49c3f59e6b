"""Projection on the support: the maintained factor, what it projects, and duplicates."""

from __future__ import annotations

import numpy as np
import pytest
from inside import error_of_factor, holding, maintained, plain, squared_length, support
from models import POSITIVE
from oracles.budgeted_sgd import BudgetedSGD
from river import datasets, metrics, preprocessing
from streams import PEGASOS

import river_budget as rb
from river_budget.core.budget.projection import TINY
from river_budget.kernels import RBF, Linear
from river_budget.maintenance import Project

CLOSE = 1e-6
KERNEL = RBF(0.5)


def stream(n, n_features, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, n_features))
    return rows, rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=n) > 0.0


def largest_deviation(model, rows, labels):
    """Over a stream, looked at every 50 examples."""
    found = []
    for start in range(0, len(rows), 50):
        model.learn_many(rows[start : start + 50], labels[start : start + 50])
        found.append(error_of_factor(model))
    return max(found)


# The factor.


@pytest.mark.parametrize("kernel", POSITIVE, ids=repr)
def test_the_factor_survives_thousands_of_changes(kernel):
    model = rb.BSGDClassifier(25, kernel, Project(), **PEGASOS)
    assert largest_deviation(model, *stream(4000, 8)) < CLOSE


def test_the_factor_survives_a_crowded_plane():
    """Few features and a smooth kernel: every vector is nearly a combination of the others."""
    model = rb.BSGDClassifier(25, KERNEL, Project(), **PEGASOS)
    assert largest_deviation(model, *stream(2000, 2)) < 1e-3


def test_the_factor_survives_new_features_and_a_smaller_budget():
    rows, labels = stream(300, 8)
    model = rb.BSGDClassifier(30, KERNEL, Project(), **PEGASOS)
    model.learn_many(rows[:150, :4], labels[:150])
    model.learn_many(rows[150:], labels[150:])
    model.budget = 12
    assert model.n_support_vectors == 12
    assert error_of_factor(model) < CLOSE


# What leaves.


@pytest.mark.parametrize("outputs", [1, 3])
def test_what_projection_loses_is_orthogonal_to_the_support(outputs):
    rng = np.random.default_rng(outputs)
    X, A = rng.normal(size=(20, 3)), rng.normal(size=(20, outputs))
    A[6] *= 0.1
    left, coefficients, arrivals = support(maintained(X, A, Project(), KERNEL))
    k = plain(KERNEL)
    assert 6 not in arrivals
    np.testing.assert_allclose(k(left, left) @ coefficients, k(left, X) @ A, rtol=0, atol=1e-9)


# Duplicates.


def test_a_duplicate_adds_to_the_coefficient_of_its_twin():
    rng = np.random.default_rng(2)
    X, A = rng.normal(size=(10, 3)), 1e-3 * rng.normal(size=(10, 1))
    model = holding(X, A, Project(), KERNEL)
    model.mutate(PEGASOS)
    model._state_record().rounds = 99.0

    model.learn_one(dict(enumerate(X[4].tolist())), 1)

    expected = 0.99 * A
    expected[4] += 1.0 / (1e-4 * 100.0)
    expected *= min(1.0, 100.0 / np.sqrt(squared_length(X, expected, KERNEL)))
    _, computed, _ = support(model)
    np.testing.assert_allclose(computed, expected, rtol=0, atol=1e-6)


def nearly_on_a_line(kernel):
    """Three points of which the last is just outside the span of the others, and the middle one
    then inside.
    """
    for h in np.geomspace(1e-3, 1e-1, 400):
        X = np.array([[0.0], [h], [2.0 * h]])
        K = plain(kernel)(X, X)
        newcomer, middle = (1.0 / np.linalg.inv(K)[i, i] for i in (2, 1))
        second = K[1, 1] - K[0, 1] ** 2 / K[0, 0]
        if newcomer > 2.0 * TINY and second > 10.0 * TINY:
            assert middle < 0.6 * TINY
            return X[:, 0].tolist()
    raise AssertionError("no such points")


@pytest.mark.parametrize(
    "model",
    [
        rb.BSGDClassifier(20, KERNEL, Project()),
        rb.BPAClassifier(20, KERNEL, update="projection"),
        rb.KernelOneClassSVM(0.9, 20, KERNEL, Project()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_old_vector_that_a_newcomer_makes_dependent_is_projected_out(model):
    model, points = model.clone(), nearly_on_a_line(KERNEL)
    for t, value in enumerate(points):
        x = {"a": value}
        if isinstance(model, rb.KernelOneClassSVM):
            if t:
                model._state_record().level = 1e3  # everything is strange
            model.learn_one(x)
        else:
            model.learn_one(x, t != 1)
        if t == 1:
            assert model.n_support_vectors == 2
    assert support(model).X[:, 0].tolist() == [points[0], points[2]]


def with_duplicates(n, apart, seed=0):
    """Examples drawn from 40 places, moved by about `apart`; a tenth of the labels is noise."""
    rng = np.random.default_rng(seed)
    places, labels = rng.normal(size=(40, 4)), rng.random(40) < 0.5
    drawn = rng.integers(40, size=n)
    rows = places[drawn] + apart * rng.normal(size=(n, 4))
    return rows, labels[drawn] ^ (rng.random(n) < 0.1)


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-7])
def test_duplicates_leave_the_scores_of_the_reference(apart):
    rows, labels = with_duplicates(400, apart)
    oracle = BudgetedSGD(plain(KERNEL), "binary", 1, 20, "project", 1e-4, min_residual=TINY)
    signs = np.where(labels, 1, -1)
    expected = np.array([oracle.step(x, y)[0] for x, y in zip(rows, signs, strict=True)])

    model = rb.BSGDClassifier(20, KERNEL, Project(), classes=(False, True), **PEGASOS)
    computed = []
    for x, y in zip(rows.tolist(), labels.tolist(), strict=True):
        x = dict(enumerate(x))
        computed.append(model.decision_function_one(x))
        model.learn_one(x, y)

    atol = CLOSE * np.abs(expected).max()
    np.testing.assert_allclose(computed, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("apart", [0.0, 1e-7, 1e-5, 1e-4, 1e-3])
def test_thousands_of_near_duplicates_leave_the_model_sane(apart):
    rows, labels = with_duplicates(3000, apart)
    model = rb.BSGDClassifier(20, KERNEL, Project(), **PEGASOS)
    predictions = model.predict_then_learn_many(rows, labels)
    assert np.isfinite(model._score_rows(rows)).all()
    assert model._state_record().norm2 <= 1e4 * (1.0 + 1e-9)
    assert np.mean(predictions == labels) > 0.6


def test_the_projectron_does_not_blow_up_in_regression():
    """Old vectors that newcomers made dependent were kept, and coefficients grew to 1e7."""
    model = rb.ProjectronRegressor(100, RBF(), threshold=0.0, learning_rate=0.1)
    pipeline = preprocessing.TargetStandardScaler(preprocessing.StandardScaler() | model)
    error = metrics.MAE()
    for x, y in datasets.ChickWeights():
        error.update(y, pipeline.predict_one(x))
        pipeline.learn_one(x, y)
    inner = pipeline.regressor["ProjectronRegressor"]
    assert error.get() < 21.6
    assert inner._n_repairs == 0
    assert np.abs(inner._coefficient_columns()).max() < 1e5
    assert inner._squared_length() < 20.0


@pytest.mark.parametrize(
    "model",
    [
        rb.BSGDClassifier(100, Linear(), Project()),
        rb.BSGDClassifier(5, Linear(), Project()),
        rb.BPAClassifier(100, Linear(), update="projection"),
        rb.ProjectronClassifier(100, Linear()),
        rb.ProjectronPPClassifier(100, Linear()),
        rb.KernelPerceptronClassifier(Linear(), budget=8, maintenance=Project()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_support_without_full_rank_needs_no_repairs(model):
    pipeline = preprocessing.StandardScaler() | model.clone()
    for x, y in datasets.Phishing():
        pipeline.learn_one(x, y)
    inner = pipeline[type(model).__name__]
    assert inner._n_repairs == 0
    assert inner.n_support_vectors <= 9

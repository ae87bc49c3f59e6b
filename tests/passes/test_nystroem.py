"""Nyström features: what the map is, and what happens when NOGD freezes its support."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from inside import plain
from models import POSITIVE, learn, scores
from oracles.nystroem import NOGD
from replaying import assert_close, assert_same, run, run_reference, run_regression
from streams import LABELS, emerging, smooth

import river_budget as rb
from river_budget.core.passes.features.nystroem import LINEAR
from river_budget.kernels import RBF, Linear


def rows(n, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


# the map


@pytest.mark.parametrize("kernel", POSITIVE, ids=repr)
def test_the_map_gives_the_kernel_back_on_its_landmarks(kernel):
    X = rows(25)
    model = rb.Nystroem(25, kernel=kernel, scale=1.0)
    model.learn_many(X)
    Z = model.transform_many(X)
    np.testing.assert_allclose(Z @ Z.T, plain(kernel)(X, X), rtol=1e-6, atol=1e-6)


def test_the_map_is_the_best_of_its_rank():
    X, probes = rows(30), rows(10, seed=1)
    model = rb.Nystroem(30, rank=8, kernel=RBF(0.3), scale=1.0)
    model.learn_many(X)
    values, vectors = np.linalg.eigh(plain(RBF(0.3))(X, X))
    M = (vectors[:, -8:] / np.sqrt(values[-8:])).T
    expected = plain(RBF(0.3))(probes, X) @ M.T @ M @ plain(RBF(0.3))(X, probes)
    Z = model.transform_many(probes)
    assert Z.shape == (10, 8)
    np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-10)


def test_nothing_comes_out_before_the_landmarks_are_there_and_nothing_changes_after():
    X = rows(40)
    stream = [dict(enumerate(x)) for x in X.tolist()]
    model = rb.Nystroem(10, rank=10, kernel=RBF(0.3))
    for x in stream[:9]:
        model.learn_one(x)
        assert model.transform_one(x) == {}
        model.learn_one(stream[0])  # seen before: no landmark
    model.learn_one(stream[9])
    before = model.transform_many(X)
    assert list(model.transform_one(stream[0])) == [f"nystroem_{j}" for j in range(10)]
    for x in stream[10:]:
        model.learn_one(x | {"new": 1.0})
    assert (model.transform_many(X) == before).all()


def test_with_all_directions_each_landmark_brings_a_feature_that_stays_as_it_is():
    X = rows(40)
    model, before = rb.Nystroem(10, kernel=RBF(0.3), scale=2.0), np.zeros((40, 0))
    for x in [dict(enumerate(x)) for x in X[:12].tolist()]:
        model.learn_one(x)
        model.learn_one(x)  # seen before: no landmark
        Z = model.transform_many(X)
        assert Z.shape[1] == model.n_support_vectors
        np.testing.assert_array_equal(Z[:, : before.shape[1]], before)
        before = Z
    np.testing.assert_allclose(Z[:10] @ Z.T, 4.0 * plain(RBF(0.3))(X[:10], X), rtol=1e-9, atol=1e-9)


def test_landmarks_that_others_span_bring_nothing():
    model = rb.Nystroem(6, kernel=Linear(), scale=1.0)
    X = rows(6)[:, :2]
    model.learn_many(X)
    Z = model.transform_many(X)
    assert (Z[:, 2:] == 0.0).all()
    np.testing.assert_allclose(Z @ Z.T, X @ X.T, atol=1e-9)


@pytest.mark.parametrize("at", [3, 7])
def test_a_smaller_budget_while_landmarks_come(at):
    X = rows(30)
    model = rb.Nystroem(10, kernel=RBF(0.3), scale=1.0)
    model.learn_many(X[:at])
    model.mutate({"budget": 5})
    model.learn_many(X)
    Z, kept = model.transform_many(X), [v["features"] for v in model.support_vectors()]
    landmarks = np.array([[v.get(i, 0.0) for i in range(X.shape[1])] for v in kept])
    K = plain(RBF(0.3))(X, landmarks)
    expected = K @ np.linalg.solve(plain(RBF(0.3))(landmarks, landmarks), K.T)
    np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-8)


def test_many_are_a_loop_of_one():
    X = rows(40)
    one, many, two = (rb.Nystroem(15, kernel=RBF(0.3)) for _ in range(3))
    for x in X.tolist():
        one.learn_one(dict(enumerate(x)))
    many.learn_many(X)
    two.learn_many(X[:7])
    two = pickle.loads(pickle.dumps(two))
    two.learn_many(X[7:])
    expected = [list(one.transform_one(dict(enumerate(x))).values()) for x in X.tolist()]
    assert (many.transform_many(X) == np.array(expected)).all()
    assert (two.transform_many(X) == np.array(expected)).all()


def test_the_landmarks_can_be_looked_at():
    model = rb.Nystroem(3)
    for i in range(5):
        model.learn_one({"a": float(i)})
    vectors = model.support_vectors()
    assert [vector["features"].get("a", 0.0) for vector in vectors] == [0.0, 1.0, 2.0]
    assert [vector["coefficients"] for vector in vectors] == [None] * 3


# NOGD: until the support is full


def stage(model):
    return model._state_record().stage


def test_any_cut_across_the_switch_gives_the_same_model():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 3))
    y = rng.random(120) < 0.5
    whole = rb.NOGDClassifier(25, RBF(0.5))
    expected = whole.predict_then_learn_many(X, y)
    for cut in range(20, 60, 3):
        model = rb.NOGDClassifier(25, RBF(0.5))
        first = model.predict_then_learn_many(X[:cut], y[:cut])
        model = pickle.loads(pickle.dumps(model))
        found = np.concatenate([first, model.predict_then_learn_many(X[cut:], y[cut:])])
        assert (found == expected).all()
        assert model.support_vectors() == whole.support_vectors()


# and after that


def frozen(**options):
    model = rb.NOGDClassifier(20, RBF(0.5), **options)
    learn(model, emerging(120))
    assert stage(model) == LINEAR
    return model


def test_a_larger_budget_comes_too_late_and_a_smaller_one_takes_effect():
    model, stream = frozen(), emerging(50, seed=1)
    before = scores(model, stream)
    model.mutate({"budget": 40})
    assert scores(model, stream) == before
    model.mutate({"budget": 8})
    assert model.n_support_vectors == 8
    learn(model, stream)
    assert (model.n_support_vectors, int(model._state_record().kept)) == (8, 2)


def test_budgets_may_change_between_the_basis_and_the_next_step():
    stream = emerging(60, seed=1)
    models = [frozen(), frozen()]
    for model, budgets in zip(models, ((8,), (8, 30, 12)), strict=True):
        for budget in budgets:
            model.mutate({"budget": budget})
        learn(model, stream)
    assert scores(models[0], stream) == scores(models[1], stream)


def test_a_smaller_budget_keeps_what_the_rest_spans():
    model = rb.NOGDRegressor(30, Linear(), learning_rate=0.01)
    stream = smooth(25, n_features=2)
    learn(model, stream)
    assert model.n_support_vectors > 10
    before = scores(model, stream)
    model.mutate({"budget": 4})  # two features: two vectors span all of it
    assert scores(model, stream) == pytest.approx(before, abs=1e-9)


def test_equal_vectors_leave_fewer_features():
    model = rb.NOGDRegressor(10, RBF(0.5), rank=10, learning_rate=1e-3)
    for t in range(40):
        model.learn_one({"a": float(t % 3)}, 5.0)
    assert (model.n_support_vectors, int(model._state_record().kept)) == (10, 3)
    assert np.isfinite(model.predict_one({"a": 1.0}))


@pytest.mark.parametrize("estimator", [rb.NOGDClassifier, rb.NOGDRegressor, rb.Nystroem])
def test_the_rank_is_at_most_the_budget(estimator):
    with pytest.raises(ValueError, match="rank=11 must be at most budget=10"):
        estimator(10, rank=11)
    model = estimator(20, rank=11)
    with pytest.raises(ValueError, match="rank=11 must be at most budget=10"):
        model.mutate({"budget": 10})
    assert model.budget == 20


@pytest.mark.parametrize("eta", [0.05, 1.0])
def test_a_linear_step_of_its_own_replays_its_reference(eta):
    stream = [(x, y == LABELS[0]) for x, y in emerging(400, seed=1)]
    options = {"rank": 8, "learning_rate": 0.2, "eta_linear": eta}
    model = rb.NOGDClassifier(15, RBF(0.5), **options, classes=(False, True))
    oracle = NOGD(plain(RBF(0.5)), "binary", budget=15, **options)
    expected = run_reference(oracle, stream, labels=(False, True))
    assert_same(run(model, stream), expected, 1e-8)
    before = model.decision_function_one(stream[0][0])
    model.mutate({"budget": 14})  # a new basis, and what was learned stays
    assert model.decision_function_one(stream[0][0]) == pytest.approx(before, abs=0.5)
    model.learn_one(*stream[0])
    assert abs(model.decision_function_one(stream[1][0])) > 0.0


def test_a_linear_step_of_its_own_in_regression():
    stream = smooth(300, seed=1)
    model = rb.NOGDRegressor(15, RBF(0.3), learning_rate=0.2, eta_linear=0.1, max_error=None)
    oracle = NOGD(plain(RBF(0.3)), "regression", budget=15, eta_linear=0.1)
    _, scores = run(model, stream)
    assert_close(scores[:, 0], run_regression(oracle, stream), 1e-8)

"""Batch rivals besides those of figure 2 of 2012: SMO without a bias, random waves, and
landmarks.
"""

from __future__ import annotations

import numpy as np
import pytest
from batch_problem import GAMMA, ascended, dual, gram, objective, problem, signs, split
from oracles.kernels import rbf
from papers.rivals import linear_on_features, released_forgetron, released_projectron, smo

import river_budget as rb
from river_budget.kernels import RBF


def solved(X, y, C):
    *_, (evaluations, coefficients) = smo.optimise(X, y, gamma=GAMMA, C=C)
    return evaluations, coefficients[:, 0]


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_smo_closes_the_duality_gap_within_its_bounds(C):
    X, y = problem()
    _, found = solved(X, y, C)
    l2 = 1 / (C * len(X))
    assert np.all((signs(y) * found >= 0.0) & (signs(y) * found <= C))
    assert -1e-9 < objective(found, X, y, l2) - dual(found, X, y, l2) < 1e-3


def test_smo_and_coordinate_ascent_find_the_same_machine():
    X, y = problem()
    _, found = solved(X, y, 1.0)
    assert gram(X) @ found == pytest.approx(gram(X) @ ascended(X, y, 1 / len(X)), abs=5e-3)


def test_a_row_of_the_kernel_matrix_counts_once():
    X, y = problem()
    evaluations, found = solved(X, y, 1.0)
    assert evaluations % len(X) == 0
    assert np.count_nonzero(found) <= evaluations // len(X) <= len(X)
    counts = [count for count, _ in smo.optimise(X, y, gamma=GAMMA, C=1.0)]
    assert counts == sorted(counts)


def test_more_waves_come_nearer_to_the_kernel_machine():
    data = split(n=150, n_test=400)
    points = linear_on_features.fourier_curve(data, gamma=GAMMA, C=1.0, most=64, seed=0)
    assert [point.evaluations for point in points] == [150 * 2**i for i in range(7)]
    (exact,) = smo.curve(data, gamma=GAMMA, C=1.0)[-1:]
    assert abs(points[-1].error - exact.error) < 0.05
    assert points[0].error > points[-1].error + 0.05


# Landmarks: the parts do what they say, and together they learn.


def rings(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    angles, radius = rng.uniform(0, 2 * np.pi, n), np.where(y, 1.0, 2.0)
    return (radius * [np.cos(angles), np.sin(angles)]).T + 0.1 * rng.normal(size=(n, 2)), y


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_linear_machine_comes_close_to_its_optimum(C, monkeypatch):
    monkeypatch.setattr(linear_on_features, "SVM_PASSES", 100)
    X, y = rings(200)
    F, signs = linear_on_features.kernel(X, X[:30], 0.5), np.where(y, 1.0, -1.0)

    def objective(w):
        return 0.5 * w @ w + C * np.maximum(0.0, 1.0 - signs * (F @ w)).sum()

    w = linear_on_features.linear_svm(F, signs, C, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    around = [w + 10.0**-k * rng.normal(size=len(w)) for k in (1, 2, 3) for _ in range(200)]
    assert objective(w) <= 1.01 * min(map(objective, around))


def test_it_learns_what_no_linear_model_can():
    split = (*rings(400), *rings(400, seed=1))
    options = {"gamma": 1.0, "C": 10.0, "landmarks": 20}
    point = linear_on_features.llsvm(split, **options, seed=0)
    assert point.error < 0.02
    assert linear_on_features.llsvm(split, **options, seed=0).error == point.error


# The Forgetron of the released program.


def released(X, y, budget, gamma):
    """The mistakes of forgetron.m for several classes, and the largest factor of a removal."""
    K, wrong, spent, stored, largest = rbf(gamma)(X, X), [], 0.0, [], 0.0
    w = np.zeros((len(X), y.max() + 1))
    for t, label in enumerate(y):
        f = K[t] @ w
        wrong.append(f.argmax() != label)
        if not wrong[-1]:
            continue
        rival = np.delete(np.arange(len(f)), label)[np.delete(f, label).argmax()]
        w[t, label], w[t, rival] = 1.0, -1.0
        stored.append(t)
        if len(stored) <= budget:
            continue
        r = stored.pop(0)
        delta, mu = abs(w[r, y[r]]), K[r] @ w[:, y[r]]
        a, b, c = delta**2 - 2 * delta * mu, 2 * delta, spent - 15 / 32 * sum(wrong)
        phi = 1.0 if a + b + c <= 0 else max(np.roots([a, b, c]).real)
        spent += a * phi**2 + b * phi
        w, largest = phi * w, max(largest, phi)
        w[r] = 0.0
    return wrong, largest


def test_the_released_forgetron_takes_the_larger_root():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 2))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3)
    wrong, largest = released(X, y, 15, 2.0)
    assert largest > 1.5
    model = released_forgetron.ReleasedForgetronClassifier(15, RBF(2.0), classes=(0, 1, 2))
    found = model.predict_then_learn_many(X, y)
    assert (found != y).tolist() == wrong
    by_rule = rb.ForgetronClassifier(15, RBF(2.0), classes=(0, 1, 2))
    assert (by_rule.predict_then_learn_many(X, y) != found).any()


def test_the_norm_and_losses_of_a_solution_are_its_own():
    X, y = problem()
    _, a = solved(X, y, 1.0)
    norm, losses = smo.norm_and_losses(X, y, gamma=GAMMA, C=1.0)
    assert norm == pytest.approx(np.sqrt(a @ gram(X) @ a))
    assert losses == pytest.approx(np.maximum(0.0, 1.0 - signs(y) * (gram(X) @ a)).sum())


# The Projectrons of the released programs.


def projected(X, y, budget, gamma, eager):
    """The mistakes of projectron.m and proplus.m for several classes, line by line, without
    repeated rows.
    """
    K, wrong, stored, alpha = rbf(gamma)(X, X), [], [], np.zeros((y.max() + 1, 0))
    inverse = np.zeros((0, 0))
    U = 0.25 * np.sqrt((budget + 1) / np.log(budget + 1))
    for t, label in enumerate(y):
        k = K[t, stored]
        V = alpha @ k
        wrong.append(V.argmax() != label)
        rival = np.delete(np.arange(len(V)), label)[np.delete(V, label).argmax()]
        loss = max(0.0, 1.0 - (V[label] - V[rival]))
        d = inverse @ k
        delta = 1.0 - k @ d
        if wrong[-1] and len(stored) < budget:
            alpha = np.c_[alpha, np.zeros(len(V))]
            alpha[label, -1], alpha[rival, -1] = 1.0, -1.0
            inverse = np.pad(inverse, (0, 1)) + np.outer([*d, -1.0], [*d, -1.0]) / delta
            stored.append(t)
            continue
        P = k @ inverse @ k
        tau = 1.0 if wrong[-1] else min(loss / P, 1.0) if P and eager else 0.0
        if wrong[-1] or tau * (2 * loss - tau * P - 2 * U * np.sqrt(delta)) >= 0.0:
            alpha[label] += tau * d
            alpha[rival] -= tau * d
    return wrong


RELEASED = {
    released_projectron.ReleasedProjectronClassifier: rb.ProjectronClassifier,
    released_projectron.ReleasedProjectronPPClassifier: rb.ProjectronPPClassifier,
}


@pytest.mark.parametrize("kind", RELEASED)
def test_the_released_projectrons_learn_as_their_programs(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3)
    model = kind(20, RBF(0.3), classes=(0, 1, 2))
    parts = [model.predict_then_learn_many(X[i : i + 200], y[i : i + 200]) for i in (0, 200, 400)]
    assert (np.concatenate(parts) != y).tolist() == projected(X, y, 20, 0.3, kind.eager)


@pytest.mark.parametrize("kind", RELEASED)
def test_without_repeated_rows_the_guard_changes_nothing(kind):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 3))
    y = X[:, 0] * X[:, 1] > 0
    found = kind(30, RBF(1.0)).predict_then_learn_many(X, y)
    guarded = RELEASED[kind](30, RBF(1.0), classes=(False, True)).predict_then_learn_many(X, y)
    assert (found == guarded).mean() > 0.99  # ties of the first rows are decided otherwise


@pytest.mark.parametrize("kind", RELEASED)
def test_a_repeated_row_spoils_the_inverse(kind):
    """The same row with both labels is stored twice: the distance to the span is 0 up to
    rounding.
    """
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    X = np.repeat(X, 2, axis=0)
    y = np.arange(80) % 2 == 0
    model = kind(60, RBF(0.3))
    model.predict_then_learn_many(X, y)
    worst = np.abs(model.memory.inverse).max()
    assert not worst < 1e12  # infinite, or not a number, where the distance is exactly 0

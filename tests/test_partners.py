"""Whom to merge with, where there are many: what rules partners out rules out none that could be the best."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from inside import maintained, support
from oracles.budgeted_sgd import best_merge, degradations, lightest

import river_budget as rb
from river_budget.core import shared
from river_budget.core.blocks import views
from river_budget.core.candidates import SLACK
from river_budget.core.codes import Need
from river_budget.core.estimates import LOSS, MN, NEAREST, TIGHT, S, rough_bound
from river_budget.core.layout import CROWD, SEARCH_ROWS
from river_budget.core.numba_types import f64_matrix
from river_budget.kernels import RBF
from river_budget.maintenance import Merge, RemoveOldest

ROUGH = 2e-3  # relative error of a bound, in float32; SLACK leaves room for it
BEST = 1.0 + 1e-9


@numba.njit
def bound(addresses, mm, n):
    rough_bound(f64_matrix(addresses[0], SEARCH_ROWS, n), mm, n)


def bounds_of(s, c, mm):
    """Of the degradation of a vector of squared length mm with partners at s that are c times as heavy."""
    search = np.zeros((SEARCH_ROWS, len(s)))
    search[S], search[MN] = s, mm * c
    bound(np.array([search.ctypes.data]), mm, len(s))
    return search[LOSS]


DISTANCES = np.concatenate([[0.0], np.geomspace(1e-6, 60.0, 46), [1.999, 2.001]])


@pytest.mark.parametrize("mm", [1e-12, 1.0, 1e8])
@pytest.mark.parametrize("c", [1.0, 1.01, 1.3, 2.0, 5.0, 30.0, 1e3, 1e6])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_bound_lies_below_the_degradation_and_not_far(mm, c, sign):
    width = 64
    s = np.resize(DISTANCES, width)
    best = np.array([best_merge(x, mm, mm * c * c, sign * mm * c)[1] for x in s])

    bounds = bounds_of(s, np.full(width, sign * c), mm)

    assert (bounds <= best * (1.0 + ROUGH)).all()
    if sign > 0.0:
        near = s < float(NEAREST)
        assert (best[near] <= TIGHT * bounds[near] * (1.0 + ROUGH)).all()
    assert ROUGH < SLACK - 1.0


def test_bounds_are_numbers_whatever_the_coefficients():
    s, c = np.meshgrid([0.0, 1e-300, 1e-9, 1.0, 1e9], [1.0, -1.0, 0.0, 1e200, -1e200, 1e30])
    for mm in (0.0, 1e-320, 1e-300, 1.0, 1e100):
        bounds = bounds_of(np.resize(s, 32), np.resize(c, 32), mm)
        assert np.isfinite(bounds).all()
        assert (bounds >= 0.0).all()


def crowd(kind, rng):
    """(X, A) of more vectors than a search looks at closely."""
    n = CROWD + 13
    X, A = rng.normal(size=(n, 3)), 10.0 ** rng.uniform(-1.0, 1.0, size=(n, 1))
    if kind == "both signs":
        A *= rng.choice([-1.0, 1.0], size=A.shape)
    elif kind == "the lightest is alone":
        A[A[:, 0].argmin()] *= -1.0
    elif kind == "equal":
        A[:] = 1.0
    elif kind == "twins":
        X[: n // 2] = X[n // 2 : 2 * (n // 2)]
    return X, A


KINDS = ["one sign", "both signs", "the lightest is alone", "equal", "twins"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 0.5, 3.0, 100.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_best_of_many_partners_is_found(kind, gamma, seed):
    X, A = crowd(kind, np.random.default_rng(seed))
    p = lightest(np.sum(A**2, axis=1))

    after = support(maintained(X, A, Merge(), RBF(gamma)))

    left = {tuple(x) for x in after.X.tolist()}
    gone = [i for i in range(len(X)) if tuple(X[i].tolist()) not in left]
    losses = degradations(A, X, gamma, p)
    if kind == "twins":  # which lose nothing
        assert losses.min() <= 1e-12 * A[p, 0] ** 2
        assert len(left) == len({tuple(x) for x in X.tolist()})
        return
    assert p in gone
    (q,) = set(gone) - {p}
    assert losses[q] <= losses.min() * BEST


def test_a_partner_of_the_other_sign_is_not_the_best_because_it_is_the_nearest():
    """It has the least bound, and loses 15 times as much as one behind it, which is heavy."""
    X, A = np.zeros((CROWD + 2, 2)), np.full((CROWD + 2, 1), 5.0)
    X[3:, 1] = np.arange(3, len(X))  # far away
    X[1, 0], X[2, 0] = 0.1, -np.sqrt(0.02)
    A[:3, 0] = 1.0, -1.01, -1000.0
    losses = degradations(A, X, 1.0, 0)
    assert losses.argmin() == 2
    assert losses[1] > 10.0 * losses[2]

    after = support(maintained(X, A, Merge(), RBF(1.0)))

    assert X[1].tolist() in after.X.tolist()
    assert X[2].tolist() not in after.X.tolist()


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("gamma", [0.02, 0.5, 5.0])
@pytest.mark.parametrize("regression", [False, True])
def test_it_makes_no_difference_to_the_last_bit(noise, gamma, regression, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 3))
    X[::50] = X[1::50]
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=len(X))
    shared.make_ready(Need.CROWD)
    (cell,) = (c for _, _, c in shared._functions[Need.CROWD])
    found = []
    for address in (cell.value, 0):  # as if it were not compiled
        monkeypatch.setattr(cell, "value", address)
        kind = rb.BSGDRegressor if regression else rb.BSGDClassifier
        model = kind(150, RBF(gamma))
        model.learn_many(X, y if regression else y > 0.0)
        found.append(support(model))
        monkeypatch.undo()
    assert len(found[0].X) == 150
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_who_merges_many_needs_it_and_nobody_else():
    def needs(model):
        model.learn_one({"a": 1.0}, True)
        return bool(views(model.block).head.needs & Need.CROWD)

    assert needs(rb.BSGDClassifier(CROWD, RBF(1.0)))
    assert not needs(rb.BSGDClassifier(100, RBF(1.0)))
    assert not needs(rb.BSGDClassifier(CROWD, RBF(1.0), RemoveOldest()))
    growing = rb.BSGDClassifier(100, RBF(1.0))
    assert not needs(growing)
    growing.budget = 2 * CROWD
    assert needs(growing)

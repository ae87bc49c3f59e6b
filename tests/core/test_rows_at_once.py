"""Many rows at once are one row after the other, to the last bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from models import MODELS, content, variant
from river import base

import river_budget as rb
from river_budget.maintenance import Merge

D, BUDGET, N = 130, 45, 330  # more examples than the budget
NARROW = rb.kernels.RBF(0.5)
OF_EACH_KIND = [entry for entry in MODELS if entry.id in ("BSGD-merge", "RBP", "NOGD")]

pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")


def stream_for(model, n=N, d=D, zeros=0.02, seed=0):
    """Rows, some of which lack a feature, and targets that need curves."""
    rng = np.random.default_rng(seed)
    X = 0.2 * rng.normal(size=(n, d)) + 0.2 * rng.integers(0, 2, size=(n, 1))
    kinds = (X[:, 0] * X[:, 1] > 0.0).astype(int) + (X[:, 2] > 0.2)
    X[rng.random(n) < zeros, 3] = 0.0
    if isinstance(model, base.Regressor):
        return X, 5.0 * X[:, 0] * X[:, 1]
    two = model.classes is not None or not model._multiclass
    return X, kinds > 0 if two else kinds


def one_by_one(model, X, y):
    rows = range(len(X))
    return np.concatenate([model.predict_then_learn_many(X[t : t + 1], y[t : t + 1]) for t in rows])


def assert_at_once(model, X, y):
    """Rows learned at once give what they give one by one."""
    at_once, alone = copy.deepcopy(model), copy.deepcopy(model)
    assert (at_once.predict_then_learn_many(X, y) == one_by_one(alone, X, y)).all()
    assert content(at_once) == content(alone)


@pytest.mark.parametrize("model", MODELS)
def test_rows_at_once_are_rows_one_by_one(model):
    model = variant(model, budget=BUDGET, seed=1)
    assert_at_once(model, *stream_for(model))


@pytest.mark.parametrize("model", OF_EACH_KIND)
@pytest.mark.parametrize(("budget", "d"), [(31, 140), (33, 130), (64, 64), (100, 50), (200, 21)])
def test_tables_of_other_shapes(model, budget, d):
    model = variant(model, budget=budget, seed=1)
    assert_at_once(model, *stream_for(model, 3 * budget + 100, d))


def test_rows_at_once_that_change_most_vectors():
    model = rb.BSGDClassifier(500, NARROW, Merge(24))
    assert_at_once(model, *stream_for(model, 700, 21, zeros=0.0))

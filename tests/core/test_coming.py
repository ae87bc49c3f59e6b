"""Products with examples to come change nothing: many rows at once are one row after the other, to the last bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from many_names import crowd, in_lists, is_heavy, run, stored_as
from models import MODELS, content, variant
from river import base

import river_budget as rb
from river_budget.core.block.layout import TOGETHER
from river_budget.core.block.written_vectors import (
    FIRST,
    LISTED_UNTIL,
    N_CHANGES,
    NOT_BEFORE,
    UNTIL,
)
from river_budget.core.compiling import by_address
from river_budget.core.compiling.needs import Need
from river_budget.core.expansion.scoring import FEW_NUMBERS, PAUSE
from river_budget.maintenance import Merge, RemoveOldest, RemoveSmallest
from river_budget.model.calls.calls import Call

D, BUDGET, N = 130, 45, 330  # more examples than it takes to fill a table that is large enough
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


def pass_over(model, X, y):
    """The scratch space after a pass over rows that the model has features for; how many were done."""
    codes = np.where(y, 1.0, -1.0)
    call = Call(model.block, X, codes, np.ones(len(X)), np.zeros((len(X), 1)))
    done = call.run(model.pass_holder.learning_pass)
    return call.model(), done


def full(model, d=D):
    by_address.make_ready(Need.TOGETHER)
    X, y = stream_for(model, 3 * BUDGET, d, zeros=0.0)
    model.learn_many(X, y > 0)
    return model


def test_products_are_computed_ahead_where_the_table_is_large():
    model = full(rb.BSGDClassifier(BUDGET, NARROW, RemoveSmallest()))
    X, y = stream_for(model, 4 * TOGETHER, seed=1, zeros=0.0)
    scratch, done = pass_over(model, X, y > 0)
    assert done == len(X)
    assert scratch.coming[UNTIL] == scratch.coming[LISTED_UNTIL] == len(X)
    assert scratch.coming[FIRST] == len(X) - TOGETHER


def test_products_are_not_computed_ahead_where_the_table_is_small():
    model = full(rb.BSGDClassifier(BUDGET, NARROW, RemoveSmallest()), FEW_NUMBERS // 64)
    X, y = stream_for(model, 4 * TOGETHER, FEW_NUMBERS // 64, seed=1, zeros=0.0)
    scratch, _ = pass_over(model, X, y > 0)
    assert scratch.coming[UNTIL] == 0
    assert scratch.coming[NOT_BEFORE] > 0


@pytest.mark.parametrize("zeros", range(TOGETHER))
def test_examples_with_zeros_are_not_computed_ahead(zeros):
    model = full(rb.BSGDClassifier(BUDGET, NARROW, RemoveSmallest()))
    X, y = stream_for(model, PAUSE, seed=1, zeros=0.0)
    X[zeros::TOGETHER, 5] = 0.0
    scratch, done = pass_over(model, X, y > 0)
    assert done == len(X)
    assert scratch.coming[UNTIL] == 0


def test_a_bad_row_stops_the_pass_where_it_stands():
    model = full(rb.BSGDClassifier(BUDGET, NARROW, Merge()))
    X, y = stream_for(model, 20, seed=1, zeros=0.0)
    X[9, 4] = np.nan
    _, done = pass_over(model, X, y > 0)
    assert done == 9


def test_where_one_example_moves_all_vectors_none_is_computed_ahead_for_a_while():
    """A Forgetron shrinks, and a model that keeps an order moves all who stand behind the one that leaves."""
    model = full(rb.BSGDClassifier(BUDGET, NARROW, rb.maintenance.Project()))
    X, y = stream_for(model, 3 * PAUSE, seed=1, zeros=0.0)
    y = ~model.predict_many(X)  # each is a mistake
    scratch, _ = pass_over(model, X, y)
    assert scratch.coming[N_CHANGES] > 0
    assert scratch.coming[NOT_BEFORE] > PAUSE


@pytest.mark.parametrize("n", range(1, 2 * TOGETHER + 2))
def test_any_number_of_rows_at_once(n):
    model = full(rb.BSGDClassifier(BUDGET, NARROW, RemoveOldest()))
    X, y = stream_for(model, n, seed=2, zeros=0.0)
    assert_at_once(model, X, y > 0)


def test_vectors_that_are_not_what_is_stored_of_them_are_not_multiplied_ahead(monkeypatch):
    """Heavy ones, of which a merge writes some numbers only."""
    stored_as(monkeypatch, lists=False)
    at_once, alone = (rb.BSGDClassifier(BUDGET, rb.kernels.RBF(0.05), seed=1) for _ in range(2))
    names = 500
    stream = list(crowd(900, names=names))
    for model in (at_once, alone):
        run(model, stream)
        assert is_heavy(model)
        assert not in_lists(model)
    X = np.random.default_rng(0).normal(0.1, 0.1, (200, names))
    y = X[:, 0] > 0.1
    X = pytest.importorskip("pandas").DataFrame(X, columns=[f"w{i}" for i in range(names)])

    many = at_once.predict_then_learn_many(X, y)
    each = [alone.predict_then_learn_many(X[t : t + 1], y[t : t + 1]) for t in range(len(X))]
    assert is_heavy(at_once)
    assert np.array_equal(many, np.concatenate(each))
    assert content(at_once) == content(alone)


def test_more_changes_than_are_noted():
    model = rb.BSGDClassifier(500, NARROW, Merge(24))
    assert_at_once(model, *stream_for(model, 700, 21, zeros=0.0))

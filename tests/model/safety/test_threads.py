"""Interrupts, forks: a model is changed wholly or not at all. (Threads: test_lock.py.)"""

from __future__ import annotations

import signal
import weakref

import numpy as np
import pytest
from models import MODELS, one_of_each, stream_for
from processes import in_threads
from saved_models import ALL, file_of, stream_of, taught

import river_budget as rb
from river_budget.core.codes import Strategy
from river_budget.core.memory import views
from river_budget.kernels import RBF
from river_budget.model.calls import EXAMPLES_PER_CALL

ONE_EACH = list({type(entry.values[0]): entry for entry in ALL}.values())


class Held(rb.BSGDClassifier):
    """A model whose pass waits in the middle, or is interrupted."""

    in_the_middle = staticmethod(lambda: None)

    @staticmethod
    def _learning_pass(m, states, rows):
        Held.in_the_middle()
        return rb.BSGDClassifier.algorithm.learn[Strategy.PAIRS](m, states, rows)


@pytest.fixture
def held():
    model = taught(Held(9, RBF(0.5), seed=1), 20)
    yield model
    Held.in_the_middle = staticmethod(lambda: None)


def test_a_third_class_comes_at_once_for_whoever_looks_on():
    """While the new takes the place of the old, nothing is freed: that may let another thread go
    on.
    """
    model, seen = taught(rb.BSGDClassifier(9), 20), []

    def look():
        seen.append(model._n_outputs == views(model._block).head.outputs)

    while model._n_outputs == 1:
        model._add_label(f"class {len(model._labels.known)}")
    for _ in range(3):
        weakref.finalize(model._block, look)
        weakref.finalize(model._labels, look)
        model._add_label(f"class {len(model._labels.known)}")
    assert seen == [True] * 6


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_a_refused_example_changes_nothing_and_gives_the_lock_back(model):
    model = taught(model, 5)
    (x, y), *_ = stream_for(model, 1)
    before = file_of(model)
    values = [[1.0], float("inf")] if model._reads_tables else [None, float("nan"), "text"]
    for bad in ({"f0": values[0]}, {"f0": values[1]}, {"new": values[-1]}):
        with pytest.raises(ValueError, match="finite number"):
            model.learn_one(bad, y)
    assert file_of(model) == before
    assert not model._lock.changing
    in_threads(lambda: model.learn_one(x, y))


# Ctrl-C


def interrupted_after(calls):
    """Ctrl-C comes while a pass runs, the last of so many."""

    def interrupt():
        nonlocal calls
        calls -= 1
        if calls == 0:
            signal.raise_signal(signal.SIGINT)

    return staticmethod(interrupt)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_a_batch_leaves_a_model_that_has_learned_the_first_part(held):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * EXAMPLES_PER_CALL + 5, 3))
    y = X[:, 0] > 0.0
    model, expected = Held(9, RBF(0.5), seed=1), rb.BSGDClassifier(9, RBF(0.5), seed=1)
    Held.in_the_middle = interrupted_after(2)
    with pytest.raises(KeyboardInterrupt):
        model.learn_many(X, y)
    rows = np.arange(len(X))
    learned = int(model._state_record().rounds)
    assert learned == EXAMPLES_PER_CALL
    in_threads(lambda: model.learn_many(X[learned:], y[learned:]))  # the lock is free
    expected.learn_many(X, y)
    assert np.array_equal(model.predict_many(X), expected.predict_many(X))
    assert model.support_vectors() == expected.support_vectors()
    assert len(rows) == int(model._state_record().rounds)


class HeldWhole(rb.AutoKernelClassifier):
    """The same of those that take whole rows."""

    in_the_middle = staticmethod(lambda: None)

    @staticmethod
    def _learning_pass(states, rows, room, desk):
        HeldWhole.in_the_middle()
        return rb.AutoKernelClassifier.algorithm.learn(states, rows, room, desk)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_is_answered_after_a_thousand_rows_also_by_those_that_take_whole_ones(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(EXAMPLES_PER_CALL + 5, 2))
    model = HeldWhole(3, seed=1)
    monkeypatch.setattr(HeldWhole, "in_the_middle", interrupted_after(2))
    with pytest.raises(KeyboardInterrupt):
        model.learn_many(X, X[:, 0] > 0.0)
    assert model.n_examples == EXAMPLES_PER_CALL


class HeldScores(rb.BSGDClassifier):
    """A model whose scoring pass notes how many rows are scored when Python looks for Ctrl-C
    again.
    """

    calls = 0

    @staticmethod
    def _scoring_pass(m, rows):
        HeldScores.calls += 1
        return rb.BSGDClassifier.algorithm.score(m, rows)


def test_a_prediction_of_many_rows_looks_for_ctrl_c_after_a_thousand(monkeypatch):
    monkeypatch.setattr(HeldScores, "calls", 0)
    model, X = taught(HeldScores(9, RBF(0.5), seed=1), 20), np.ones((3 * EXAMPLES_PER_CALL, 3))
    model.predict_many(X)
    assert HeldScores.calls == 3


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_one_example_gives_the_lock_back(held):
    (x, y), *_ = stream_of(held, 1, seed=1)
    before = held.support_vectors()
    Held.in_the_middle = interrupted_after(1)
    with pytest.raises(KeyboardInterrupt):
        held.learn_one(x, y)
    assert held.support_vectors() == before
    rounds = int(held._state_record().rounds)
    in_threads(lambda: held.learn_one(x, y))
    assert int(held._state_record().rounds) == rounds + 1


@pytest.mark.parametrize("model", [rb.BSGDClassifier(9), rb.FOGDClassifier(9), rb.AutoKernelClassifier(9)], ids=repr)  # fmt: skip  # noqa: E501
def test_ctrl_c_while_a_third_class_comes_leaves_a_model_of_two(model, monkeypatch):
    model = model.clone()
    for i in range(30):
        model.learn_one({"a": i % 7, "b": i % 3}, "even" if i % 2 else "odd")
    before = file_of(model)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    if hasattr(model, "_split_column"):
        monkeypatch.setattr(type(model), "_split_column", interrupt)
    else:
        monkeypatch.setattr(type(model.algorithm.columns), "promoted", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one({"a": 1.0}, "third")
    assert file_of(model) == before
    monkeypatch.undo()
    model.learn_one({"a": 1.0}, "third")
    assert set(model.predict_proba_one({"a": 1.0})) == {"odd", "even", "third"}

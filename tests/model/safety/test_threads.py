"""Threads, interrupts, forks: a model is changed by one at a time, wholly or not at all."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import random
import signal
import threading

import numpy as np
import pytest
from inside import check_nodes
from models import MODELS, one_of_each, stream_for
from odd_examples import Act, Name, content
from saved_models import ALL, answers, file_of, is_supervised, stream_of, taught, teach

import river_budget as rb
from river_budget.core.block.blocks import views
from river_budget.kernels import RBF
from river_budget.maintenance import RemoveOldest
from river_budget.model import one_writer
from river_budget.model.calls import fast_path
from river_budget.model.calls.calls import EXAMPLES_PER_CALL
from river_budget.model.estimators import estimators
from river_budget.model.one_writer import Turn

BUSY = "two threads"
ONE_EACH = list({type(entry.values[0]): entry for entry in ALL}.values())


class Held(rb.BSGDClassifier):
    """A model whose pass waits in the middle, or is interrupted."""

    in_the_middle = staticmethod(lambda: None)

    @staticmethod
    def learning_pass(addresses):
        Held.in_the_middle()
        return rb.BSGDClassifier.learning_pass(addresses)


@pytest.fixture
def held():
    model = taught(Held(9, RBF(0.5), seed=1), 20)
    yield model
    Held.in_the_middle = staticmethod(lambda: None)


def test_while_one_thread_learns_another_is_refused_and_may_predict(held, monkeypatch):
    inside, go_on = threading.Event(), threading.Event()
    expected = pickle.loads(pickle.dumps(held))
    (x, y), (other, label) = stream_of(held, 2, seed=1)
    expected.learn_one(x, y)
    score = held.decision_function_one(other)

    def wait():
        inside.set()
        assert go_on.wait(60)

    Held.in_the_middle = staticmethod(wait)
    thread = threading.Thread(target=held.learn_one, args=(x, y))
    thread.start()
    assert inside.wait(60)
    for change in (
        lambda: held.learn_one(other, label),
        lambda: held.learn_many(np.ones((2, 2)), [label] * 2),
        lambda: held.mutate({"budget": 3}),
    ):
        with pytest.raises(RuntimeError, match=BUSY):
            change()
    monkeypatch.setattr(one_writer, "LONGEST_WAIT", 0.01)
    for look in (pickle.dumps, copy.deepcopy, rb.summary, lambda m: m.n_support_vectors):
        with pytest.raises(RuntimeError, match="being changed by another thread"):
            look(held)
    assert held.decision_function_one(other) == score
    go_on.set()
    thread.join()
    assert held.support_vectors() == expected.support_vectors()
    held.learn_one(other, label)  # and it is free again


class EndsInTheJump(Turn):
    """A thread that inspects the model gives the turn back right after the third test of `taken`, between the first and
    the second round of the loop in `wait`."""

    tests = 0

    @property
    def taken(self):
        self.tests += 1
        return self.tests <= 3

    @taken.setter
    def taken(self, value):
        pass

    @property
    def looks(self):
        return self.tests < 3

    @looks.setter
    def looks(self, value):
        pass


def test_a_look_that_ends_between_two_tests_is_no_second_writer():
    """CPython may switch threads when it jumps back from the end of the loop."""
    turn = EndsInTheJump()
    turn.wait()
    assert turn.tests == 5


def test_while_one_thread_looks_another_waits_to_learn(held, monkeypatch):
    """And the other way round: nobody is refused."""
    monkeypatch.setattr(one_writer, "LONGEST_WAIT", 0.0)  # it is for threads that are gone
    order, looks, go_on = [], threading.Event(), threading.Event()

    @one_writer.looks_at_the_model
    def look(model):
        looks.set()
        assert go_on.wait(60)
        order.append(("seen", model.n_support_vectors))

    (x, y), _ = stream_of(held, 2, seed=1)
    before = held.n_support_vectors

    def learn():
        held.learn_one(x, y)
        order.append("learned")

    threads = [threading.Thread(target=look, args=(held,))]
    threads[0].start()
    assert looks.wait(60)
    threads.append(threading.Thread(target=learn))
    threads[1].start()
    threads[1].join(0.05)
    assert order == []
    go_on.set()
    for thread in threads:
        thread.join()
    assert order == [("seen", before), "learned"]
    assert not held.turn.taken
    held.turn.taken = held.turn.looks = True
    held.turn.thread = threads[0].ident  # as in a process that was forked meanwhile
    with pytest.raises(RuntimeError, match="forked"):
        held.learn_one(x, y)


def test_a_thread_that_always_learns_lets_others_look(monkeypatch):
    """Also where threads switch in passes only, during which the model is being changed."""
    monkeypatch.setattr(fast_path, "SLOW_BLOCK_BYTES", 0)
    model, stopped = rb.BSGDClassifier(50, maintenance=RemoveOldest()), threading.Event()
    examples = [({f"f{k}": random.random() for k in range(60)}, i % 2 == 0) for i in range(200)]

    def learn():
        for x, y in examples:
            model.learn_one(x, y)

    def learn_on():
        while not stopped.is_set():
            learn()

    learn()  # compiles, which may take longer than others wait
    learner = threading.Thread(target=learn_on)
    learner.start()
    try:
        counts = {model.n_support_vectors for _ in range(300)}
    finally:
        stopped.set()
        learner.join()
    assert counts == {50}


def test_a_model_that_is_asked_while_it_reads_an_example_does_not_wait_for_itself():
    """A number of the user's own, whose conversion asks the model."""
    model = rb.RBPClassifier(9)
    model.learn_one({"a": 1.0}, True)

    class Asking:
        def __float__(self):
            return float(model.n_support_vectors)

    model.learn_one({"a": Asking()}, False)
    assert model.n_examples == 2


@pytest.mark.parametrize("learn", ["learn_one", "learn_many"])
def test_a_name_that_is_looked_up_cannot_learn_in_the_middle_of_its_example(learn):
    """Also not with a new label, which takes a turn of its own."""
    original = rb.BSGDClassifier(None)
    for t in range(3):
        original.learn_one({f"name {i}": 1.0 + t for i in range(17)}, t % 2 == 0)

    def refused_at(n):
        """Whether the n-th comparison of the name lets the model refuse it."""
        model = copy.deepcopy(original)
        inner = {
            "learn_one": lambda: model.learn_one({"a": 1.0, "inner": 2.0}, "a new label"),
            "learn_many": lambda: model.learn_many([[1.0] * 17], ["a new label"]),
        }
        act, before = Act(inner[learn], n), content(model)
        act.armed = True
        try:
            model.learn_one({Name("name 3", act): 2.0}, True)
        except RuntimeError as error:
            return BUSY in str(error) and content(model) == before
        if views(model.block).head.slots:
            check_nodes(views(model.block))
        return False

    assert sum(refused_at(n) for n in range(1, 40)) > 0


@pytest.mark.parametrize("model", ONE_EACH)
def test_every_class_refuses_a_second_thread(model):
    model = taught(model, 5)
    before, example = file_of(model), stream_of(model, 1, seed=1)
    model.turn.taken = True
    calls = [
        lambda: model.learn_many(np.ones((2, 2)), *[[example[0][1]] * 2] * is_supervised(model))
    ]
    if hasattr(model, "transform_one"):  # they only learn what features there are
        calls.append(lambda: model.learn_one({"new": 1.0}))
    else:
        calls.append(lambda: teach(model, example))
    for call in calls:
        with pytest.raises(RuntimeError, match=BUSY):
            call()
    model.turn = Turn()
    assert file_of(model) == before


def test_a_label_that_another_thread_adds_makes_no_old_code_a_place(monkeypatch):
    """The code of a label was looked up among two classes and used among three, as a place before all scores."""
    model = rb.FOGDClassifier(9, seed=1)
    for i in range(20):
        model.learn_one({"a": i % 3}, "even" if i % 2 else "odd")

    def meanwhile(w):
        model.add_label("third")
        return float(w)

    monkeypatch.setattr(estimators, "weight", meanwhile)
    before = pickle.dumps(model.features), views(model.block).vectors.copy()
    with pytest.raises(RuntimeError, match=BUSY):
        model.learn_one({"a": 1.0}, "odd", 2.0)
    assert np.array_equal(views(model.block).vectors, before[1])
    assert not model.turn.taken


def test_a_third_class_comes_at_once_for_whoever_looks_on():
    """While the new takes the place of the old, nothing is freed: that may let another thread go on."""
    model, seen = taught(rb.BSGDClassifier(9), 20), []

    class Onlooker:
        def __del__(self):
            seen.append(model.n_outputs == views(model.block).head.outputs)

    while model.n_outputs == 1:
        model.add_label(f"class {len(model.labels.known)}")
    for _ in range(3):
        model.free_rows.append(Onlooker())
        model.add_label(f"class {len(model.labels.known)}")
    assert seen == [True] * 3


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_a_refused_example_gives_the_turn_back(model):
    model = taught(model, 5)
    (x, y), *_ = stream_for(model, 1)
    for bad in ({"f0": None}, {"f0": float("nan")}, {"new": "text"}):
        with pytest.raises(ValueError, match="finite number"):
            model.learn_one(bad, y)
    model.learn_one(x, y)


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
    learned = int(model.state_record().rounds)
    assert learned == EXAMPLES_PER_CALL
    model.learn_many(X[learned:], y[learned:])
    expected.learn_many(X, y)
    assert np.array_equal(model.predict_many(X), expected.predict_many(X))
    assert model.support_vectors() == expected.support_vectors()
    assert len(rows) == int(model.state_record().rounds)


class HeldWhole(rb.AutoKernelClassifier):
    """The same of those that take whole rows."""

    in_the_middle = staticmethod(lambda: None)

    @staticmethod
    def learning_pass(addresses):
        HeldWhole.in_the_middle()
        return rb.AutoKernelClassifier.learning_pass(addresses)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_is_answered_after_a_thousand_rows_also_by_those_that_take_whole_ones(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(EXAMPLES_PER_CALL + 5, 2))
    model = HeldWhole(3, seed=1)
    monkeypatch.setattr(HeldWhole, "in_the_middle", interrupted_after(2))
    with pytest.raises(KeyboardInterrupt):
        model.learn_many(X, X[:, 0] > 0.0)
    assert model.n_examples == EXAMPLES_PER_CALL


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_one_example_gives_the_turn_back(held):
    (x, y), *_ = stream_of(held, 1, seed=1)
    before = held.support_vectors()
    Held.in_the_middle = interrupted_after(1)
    with pytest.raises(KeyboardInterrupt):
        held.learn_one(x, y)
    assert held.support_vectors() == before
    rounds = int(held.state_record().rounds)
    held.learn_one(x, y)
    assert int(held.state_record().rounds) == rounds + 1


@pytest.mark.parametrize("model", [rb.BSGDClassifier(9), rb.FOGDClassifier(9), rb.AutoKernelClassifier(9)], ids=repr)  # fmt: skip
def test_ctrl_c_while_a_third_class_comes_leaves_a_model_of_two(model, monkeypatch):
    model = model.clone()
    for i in range(30):
        model.learn_one({"a": i % 7, "b": i % 3}, "even" if i % 2 else "odd")
    before = file_of(model)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    hook = "_two_columns" if hasattr(model, "_two_columns") else "after_promotion"
    monkeypatch.setattr(type(model), hook, interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one({"a": 1.0}, "third")
    assert file_of(model) == before
    monkeypatch.undo()
    model.learn_one({"a": 1.0}, "third")
    assert set(model.predict_proba_one({"a": 1.0})) == {"odd", "even", "third"}


# processes


def learn_and_answer(model):
    stream = stream_of(model, 40, seed=2)
    teach(model, stream)
    return pickle.dumps([file_of(model), answers(model, stream)])


def forked(model):
    """What a child says that was forked with the model."""
    there, here = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with open(here, "wb") as pipe:
                pipe.write(learn_and_answer(model))
        finally:
            os._exit(0)
    os.close(here)
    with open(there, "rb") as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return found


FEW = [entry for entry in ONE_EACH if entry.id in ("BSGD", "FOGD-R", "AutoKernel", "Nystroem")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("model", FEW)
def test_a_forked_process_goes_on_alone(model):
    model = taught(model.clone({"seed": 1} if "seed" in model.parameters() else {}), 30)
    before = file_of(model)
    found = forked(model)
    assert file_of(model) == before
    assert found == learn_and_answer(model)


def test_a_spawned_process_goes_on_alone():
    models = [taught(entry.values[0].clone({"seed": 1} if "seed" in entry.values[0].parameters() else {}), 30)
              for entry in FEW]  # fmt: skip
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(learn_and_answer, models)
    assert found == [learn_and_answer(model) for model in models]

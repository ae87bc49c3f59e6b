"""The lock of a model: threads take turns, nested predictions are right, nested changes are
refused.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import signal
import sys
import threading

import numpy as np
import pytest
from processes import PATIENCE, in_threads
from saved_models import file_of

import river_budget as rb
from river_budget.kernels import RBF
from river_budget.model import lock as locks
from river_budget.model.calls import EXAMPLES_PER_CALL
from river_budget.model.lock import NESTED, locked_read

NAMES = "abcdefgh"


def example(i):
    """Six of eight features, and sometimes a word that is new."""
    x = {NAMES[(i + k) % 8]: ((i * 7 + k * 3) % 11) / 11.0 for k in range(6)}
    return x | ({f"word {i}": 1.0} if i % 5 == 0 else {}), i % 3 == 0


def whole(i):
    """All eight features."""
    return {name: ((i * 7 + k * 3) % 11) / 11.0 for k, name in enumerate(NAMES)}, i % 3 == 0


@contextlib.contextmanager
def being_changed(model):
    with model._lock.held:
        model._lock.changing = True
        try:
            yield
        finally:
            model._lock.changing = False


def taught(model, n=60, of=example):
    for i in range(n):
        model.learn_one(*of(i))
    return model


MODELS = {
    "BSGD": lambda: rb.BSGDClassifier(12, RBF(0.5), seed=1),
    "RBP": lambda: rb.RBPClassifier(12, RBF(0.5), seed=1),
    "FOGD": lambda: rb.FOGDClassifier(12, RBF(0.5), seed=1),
    "NOGD": lambda: rb.NOGDClassifier(12, RBF(0.5)),
    "AutoKernel": lambda: rb.AutoKernelClassifier(12, seed=1),
}
# what is asked of a model without an argument, where it has it
LOOKS = (
    "summary",
    "_repr_html_",
    "support_vectors",
    "_gram",
    "_scores_of_vectors",
    "importances",
    "experts",
)
each_kind = pytest.mark.parametrize("kind", MODELS)


def joined(threads):
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def trace(frame, event, argument):
    return trace


@pytest.fixture(params=["plain", "traced", "switching"])
def threading_kind(request):
    """Threads as usual; with a tracer, as under a debugger; or switched after every microsecond."""
    before = sys.getswitchinterval()
    if request.param == "traced":
        threading.settrace(trace)
    elif request.param == "switching":
        sys.setswitchinterval(1e-6)
    yield request.param
    threading.settrace(None)
    sys.setswitchinterval(before)


# threads


@each_kind
def test_eight_threads_share_a_model(kind, threading_kind):
    """They learn, predict, look, copy and merge: no error, nothing refused, and every example is
    learned.
    """
    n, batch = 60, 40
    model = taught(MODELS[kind]())
    can_merge = not model._unmergeable_because
    examples = model.n_examples
    rows = np.random.default_rng(0).random((batch, 4))
    asked = [getattr(model, name) for name in LOOKS if hasattr(model, name)]

    def learn(first):
        for i in range(first, first + n):
            model.learn_one(*example(i))

    def learn_batches():
        for _ in range(5):
            model.learn_many(rows, rows[:, 0] > 0.5)

    def predict():
        for i in range(2 * n):
            assert model.predict_one(whole(i)[0]) in (False, True)
            assert sum(model.predict_proba_one(example(i)[0]).values()) == pytest.approx(1.0)

    def predict_batches():
        for _ in range(n):
            assert set(model.predict_many(rows).tolist()) <= {False, True}

    def look():
        for i in range(n):
            assert model.memory_usage > 0
            assert model.n_examples >= examples
            assert repr(model)
            for ask in asked[i % len(asked) :][:2]:
                ask()

    def copy_it():
        for _ in range(n // 4):
            twin = pickle.loads(pickle.dumps(model))
            twin.learn_one(*example(1))
            file_of(copy.deepcopy(model))

    def merge():
        for _ in range(n // 20 if can_merge else 0):
            rb.merge([model, model]).learn_one(*example(2))

    works = [lambda: learn(0), lambda: learn(1000), learn_batches, predict, predict_batches]
    in_threads(*works, look, copy_it, merge)
    assert model.n_examples == examples + 2 * n + 5 * batch
    assert not model._lock.changing


@each_kind
def test_predictions_of_a_model_that_rests_are_the_same_in_every_thread(kind, threading_kind):
    model = taught(MODELS[kind]())
    examples = [of(i)[0] for i in range(30) for of in (example, whole)]
    expected = [model.decision_function_one(x) for x in examples]

    def ask():
        assert [model.decision_function_one(x) for x in examples] == expected

    in_threads(*[ask] * 8)


@pytest.mark.parametrize("kind", ["BSGD", "FOGD"])
@pytest.mark.parametrize("unknown", [{}, {"unknown": 0.5}], ids=["known", "unknown"])
def test_scores_while_another_thread_learns_are_those_of_some_moment(kind, unknown, threading_kind):
    """Between two examples: never in the middle of one."""
    stream = [whole(i) for i in range(300)]
    alone, model = (taught(MODELS[kind](), of=whole) for _ in range(2))
    x, ended = whole(5)[0] | unknown, threading.Event()
    allowed, found = {alone.decision_function_one(x)}, set()
    for each in stream:
        alone.learn_one(*each)
        allowed.add(alone.decision_function_one(x))

    def learn():
        try:
            for each in stream:
                model.learn_one(*each)
        finally:
            ended.set()

    def ask():
        while not ended.is_set():
            found.add(model.decision_function_one(x))

    in_threads(learn, ask, ask)
    assert found <= allowed
    assert model.decision_function_one(x) == alone.decision_function_one(x)


def test_a_look_keeps_learners_waiting_and_they_are_not_refused():
    model, order = taught(MODELS["RBP"]()), []
    inside, go_on = threading.Event(), threading.Event()

    @locked_read
    def look(model):
        inside.set()
        assert go_on.wait(PATIENCE)
        order.append(("seen", model.n_examples))

    def learn():
        model.learn_one(*example(1))
        order.append("learned")

    threads = [threading.Thread(target=look, args=(model,))]
    threads[0].start()
    assert inside.wait(PATIENCE)
    threads += [threading.Thread(target=learn) for _ in range(2)]
    for thread in threads[1:]:
        thread.start()
    go_on.set()
    joined(threads)
    assert order == [("seen", 60), "learned", "learned"]


def instead_of_a_pause(monkeypatch, act):
    """Act where a batch would sleep between two parts. (Threads of others sleep as usual.)"""
    sleep = locks.time.sleep
    monkeypatch.setattr(locks.time, "sleep", lambda s: act() if s == locks.PAUSE else sleep(s))


@pytest.mark.parametrize("features", [8, 7])
def test_others_get_in_between_the_parts_of_a_batch(features, monkeypatch):
    """They ask, and learn a batch of their own: all is as if one came after the other."""
    X = np.random.default_rng(0).random((3 * EXAMPLES_PER_CALL, 8))
    y = X[:, 0] > 0.5
    model, alone = (taught(MODELS["BSGD"](), of=whole) for _ in range(2))
    x = dict(list(whole(3)[0].items())[:features])
    found, expected = [], []

    def others(model, answers):
        answers.append(model.decision_function_one(x))
        model.learn_many(X[:50], y[:50])

    instead_of_a_pause(monkeypatch, lambda: in_threads(lambda: others(model, found)))
    in_threads(lambda: model.learn_many(X, y))
    for part in range(3):
        rows = slice(part * EXAMPLES_PER_CALL, (part + 1) * EXAMPLES_PER_CALL)
        alone.learn_many(X[rows], y[rows])
        if part < 2:
            others(alone, expected)
    assert found == expected
    assert file_of(model) == file_of(alone)


def test_a_batch_pauses_between_its_parts_only_where_there_are_other_threads(monkeypatch):
    """A lock that is released and taken again at once would mostly go to nobody else."""
    model, pauses = taught(MODELS["RBP"](), of=whole), []
    X = np.random.default_rng(0).random((5_000, 8))
    instead_of_a_pause(monkeypatch, lambda: pauses.append(1))
    for others, expected in ((1, 0), (2, 4)):  # of five parts
        monkeypatch.setattr(locks.threading, "active_count", lambda others=others: others)
        model.learn_many(X, X[:, 0] > 0.5)
        assert len(pauses) == expected


@pytest.mark.parametrize("kind", ["RBP", "FOGD"])
def test_a_label_that_is_added_meanwhile_makes_no_old_code_a_place(kind):
    """The code of a label was looked up among two classes, and the example is learned by a model of
    three.
    """
    model, twin = (MODELS[kind]().clone() for _ in range(2))
    for each in (model, twin):
        for i in range(20):
            each.learn_one(whole(i)[0], "even" if i % 2 else "odd")
    x, labels = whole(3)[0], model._labels

    def add_a_label():
        if "third" not in model._labels.codes:
            model.learn_one(whole(4)[0], "third")

    model.learn_one(x, "odd", Acting(add_a_label))  # its code has been looked up before
    twin.learn_one(whole(4)[0], "third")
    twin.learn_one(x, "odd", 0.5)
    assert file_of(model) == file_of(twin)
    before = file_of(model)
    assert model._learn_row(x, labels.codes["odd"], 1.0, labels) is not None
    assert file_of(model) == before
    model._learn_labelled(x, "odd", 1.0, False)
    twin.learn_one(x, "odd")
    assert file_of(model) == file_of(twin)


# nested calls


class Acting:
    """A number that calls a function when it is read."""

    def __init__(self, act):
        self.act = act

    def __float__(self):
        self.act()
        return 0.5


@each_kind
@pytest.mark.parametrize("of", [example, whole])
def test_a_value_may_predict(kind, of):
    model = taught(MODELS[kind](), of=of)
    twin, inner = copy.deepcopy(model), of(3)[0]
    expected, found = model.decision_function_one(inner), []
    x, y = of(7)
    odd = x | {"b": Acting(lambda: found.append(model.decision_function_one(inner)))}
    plain = x | {"b": 0.5}
    assert model.decision_function_one(odd) == twin.decision_function_one(plain)
    model.learn_one(odd, y)
    twin.learn_one(plain, y)
    assert found
    assert set(found) == {expected}
    assert file_of(model) == file_of(twin)


@pytest.mark.parametrize("of", [example, whole])
def test_a_change_inside_a_change_is_refused(of):
    """From a warning that the model issues, or wherever else a user's code may run while it is
    being changed.
    """
    model, refused = taught(MODELS["BSGD"](), of=of), []
    x, y = of(1)

    def change():
        for act in (
            lambda: model.learn_one(x, y),
            lambda: model.learn_one(x, "new"),
            lambda: model.learn_many(np.ones((2, 2)), [y] * 2),
            lambda: model.mutate({"budget": 3}),
        ):
            with pytest.raises(RuntimeError) as error:
                act()
            refused.append(str(error.value))
        return model.decision_function_one(x)

    twin, expected = copy.deepcopy(model), model.decision_function_one(x)
    with being_changed(model):
        assert change() == expected
    assert refused == [NESTED] * 4
    assert file_of(model) == file_of(twin)
    model.learn_one(x, y)
    assert model.n_examples == twin.n_examples + 1


def test_a_name_that_learns_when_it_is_compared_is_refused():
    """Names are looked up before the lock, but new ones get their places under it."""
    model = taught(MODELS["BSGD"]())
    refused = []

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __lt__(self, other):
            try:
                model.learn_one({"inner": 1.0}, True)
            except RuntimeError as error:
                refused.append(str(error))
                raise
            return str.__lt__(self, other)

    before = file_of(model)
    with pytest.raises(RuntimeError):
        model.learn_one({Name("one"): 1.0, Name("two"): 2.0}, True)
    assert refused == [NESTED]
    assert file_of(model) == before


# signals


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize("kind", ["RBP", "BSGD", "AutoKernel"])
def test_a_signal_handler_that_predicts_gets_right_scores(kind):
    """And the scores of the model that it interrupts are right as well."""
    model, quiet = (taught(MODELS[kind](), of=whole) for _ in range(2))
    scores, answers = [], []

    def answer(number, frame):
        answers.append(model.decision_function_one(whole(3)[0]))

    allowed, i = {quiet.decision_function_one(whole(3)[0])}, 0  # numba has loaded the pass
    before = signal.signal(signal.SIGALRM, answer)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)
        while len(answers) < 20 or i < 1000:
            x, y = whole(i)
            scores.append(model.decision_function_one(x))
            model.learn_one(x, y)
            i += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    for i, score in enumerate(scores):
        x, y = whole(i)
        assert quiet.decision_function_one(x) == score
        quiet.learn_one(x, y)
        allowed.add(quiet.decision_function_one(whole(3)[0]))
    assert set(answers) <= allowed
    assert file_of(model) == file_of(quiet)


@pytest.mark.parametrize("where", ["__float__", "__hash__"])
def test_ctrl_c_leaves_no_label_of_an_example_that_was_not_learned(where):
    def interrupt(self):
        raise KeyboardInterrupt

    Interrupting = type("Interrupting", (), {where: interrupt})
    x = {"a": Interrupting()} if where == "__float__" else {"a": 1.0}
    y = "typo" if where == "__float__" else Interrupting()
    model = rb.SBPClassifier(9, kernel=RBF(0.5), seed=1)  # of two classes only
    model.learn_one({"a": 1.0}, "first")
    before = file_of(model)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one(x, y)
    assert file_of(model) == before
    model.learn_one({"a": -1.0}, "second")
    assert sorted(model._labels.known) == ["first", "second"]


def test_copies_have_locks_of_their_own():
    model = taught(MODELS["RBP"]())
    twins = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)]
    twins.append(model.clone(include_attributes=True))
    with being_changed(model):
        for twin in twins:
            in_threads(lambda twin=twin: twin.learn_one(*example(1)))
    assert len({id(each._lock) for each in [model, *twins]}) == len(twins) + 1
    assert {id(each._lock) for each in twins} <= set(map(id, locks._owners))

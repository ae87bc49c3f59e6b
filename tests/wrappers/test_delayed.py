"""Delayed: predictions are held until their labels come, and probabilities are calibrated."""

from __future__ import annotations

import copy
import functools
import math
import pickle
import random
from collections import deque

import numpy as np
import pytest
from optional import package
from processes import in_threads, interrupted_at
from river import base, datasets, evaluate, linear_model, metrics, preprocessing

import river_budget as rb
from river_budget.saving import archive, files, nodes
from river_budget.wrappers import delayed


def changing(n, seed, flip=0.005, hint=0.2, reverse=False):
    """Rows that hint at a hidden state, which is the label, or says in which direction the first
    feature points.
    """
    rng, state, found = random.Random(seed), False, []
    for _ in range(n):
        state ^= rng.random() < flip
        x = [rng.gauss(hint if state else -hint, 1) for _ in range(4)]
        found.append((dict(zip("abcd", x, strict=True)), (x[0] > 0) ^ state if reverse else state))
    return found


def log_loss(model, stream, delay):
    """The log loss of a loop in which each label comes so many rows late."""
    waiting, total = deque(), 0.0
    for x, y in stream:
        if len(waiting) == delay:
            model.learn_one(*waiting.popleft())
        guess = model.predict_proba_one(x)
        total -= math.log(max(guess.get(y, 0.5 if len(guess) < 2 else 0.0), 1e-9))
        waiting.append((x, y))
    return total / len(stream)


def auto():
    return rb.AutoKernelClassifier(classes=(False, True), seed=1)


class Shares(base.Classifier):
    """Says the shares of the labels so far, of two of which one each is known before the first."""

    def __init__(self):
        self.counts = {False: 1, True: 1}

    def predict_proba_one(self, x):
        total = sum(self.counts.values())
        return {label: count / total for label, count in self.counts.items()}

    def learn_one(self, x, y):
        self.counts[y] += 1


def rare(n, share, seed, hint):
    """Rows whose label is rarely True, which one of four features hints at."""
    rng = random.Random(seed)
    for _ in range(n):
        y = rng.random() < share
        yield {name: rng.gauss(hint * y if name == "a" else 0.0, 1.0) for name in "abcd"}, y


@pytest.mark.parametrize("delay", [100, 500])
def test_late_probabilities_lose_little_against_shares(delay):
    """On streams with a hidden state, where the classifier alone is worse than one half."""
    over, over_half = [], []
    for seed in (1, 3, 4):
        for reverse in (False, True):
            stream = changing(2500, seed, reverse=reverse)
            found = log_loss(rb.Delayed(auto()), stream, delay)
            assert log_loss(auto(), stream, delay) > math.log(2.0) + 0.03
            over.append(found - log_loss(Shares(), stream, delay))
            over_half.append(found - math.log(2.0))
    assert max(over) < {100: 7e-4, 500: 0.05}[delay]
    assert np.mean(over) < -0.02
    assert np.mean(over_half) < {100: 0.01, 500: 0.06}[delay]


@pytest.mark.slow
@pytest.mark.parametrize("delay", [100, 500])
def test_late_probabilities_lose_little_on_fifty_streams(delay):
    over, over_half = [], []
    for seed in range(1, 26):
        for reverse in (False, True):
            stream = changing(3000, seed, reverse=reverse)
            found = log_loss(rb.Delayed(auto()), stream, delay)
            over.append(found - log_loss(Shares(), stream, delay))
            over_half.append(found - math.log(2.0))
    assert max(over) < {100: 7e-4, 500: 0.05}[delay]
    assert np.mean(over) < -0.04
    assert np.mean(over_half) < {100: 0.0, 500: 0.03}[delay]


@pytest.mark.parametrize("delay", [100, 1000])
def test_a_rare_class_is_as_rare_as_it_was(delay):
    stream = list(rare(5000, 0.035, 1, hint=0.0))
    found = log_loss(rb.Delayed(rb.BSGDClassifier(classes=(False, True))), stream, delay)
    assert found < log_loss(Shares(), stream, delay) + 0.002


@pytest.mark.slow
@pytest.mark.parametrize("delay", [100, 300, 1000])
@pytest.mark.parametrize(("share", "hint"), [(0.01, 0.5), (0.035, 0.0), (0.035, 1.0), (0.1, 1.0)])
def test_rare_classes_lose_little_against_their_share(share, hint, delay):
    over = []
    for seed in (1, 2, 3):
        stream = list(rare(20_000, share, seed, hint))
        model = rb.Delayed(rb.StandardScaler() | rb.BSGDClassifier(classes=(False, True)))
        over.append(log_loss(model, stream, delay) - log_loss(Shares(), stream, delay))
    assert np.mean(over) < 0.002


@pytest.mark.parametrize(("delay", "loss"), [(1, 0.26), (100, 0.32), (500, 0.46)])
def test_on_a_stream_that_does_not_change_it_is_believed_soon(delay, loss):
    """Surprises do not resemble each other here, so a label says what it says however late it
    comes.
    """
    assert log_loss(rb.Delayed(auto()), list(datasets.Bananas()), delay) < loss


def test_what_proves_worth_something_is_believed():
    """Here the state lasts longer than labels are late."""
    stream = changing(4000, 3, flip=0.001)
    assert log_loss(rb.Delayed(auto()), stream, 50) < 0.6


def test_where_labels_come_at_once_the_classifier_is_believed():
    stream = changing(2000, 1, flip=0.0)
    stream = [(x, x["a"] * x["b"] > 0) for x, _ in stream]
    alone, wrapped = auto(), rb.Delayed(auto())
    losses = [0.0, 0.0]
    for x, y in stream:
        for i, model in enumerate((alone, wrapped)):
            losses[i] -= math.log(max(model.predict_proba_one(x)[y], 1e-6))
            model.learn_one(x, y)
    assert losses[1] < losses[0] + 20.0
    assert wrapped.predict_proba_one(x)[y] == pytest.approx(alone.predict_proba_one(x)[y], abs=0.02)


def test_rivers_evaluation_holds_and_answers_all():
    delay = 30
    stream = changing(300, 1)
    by_hand, model = rb.Delayed(auto()), rb.Delayed(auto())
    loss = log_loss(by_hand, stream, delay)
    found = evaluate.progressive_val_score(stream, model, metrics.LogLoss(), delay=delay)
    assert found.get() == pytest.approx(loss)
    assert (by_hand.n_held, model.n_held) == (delay, 0)


class Sure(base.Classifier):
    """Always sure of one label."""

    def predict_proba_one(self, x):
        return {False: 0.05, True: 0.95}

    def learn_one(self, x, y):
        if y is None:
            raise ValueError("no label")


@pytest.mark.parametrize("right", [0.95, 0.5, 0.2])
@pytest.mark.parametrize("delay", [1, 20])
def test_probabilities_become_those_that_are_right(right, delay):
    rng = random.Random(1)
    stream = [({"a": rng.random()}, rng.random() < right) for _ in range(3000)]
    model = rb.Delayed(Sure())
    log_loss(model, stream, delay)
    assert model.predict_proba_one({"a": 0.0})[True] == pytest.approx(right, abs=0.05)


def test_until_then_they_are_one_half_in_the_order_of_the_classifier():
    model = rb.Delayed(Sure())
    assert model.predict_proba_one({"a": 1})[True] == pytest.approx(0.5, abs=1e-3)
    assert model.predict_one({"a": 2}) is True


def test_before_the_first_label_nobody_knows_what_they_are_worth():
    """All may be wrong together, so a row of them loses little against one half."""
    model, lost = rb.Delayed(Sure()), 0.0
    for t in range(2000):
        lost += math.log(2.0 * model.predict_proba_one({"a": t})[False])
    assert -0.2 < lost < 0.0


def test_probabilities_of_several_labels_add_up_to_one():
    model, rng = rb.Delayed(rb.BSGDClassifier(20)), random.Random(1)
    assert model.predict_proba_one({"a": 0.0}) == {}
    assert model.predict_one({"a": 0.0}) is None
    for t in range(400):
        x = {"a": rng.gauss(t % 3, 0.3), "b": rng.gauss(-t % 3, 0.3)}
        guess = model.predict_proba_one(x)
        assert sum(guess.values()) == pytest.approx(1.0 if t else 0.0)
        model.learn_one(x, "xyz"[t % 3])
    assert set(guess) == set("xyz")
    assert max(guess.values()) > 0.8


# which prediction belongs to which label


def test_equal_rows_are_answered_in_their_order():
    model = rb.Delayed(Sure())
    for t in range(6):
        model.predict_proba_one({"a": t % 2})
        model.predict_one({"a": t % 2})  # says the same once more, and is not held again
    assert model.n_held == 6
    model.learn_one({"a": 1}, True)
    assert sorted(model._held) == [0, 2, 3, 4, 5]
    for _ in range(4):
        model.learn_one({"a": 0}, True)
    assert sorted(model._held) == [3, 5]


@pytest.mark.parametrize(
    "same",
    [{"b": np.float64(2.0), "a": True}, {"a": 1.0, "b": np.int64(2)}, {"a": np.True_, "b": 2}],
)
def test_a_row_is_recognised_by_its_values(same):
    model = rb.Delayed(Sure())
    model.predict_proba_one({"a": 1, "b": 2.0})
    model.learn_one({"a": 1, "b": 2.1}, True)
    assert model.n_held == 1
    model.learn_one(same, True)
    assert model.n_held == 0


def test_the_order_of_a_row_does_not_matter_and_its_names_do():
    model = rb.Delayed(Sure())
    model.predict_proba_one({"a": 1, "b": 2})
    for other in ({"a": 2, "b": 1}, {"a": 1, "c": 2}, {"a": 1}, {"a": 1, "b": "2"}, {}):
        model.learn_one(other, True)
    assert model.n_held == 1
    model.learn_one({"b": 2, "a": 1}, True)
    assert model.n_held == 0


@pytest.mark.parametrize("x", ["a text", {"words": "a text", "day": None}, {("a", 1): [1, 2]}])
def test_a_row_may_hold_anything(x):
    model = rb.Delayed(Sure())
    model.predict_proba_one(x)
    model.learn_one(x, True)
    assert model.n_held == 0


def test_memory_is_bounded_by_max_held():
    model = rb.Delayed(Sure(), max_held=50)
    for t in range(200):
        model.predict_proba_one({"a": t % 60})
    assert (model.n_held, len(model._waiting)) == (50, 50)
    assert sorted(model._held) == list(range(150, 200))


def test_a_row_that_is_refused_changes_nothing():
    model = rb.Delayed(Sure())
    model.predict_proba_one({"a": 1})
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="no label"):
        model.learn_one({"a": 1}, None)
    assert pickle.dumps(model) == before


def learn_unasked(model):
    for t in range(3000):
        model.learn_one({"a": t}, True)


def test_labels_without_predictions_are_told_once():
    model = rb.Delayed(Sure())
    learn_unasked(model)  # nothing was asked, so nothing is missed
    model.predict_proba_one({"a": -1})
    with pytest.warns(rb.StreamWarning, match="a scaler in front .* max_held=10,000") as heard:
        learn_unasked(model)
    assert len(heard) == 1


# as any estimator


def from_a_file(model, tmp_path):
    rb.save(model, tmp_path / "model.rb")
    return rb.load(tmp_path / "model.rb")


COPIES = {
    "copy": lambda model, _: copy.deepcopy(model),
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "file": from_a_file,
}


@pytest.mark.parametrize("again", COPIES)
def test_a_copy_goes_on_as_the_model_would(again, tmp_path):
    stream = changing(600, 1)
    model = rb.Delayed(preprocessing.StandardScaler() | rb.BSGDClassifier(20))
    log_loss(model, stream[:300], 40)
    other = COPIES[again](model, tmp_path)
    assert other.n_held == model.n_held == 40
    assert log_loss(model, stream[260:], 40) == log_loss(other, stream[260:], 40)


def test_equal_rows_find_their_own_predictions_although_the_first_ones_say_nothing(tmp_path):
    model, lags = rb.Delayed(rb.BSGDClassifier(5)), set()
    for t in range(200):
        if t >= 30:
            model.learn_one({"a": t % 3}, t % 2 > 0)
            lags.add(model._lag)
        assert (model.predict_proba_one({"a": t % 3}) == {}) == (t < 30)
        if t == 20:
            model = from_a_file(model, tmp_path)
    assert (lags, model.n_held) == ({29}, 30)


def test_many_are_a_loop_of_ones():
    pandas = package("pandas")
    stream = changing(400, 1)
    X = pandas.DataFrame([x for x, _ in stream])
    y = pandas.Series([y for _, y in stream])
    one, many = rb.Delayed(auto()), rb.Delayed(auto())
    for first in range(0, 400, 50):
        some = slice(first, first + 50)
        guesses = [one.predict_proba_one(x) for x, _ in stream[some]]
        frame = many.predict_proba_many(X[some])
        assert [row.get(True) for row in guesses] == list(frame.get(True, [None] * 50))
        for x, label in stream[some]:
            one.learn_one(x, label)
        many.learn_many(X[some], y[some])
    assert one._gains == many._gains
    assert list(many.predict_many(X)) == [one.predict_one(x) for x, _ in stream]
    with pytest.raises(ValueError, match="there must be 400 labels"):
        many.learn_many(X, y[:9])


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("_held", lambda rows: rows + rows),  # not in order
        ("_held", lambda rows: [row[:3] for row in rows]),  # one label
        ("_held", lambda rows: [[row[0], -1, *row[2:]] for row in rows]),
        ("_asked", lambda count: 3),  # before those that it holds
        ("_gains", lambda rows: rows[:2]),
        ("_gains", lambda rows: [{"float": "inf"}, *rows[1:]]),
        ("_learned", lambda count: -1),
        ("_recent", lambda number: 6.0),
        ("_shares", lambda rows: [0, *rows[1:]]),
        ("_shares", lambda rows: [rows[0], "another", *rows[2:]]),
        ("_shares", lambda rows: [*rows[:2], [1e9] * len(rows[2]), rows[3]]),
        ("_shares", lambda rows: [*rows[:3], [[True, [-1.0] * len(rows[2])]]]),
    ],
)
def test_a_forged_file_is_refused(part, change, tmp_path):
    model, path = rb.Delayed(rb.BSGDClassifier(5)), tmp_path / "model.rb"
    log_loss(model, changing(50, 1), 9)
    node, arrays = nodes.encoded(model)
    node["state"][part] = change(node["state"][part])
    files.write(path, archive.packed(node, arrays))
    with pytest.raises(rb.SavedModelError):
        rb.load(path)


def test_threads_may_share_it():
    model = rb.Delayed(rb.BSGDClassifier(9))

    def work(number):
        for t in range(300):
            x = {"a": number + t / 1000}
            model.predict_proba_one(x)
            model.learn_one(x, t % 3 > 1)

    in_threads(*(functools.partial(work, number) for number in range(4)))
    assert (model._learned, model.classifier.n_examples, model.n_held) == (1200, 1200, 0)


def test_weights_go_to_the_classifier():
    model, alone = rb.Delayed(rb.BSGDClassifier(9)), rb.BSGDClassifier(9)
    for t in range(30):
        x, y = {"a": t % 5}, t % 5 > 2
        model.learn_one(x, y, w=t % 3)
        alone.learn_one(x, y, w=t % 3)
    assert model.classifier.decision_function_one(x) == alone.decision_function_one(x)


def test_a_regressor_is_refused():
    with pytest.raises(TypeError, match="LinearRegression is no classifier"):
        rb.Delayed(linear_model.LinearRegression())


def test_evidence_is_bounded_so_that_a_change_is_noticed():
    model = rb.Delayed(Sure())
    for t in range(2000):
        model.predict_proba_one({"a": t})
        model.learn_one({"a": t}, True)
    assert max(model._gains) <= delayed.MOST_EVIDENCE
    for t in range(60):
        guess = model.predict_proba_one({"a": t})
        model.learn_one({"a": t}, False)
    assert guess[True] < 0.75


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({1: 2.0}, {"1": 2.0}, False),
        ({1: 2.0}, {1.0: 2.0}, True),
        ({True: 2.0}, {1: 2.0}, True),
        ({"a": 0.0}, {"a": -0.0}, True),
        ({"a": 0.0, "b": "text"}, {"a": -0.0, "b": "text"}, True),
        ({1: 2.0, "1": 3.0}, {"1": 3.0, 1: 2.0}, True),
        ({1: 2.0, "1": 3.0}, {1: 3.0, "1": 2.0}, False),
    ],
)
def test_rows_are_one_if_they_are_equal(one, other, same):
    assert (delayed._key(one) == delayed._key(other)) is same


def test_ctrl_c_leaves_held_predictions_that_find_their_labels():
    """At each moment in which a function begins or one of C ends: later labels of the row raise no
    KeyError.
    """
    started = rb.Delayed(rb.RBPClassifier(5, seed=1))
    for i in range(9):
        started.learn_one({"a": float(i)}, i % 2 == 0)
        started.predict_one({"a": 1.0, "b": float(i)})
    row, moment, error = {"a": 1.0, "b": 3.0}, 0, True
    while error is not None:
        moment += 1
        model = copy.deepcopy(started)

        def work(model=model):
            model.learn_one(row, True)
            model.predict_one({"new": 1.0})

        error = interrupted_at(moment, work)
        waiting = sorted(number for numbers in model._waiting.values() for number in numbers)
        assert waiting == sorted(model._held), moment
        assert all(number < model._asked for number in waiting), moment
        for y in (True, False, True):
            model.learn_one(row, y)
    assert moment > 20

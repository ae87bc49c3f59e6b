"""AutoKernel on words: names without end, of which no model keeps a dense row."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from oracles.auto_words import WordsClassifier, WordsRegressor
from replaying import CLOSE, assert_classes_replay, some_weights

import river_budget as rb
from river_budget.algorithms.auto import words
from river_budget.core import memory

NAMES = [f"n{i}" for i in range(1100)]
# Tests of both take five seconds each: one of the two is slow
CLASSIFIER, REGRESSOR = (
    pytest.param(kind, marks=pytest.mark.slow)
    for kind in (rb.AutoKernelClassifier, rb.AutoKernelRegressor)
)


def documents(n, topics=2, seed=0, fresh=2, words=12, vocabulary=3000):
    """Words of Zipf's law, which topics prefer differently, and names that come once."""
    rng = np.random.default_rng(seed)
    usual = 1.0 / np.arange(1, vocabulary + 1)
    shares = usual * np.exp(rng.normal(size=(topics, vocabulary)))
    sums = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
    for t in range(n):
        topic = int(rng.integers(topics))
        drawn, counts = np.unique(
            np.searchsorted(sums[topic], rng.random(words)), return_counts=True
        )
        x = {f"w{word}": float(number) for word, number in zip(drawn, counts, strict=True)}
        yield x | {f"new{t}_{k}": 1.0 for k in range(fresh)}, topic


def begun_with_words(stream):
    """The same, whose first example has so many names that words begin with it."""
    (x, y), *others = stream
    return [(x | dict.fromkeys(NAMES, 0.0), y), *others]


def odd(stream, seed=3):
    """Values below 0 and of any size, names of other kinds, empty examples."""
    rng = np.random.default_rng(seed)
    for t, (x, y) in enumerate(stream):
        scaled = {name: value * float(rng.normal() ** 3) for name, value in x.items()}
        yield ({} if t % 19 == 7 else scaled | {t % 40: 1.0, ("w", t % 7): 1e6 * (t % 5 == 0)}), y


@pytest.mark.parametrize("topics", [2, 4])
@pytest.mark.parametrize("change", [iter, odd])
def test_classes_are_replayed(topics, change):
    stream = begun_with_words(change(documents(250, topics)))
    model, weights = rb.AutoKernelClassifier(), some_weights(stream)
    assert_classes_replay(model, WordsClassifier(0), stream, weights=weights)


@pytest.mark.parametrize("change", [iter, odd])
def test_numbers_are_replayed(change):
    stream = begun_with_words(change(documents(250, 4)))
    model, oracle = rb.AutoKernelRegressor(), WordsRegressor(0)
    computed, expected = [], []
    for t, ((x, topic), w) in enumerate(zip(stream, some_weights(stream), strict=True)):
        y = 1e6 + 100.0 * topic + math.sin(t)
        if t > 0:
            computed.append(model.predict_one(x))
            expected.append(oracle.predict(x))
        model.learn_one(x, y, w)
        oracle.learn(x, y, w)
    np.testing.assert_allclose(computed, expected, rtol=CLOSE)


def test_a_distribution_is_around_the_prediction():
    stream = begun_with_words(documents(60))
    model = learned(stream, rb.AutoKernelRegressor)
    for x in (*(x for x, _ in stream), {}, {"new": 1.0, "missing": math.nan}):
        found = model.predict_one(x, with_dist=True)
        assert found.mu == model.predict_one(x)
        assert found.sigma > 0.0
    assert model._of_words


def learned(stream, kind=rb.AutoKernelClassifier, **parameters):
    model = kind(seed=1, **parameters)
    for x, y in stream:
        model.learn_one(x, y)
    return model


def shares(model, stream):
    return [model.predict_proba_one(x) for x, _ in stream]


def test_models_change_to_words_when_names_have_no_end():
    stream = list(documents(400))
    model = learned(stream[:20])
    assert model._of_words == 0
    assert model.importances()
    for x, y in stream[20:]:
        model.learn_one(x, y)
    assert model._of_words
    assert model.n_examples == 400
    assert [expert["name"] for expert in model.experts()][-1] == "few counts"
    assert model.importances() == {}
    assert model.n_support_vectors == 0
    found = model.explain_one(stream[-1][0])
    assert set(found["features"]) == set(stream[-1][0])
    assert sum(found["features"].values()) == pytest.approx(1.0)
    assert "Prediction" in model.debug_one(stream[-1][0])
    assert model.summary()


def test_tables_that_are_wide_and_full_stay_tables():
    rng = np.random.default_rng(0)
    model = rb.AutoKernelClassifier(30)
    model.learn_many(rng.normal(size=(5, 1100)), [True, False, True, False, True])
    assert model._of_words == 0
    assert len(model._features) == 1100


def test_what_was_learned_before_the_change_stays():
    stream = list(documents(2000, fresh=8))
    changed, later = rb.AutoKernelClassifier(seed=1), iter(stream)
    while not changed._of_words:
        last = next(later)
        changed.learn_one(*last)
    afresh, later = learned(begun_with_words([last])), list(later)
    assert 1600 < len(later) < 1980
    errors = [sum(m.predict_one(x) != y for x, y in later) for m in (changed, afresh)]
    assert errors[0] < 0.9 * errors[1]


def matrices(stream):
    """The examples as a sparse matrix, whose columns are numbered."""
    from scipy.sparse import csr_array

    places, rows = {}, []
    for x, _ in stream:
        rows.append({places.setdefault(name, len(places)): value for name, value in x.items()})
    entries = [(t, place, value) for t, row in enumerate(rows) for place, value in row.items()]
    t, columns, values = zip(*entries, strict=True)
    matrix = csr_array((values, (t, columns)), shape=(len(rows), len(places)))
    return rows, matrix


@pytest.mark.parametrize("kind", [CLASSIFIER, rb.AutoKernelRegressor])
def test_one_by_one_and_many_at_once_are_the_same(kind):
    stream = list(documents(300, 3))
    rows, matrix = matrices(stream)
    targets = np.array([y for _, y in stream])
    single = learned(zip(rows, targets.tolist(), strict=True), kind)
    assert single._of_words
    for size in (300, 7):
        model = kind(seed=1)
        for first in range(0, 300, size):
            model.learn_many(matrix[first : first + size], targets[first : first + size])
        found = [model.decision_function_one(x) for x in rows]
        assert found == [single.decision_function_one(x) for x in rows]
    if kind is rb.AutoKernelRegressor:
        assert model.predict_many(matrix).tolist() == [single.predict_one(x) for x in rows]


def test_the_order_of_names_does_not_matter():
    stream = begun_with_words(documents(200))
    turned = [(dict(reversed(x.items())), y) for x, y in stream]
    assert shares(learned(stream), stream) == shares(learned(turned), stream)


@pytest.mark.parametrize("kind", [rb.AutoKernelClassifier, REGRESSOR])
def test_copies_and_files_go_on_exactly(kind, tmp_path):
    stream = list(documents(400, 3))
    model = learned(stream[:300], kind)
    rb.save(model, tmp_path / "model.rb")
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    later = learned(stream, kind)
    expected = [later.decision_function_one(x) for x, _ in stream]
    for twin in [*copies, rb.load(tmp_path / "model.rb")]:
        assert twin._of_words == model._of_words
        for x, y in stream[300:]:
            twin.learn_one(x, y)
        assert [twin.decision_function_one(x) for x, _ in stream] == expected
    server = rb.load(tmp_path / "model.rb", predict_only=True)
    assert server.predict_one(stream[0][0]) == model.predict_one(stream[0][0])


def test_memory_stays_bounded_and_frequent_names_stay():
    model = rb.AutoKernelClassifier(
        classes=tuple(range(400))
    )  # long rows, of which few are allowed
    errors, names = [], []
    for x, y in begun_with_words(documents(1000, fresh=10)):
        errors.append(model.predict_one(x) != y)
        model.learn_one(x, y)
        names.append(len(model._features))
        assert model.n_words <= len(model._features) <= words.MOST_NUMBERS // model._capacity_for(0)
    assert min(np.diff(names)) < 0  # some have gone
    assert model.memory_usage < 40e6
    assert np.mean(errors[-300:]) < 0.1
    assert all(f"w{i}" in model._features.places for i in range(20))


def test_names_that_went_begin_anew():
    model = learned(begun_with_words(documents(100)))
    oldest = min(name for name in model._features if name in NAMES)
    model._forget_oldest(len(model._features) - 50, ())
    assert len(model._features) == 50
    assert oldest not in model._features.places
    assert model.n_words <= 50
    assert not memory.views(model._block).vectors[model._features.vacant].any()


def test_the_budget_may_change():
    model = learned(begun_with_words(documents(30)))
    before = model.predict_proba_one({"w1": 1.0})
    model.budget = 7
    assert model.budget == 7
    assert model.predict_proba_one({"w1": 1.0}) == before
    model.learn_one({"w1": 1.0}, 0)


def test_values_that_are_no_numbers_are_refused_by_name():
    model = learned(begun_with_words(documents(30)))
    before = model.predict_proba_one({"w1": 1.0})
    for value in (math.inf, [1.0]):
        with pytest.raises(ValueError, match="'strange'"):
            model.learn_one({"w1": 1.0, "strange": value}, 0)
    assert model.predict_proba_one({"w1": 1.0}) == before
    assert model.predict_proba_one({"w1": 1.0, "strange": math.nan}) == before


@pytest.mark.slow
def test_memory_is_flat_over_fifty_thousand_documents():
    model, sizes = rb.AutoKernelClassifier(seed=1), []
    for t, (x, y) in enumerate(documents(50_000, fresh=8)):
        model.learn_one(x, y)
        if t > 35_000:
            sizes.append(model.memory_usage)
    assert max(sizes) < 1.2 * sizes[0] < 64e6
    assert len(model._features) <= words.MOST_WORDS

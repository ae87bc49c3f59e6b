"""Examples of just the known features go a short way: what is learned and predicted is the same on any other."""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import pickle
import random
import sys

import numpy as np
import pytest
from models import MODELS, one_of_each, stream_for, variant
from optional import needs_compiler, needs_dict_reader
from processes import in_threads
from saved_models import file_of

import river_budget as rb
from river_budget.core.examples import dict_reader
from river_budget.model.calls import fast_path, one_by_one
from river_budget.model.calls.fast_path import no_fast_path
from river_budget.model.expansions.choose_storage import PLACES_PER_NAME

K = rb.kernels.RBF(0.05)
NEVER_FREED = []  # definitions of C functions


def uneven(model, n=120):
    """Examples most of which have all features known so far; some lack one, bring one, or are in another order."""
    stream = []
    for t, (x, y) in enumerate(stream_for(model, n, seed=3)):
        x = {"a": 0.5, "b": -1.0, "c": 0.1 * t} | dict(list(x.items())[:2])
        if t % 7 == 3:
            del x["b"]
        if t % 40 > 30:
            x[f"new{t // 40}"] = 1.0 + t
        stream.append((dict(reversed(x.items())) if t % 3 else x, y))
    return stream


@pytest.mark.parametrize("model", MODELS)
def test_in_one_go_is_one_after_the_other(model):
    together = variant(model, seed=1)
    apart, fresh = copy.copy(together), copy.copy(together)
    for t, (x, y) in enumerate(uneven(model)):
        w = 1.0 if t % 5 else 0.5
        expected = apart.predict_one(x)
        apart.learn_one(x, y, w)
        assert together.predict_then_learn_one(x, y, w) == expected
        fresh = copy.copy(fresh)  # a copy begins without the short way
        assert fresh.fast_path.learn is no_fast_path
        assert fresh.predict_one(x) == expected
        fresh.learn_one(x, y, w)
    assert file_of(together) == file_of(apart) == file_of(fresh)


def test_the_first_examples_of_a_process_wait_for_no_reader_of_dicts(monkeypatch):
    monkeypatch.setattr(fast_path, "_c_functions", NEVER_FREED)
    monkeypatch.setattr(fast_path, "_examples", itertools.count())
    monkeypatch.setattr(fast_path, "EXAMPLES_BEFORE", 3)
    model = rb.RBPClassifier(seed=1)
    ways = []
    for i in range(6):
        model.learn_one({"a": float(i)}, i % 2 == 0)
        ways.append(model.fast_path.learn is no_fast_path)
    assert ways == [True] * 3 + [not fast_path.may_read_dicts()] * 3


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_the_short_way_ends_with_the_features_it_was_made_for(model):
    model = variant(model, seed=1)
    stream = [({"a": float(t), "b": 1.0 - t}, y) for t, (_, y) in enumerate(stream_for(model, 40))]
    for x, y in stream:
        model.learn_one(x, y)
    model._score_row(x)  # compiles the pass
    score = model.fast_path.score
    assert (score is not no_fast_path) == (model.fast_path.learn is not no_fast_path)
    if score is no_fast_path:
        return
    before = score({"a": 1.0, "b": 2.0})
    assert before == model._score_row({"b": 2.0, "a": 1.0})
    assert score({"a": 1.0}) is None
    assert score({"a": 1.0, "c": 2.0}) is None
    assert score({"a": 1.0, "b": "text"}) is None
    assert score({"a": 1.0, "b": float("nan")}) is None
    model.learn_one({"a": 1.0, "b": 2.0, "c": 3.0}, stream[0][1])
    assert model.fast_path.score is not score
    assert pickle.loads(pickle.dumps(model)).fast_path.score is no_fast_path


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_a_refused_example_leaves_the_model_as_it_was(model):
    model = variant(model, seed=1)
    for x, y in uneven(model, 20):
        model.learn_one(x, y)
    known, before = dict.fromkeys(model.features, 1.0), file_of(model)
    for bad in (float("nan"), None, "text", 10**400):
        with pytest.raises(ValueError, match="finite number"):
            model.predict_then_learn_one(known | {next(iter(known)): bad}, y)
    for wrong in ({"w": -1.0}, {"w": float("nan")}):
        with pytest.raises(ValueError, match="w must be"):
            model.predict_then_learn_one(known, y, **wrong)
    with pytest.raises(ValueError, match="target"):
        model.predict_then_learn_one(known, None)
    assert file_of(model) == before


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda model: model.clone(include_attributes=True)],
    ids=["copy", "deepcopy", "clone"],
)
@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_what_a_copy_learns_the_original_does_not(model, copied):
    model = variant(model, seed=1)
    targets = [y for _, y in stream_for(model, 40)]
    for t, y in enumerate(targets):
        model.learn_one({"a": float(t % 7), "b": 1.0 - t % 5}, y)
    before, twin = file_of(model), copied(model)
    for t, y in enumerate(reversed(targets)):
        twin.learn_one({"a": float(t % 3), "b": 2.0}, y)
        twin.predict_one({"a": 1.0, "b": 1.0})
    assert file_of(model) == before


def test_a_third_class_ends_the_short_way():
    model = rb.BSGDClassifier(10)
    for t in range(20):
        model.learn_one({"a": float(t % 5), "b": 1.0}, "even" if t % 2 else "odd")
    two = model.fast_path.score
    model.learn_one({"a": 1.0, "b": 1.0}, "neither")
    assert model.fast_path.score is not two or not fast_path.may_read_dicts()
    assert len(model._score_row({"a": 1.0, "b": 1.0})) == 3


# what compiled code reads by itself


def test_compiled_code_knows_how_many_types_there_are():
    assert len(fast_path._DICTS) == dict_reader.N_DICTS
    assert len(fast_path._NUMBERS) == dict_reader.N_NUMBERS


@needs_dict_reader
def test_a_short_way_that_was_made_too_early_is_mended():
    """By a thread that predicts, while names lost their places."""
    model = loose()
    model.fast_path.entry["version"] -= 1
    x = dict.fromkeys(list(model.features)[:5], 0.1)
    assert model.fast_path.score(x) is None
    model.learn_one(x, True)
    assert model.fast_path.score(x) == model._score_the_long_way(x)


class Number:
    """It becomes a float by code of Python, during which anything may happen."""

    def __init__(self, value, on_the_way=lambda: None):
        self.value, self.on_the_way = value, on_the_way

    def __float__(self):
        self.on_the_way()
        return self.value


class Named:
    """A name whose comparison is code of Python."""

    def __init__(self, on_the_way):
        self.on_the_way = on_the_way

    def __hash__(self):
        return hash("a")

    def __eq__(self, other):
        self.on_the_way()
        return False


class Mapped(dict):
    """A dict of a user, which may have its own way to give its values."""


class Name(str):
    """A name that is equal to what it looks like."""

    __slots__ = ()


PLAIN_NAMES = ["a", "ä", "名", "👋", "half \ud800", 3, -1, 2**60, ("a", 1), ""]
NAMES = [*PLAIN_NAMES, True, 2.5, None, Name("b")]
VALUES = [1, True, -1, 0, -1.0, 10**300, np.float32(0.1), np.int8(-1), np.bool_(True), 0.3]
VALUES += [Number(0.7)]
MAPPINGS = [dict, collections.OrderedDict, collections.Counter, lambda x: collections.defaultdict(int, x)]  # fmt: skip
SPARSE = [rb.RBPClassifier(9, K, seed=1), rb.BSGDClassifier(9, K), rb.FOGDClassifier(9, K, seed=1)]
SPARSE += [rb.RBPClassifier(9, rb.kernels.Laplacian(0.05), seed=1)]


def odd(n, n_names=400, seed=0, kinds=tuple(NAMES)):
    """Names and numbers of all kinds, mappings of all kinds, names that come and go."""
    rng = random.Random(seed)
    for t in range(n):
        words = [f"w{rng.randrange(n_names) + t}" for _ in range(rng.randrange(9))]
        names = words if t % 2 else [*words, *itertools.pairwise(words)]  # as River's BagOfWords
        x = {name: rng.gauss(0.0, 1.0) for name in names}
        x |= {name: rng.choice(VALUES) for name in rng.sample(kinds, rng.randrange(3))}
        yield rng.choice(MAPPINGS)(x), rng.random() < 0.5


@pytest.fixture
def long_way(monkeypatch):
    """A function that calls another, during which no model has a short way."""

    def call(function, *given):
        with monkeypatch.context() as patch:
            for module in (fast_path, one_by_one):
                patch.setattr(module, "c_functions", list)
            return function(*given)

    return call


@pytest.mark.parametrize("kinds", [NAMES, PLAIN_NAMES], ids=["any names", "plain names"])
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("model", SPARSE, ids=lambda model: type(model).__name__)
def test_whatever_an_example_holds_the_short_way_is_the_long_way(
    model, large, kinds, long_way, monkeypatch
):
    monkeypatch.setattr(fast_path, "SLOW_BLOCK_BYTES", 0 if large else 2**62)
    short, long = model.clone(), model.clone()
    ways = []
    for x, y in odd(500, kinds=kinds):
        expected = long_way(long.decision_function_one, x)
        ways.append(short.fast_path.score(x) is not None)
        assert short.decision_function_one(x) == expected
        short.learn_one(x, y)
        long_way(long.learn_one, x, y)
        assert long.fast_path.learn is no_fast_path
    if hasattr(short, "support_vectors"):
        assert short.support_vectors() == long.support_vectors()
    if kinds is NAMES:  # who knows a name that is out of the ordinary goes the long way for good
        assert not any(ways[100:])
    else:
        share = sum(ways) / len(ways)
        assert not fast_path.may_read_dicts() or 0.1 < share < 0.92
    assert short.decision_function_one({"new": 1.0}) == long.decision_function_one({"new": 1.0})


def loose(n=400):
    model = rb.RBPClassifier(9, K, seed=1)
    for x, y in odd(n, kinds=PLAIN_NAMES):
        model.predict_one(x)
        model.learn_one(x, y)
    assert model.features.loose
    return model


@needs_dict_reader
def test_what_is_out_of_the_ordinary_is_left_alone():
    """It runs no code of a user, and it sets no error."""

    def never():
        raise AssertionError

    model = loose()
    before = file_of(model)
    own = {"a": Number(1.0, never)}, {Named(never): 1.0}
    for x in (*own, {"a": "text"}, {"a": None}, {"a": 10**400}):
        assert model.fast_path.score(x) is None
        assert model.fast_path.learn(x, 1.0, 1.0) is None
    for x in ({"\ud800": 1.0}, {2**80: 1.0}, 3, None, [1], Mapped(a=1.0)):
        assert model.fast_path.score(x) is None
    for given in ((), ({},), ({}, 1.0)):
        assert model.fast_path.learn(*given) is None
    assert file_of(model) == before
    model.fast_path.entry["busy"] = 1
    assert model.fast_path.score({"a": 1.0}) is None
    assert model.decision_function_one({"a": 1.0}) == copy.copy(model).decision_function_one({"a": 1.0})  # fmt: skip


@needs_compiler
def test_nothing_is_held_that_is_not_used():
    model, words = loose(), [f"word {i}" for i in range(3000)]
    held = [sys.getrefcount(word) for word in words]
    rng = random.Random(1)
    for _ in range(20_000):
        x = {rng.choice(words): rng.random() for _ in range(8)}
        model.predict_one(x)
        model.learn_one(x, rng.random() < 0.5)
    del x
    known = [word in model.features.places for word in words]
    now = [sys.getrefcount(word) for word in words]
    assert [b - a for a, b in zip(held, now, strict=True)] == [int(k) for k in known]
    # Python forgets names when it needs their places, compiled code at once
    lazily = 1 if fast_path.may_read_dicts() else PLACES_PER_NAME
    assert 0 < sum(known) < 100 * lazily


@needs_compiler
def test_threads_may_predict_while_passes_run_without_the_lock(monkeypatch):
    monkeypatch.setattr(fast_path, "SLOW_BLOCK_BYTES", 0)
    model, examples = loose(), [x for x, _ in odd(300, seed=5, kinds=PLAIN_NAMES)]
    expected = [model.decision_function_one(x) for x in examples]
    found = [[] for _ in range(3)]

    def predict(scores):
        for _ in range(5):
            scores[:] = [model.decision_function_one(x) for x in examples]

    in_threads(*(functools.partial(predict, scores) for scores in found))
    assert found == [expected] * 3

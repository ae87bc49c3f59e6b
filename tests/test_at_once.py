"""Examples of just the known features go a short way: what is learned and predicted is the same on any other."""

from __future__ import annotations

import copy
import pickle

import pytest
from models import MODELS, stream_for, variant
from test_saving import file_of

import river_budget as rb
from river_budget.model.at_once import nothing


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
        assert fresh.at_once.learn is nothing
        assert fresh.predict_one(x) == expected
        fresh.learn_one(x, y, w)
    assert file_of(together) == file_of(apart) == file_of(fresh)


@pytest.mark.parametrize("model", MODELS)
def test_the_short_way_ends_with_the_features_it_was_made_for(model):
    model = variant(model, seed=1)
    stream = [({"a": float(t), "b": 1.0 - t}, y) for t, (_, y) in enumerate(stream_for(model, 40))]
    for x, y in stream:
        model.learn_one(x, y)
    model._score_row(x)  # compiles the pass
    score = model.at_once.score
    assert (score is not nothing) == (model.at_once.learn is not nothing)
    if score is nothing:
        return
    before = score({"a": 1.0, "b": 2.0})
    assert before == model._score_row({"b": 2.0, "a": 1.0})
    assert score({"a": 1.0}) is None
    assert score({"a": 1.0, "c": 2.0}) is None
    assert score({"a": 1.0, "b": "text"}) is None
    assert score({"a": 1.0, "b": float("nan")}) is None
    model.learn_one({"a": 1.0, "b": 2.0, "c": 3.0}, stream[0][1])
    assert model.at_once.score is not score
    assert pickle.loads(pickle.dumps(model)).at_once.score is nothing


@pytest.mark.parametrize("model", MODELS)
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
@pytest.mark.parametrize("model", MODELS)
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
    two = model.at_once.score
    model.learn_one({"a": 1.0, "b": 1.0}, "neither")
    assert model.at_once.score is not two
    assert len(model._score_row({"a": 1.0, "b": 1.0})) == 3


def test_a_frozen_model_learns_nothing_in_one_go_either(tmp_path):
    model = rb.BSGDClassifier(10)
    model.learn_one({"a": 1.0, "b": 2.0}, True)
    rb.save(model, tmp_path / "model.rb")
    frozen = rb.load(tmp_path / "model.rb", predict_only=True)
    with pytest.raises(RuntimeError, match="predict_only"):
        frozen.predict_then_learn_one({"a": 1.0, "b": 2.0}, True)

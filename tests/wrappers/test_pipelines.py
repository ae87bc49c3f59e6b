"""Pipelines with ours at the end: a guard at the front, and what River's pipelines do not know."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from optional import pandas as pd
from river import linear_model, preprocessing

import river_budget as rb


def stream(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(3.0, 2.0, size=(n, 3))
    return X, (X[:, 0] - 3.0) * (X[:, 1] - 3.0) > 0.0


def dicts(X):
    return [dict(enumerate(row)) for row in X.tolist()]


def scores(model, n=20):
    return [rb.decision_function_one(model, x) for x in dicts(stream(n, seed=1)[0])]


def pipeline(*first):
    model = preprocessing.StandardScaler() | rb.BSGDClassifier(20, classes=(False, True))
    for step in first:
        model = step | model
    return model


# What River's pipelines do not know


@pytest.mark.parametrize("weighted", [False, True])
def test_many_examples_behind_a_scaler_are_a_loop_over_single_ones(weighted):
    X, y = stream(200)
    w = np.random.default_rng(2).uniform(0.5, 2.0, 200) if weighted else None
    one, many = pipeline(), pipeline()
    expected = []
    for i, (x, label) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        expected.append(one.predict_one(x))
        one.learn_one(x, label, **({"w": float(w[i])} if weighted else {}))
    assert rb.predict_then_learn_many(many, X, y, w).tolist() == expected
    assert scores(many) == scores(one)


def test_a_frame_gives_a_series_and_a_bare_model_its_own_method():
    X, y = stream(50)
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=range(7, 57))
    predictions = rb.predict_then_learn_many(pipeline(), frame, pd.Series(y, name="label"))
    assert predictions.index.tolist() == frame.index.tolist()
    assert predictions.name == "label"
    bare = rb.RBPClassifier(5, seed=1)
    own = copy.deepcopy(bare).predict_then_learn_many(X, y)
    assert rb.predict_then_learn_many(bare, X, y).tolist() == own.tolist()
    with pytest.raises(ValueError, match="50 targets"):
        rb.predict_then_learn_many(pipeline(), X, y[:-1])


def test_support_vectors_and_memory_of_a_pipeline():
    model = pipeline()
    rb.predict_then_learn_many(model, *stream(100))
    last = model["BSGDClassifier"]
    assert rb.support_vectors(model) == last.support_vectors()
    scaler = model["StandardScaler"]
    assert rb.memory_usage(last) == last.memory_usage
    assert rb.memory_usage(model) == last.memory_usage + scaler._raw_memory_usage
    x = dicts(stream(1)[0])[0]
    expected = last.decision_function_one(model["StandardScaler"].transform_one(x))
    assert rb.decision_function_one(model, x) == expected
    with pytest.raises(TypeError, match="LogisticRegression"):
        rb.decision_function_one(linear_model.LogisticRegression(), x)


@pytest.mark.parametrize(
    ("wrap", "top"),
    [
        (rb.Delayed, "Delayed (max_held=10000)"),
        (rb.TargetStandardScaler, "TargetStandardScaler ()"),
        (preprocessing.TargetStandardScaler, "TargetStandardScaler ()"),
    ],
)
def test_a_wrapper_is_looked_into(wrap, top):
    last = rb.BSGDClassifier(9, seed=1) if wrap is rb.Delayed else rb.BSGDRegressor(9, seed=1)
    model = wrap(rb.StandardScaler() | last)
    X, y = stream(60)
    for x, label in zip(dicts(X), y, strict=True):
        model.learn_one(x, label)
    inside = model.classifier if wrap is rb.Delayed else model.regressor
    own = inside[type(last).__name__]
    assert own.n_support_vectors == len(rb.support_vectors(model)) == 9
    assert rb.support_vectors(model) == own.support_vectors()
    assert rb.summary(model).splitlines() == [top, *rb.summary(inside).splitlines()]
    scaled = inside["StandardScaler"].transform_one(x)
    assert rb.decision_function_one(model, x) == own.decision_function_one(scaled)


@pytest.mark.parametrize(
    "kind", [rb.Guard, rb.FeatureBudget, rb.Delayed, rb.TargetStandardScaler, rb.StandardScaler]
)
def test_a_wrapper_needs_no_seed_and_says_so(kind):
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter 'seed' and needs none"):
        kind(seed=1)

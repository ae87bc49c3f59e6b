"""Whatever happens to a model, in whatever order: it stays finite and within its budget."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from fuzzing import check_model
from models import MODELS, list_of, may_be_unlimited, two_classes_only
from optional import given, settings, st
from oracles.kernels import rbf
from river import base
from streams import LABELS

import river_budget as rb
from river_budget.kernels import RBF
from river_budget.maintenance import Merge, Project, RemoveSmallest

MAGNITUDES = [10.0**power for power in (-300, -160, -30, -8, 8, 30, 150, 155, 300)]

numbers = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0]),  # often the same: zero vectors and duplicates
    st.floats(-3.0, 3.0),
    st.builds(math.copysign, st.sampled_from(MAGNITUDES), st.sampled_from([-1.0, 1.0])),
)
examples = st.dictionaries(st.sampled_from("abcdefgh"), numbers, max_size=5)
learning = st.tuples(
    st.just("learn"),
    examples,
    st.integers(0, len(LABELS) - 1),
    st.sampled_from([1.0, 1.0, 1.0, 0.0, 0.3, 5.0, 1e-300, 1e8]),
)
operations = st.lists(
    st.one_of(
        learning,
        learning,
        learning,
        st.tuples(st.just("predict"), examples),
        st.tuples(st.just("budget"), st.sampled_from([1, 2, 5, 20, None])),
        st.tuples(st.just("pickle")),
    ),
    min_size=10,
    max_size=40,
)


def perform(model, operation, *arguments):
    """Carry out an operation; returns the model, which a pickle replaces."""
    if operation == "learn":
        x, label, w = arguments
        model.learn_one(x, target_of(model, label), w)
    elif operation == "predict":
        model.predict_one(*arguments)
    elif operation == "budget" and getattr(model, "budget", None):
        if arguments[0] is not None or may_be_unlimited(model):
            model.mutate({"budget": arguments[0]})
    elif operation == "pickle":
        return pickle.loads(pickle.dumps(model))
    return model


def target_of(model, label):
    if isinstance(model, base.Regressor):
        return (-1.0, 0.5, 2.0, 1e300)[label]
    return label > 1 if two_classes_only(model) else LABELS[label]


def check(model, *examples):
    before = pickle.dumps(model)
    check_model(model, examples)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=3)
@given(steps=operations)
def test_models_stay_finite_and_within_their_budget(model, steps):
    model, x = model.clone(), {}
    for operation, *arguments in steps:
        model = perform(model, operation, *arguments)
        x = arguments[0] if operation in ("learn", "predict") else x
        check(model, x, {"a": 1.0, "new": -1.0})


@pytest.mark.parametrize("arity", [2, 3, 4, 7])
@pytest.mark.parametrize("method", ["cascade", "gradient"])
@pytest.mark.parametrize("far", [1e30, 1e154, 1e155, 1e300])
def test_vectors_whose_distance_overflows_can_be_merged(arity, method, far):
    model = rb.BSGDClassifier(7, RBF(0.5), Merge(arity, method))
    for i in range(12):
        model.learn_one({"a": (-far if i % 2 else 0.1) * i}, "no" if i % 3 else "yes")
        check(model, {"a": 0.3})
    model.mutate({"budget": 1})
    check(model, {"a": 0.3})


@pytest.mark.parametrize("labels", [2, 3, 10])
@pytest.mark.parametrize("budget", [3, 7, 20])
@pytest.mark.parametrize(
    "maintenance",
    [RemoveSmallest(), Project()]
    + [Merge(m, how) for m in (2, 3, 6, 20) for how in ("cascade", "gradient")],
    ids=repr,
)
def test_the_norm_of_the_model_stays_below_one_over_the_root_of_l2(maintenance, budget, labels):
    model = rb.BSGDClassifier(budget, RBF(0.5), maintenance, l2=1e-2)
    rng = np.random.default_rng(0)
    for _ in range(60):
        model.learn_one({"a": float(rng.normal())}, f"label {rng.integers(labels)}")
        points = [[v["features"].get("a", 0.0)] for v in model.support_vectors()]
        a = [list_of(v["coefficients"]) for v in model.support_vectors()]
        assert np.sum((a @ np.transpose(a)) * rbf(0.5)(points, points)) <= 100.0 * (1 + 1e-9)

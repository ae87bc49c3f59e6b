"""Bad input is refused with an error that names the culprit, and the model stays as it was."""

from __future__ import annotations

import contextlib
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from models import CLASSIFIERS, MODELS, REGRESSORS, learned, stream_for

import river_budget as rb
from river_budget.kernels import RBF, Laplacian, Linear, Polynomial
from river_budget.maintenance import Merge

NO_NUMBERS = [
    "text",
    "1.5",
    b"1",
    None,
    math.nan,
    math.inf,
    -math.inf,
    10**400,
    [1.0],
    (1.0, 2.0),
    {"a": 1},
    1j,
    np.array([1.0, 2.0]),
    np.datetime64("2024-01-01"),
    pd.NA,
    float,
]
NO_LABELS = [None, math.nan, np.float64("nan"), [1], {"a": 1}, np.array([1, 2]), pd.NA, pd.NaT]
BAD_WEIGHTS = [-1.0, -1e-300, math.nan, math.inf, None, "a", [1.0], 1j, 10**400]

BEHIND_ONE = ("learn_one", "predict_one", "predict_proba_one", "decision_function_one")
BEHIND_MANY = ("learn_many", "predict_then_learn_many", "predict_many", "predict_proba_many")


@contextlib.contextmanager
def refused(model, *culprits):
    """ValueError that mentions all culprits, and not a byte of the model has changed."""
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=".*".join(re.escape(str(c)) for c in culprits)):
        yield
    assert pickle.dumps(model) == before


def states(model):
    return [model.clone({"seed": 1}), learned(model, 10)]


def call(model, method, x, y, **further):
    further = {"y": y} | further if "learn" in method else further
    getattr(model, method)(x, **further)


def methods_of(model, names):
    return [name for name in names if hasattr(model, name)]


# features


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("model", MODELS)
def test_a_feature_that_is_no_finite_number_is_refused(model, value):
    y = stream_for(model, 1)[0][1]
    for state in states(model):
        for name in ("f0", "unknown"):
            x = {"f0": 1.0, "f1": 0.5} | {name: value}
            for method in methods_of(model, BEHIND_ONE):
                with refused(state, repr(name), "finite number", repr(value)):
                    call(state, method, x, y)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("model", [*CLASSIFIERS[:1], *REGRESSORS[:1]])
def test_a_value_in_a_frame_that_is_no_finite_number_is_refused(model, value):
    y = [target for _, target in stream_for(model, 3)]
    X = pd.DataFrame({"f0": [1.0, 2.0, 3.0], "bad": pd.Series([0.5, value, 0.5], dtype=object)})
    for state in states(model):
        for method in methods_of(model, BEHIND_MANY):
            with refused(state, "'bad'", "finite number"):
                call(state, method, X, y)


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, "text", None, 1j])
@pytest.mark.parametrize("model", [*CLASSIFIERS[:1], *REGRESSORS[:1]])
def test_a_value_in_an_array_that_is_no_finite_number_is_refused(model, value):
    y = [target for _, target in stream_for(model, 2)]
    for kind in (object, None):
        X = np.array([[0.0, 1.0], [0.0, value]], kind)
        for state in states(model):
            for method in methods_of(model, BEHIND_MANY):
                with refused(state, "number"):
                    call(state, method, X, y)


@pytest.mark.parametrize("kind", ["complex128", "datetime64[D]", "timedelta64[D]", "U5"])
def test_an_array_of_something_else_than_numbers_is_refused(kind):
    model, X = learned(rb.BSGDClassifier(5)), np.zeros((2, 2)).astype(kind)
    with refused(model, "number"):
        model.learn_many(X, ["blue", "amber"])


@pytest.mark.parametrize("shape", [(3,), (3, 1, 1), ()])
def test_an_array_that_is_no_matrix_is_refused(shape):
    model = learned(rb.BSGDClassifier(5))
    for method in BEHIND_MANY:
        with refused(model, "2 dimensions"):
            call(model, method, np.zeros(shape), ["blue"] * 3)


# targets


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("model", REGRESSORS)
def test_a_target_that_is_no_finite_number_is_refused(model, value):
    x = {"f0": 1.0, "unknown": 2.0}
    for state in states(model):
        with refused(state, "target", "finite number", repr(value)):
            state.learn_one(x, value)
        for method in ("learn_many", "predict_then_learn_many"):
            with refused(state, "target", "finite number"):
                call(state, method, pd.DataFrame([x, x]), [0.5, value])


@pytest.mark.parametrize("value", NO_LABELS, ids=repr)
@pytest.mark.parametrize("model", CLASSIFIERS)
def test_a_target_that_is_no_label_is_refused(model, value):
    x, label = {"f0": 1.0, "unknown": 2.0}, stream_for(model, 1)[0][1]
    for state in states(model):
        with refused(state, "target", "label", repr(value)):
            state.learn_one(x, value)
        for method in ("learn_many", "predict_then_learn_many"):
            with refused(state, "target", "label"):
                call(state, method, pd.DataFrame([x, x]), [label, value])


@pytest.mark.parametrize("classes", [("a", "b"), ("a", "b", "c"), (False, True)])
@pytest.mark.parametrize("value", ["z", 7, None])
def test_a_label_outside_classes_is_refused(classes, value):
    x = {"f0": 1.0, "unknown": 2.0}
    fresh, model = rb.BSGDClassifier(5, classes=classes), rb.BSGDClassifier(5, classes=classes)
    model.learn_one({"f0": 0.5}, classes[1])
    for state in (fresh, model):
        with refused(state, "target", repr(value)):
            state.learn_one(x, value)
        for method in ("learn_many", "predict_then_learn_many"):
            with refused(state, "target", repr(value)):
                call(state, method, pd.DataFrame([x, x]), [classes[0], value])


@pytest.mark.parametrize("model", [*CLASSIFIERS[:1], *REGRESSORS[:1]])
def test_a_wrong_number_of_targets_is_refused(model):
    X = np.zeros((3, 2))
    for targets in ([], [1], [1] * 4, np.ones((1, 3))):
        for state in states(model):
            for method in ("learn_many", "predict_then_learn_many"):
                with refused(state, "targets"):
                    call(state, method, X, targets)


@pytest.mark.parametrize("model", [*CLASSIFIERS[:1], *REGRESSORS[:1]])
def test_targets_in_a_matrix_are_refused(model):
    for state in states(model):
        for method in ("learn_many", "predict_then_learn_many"):
            with refused(state, "target"):
                call(state, method, np.zeros((3, 2)), np.ones((3, 1)))


# weights


@pytest.mark.parametrize("w", BAD_WEIGHTS, ids=repr)
@pytest.mark.parametrize("model", MODELS)
def test_a_weight_that_is_negative_or_not_finite_is_refused(model, w):
    y = stream_for(model, 1)[0][1]
    for state in states(model):
        for x in ({"f0": 1.0}, {"f0": 1.0, "unknown": 2.0}):
            with refused(state, "w must be"):
                state.learn_one(x, y, w=w)
            for weights in (w, [1.0, w], np.array([1.0, w], object)):
                for method in ("learn_many", "predict_then_learn_many"):
                    if weights is not w or not isinstance(w, (list, str)):
                        with refused(state, "w must be"):
                            call(state, method, pd.DataFrame([x, x]), [y, y], w=weights)


def test_a_bad_weight_does_not_make_a_label_known():
    model = rb.BSGDClassifier(5)
    with refused(model, "w must be"):
        model.learn_one({"a": 1.0}, "new", w=-1.0)
    assert model.predict_proba_one({"a": 1.0}) == {}


def test_a_wrong_number_of_weights_is_refused():
    model = rb.BSGDClassifier(5)
    for weights in ([], [1.0], np.ones(4)):
        with refused(model, "weights"):
            model.learn_many(np.zeros((3, 2)), [True, False, True], w=weights)


# parameters

PARAMETERS = [
    ("budget", 0),
    ("budget", -1),
    ("budget", 1.5),
    ("budget", "10"),
    ("budget", True),
    ("kernel", "rbf"),
    ("kernel", RBF),
    ("kernel", Merge()),
    ("maintenance", "merge"),
    ("maintenance", Merge),
    ("maintenance", RBF()),
    ("l2", 0),
    ("l2", -1e-4),
    ("l2", math.inf),
    ("l2", None),
    ("l2", "small"),
    ("project_to_ball", None),
    ("project_to_ball", "yes"),
    ("seed", -1),
    ("seed", 0.5),
    ("seed", "1"),
    ("classes", ("a",)),
    ("classes", ()),
    ("classes", ("a", "a")),
    ("classes", ("a", "b", "a")),
    ("classes", (0, False)),
    ("classes", ["a", "b"]),
    ("classes", "ab"),
    ("classes", 2),
    ("classes", ([1], [2])),
    ("classes", ("a", None)),
    ("classes", ("a", math.nan)),
    ("epsilon", -0.1),
    ("epsilon", math.nan),
    ("epsilon", None),
]


@pytest.mark.parametrize(("name", "value"), PARAMETERS, ids=repr)
def test_a_parameter_out_of_range_is_refused(name, value):
    for estimator in (rb.BSGDClassifier, rb.BSGDRegressor):
        if name in estimator._parameters():
            with pytest.raises(ValueError, match=name):
                estimator(**{name: value})


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("gamma", lambda: RBF(-1)),
        ("gamma", lambda: RBF(0)),
        ("gamma", lambda: RBF("scale")),
        ("gamma", lambda: RBF(None)),
        ("gamma", lambda: RBF(math.nan)),
        ("gamma", lambda: RBF(10**400)),
        ("gamma", lambda: Laplacian(-1)),
        ("gamma", lambda: Polynomial(gamma=0)),
        ("sigma", lambda: RBF.from_width(0)),
        ("sigma", lambda: RBF.from_width(1e-200)),
        ("sigma", lambda: RBF.from_width(1e200)),
        ("degree", lambda: Polynomial(0)),
        ("degree", lambda: Polynomial(2.5)),
        ("coef0", lambda: Polynomial(coef0=math.nan)),
        ("arity", lambda: Merge(1)),
        ("arity", lambda: Merge(2.5)),
        ("arity", lambda: Merge(3, objective="eq21")),
        ("method", lambda: Merge(method="best")),
        ("method", lambda: Merge(method=None)),
        ("objective", lambda: Merge(objective="loss")),
    ],
)
def test_a_parameter_of_a_kernel_or_maintenance_out_of_range_is_refused(name, build):
    with pytest.raises(ValueError, match=name):
        build()


@pytest.mark.parametrize("kernel", [Polynomial(), Laplacian(), Linear()])
@pytest.mark.parametrize("maintenance", [None, Merge(), Merge(3)])
def test_merging_needs_a_gaussian_kernel(kernel, maintenance):
    for estimator in (rb.BSGDClassifier, rb.BSGDRegressor):
        with pytest.raises(ValueError, match=r"Merge.*Gaussian.*kernel"):
            estimator(kernel=kernel, maintenance=maintenance)

"""What the model says: labels, scores, probabilities, weights, features, as the API promises."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from inside import plain
from models import (
    AUTO,
    CLASSIFIERS,
    MODELS,
    REGRESSORS,
    STATIONARY,
    content,
    having,
    learn,
    learned,
    one_of_each,
    scores,
    stream_for,
    variant,
)
from optional import pandas as pd

import river_budget as rb
from river_budget.kernels import RBF, Linear
from river_budget.maintenance import RemoveSmallest

LEFT, RIGHT = {"a": -1.0}, {"a": 1.0}
MIDDLE = {"a": 0.0}


def taught(left, right, **parameters):
    model = rb.BSGDClassifier(10, RBF(0.5), l2=0.1, **parameters)
    for _ in range(20):
        model.learn_one(LEFT, left)
        model.learn_one(RIGHT, right)
    return model


# labels


@pytest.mark.parametrize("as_bool", [bool, np.bool_])
@pytest.mark.parametrize("first", [False, True])
def test_true_is_positive_whatever_comes_first(first, as_bool):
    model = taught(as_bool(first), as_bool(not first))
    sign = 1 if first else -1
    assert sign * model.decision_function_one(LEFT) > 0 > sign * model.decision_function_one(RIGHT)
    assert model.predict_one(LEFT) is first
    assert model.predict_one(RIGHT) is not first
    assert list(model.predict_proba_one(LEFT)) == [False, True]


@pytest.mark.parametrize(
    ("first", "second"), [("no", "yes"), ("yes", "no"), (1, 0), (-1, 1), (2.5, 1.5), ("a", 1)]
)
def test_the_label_that_comes_second_is_positive(first, second):
    model = taught(first, second)
    assert model.decision_function_one(LEFT) < 0 < model.decision_function_one(RIGHT)
    assert (model.predict_one(LEFT), model.predict_one(RIGHT)) == (first, second)
    assert list(model.predict_proba_one(LEFT)) == [first, second]


@pytest.mark.parametrize(
    ("label", "kind"),
    [(np.bool_(True), bool), (np.int64(3), int), (np.float32(0.5), float), (np.str_("a"), str)],
)
def test_labels_come_back_as_plain_python_values(label, kind):
    model = rb.BSGDClassifier(5)
    model.learn_one(LEFT, label)
    assert type(model.predict_one(LEFT)) is kind
    assert model.predict_one(LEFT) == label


@pytest.mark.parametrize(
    ("label", "other"),
    [
        (("a",), ("b", "c")),
        (("a", 1), ("b", 2)),
        (frozenset("a"), frozenset("b")),
        (np.datetime64("2024-01-01"), np.datetime64("2024-01-02")),
        (-1, 2**63 + 1),
        (b"a\0", b"b"),
        ("a\0", "b"),
    ],
    ids=str,
)
def test_any_hashable_value_is_a_label(label, other):
    model = taught(other, label)
    assert model.predict_one(RIGHT) == label
    assert model.predict_many(pd.DataFrame([LEFT, RIGHT])).tolist() == [other, label]


def test_classes_say_which_label_is_positive():
    model = taught("yes", "no", classes=("no", "yes"))
    assert model.decision_function_one(LEFT) > 0 > model.decision_function_one(RIGHT)
    assert list(model.predict_proba_one(LEFT)) == ["no", "yes"]


def test_several_classes_start_with_a_column_each_in_the_given_order():
    model = rb.BSGDClassifier(5, classes=("c", "a", "b"))
    assert model.decision_function_one(LEFT) == {"c": 0.0, "a": 0.0, "b": 0.0}
    assert model.predict_one(LEFT) == "c"
    assert model.predict_proba_one(LEFT) == pytest.approx({"c": 1 / 3, "a": 1 / 3, "b": 1 / 3})
    model.learn_one(LEFT, "b")
    assert list(model.decision_function_one(LEFT)) == ["c", "a", "b"]


# fresh models and single labels


def test_a_fresh_classifier_knows_no_labels():
    model = rb.BSGDClassifier(5)
    assert model.predict_proba_one(LEFT) == {}
    assert model.predict_one(LEFT) is None
    assert model.decision_function_one(LEFT) == 0.0
    assert (model.n_support_vectors, model.support_vectors()) == (0, [])


@pytest.mark.parametrize("classes", [(False, True), ("no", "yes")])
def test_a_fresh_classifier_of_two_classes_is_undecided_and_says_the_positive_one(classes):
    model = rb.BSGDClassifier(5, classes=classes)
    assert model.predict_proba_one(LEFT) == {classes[0]: 0.5, classes[1]: 0.5}
    assert model.predict_one(LEFT) == classes[1]


@pytest.mark.parametrize("model", one_of_each(REGRESSORS))
def test_a_fresh_regressor_says_zero(model):
    assert model.clone().predict_one(LEFT) == 0.0


def test_the_only_known_label_is_predicted():
    model = rb.BSGDClassifier(5)
    model.learn_one(LEFT, "only")
    for x in (LEFT, RIGHT, {}, {"b": 3}):
        assert model.predict_one(x) == "only"
        assert model.predict_proba_one(x) == {"only": 1.0}


# scores and probabilities


@pytest.mark.parametrize("labels", ["ab", "ba"])
def test_a_score_of_zero_says_the_positive_class(labels):
    model = taught(*labels)
    far = {"a": 1e6}
    assert model.decision_function_one(far) == 0.0
    assert model.predict_one(far) == labels[1]


def test_among_equal_scores_of_several_classes_the_first_column_wins():
    model = taught("b", "a")
    model.learn_one(MIDDLE, "c")
    far = {"a": 1e6}
    assert set(model.decision_function_one(far).values()) == {0.0}
    assert model.predict_one(far) == "b"


@pytest.mark.parametrize("model", [entry for entry in CLASSIFIERS if entry not in AUTO])
def test_predictions_probabilities_and_scores_agree(model):
    """(Which probabilities belong to which scores: test_calibration.py.)"""
    model = learned(model)
    for x, _ in stream_for(model, 40, seed=1):
        probabilities, score = model.predict_proba_one(x), model.decision_function_one(x)
        assert math.isclose(sum(probabilities.values()), 1.0)
        assert all(type(value) is float for value in probabilities.values())
        if isinstance(score, dict):
            assert list(score) == list(probabilities)
            assert model.predict_one(x) == max(score, key=score.get)
        else:
            assert model.predict_one(x) is (score >= 0.0)


@pytest.mark.parametrize("model", one_of_each(REGRESSORS))
def test_the_score_of_a_regressor_is_its_prediction(model):
    model = learned(model)
    for x, _ in stream_for(model, 10, seed=1):
        assert model.decision_function_one(x) == model.predict_one(x)
        assert type(model.predict_one(x)) is float


def test_a_third_label_moves_no_prediction():
    model = taught("no", "yes")
    probes = [{"a": a} for a in np.linspace(-4, 4, 41).tolist()]
    before = [(model.predict_one(x), model.decision_function_one(x)) for x in probes]
    model.learn_one(RIGHT, "perhaps", w=0.0)
    for x, (label, score) in zip(probes, before, strict=True):
        assert model.predict_one(x) == label
        assert model.decision_function_one(x) == {
            "no": -score / 2,
            "yes": score / 2,
            "perhaps": 0.0,
        }


# support vectors


def kernel_function(model, first):
    kernel = model._kernel_in_use
    gamma = getattr(kernel, "gamma", None)
    if isinstance(gamma, str):
        gamma = (1.0 if gamma == "auto" else float(gamma.removesuffix("/d"))) / len(first)
        kernel = type(kernel)(**kernel._get_params() | {"gamma": gamma})
    return plain(kernel)


@pytest.mark.parametrize("model", having("support_vectors"))
def test_scores_can_be_computed_from_the_support_vectors(model):
    model = model.clone()
    stream = stream_for(model, 60)
    learn(model, stream)
    k, vectors = kernel_function(model, stream[0][0]), model.support_vectors()
    scales = model._kernel_in_use.scales or {}
    assert len(vectors) == model.n_support_vectors > 0
    assert [v["arrival"] for v in vectors] == sorted({v["arrival"] for v in vectors})
    for x, _ in stream_for(model, 20, seed=1):
        x = x | {"never seen": 0.3}
        features = sorted(x.keys() | {name for v in vectors for name in v["features"]})
        rows = [
            [scales.get(name, 1.0) * z.get(name, 0.0) for name in features]
            for z in (x, *(v["features"] for v in vectors))
        ]
        values = k(rows[:1], rows[1:])[0]
        if isinstance(model, rb.ForgetronClassifier):  # normalises
            values /= np.sqrt(np.diag(k(rows[1:], rows[1:])) * k(rows[:1], rows[:1])[0])
        found = model.decision_function_one(x)
        for label, score in found.items() if isinstance(found, dict) else [(None, found)]:
            parts = [v.get("average", v["coefficients"]) for v in vectors]
            a = [part if label is None else part[label] for part in parts]
            expected = a @ values + getattr(model, "bias", 0.0)
            assert abs(expected - score) <= 1e-12 * (np.abs(a) @ np.abs(values) + abs(score))


# weights


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_an_example_of_weight_zero_leaves_the_predictions_as_they_are(model):
    model = learned(model)
    probes = stream_for(model, 40, seed=1)
    before, learned_so_far = scores(model, probes), content(model)
    for i, (x, y) in enumerate(stream_for(model, 20, seed=2)):
        model.learn_one(x | {f"new{i}": 1.0}, y, w=0.0)
    # names that no vector uses may lose their places, and then others are summed in another order
    for was, now in zip(before, scores(model, probes), strict=True):
        assert now == pytest.approx(was, rel=1e-12, abs=1e-12)
    assert content(model) == learned_so_far


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_a_weight_of_one_is_no_weight(model):
    model = variant(model, seed=1)
    other = model.clone()
    stream = stream_for(model, 40)
    for x, y in stream:
        model.learn_one(x, y)
        other.learn_one(x, y, w=1)
    assert scores(model, stream) == scores(other, stream)


@pytest.mark.parametrize("y", [True, 1.0])
def test_a_weight_multiplies_the_step(y):
    estimator = rb.BSGDClassifier if y is True else rb.BSGDRegressor
    for w in (0.25, 1.0, 3.0):
        model = estimator(5, l2=0.1, project_to_ball=False, learning_rate=None)
        model.learn_one(RIGHT, y, w=w)
        assert model.decision_function_one(RIGHT) == pytest.approx(10.0 * w)
        model = estimator(5, learning_rate=0.3)
        model.learn_one(RIGHT, y, w=w)
        assert model.decision_function_one(RIGHT) == pytest.approx(0.3 * w)


# features


@pytest.mark.parametrize("model", MODELS)
def test_a_missing_feature_counts_as_zero(model):
    model = variant(model, seed=1)
    other, stream = model.clone(), stream_for(model, 60)
    names = sorted({name for x, _ in stream for name in x})
    full = [({name: x.get(name, 0.0) for name in names}, y) for x, y in stream]
    stream = full[:1] + stream[1:]
    for (x, y), (x_full, _) in zip(stream, full, strict=True):
        assert model.decision_function_one(x) == other.decision_function_one(x_full)
        model.learn_one(x, y)
        other.learn_one(x_full, y)
    assert scores(model, stream) == scores(model, full) == scores(other, full)
    if not model._reads_tables:  # to the other one, these columns were always there
        assert scores(model, stream) == scores(other, stream)


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_the_order_of_a_dict_never_matters(model):
    model = variant(model, seed=1)
    other, rng = model.clone(), np.random.default_rng(0)
    for x, y in stream_for(model, 60):
        shuffled = {name: x[name] for name in rng.permutation(list(x)).tolist()}
        assert model.decision_function_one(x) == other.decision_function_one(shuffled)
        model.learn_one(x, y)
        other.learn_one(shuffled, y)


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_booleans_and_numpy_numbers_are_numbers(model):
    model = variant(model, seed=1)
    other = model.clone()
    y = stream_for(model, 1)[0][1]
    for number in (True, np.bool_(True), 1, np.int8(1), np.float32(1.0)):
        model.learn_one({"a": number, "b": 0.5}, y)
        other.learn_one({"a": 1.0, "b": 0.5}, y)
        assert model.decision_function_one({"a": number}) == other.decision_function_one({"a": 1.0})


@pytest.mark.parametrize("kernel", [type(kernel) for kernel in STATIONARY])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_gamma_auto_is_one_over_the_features_of_the_first_example(kernel, n):
    model = rb.BSGDRegressor(None, kernel())
    other = rb.BSGDRegressor(None, kernel(1.0 / max(n, 1)))
    stream = [(dict.fromkeys(range(n), 0.5), 1.0), *stream_for(model, 30)]
    learn(model, stream)
    learn(other, stream)
    assert scores(model, stream) == scores(other, stream)


# predicting changes nothing


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_predictions_that_interrupt_each_other_are_right(model):
    """What a switch of threads does at its worst: another prediction before each line of one."""
    model = learned(model)
    (x, _), (other, _) = stream_for(model, 2, seed=1)
    for name in ("decision_function_one", "predict_proba_one", "predict_one"):
        if hasattr(model, name):
            predict = getattr(model, name)
            assert interrupted(predict, x, other) == predict(x)


def interrupted(predict, x, other):
    def trace(frame, event, argument):
        if "river_budget" in frame.f_code.co_filename:
            predict(other)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return predict(x)
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("budget", [2, 7])
def test_weights_beyond_all_bounds_leave_the_model_whole(budget):
    model = rb.BSGDClassifier(budget, Linear(), RemoveSmallest(), classes=(False, True))
    model.learn_one({"a": 1.0}, True, 1e55)
    model.learn_one({"a": 0.0}, True, 1e300)
    for i in range(8):
        model.learn_one({"a": 0.5 + i}, bool(i % 2))
        arrivals = [vector["arrival"] for vector in model.support_vectors()]
        assert len(set(arrivals)) == len(arrivals) <= budget

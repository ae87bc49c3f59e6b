"""Mixture: models of River under weights that are learned online, beside a slow and literal copy of
its mathematics.
"""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest
from oracles.mixtures import LogMixture, SumMixture
from river import base, compose, evaluate, linear_model, metrics, preprocessing

import river_budget as rb


class Says(base.Classifier):
    """Gives the probabilities that a feature of the example holds, and remembers what it has
    learned.
    """

    def __init__(self, name=0):
        self.name, self.learned = name, []

    def predict_proba_one(self, x, **further):
        return dict(zip("abc", x[self.name], strict=False))

    def learn_one(self, x, y, w=1.0):
        self.learned.append((y, w))


class Tells(base.Regressor):
    """Predicts the number that a feature of the example holds."""

    def __init__(self, name=0):
        self.name = name

    def predict_one(self, x):
        return x[self.name]

    def learn_one(self, x, y, w=1.0):
        pass


def spoken(n, classes, seed=1):
    """(probabilities of three models, label, weight): the first knows something, the second too
    much, the third nothing.
    """
    rng = np.random.default_rng(seed)
    for _ in range(n):
        y = int(rng.integers(classes))
        logits = [rng.normal(size=classes) * scale for scale in (1.0, 3.0, 1.0)]
        logits[0][y] += 2.0
        logits[1][y] += 2.0
        shares = [(np.exp(each) / np.exp(each).sum()).tolist() for each in logits]
        yield shares, y, float(rng.choice([0.5, 1.0, 2.0]))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("first", [None, (0.8, 0.1, 0.3)])
def test_classes_are_mixed_as_the_reference_mixes_them(classes, first):
    model = rb.Mixture(Says(0), Says(1), Says(2), first_weights=first)
    reference = LogMixture(first or [1 / 3] * 3)
    model._labels = dict(zip("abc"[:classes], range(classes), strict=True))
    for shares, y, w in spoken(700, classes):
        found = model.predict_proba_one(dict(enumerate(shares)))
        assert list(found.values()) == pytest.approx(reference.probabilities(shares), abs=1e-9)
        model.learn_one(dict(enumerate(shares)), "abc"[y], w)
        reference.learn(shares, y, w)
    assert list(model.weights().values()) == pytest.approx(reference.w, abs=1e-9)
    assert model.weights()["Says"] > model.weights()["Says 3"] + 0.3


@pytest.mark.parametrize("first", [None, (0.8, 0.1, 0.3)])
def test_numbers_are_mixed_as_the_reference_mixes_them(first):
    rng = np.random.default_rng(1)
    model = rb.Mixture(Tells(0), Tells(1), Tells(2), first_weights=first)
    reference = SumMixture(first or [1 / 3] * 3)
    for t in range(500):
        y = float(50.0 + 10.0 * rng.normal() + 0.05 * t + (500.0 if t == 300 else 0.0))
        numbers = [y + rng.normal(), y + 5 * rng.normal(), 1e9 if t == 200 else 40.0]
        w = float(rng.choice([0.5, 1.0, 2.0]))
        x = dict(enumerate(numbers))
        assert model.predict_one(x) == pytest.approx(reference.prediction(numbers), rel=1e-9)
        model.learn_one(x, y, w)
        reference.learn(numbers, y, w)
    assert list(model.weights().values()) == pytest.approx(reference.w, abs=1e-7)


def test_a_mixture_corrects_probabilities_that_are_too_sure():
    """The model says .99 where 80 % are right."""
    rng = random.Random(1)
    model, off, n = rb.Mixture(Says(0)), 0.0, 4000
    for t in range(n):
        top = rng.random() < 0.5
        x = {0: [0.01, 0.99] if top else [0.99, 0.01]}
        y = "ab"[top ^ (rng.random() < 0.2)]
        if t > 500:
            off += max(model.predict_proba_one(x).values())
        model.learn_one(x, y)
    assert off / (n - 501) == pytest.approx(0.8, abs=0.02)


def test_a_model_that_falls_behind_loses_its_weight():
    model, rng = rb.Mixture(Says(0), Says(1)), random.Random(1)
    weights = []
    for t in range(2000):
        y = rng.randrange(2)
        good, bad = ([0.9, 0.1], [0.6, 0.4])[:: 1 if t < 1000 else -1]
        x = {0: good[:: -1 if y else 1], 1: bad[:: 1 if rng.random() < 0.5 else -1]}
        if t >= 1000:
            x = {0: bad[:: 1 if rng.random() < 0.5 else -1], 1: bad[:: -1 if y else 1]}
        model.learn_one(x, "ab"[y])
        weights.append(list(model.weights().values()))
    assert weights[999][0] > weights[999][1] + 0.5
    assert weights[-1][1] > weights[-1][0] + 0.5


def test_models_that_err_differently_are_better_together():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 4))
    y = (X[:, 0] + np.sign(X[:, 1] * X[:, 2]) > 0).tolist()
    models = [
        compose.Select("a", "d") | linear_model.LogisticRegression(),
        compose.Select("b", "c") | rb.BSGDClassifier(seed=1),
    ]
    stream = [(dict(zip("abcd", row, strict=True)), label) for row, label in zip(X, y, strict=True)]
    errors = [
        1.0 - evaluate.progressive_val_score(stream, model.clone(), metrics.Accuracy()).get()
        for model in (*models, rb.Mixture(*models))
    ]
    assert errors[2] < 0.8 * min(errors[:2])


# labels, names, copies


def test_labels_that_come_late_get_probabilities():
    x = {"p": []}
    model = rb.Mixture(Says("p"))
    assert model.predict_proba_one(x) == {}
    assert model.predict_one(x) is None
    for y in ("a", "x", "y"):
        model.learn_one(x, y)
        assert y in model.predict_proba_one(x)
    assert sum(model.predict_proba_one({"p": [0.5, 0.5]}).values()) == pytest.approx(1.0)


def test_a_first_boolean_makes_both_known():
    model = rb.Mixture(linear_model.LogisticRegression(), linear_model.Perceptron())
    assert set(model.predict_proba_one({"a": 1.0})) == {False, True}
    model.learn_one({"a": 1.0}, np.True_)
    assert set(model.predict_proba_one({"a": 1.0})) == {False, True}


@pytest.mark.parametrize("strange", [float("nan"), float("inf"), -1.0])
def test_a_model_that_gives_no_probabilities_counts_as_undecided(strange):
    model = rb.Mixture(Says(0), Says(1))
    model.learn_one({0: [0.5, 0.5], 1: [0.5, 0.5]}, "a")
    found = model.predict_proba_one({0: [strange, strange], 1: [0.9, 0.1]})
    assert found == model.predict_proba_one({0: [0.5, 0.5], 1: [0.9, 0.1]})


def test_models_are_asked_once_about_an_example():
    asked = []

    class Counts(Says):
        def predict_proba_one(self, x, **further):
            asked.append(x)
            return super().predict_proba_one(x)

    model = rb.Mixture(Counts(0))
    x = {0: [0.4, 0.6]}
    model.predict_one(x)
    model.predict_proba_one(dict(x))
    model.learn_one(x, "a")
    assert len(asked) == 1
    model.predict_one(x)
    assert len(asked) == 2


def test_weights_of_examples_reach_the_models():
    model = rb.Mixture(Says(0), Says(1))
    for w in (1.0, 2.5, 0.0):
        model.learn_one({0: [0.4, 0.6], 1: [0.5, 0.5]}, "a", w)
    assert model.models[0].learned == [("a", 1.0), ("a", 2.5), ("a", 0.0)]


def test_weights_have_the_names_of_what_predicts():
    pytest.importorskip("sklearn")
    from sklearn.tree import DecisionTreeClassifier

    model = rb.Mixture(
        preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        linear_model.LogisticRegression(),
        rb.Refitted(DecisionTreeClassifier()),
        first_weights=(0.5, 0.3, 0.2),
    )
    names = ["LogisticRegression", "LogisticRegression 2", "Refitted(DecisionTreeClassifier)"]
    assert model.weights() == dict(zip(names, (0.5, 0.3, 0.2), strict=True))


def test_copies_go_on_as_the_original_and_clones_know_nothing():
    model = rb.Mixture(rb.BSGDClassifier(10, seed=1), rb.AutoKernelClassifier(seed=1))
    rng = random.Random(1)
    stream = [({"a": rng.random(), "b": rng.random()}, rng.random() < 0.5) for _ in range(120)]
    for x, y in stream[:60]:
        model.learn_one(x, y)
    twins = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    fresh = model.clone()
    for x, y in stream[60:]:
        for twin in twins:
            assert twin.predict_proba_one(x) == model.predict_proba_one(x)
            twin.learn_one(x, y)
        model.learn_one(x, y)
    assert set(fresh.weights().values()) == {0.5}
    assert fresh.predict_proba_one(x) == {}
    assert all(a is not b for a, b in zip(fresh.models, model.models, strict=True))


def test_what_cannot_be_mixed_is_refused_by_name():
    with pytest.raises(TypeError, match="needs models"):
        rb.Mixture()
    with pytest.raises(TypeError, match="not both"):
        rb.Mixture(linear_model.LinearRegression(), linear_model.LogisticRegression())
    with pytest.raises(TypeError, match="StandardScaler"):
        rb.Mixture(preprocessing.StandardScaler())
    with pytest.raises(ValueError, match="first_weights must have 1 number"):
        rb.Mixture(linear_model.LogisticRegression(), first_weights=(0.5, 0.5))
    with pytest.raises(ValueError, match="first_weights"):
        rb.Mixture(linear_model.LogisticRegression(), first_weights=(float("nan"),))


def test_an_estimator_of_scikit_learn_is_refused_with_advice():
    tree = pytest.importorskip("sklearn.tree")
    with pytest.raises(TypeError, match=r"rb\.Refitted"):
        rb.Mixture(tree.DecisionTreeClassifier())


@pytest.mark.parametrize("y", [None, float("nan"), []])
def test_a_bad_target_teaches_no_model(y):
    model = rb.Mixture(Says(0))
    with pytest.raises(ValueError, match="target"):
        model.learn_one({0: [0.5, 0.5]}, y)
    assert model.models[0].learned == []
    with pytest.raises(ValueError, match="target"):
        rb.Mixture(Tells(0)).learn_one({0: 1.0}, float("inf"))

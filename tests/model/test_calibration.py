"""Probabilities mean what they say, and predictions do not depend on them."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from models import AUTO, CLASSIFIERS, crossed, learned, list_of, stream_for, two_classes_only
from oracles.calibration import Calibration
from river import datasets, metrics, preprocessing

import river_budget as rb
from river_budget.core.memory import views
from river_budget.kernels import RBF
from river_budget.maintenance import Merge, Project

LINK = (
    "n_examples",
    "slope",
    "top_bonus",
    "slope_curvature",
    "top_bonus_curvature",
    "cross_curvature",
)


def link(model):
    return [getattr(views(model._block).head, name) for name in LINK]


def expected_calibration_error(confidences, correct):
    places = np.minimum((confidences * 10).astype(int), 9)
    return sum(
        np.mean(places == b) * abs(confidences[places == b].mean() - correct[places == b].mean())
        for b in set(places.tolist())
    )


def progressive(model, stream, loss):
    """(log loss, calibration error, accuracy) over a stream."""
    confidences, correct = [], []
    for x, y in stream:
        shares, predicted = model.predict_proba_one(x), model.predict_one(x)
        if shares:
            loss.update(y, shares)
            assert shares[predicted] == pytest.approx(max(shares.values()), rel=1e-9)
            confidences.append(max(shares.values()))
            correct.append(predicted == y)
        model.learn_one(x, y)
    correct = np.array(correct)
    return loss.get(), expected_calibration_error(np.array(confidences), correct), correct.mean()


GOOD = [
    rb.BSGDClassifier(l2=3e-3),
    rb.KernelOGDClassifier(),
    rb.ProjectronPPClassifier(),
    rb.BPAClassifier(),
    rb.NORMAClassifier(None, rb.kernels.RBF()),
    rb.FOGDClassifier(seed=1),
    rb.NOGDClassifier(),
    rb.SBPClassifier(seed=1),
]
SPREAD = [rb.RBPClassifier(seed=1), rb.ForgetronClassifier(), rb.BudgetPerceptronClassifier()]


@pytest.mark.parametrize("model", GOOD + SPREAD, ids=lambda model: type(model).__name__)
def test_log_loss_and_calibration_on_two_classes(model):
    for data, bound in ((datasets.Phishing, 0.33), (datasets.Bananas, 0.35)):
        pipeline = preprocessing.StandardScaler() | model.clone()
        loss, error, accuracy = progressive(pipeline, data(), metrics.LogLoss())
        assert error <= (0.04 if model in GOOD else 0.045)
        assert loss <= (bound if model in GOOD else -math.log(accuracy) + 0.25)


@pytest.mark.parametrize("model", GOOD[:4] + GOOD[5:7], ids=lambda model: type(model).__name__)
def test_cross_entropy_and_calibration_on_seven_classes(model):
    pipeline = preprocessing.StandardScaler() | model.clone()
    loss, error, _ = progressive(pipeline, datasets.ImageSegments(), metrics.CrossEntropy())
    assert loss <= 0.65
    assert error <= 0.04


LINKED = [entry for entry in CLASSIFIERS if entry not in AUTO]  # the mixture of those needs no link
LONG = (rb.FOGDClassifier(20, seed=1), rb.NORMAClassifier(10))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [*LINKED, *LONG])
def test_it_replays_its_reference(model, weighted):
    stream = stream_for(model, 1100 if model in LONG else 100, seed=2)
    model, oracle = model.clone(), Calibration()
    weights = np.random.default_rng(3).choice(
        [0.0, 0.5, 1.0, 3.0] if weighted else [1.0], len(stream)
    )
    for (x, y), w in zip(stream, weights.tolist(), strict=True):
        shares = list(model.predict_proba_one(x).values())
        scores = list_of(model.decision_function_one(x))
        if len(shares) >= 2:
            assert shares == pytest.approx(oracle.probabilities(scores).tolist(), abs=1e-6)
        model.learn_one(x, y, w)
        known = model._labels.known
        if len(known) > len(shares) and len(known) > 2:  # a new class has a score of 0
            promoted = [-scores[0] / 2, scores[0] / 2] if len(scores) == 1 else scores
            scores = [*promoted, 0.0]
        oracle.learn(scores, model._labels.codes[y], w)


def test_a_third_class_leaves_the_shares_of_two_in_proportion():
    model = rb.KernelOGDClassifier(RBF(1.0))
    rng = np.random.default_rng(0)
    for a in rng.normal(size=200):
        model.learn_one({"a": a}, "pos" if a + 0.5 * rng.normal() > 0 else "neg")
    before = model.predict_proba_one({"a": 0.4})
    model.learn_one({"a": 30.0}, "far")
    after = model.predict_proba_one({"a": 0.4})
    ratio = before["pos"] / before["neg"]
    assert after["pos"] / after["neg"] == pytest.approx(ratio, rel=0.1)


def test_merging_equal_models_keeps_their_probabilities():
    model = learned(rb.BSGDClassifier(15, RBF(0.5), classes=(False, True)), 200)
    rows = [x for x, _ in stream_for(model, 10, seed=4)]
    merged = rb.merge([model, copy.deepcopy(model)])
    doubled = rb.merge([model], weights=[2.0])
    for x in rows:
        expected = pytest.approx(model.predict_proba_one(x), abs=1e-9)
        assert merged.predict_proba_one(x) == expected
        assert doubled.predict_proba_one(x) == expected


def test_refining_does_not_spoil_it():
    model = preprocessing.StandardScaler() | rb.SBPClassifier(seed=1)
    for x, y in datasets.Phishing():
        model.learn_one(x, y)
    inner = model["SBPClassifier"]
    probe, slope = dict.fromkeys(inner._features, 0.3), link(inner)[1]
    before = inner.predict_proba_one(probe)
    inner.refine(3000)
    assert inner.predict_proba_one(probe)[True] == pytest.approx(before[True], abs=0.15)
    model.learn_one(x, y)
    assert link(inner)[1] == pytest.approx(slope, rel=0.2)


@pytest.mark.parametrize("size", [1e-200, 1e100])
def test_scores_of_any_size_are_calibrated(size):
    """Only the scale of the kernel differs, so the probabilities are the same."""
    shares = []
    for scale in (1.0, size):
        model = rb.BOGDClassifier(50, RBF(1.0), learning_rate=scale, removal="oldest")
        rng = np.random.default_rng(0)
        for a in rng.normal(size=50).tolist():
            model.learn_one({"a": a}, a > 0)
            head = views(model._block).head
            assert 0.0 < head.slope < math.inf or head.slope == 0.0
            shares.append(model.predict_proba_one({"a": 0.2})[True])
    assert np.isfinite(shares).all()


@pytest.mark.parametrize("maintenance", [Merge(3), Project()], ids=repr)
def test_predictions_do_not_depend_on_it(maintenance):
    plain = rb.BSGDClassifier(15, RBF(0.5), maintenance)
    disturbed = copy.deepcopy(plain)
    for x, y in stream_for(plain, 200, seed=1):
        assert plain.predict_one(x) == disturbed.predict_one(x)
        assert plain.decision_function_one(x) == disturbed.decision_function_one(x)
        plain.learn_one(x, y)
        disturbed.learn_one(x, y)
        views(disturbed._block).head.slope *= 1.5


@pytest.mark.parametrize(("model", "classes"), crossed(CLASSIFIERS, [3, 2, 26]))
def test_probabilities_of_one_are_those_of_many(model, classes):
    """To the last bit, though they are computed in another way."""
    model, rng = model.clone(), np.random.default_rng(classes)
    classes = min(classes, 2) if two_classes_only(model) else classes
    X = rng.normal(size=(150, 3))
    model.learn_many(X[:100], np.arange(100) % classes)
    many = model.predict_proba_many(X)
    for i, row in enumerate(X.tolist()):
        one = model.predict_proba_one(dict(enumerate(row)))
        assert one == {label: column[i] for label, column in columns_of(many).items()}
        assert all(type(share) is float for share in one.values())


def columns_of(table):
    """{label: its column}"""
    return {label: np.asarray(table[label]).tolist() for label in table}

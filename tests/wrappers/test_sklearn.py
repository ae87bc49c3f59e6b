"""The estimators for scikit-learn: its own checks, its tools, and the same model as without
them.
"""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
from optional import pandas as pd
from river import compose, linear_model, multiclass, preprocessing

import river_budget as rb
from river_budget.kernels import RBF

pytest.importorskip("sklearn", "1.6", reason="scikit-learn is not installed")
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_iris, make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from river_budget.sklearn import BudgetClassifier, BudgetRegressor

SCALED = preprocessing.StandardScaler
UNITS = rb.TargetStandardScaler


def unfitted():
    yield "auto", BudgetClassifier()
    yield "BSGD", BudgetClassifier(SCALED() | rb.BSGDClassifier(20))
    yield "CKS", BudgetClassifier(rb.BudgetPerceptronClassifier(20))
    yield "auto-R", BudgetRegressor()
    yield "BSGD-R", BudgetRegressor(UNITS(SCALED() | rb.BSGDRegressor(20)))
    yield "FOGD-R", BudgetRegressor(rb.FOGDRegressor(100))


# Those that scikit-learn expects of SGDClassifier and SGDRegressor: weights are steps, not
# repetitions
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "steps differ from repetitions",
    "check_sample_weight_equivalence_on_sparse_data": "steps differ from repetitions",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [pytest.param(e, id=name) for name, e in unfitted()])
def test_it_passes_scikit_learns_checks_but_for_those_that_gradient_descent_fails(estimator):
    results = check_estimator(estimator, expected_failed_checks=EXPECTED, on_skip=None)
    found = Counter(result["status"] for result in results)
    assert found["passed"] > 50
    assert found["xfail"] <= 2
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}


# The same model as without scikit-learn


def moons(n=400):
    return make_moons(n, noise=0.2, random_state=3)


def in_order(model, **parameters):
    return BudgetClassifier(model, shuffle=False, **parameters)


def test_a_bare_model_learns_as_by_itself():
    X, y = moons()
    estimator = in_order(rb.BSGDClassifier(20)).fit(X, y)
    model = rb.BSGDClassifier(20, classes=(0, 1))
    model.learn_many(X, y)
    assert estimator.model_.support_vectors() == model.support_vectors()
    assert estimator.predict(X).tolist() == model.predict_many(X).tolist()
    scores = [model.decision_function_one(dict(enumerate(row))) for row in X]
    assert estimator.decision_function(X) == pytest.approx(scores)
    shares = model.predict_proba_many(X)
    assert estimator.predict_proba(X) == pytest.approx(np.column_stack([shares[0], shares[1]]))


def test_a_pipeline_learns_as_a_loop():
    X, y = moons()
    names = ["a", "b"]
    estimator = in_order(SCALED() | rb.BSGDClassifier(20)).fit(pd.DataFrame(X, columns=names), y)
    model = SCALED() | rb.BSGDClassifier(20, classes=(0, 1))
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    for x, label in zip(rows, y.tolist(), strict=True):
        model.learn_one(x, label)
    scores = [rb.decision_function_one(model, x) for x in rows]
    assert estimator.decision_function(pd.DataFrame(X, columns=names)).tolist() == scores
    assert estimator.feature_names_in_.tolist() == names


def test_epochs_are_passes_and_partial_fit_goes_on():
    X, y = moons()
    twice = in_order(rb.KernelOGDClassifier(RBF(1.0)), epochs=2).fit(X, y)
    step = in_order(rb.KernelOGDClassifier(RBF(1.0))).fit(X, y).partial_fit(X, y)
    assert twice.model_.support_vectors() == step.model_.support_vectors()
    once = in_order(rb.KernelOGDClassifier(RBF(1.0))).fit(X, y)
    assert once.model_.n_support_vectors < twice.model_.n_support_vectors


def test_orders_and_seeds_follow_the_random_state():
    X, y = moons()
    estimator = BudgetClassifier(SCALED() | rb.FOGDClassifier(20), epochs=2)
    scores = [
        clone(estimator).set_params(random_state=seed).fit(X, y).decision_function(X).tolist()
        for seed in (1, 1, 2)
    ]
    assert scores[0] == scores[1] != scores[2]
    own_seed = BudgetClassifier(rb.FOGDClassifier(20, seed=5), epochs=2)
    scores = []
    for seed in (1, 1, 2):  # the order alone
        estimator = clone(own_seed).set_params(random_state=seed).fit(X, y)
        assert estimator.model_.seed == 5
        scores.append(estimator.decision_function(X).tolist())
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.parametrize("labels", [("no", "yes"), (3, 7), (False, True)])
@pytest.mark.parametrize(
    "model",
    [
        rb.ForgetronClassifier(20),
        rb.ForgetronClassifier(20, classes=("to be", "reversed")),
        rb.RandomFourier(50, seed=1) | linear_model.LogisticRegression(),
        rb.SBPClassifier(50),
    ],
    ids=["classes", "reversed", "River's", "binary"],
)
def test_any_two_labels_come_back_in_their_places(labels, model):
    X, y = moons()
    if getattr(model, "classes", None) == ("to be", "reversed"):
        model = rb.ForgetronClassifier(20, classes=labels[::-1])
    y = np.array(labels)[y]
    estimator = BudgetClassifier(model, random_state=1).fit(X, y)
    assert estimator.classes_.tolist() == list(labels)
    assert estimator.score(X, y) > 0.75
    shares = estimator.predict_proba(X)
    assert (estimator.classes_[shares.argmax(axis=1)] == estimator.predict(X)).mean() > 0.99
    if hasattr(estimator, "decision_function"):
        positive = estimator.decision_function(X) > 0.0
        assert (estimator.classes_[positive.astype(int)] == estimator.predict(X)).mean() > 0.99


def test_three_classes_have_columns_in_order():
    X, y = load_iris(return_X_y=True)
    y = np.array(["x", "m", "a"])[y]
    estimator = BudgetClassifier(SCALED() | rb.BSGDClassifier(30), random_state=1).fit(X, y)
    assert estimator.score(X, y) > 0.8
    for columns in (estimator.decision_function(X), estimator.predict_proba(X)):
        assert columns.shape == (len(X), 3)
        assert (estimator.classes_[columns.argmax(axis=1)] == estimator.predict(X)).all()
    assert set(estimator.model_["BSGDClassifier"]._labels.known) == {"a", "m", "x"}


def test_a_model_within_delayed_gives_its_scores_and_knows_its_classes():
    X, y = load_iris(return_X_y=True)
    model = BudgetClassifier(rb.Delayed(rb.BSGDClassifier()), random_state=1).fit(X, y)
    assert model.model_.classifier.classes == (0, 1, 2)
    assert np.mean(np.argmax(model.decision_function(X), axis=1) == model.predict(X)) > 0.9


def test_more_classes_than_a_model_can_separate_are_refused_with_the_way_out():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        BudgetClassifier(rb.SBPClassifier(20)).fit(X, y)
    wrapped = multiclass.OneVsRestClassifier(rb.SBPClassifier(30, seed=1))
    estimator = BudgetClassifier(SCALED() | wrapped, random_state=1).fit(X, y)
    assert estimator.score(X, y) > 0.8
    assert not hasattr(estimator, "decision_function")


def test_a_frame_must_have_the_columns_that_were_learned():
    X, y = moons()
    frame = pd.DataFrame(X, columns=["a", "b"])
    estimator = BudgetClassifier(rb.RBPClassifier(10)).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        estimator.predict(frame[["b", "a"]].rename(columns={"a": "c"}))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epochs": 0}, "epochs"),
        ({"shuffle": 1}, "shuffle"),
        ({"model": rb.RBPRegressor()}, "classifier"),
    ],
)
def test_parameters_are_checked_when_it_learns(parameters, message):
    with pytest.raises(ValueError, match=message):
        BudgetClassifier(**parameters).fit(*moons(20))


def test_classes_are_asked_for_and_closed():
    X, y = moons(50)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        BudgetClassifier(rb.RBPClassifier(10)).partial_fit(X, y)
    estimator = BudgetClassifier(rb.RBPClassifier(10)).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not those of the first call"):
        estimator.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="label 2"):
        estimator.partial_fit(X, y + 1)


# Its tools


def test_parameters_of_the_model_are_parameters_of_the_estimator():
    estimator = BudgetClassifier(SCALED() | rb.BSGDClassifier(kernel=RBF(0.5)))
    parameters = estimator.get_params()
    assert parameters["model__BSGDClassifier__budget"] == 100
    assert parameters["model__BSGDClassifier__kernel__gamma"] == 0.5
    before = estimator.model
    estimator.set_params(
        model__BSGDClassifier__kernel__gamma=2.0, model__BSGDClassifier__budget=7, epochs=3
    )
    model = estimator.model["BSGDClassifier"]
    assert (model.kernel, model.budget, estimator.epochs) == (RBF(2.0), 7, 3)
    assert before["BSGDClassifier"].budget == 100
    for name in ("model__Forgetron__budget", "model__BSGDClassifier__budget__x", "other__x"):
        with pytest.raises(ValueError, match=r"parameter"):
            estimator.set_params(**{name: 1})
    with pytest.raises(ValueError, match="nonsense"):
        estimator.set_params(model__BSGDClassifier__nonsense=1)


def test_a_search_goes_over_parameters_of_the_model():
    X, y = moons()
    pipeline = make_pipeline(
        StandardScaler(), BudgetClassifier(rb.BSGDClassifier(), random_state=1, epochs=2)
    )
    grid = {
        "budgetclassifier__model__budget": [2, 40],
        "budgetclassifier__model__kernel": [RBF(1.0)],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_params_["budgetclassifier__model__budget"] == 40
    assert search.best_score_ > 0.9
    assert search.predict(X[:3]).shape == (3,)


def test_it_can_be_calibrated():
    X, y = moons()
    calibrated = CalibratedClassifierCV(BudgetClassifier(SCALED() | rb.BSGDClassifier(20)), cv=3)
    assert calibrated.fit(X, y).score(X, y) > 0.85


def test_a_regressor_in_any_units():
    X, y = load_diabetes(return_X_y=True)
    model = UNITS(SCALED() | rb.KernelOGDRegressor(learning_rate=0.1))
    estimator = BudgetRegressor(model, random_state=1)
    assert cross_val_score(estimator, X, y, cv=3).mean() > 0.3
    assert estimator.set_params(model__regressor__KernelOGDRegressor__learning_rate=0.2)
    weighted = estimator.fit(X, y, sample_weight=np.where(y > 150, 3.0, 0.5)).predict(X)
    assert weighted.mean() > estimator.fit(X, y).predict(X).mean()
    assert pickle.loads(pickle.dumps(estimator)).predict(X[:5]).tolist() == (
        estimator.predict(X[:5]).tolist()
    )


def test_no_weight_is_an_error():
    X, y = moons(50)
    with pytest.raises(ValueError, match=r"0 for all|non-zero"):
        BudgetClassifier(rb.RBPClassifier(10)).fit(X, y, sample_weight=np.zeros(50))


def business(n=400):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"size": rng.normal(50, 10, n), "colour": rng.choice(["red", "blue"], n)})
    y = (X["size"] > 50) == (X["colour"] == "red")
    prices = X["size"] * (1 + (X["colour"] == "red"))
    for name in X:
        X.loc[rng.random(n) < 0.1, name] = None
    return X, y, prices


@pytest.mark.parametrize("as_category", [False, True])
def test_auto_kernel_takes_text_and_gaps(as_category):
    X, y, prices = business()
    if as_category:
        X = X.astype({"colour": "category"})
    found = BudgetClassifier(shuffle=False, random_state=1).fit(X, y)
    model = found.model_.clone()
    rows = [
        {name: None if pd.isna(cell) else cell for name, cell in x.items()}
        for x in X.to_dict("records")
    ]
    for x, label in zip(rows, y.tolist(), strict=True):
        model.learn_one(x, label)
    assert ("colour", "red") in found.model_.importances()
    expected = [model.predict_proba_one(x)[True] for x in rows]
    assert found.predict_proba(X)[:, 1].tolist() == expected
    assert found.score(X, y) > 0.8
    again = BudgetClassifier(rb.AutoKernelClassifier(), epochs=3, random_state=1)
    assert cross_val_score(again, X, y, error_score="raise").mean() > 0.8
    assert BudgetRegressor(epochs=2, random_state=1).fit(X, prices).score(X, prices) > 0.7
    whole = rb.TargetStandardScaler(rb.AutoKernelRegressor(seed=1))
    assert BudgetRegressor(whole, epochs=2, random_state=1).fit(X, prices).score(X, prices) > 0.7


def test_auto_kernel_takes_gaps_in_numbers_and_nothing_infinite():
    X, y, _ = business()
    sizes = X[["size"]].assign(other=np.arange(400.0))
    found = BudgetClassifier(shuffle=False, random_state=1).fit(sizes.to_numpy(), y)
    gap = found.predict_proba([[np.nan, 7.0]])[0].tolist()
    assert gap == list(found.model_.predict_proba_one({0: None, 1: 7.0}).values())
    for estimator in (found, BudgetRegressor()):
        with pytest.raises(ValueError, match="infinity"):
            estimator.fit(np.full((400, 2), np.inf), y)
    with pytest.raises(ValueError, match="'colour' must be a finite number, not inf"):
        found.fit(X.assign(colour=["red", np.inf] * 200), y)
    with pytest.raises(ValueError, match="NaN"):
        BudgetClassifier(rb.BSGDClassifier()).fit(sizes, y)


def test_text_columns_are_taken_by_an_encoder_of_river():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"size": rng.normal(50, 10, 400), "colour": rng.choice(["red", "blue"], 400)})
    y = (X["size"] > 50) == (X["colour"] == "red")
    numbers = compose.SelectType(float) | preprocessing.StandardScaler()
    words = compose.SelectType(str) | preprocessing.OneHotEncoder()
    model = (numbers + words) | rb.BSGDClassifier(kernel=rb.kernels.RBF(0.5))
    found = BudgetClassifier(model, epochs=3, random_state=1).fit(X, y)
    assert found.score(X, y) > 0.9
    prices = X["size"] * (1 + (X["colour"] == "red"))
    scaled = rb.TargetStandardScaler((numbers.clone() + words.clone()) | rb.BSGDRegressor())
    assert BudgetRegressor(scaled, epochs=3, random_state=1).fit(X, prices).score(X, prices) > 0.7
    with pytest.raises(ValueError, match="could not convert string to float") as raised:
        BudgetClassifier(rb.BSGDClassifier()).fit(X, y)
    assert "OneHotEncoder() | model" in raised.value.__notes__[0]

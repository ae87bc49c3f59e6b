"""River's own checks, on every model of the table and inside River's pipelines and wrappers."""

from __future__ import annotations

import functools
import gc
import random

import pytest
from models import CLASSIFIERS, REGRESSORS, TRANSFORMERS
from river import base, checks, compose, linear_model, multiclass, preprocessing

import river_budget as rb

pytest.importorskip("sklearn", reason="River's checks take data from scikit-learn")

# What a configuration may change: memory, pickles, batches, the order and the number of features. Of other configurations
# than the first of a class each of these is done on one dataset, as tests of our own have the same questions.
OF_CONFIGURATIONS = {
    "check_bounded_memory_growth",
    "check_disappearing_features",
    "check_learn_many_matches_learn_one",
    "check_pickling",
    "check_shuffle_features_no_impact",
}
INSIDE = [
    pytest.param(
        rb.RandomFourier(20, seed=1) | linear_model.LogisticRegression(), id="fourier-linear"
    ),
    pytest.param(rb.Nystroem(15) | linear_model.LinearRegression(), id="nystroem-linear"),
    pytest.param(multiclass.OneVsRestClassifier(rb.BSGDClassifier(10)), id="one-vs-rest-BSGD"),
]


def reason_to_skip(model, check):
    if check.__name__ != "check_learn_many_matches_learn_one":
        return None
    if isinstance(model, compose.Pipeline):
        return "learn_many of a scaler in front uses the statistics of the whole batch"
    return None


def first_of_each_class():
    """The first configuration of every class in the table."""
    return list({type(entry.values[0]): entry for entry in reversed(TABLE)}.values())


TABLE = CLASSIFIERS + REGRESSORS + TRANSFORMERS


def selections():
    """(name, model, names of checks; None: all of them)"""
    first = first_of_each_class()
    for entry in TABLE:
        yield entry.id, entry.values[0], None if entry in first else OF_CONFIGURATIONS
    for entry in INSIDE:
        yield entry.id, entry.values[0], None


def chosen(model, selected):
    """(number, check): all of them, or the first of each name that is selected."""
    numbered = list(enumerate(checks.yield_checks(model)))
    if selected is None:
        return numbered
    first = {check.__name__: (number, check) for number, check in reversed(numbered)}
    return [pair for name, pair in first.items() if name in selected]


def cases():
    for name, model, selected in selections():
        for number, check in chosen(model, selected):
            reason = reason_to_skip(model, check)
            yield pytest.param(
                model,
                check,
                marks=pytest.mark.skip(reason=reason) if reason else (),
                id=f"{name}-{check.__name__.removeprefix('check_')}-{number}",
            )


SCALERS = rb.StandardScaler, rb.MinMaxScaler


def test_every_class_is_checked_in_full():
    """KernelOneClassSVM has a test of its own, as River checks detectors on data that it downloads; Guard has
    one in test_pipelines.py, FeatureBudget in test_feature_budget.py, and the scalers in test_scalers.py."""
    classes = {type(entry.values[0]) for entry in first_of_each_class()}
    estimators = {value for value in vars(rb).values() if isinstance(value, type)}
    estimators = {kind for kind in estimators if issubclass(kind, base.Estimator)}
    assert classes == estimators - {rb.KernelOneClassSVM, rb.Guard, rb.FeatureBudget, *SCALERS}


def test_river_has_checks_of_these_names():
    names = {check.__name__ for entry in TABLE for check in checks.yield_checks(entry.values[0])}
    assert names >= OF_CONFIGURATIONS


@pytest.fixture(autouse=True, scope="module")
def quick_collections():
    """The checks of memory collect garbage: seconds each, once a compiler has filled the heap."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize(("model", "check"), list(cases()))
def test_the_model_passes_the_check_of_river(model, check):
    random.seed(0)  # the checks shuffle features
    check(model.clone())


# behind a scaler


def failures(model):
    """Names of the checks that a model does not pass."""
    found = {}
    for check in checks.yield_checks(model):
        random.seed(0)
        try:
            check(model.clone())
        except Exception as error:
            found[check.__name__] = repr(error)
    return found


@functools.cache
def failures_of_rivers(scaler, regression):
    """What River's linear model fails there: the learn_many of a scaler takes the statistics of a whole batch."""
    rivers = linear_model.LinearRegression() if regression else linear_model.LogisticRegression()
    return set(failures(scaler() | rivers))


BEHIND = [(entry, preprocessing.StandardScaler) for entry in first_of_each_class()]
BEHIND += [
    (entry, preprocessing.MinMaxScaler)  # which gives NaN for what it has not learned
    for entry in first_of_each_class()
    if entry.id in ("BSGD", "FOGD-R", "AutoKernel")
]


@pytest.mark.parametrize(
    ("model", "scaler"),
    [pytest.param(*e.values, scaler, id=f"{e.id}-{scaler.__name__}") for e, scaler in BEHIND],
)
def test_behind_a_scaler_a_model_passes_what_rivers_linear_models_pass(model, scaler):
    regression = not isinstance(model, base.Classifier)
    found = failures(scaler() | model.clone())
    allowed = failures_of_rivers(scaler, regression)
    assert not {name: error for name, error in found.items() if name not in allowed}

"""`extending.check` on every model of the table, and River's own checks inside pipelines and
wrappers.
"""

from __future__ import annotations

import functools
import gc
import random

import pytest
from models import CLASSIFIERS, REGRESSORS, TRANSFORMERS
from river import base, checks, compose, linear_model, multiclass, preprocessing

import river_budget as rb
from river_budget import extending
from river_budget.extending import checking

# River's checks feed rows that are not scaled
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

tree = pytest.importorskip("sklearn.tree", reason="River's checks take data from scikit-learn")

# What a configuration may change: pickles, batches, the order and the number of features. Of other
# configurations than the first of a class each of these is done on one dataset; pickles and batches
# of models are in `check_beside_river`, to the bit.
OF_CONFIGURATIONS = {"check_disappearing_features", "check_shuffle_features_no_impact"}
OF_TRANSFORMERS = {"check_learn_many_matches_learn_one", "check_pickling"}
INSIDE = [
    pytest.param(
        rb.RandomFourier(20, seed=1) | linear_model.LogisticRegression(), id="fourier-linear"
    ),
    pytest.param(rb.Nystroem(15) | linear_model.LinearRegression(), id="nystroem-linear"),
    pytest.param(multiclass.OneVsRestClassifier(rb.BSGDClassifier(10)), id="one-vs-rest-BSGD"),
]
AROUND = [
    pytest.param(rb.Guard("raise"), id="guard"),
    pytest.param(rb.Guard("skip"), id="guard-skip"),
    pytest.param(rb.Guard("last"), id="guard-last"),
    pytest.param(rb.FeatureBudget(1000), id="feature-budget"),
    pytest.param(rb.StandardScaler(), id="scaler"),
    pytest.param(rb.StandardScaler(with_std=False), id="scaler-centred"),
    pytest.param(rb.MinMaxScaler(), id="scaler-min-max"),
    pytest.param(rb.TargetStandardScaler(rb.StandardScaler() | rb.BSGDRegressor(9)), id="targets"),
    pytest.param(rb.Delayed(preprocessing.StandardScaler() | rb.BSGDClassifier()), id="delayed"),
    pytest.param(rb.Refitted(tree.DecisionTreeRegressor(random_state=1), first=10), id="refitted"),
    pytest.param(
        rb.Mixture(
            rb.Refitted(tree.DecisionTreeClassifier(random_state=1), first=10),
            preprocessing.StandardScaler() | rb.BSGDClassifier(),
        ),
        id="mixture",
    ),
    pytest.param(rb.Mixture(linear_model.LinearRegression(), rb.BSGDRegressor(9)), id="mixture-R"),
]


def public_class(model):
    """The class that users name: rb.Mixture(...) gives an object of one of two classes below it."""
    return next(kind for kind in type(model).__mro__ if getattr(rb, kind.__name__, None) is kind)


def first_of_each_class():
    """The first configuration of every class in the table."""
    return list({type(entry.values[0]): entry for entry in reversed(TABLE)}.values())


TABLE = CLASSIFIERS + REGRESSORS + TRANSFORMERS


def checks_of(model):
    """River's checks, but one that no pipeline passes: a scaler in front uses the statistics of the
    whole batch.
    """
    for check in checks.yield_checks(model):
        name = check.__name__
        if name != "check_learn_many_matches_learn_one" or not isinstance(model, compose.Pipeline):
            yield check


def failures(model, chosen):
    """{name: error} of those checks that a model does not pass."""
    found = {}
    for check in chosen:
        random.seed(0)  # the checks shuffle features
        try:
            check(model.clone())
        except Exception as error:
            found[check.__name__] = repr(error)
    return found


def test_every_class_is_checked_in_full():
    """KernelOneClassSVM has a test of its own, as River checks detectors on data that it
    downloads.
    """
    classes = {public_class(entry.values[0]) for entry in TABLE + AROUND}
    estimators = {value for name in rb.__all__ if isinstance(value := getattr(rb, name), type)}
    estimators = {kind for kind in estimators if issubclass(kind, base.Estimator)}
    assert classes == estimators - {rb.KernelOneClassSVM}


def test_river_has_checks_of_these_names():
    names = {check.__name__ for entry in TABLE for check in checks.yield_checks(entry.values[0])}
    assert names >= OF_CONFIGURATIONS | OF_TRANSFORMERS


@pytest.fixture(autouse=True, scope="module")
def quick_collections():
    """The checks of memory collect garbage: seconds each, once a compiler has filled the heap."""
    gc.freeze()
    yield
    gc.unfreeze()


FIRST = first_of_each_class()


@pytest.mark.parametrize("model", [entry for entry in FIRST if entry not in TRANSFORMERS])
def test_the_model_passes_what_an_author_of_an_algorithm_asks_of_it(model):
    extending.check(model)


@pytest.mark.parametrize(
    "model", [entry for entry in FIRST if entry in TRANSFORMERS] + INSIDE + AROUND
)
def test_the_model_passes_all_checks_of_river(model):
    assert failures(model, checks_of(model)) == {}


OTHERS = [entry for entry in TABLE if entry not in FIRST]
QUICK = "BSGD-project", "Projectron++-threshold", "SBP-bias", "BSGD-laplacian"  # the rest is slow


@pytest.mark.parametrize(
    "model",
    [
        entry
        if entry.id in QUICK
        else pytest.param(*entry.values, id=entry.id, marks=pytest.mark.slow)
        for entry in OTHERS
    ],
)
def test_other_configurations_pass_the_checks_that_depend_on_them(model):
    transforms = isinstance(model, base.Transformer)
    if not transforms:
        checking.check_beside_river(model)
    first = {check.__name__: check for check in reversed(list(checks_of(model)))}
    names = OF_CONFIGURATIONS | (OF_TRANSFORMERS if transforms else set())
    assert failures(model, [first[name] for name in names if name in first]) == {}


# behind a scaler


def on_the_last(model):
    """Of the checks on several datasets those on the last, which has most classes."""
    return {check.__name__: check for check in checks.yield_checks(model)}.values()


@functools.cache
def failures_of_rivers(scaler, regression):
    """What River's linear model fails there: the learn_many of a scaler takes the statistics of a
    whole batch.
    """
    rivers = linear_model.LinearRegression() if regression else linear_model.LogisticRegression()
    return set(failures(scaler() | rivers, on_the_last(scaler() | rivers)))


BEHIND = [(entry, preprocessing.StandardScaler) for entry in first_of_each_class()]
BEHIND += [
    (entry, preprocessing.MinMaxScaler)  # which gives NaN for what it has not learned
    for entry in first_of_each_class()
    if entry.id in ("BSGD", "FOGD-R", "AutoKernel")
]
BEHIND += [(entry, rb.StandardScaler) for entry in first_of_each_class() if entry.id == "BSGD"]


def every_fourth_or_all(cases):
    """All of them with `pytest -m slow`: the scaler is the same for all."""
    for number, (entry, scaler) in enumerate(cases):
        slow = [pytest.mark.slow] if number % 4 else []
        yield pytest.param(*entry.values, scaler, id=f"{entry.id}-{scaler.__name__}", marks=slow)


@pytest.mark.parametrize(("model", "scaler"), list(every_fourth_or_all(BEHIND)))
def test_behind_a_scaler_a_model_passes_what_rivers_linear_models_pass(model, scaler):
    pipeline, regression = scaler() | model.clone(), not isinstance(model, base.Classifier)
    found = failures(pipeline, on_the_last(pipeline))
    allowed = failures_of_rivers(scaler, regression)
    assert not {name: error for name, error in found.items() if name not in allowed}

"""River's own checks, on every model of the table and inside River's pipelines and wrappers."""

from __future__ import annotations

import gc
import random

import pytest
from models import BINARY, CLASSIFIERS, REGRESSORS, TRANSFORMERS
from river import checks, compose, linear_model, multiclass, preprocessing

import river_budget as rb
from river_budget.kernels import RBF

INSIDE = [
    pytest.param(
        preprocessing.StandardScaler() | rb.BSGDClassifier(15, RBF(0.5)), id="scaled-BSGD"
    ),
    pytest.param(
        preprocessing.StandardScaler() | rb.BSGDClassifier(15, classes=BINARY),
        id="scaled-BSGD-binary",
    ),
    pytest.param(preprocessing.StandardScaler() | rb.BSGDRegressor(15), id="scaled-BSGD-R"),
    pytest.param(preprocessing.StandardScaler() | rb.FOGDClassifier(20, seed=1), id="scaled-FOGD"),
    pytest.param(preprocessing.StandardScaler() | rb.NOGDRegressor(15), id="scaled-NOGD-R"),
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


def cases():
    for entry in CLASSIFIERS + REGRESSORS + TRANSFORMERS + INSIDE:
        (model,) = entry.values
        for number, check in enumerate(checks.yield_checks(model)):
            reason = reason_to_skip(model, check)
            yield pytest.param(
                model,
                check,
                marks=pytest.mark.skip(reason=reason) if reason else (),
                id=f"{entry.id}-{check.__name__.removeprefix('check_')}-{number}",
            )


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

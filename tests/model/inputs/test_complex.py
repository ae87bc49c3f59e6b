"""Complex numbers are refused everywhere: nothing learns or predicts by their real parts alone."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from models import MODELS, TRANSFORMERS, crossed, one_of_each
from optional import pandas as pd
from optional import polars as pl
from scipy import sparse

import river_budget as rb

EACH = [*one_of_each(MODELS), *TRANSFORMERS]
COMPLEX = [1j, 1 + 0j, np.complex128(1 + 2j), np.complex64(1), np.array(1 + 2j)]
ROWS = [{"a": 0.5 * (i % 5), "b": 1.0 * (i % 3)} for i in range(30)]


def taught(model):
    for i, x in enumerate(ROWS):
        model.learn_one(*((x, i % 2 == 0) if model._supervised else (x,)))
    return model


def calls(model, x):
    """What learns x, and what only asks."""
    yield lambda: model.learn_one(*((x, True) if model._supervised else (x,)))
    for name in ("predict_one", "predict_proba_one", "decision_function_one", "transform_one"):
        if hasattr(model, name):
            yield lambda name=name: getattr(model, name)(x)


def refused(model, x):
    before = pickle.dumps(model)
    for call in calls(model, x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numpy, which drops imaginary parts
            with pytest.raises(ValueError, match="must be a finite number"):
                call()
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("value", COMPLEX, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("model", EACH)
def test_models_refuse_complex_numbers(model, value):
    fresh, known = model.clone(), taught(model.clone())
    for x in ({"a": 1.0, "b": value}, {"b": value}, {"a": 1.0, "new": value}):
        refused(known, x)
        if type(value) is complex or ("a" in x and "b" in x):
            refused(fresh, x)


FORMS = {
    "array": lambda X: X,
    "objects": lambda X: X.astype(object),
    "pandas": lambda X: pd.DataFrame(X),
    "one column": lambda X: pd.DataFrame({0: X[:, 0].real, 1: X[:, 1]}),
    "polars": lambda X: pl.DataFrame({"0": X[:, 0].tolist()}, schema={"0": pl.Object}),
    "csr": sparse.csr_matrix,
}


@pytest.mark.parametrize(
    ("model", "form"), [*crossed(EACH, ["array"]), *((rb.BSGDClassifier(5), f) for f in FORMS)]
)
def test_models_refuse_complex_arrays_and_frames(model, form):
    X, y = FORMS[form](np.array([[1 + 2j, 2.0 + 1j], [3.0, 4.0j]])), [True, False]
    model = model.clone()
    before = pickle.dumps(model)
    learn = (X, y) if model._supervised else (X,)
    with pytest.raises(ValueError, match=r"feature ('0'|0|1) must be a finite number, not"):
        model.learn_many(*learn)
    for name in ("predict_many", "predict_proba_many", "transform_many"):
        if hasattr(model, name):
            with pytest.raises(ValueError, match="must be a finite number"):
                getattr(model, name)(X)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("value", [1j, 1 + 2j, np.complex128(1 + 2j), np.complex64(2)], ids=repr)
@pytest.mark.parametrize("model", [rb.BSGDRegressor(5), rb.FOGDRegressor(5, seed=1)])
def test_complex_targets_and_weights_are_refused(model, value):
    model = model.clone()
    for call in (
        lambda: model.learn_one({"a": 1.0}, value),
        lambda: model.learn_one({"a": 1.0}, 1.0, w=value),
        lambda: model.learn_many(np.ones((2, 1)), [1.0, value]),
        lambda: model.learn_many(np.ones((2, 1)), [1.0, 1.0], w=[1.0, value]),
        lambda: model.learn_many(np.ones((1, 1)), np.array([value]).reshape(-1)),
        lambda: model.learn_many(np.ones((1, 1)), [1.0], w=np.array([value]).reshape(-1)),
    ):
        with pytest.raises(ValueError, match="must be"):
            call()
    assert model.block is None


@pytest.mark.parametrize("value", COMPLEX, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("scaler", [rb.StandardScaler(), rb.MinMaxScaler()], ids=repr)
def test_scalers_refuse_complex_numbers(scaler, value):
    for x in ({"a": value}, {"a": 1.0, "new": value}):
        scaler = scaler.clone()
        for name in ("learn_one", "transform_one"):
            with pytest.raises((ValueError, TypeError)):
                getattr(scaler, name)(x)
        scaler.learn_one({"a": 1.0})
        for name in ("learn_one", "transform_one"):
            with pytest.raises((ValueError, TypeError)):
                getattr(scaler, name)(x)

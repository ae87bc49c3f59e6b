"""What a model says once where its stream is not what it is made for, and that it says nothing
else.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from models import MODELS, one_of_each
from optional import pandas as pd
from river import base, preprocessing
from scipy import sparse

import river_budget as rb
from river_budget.core import memory
from river_budget.kernels import RBF, Laplacian, Linear

N = 1500


def rows(scale=1.0, seed=0):
    return scale * np.random.default_rng(seed).normal(size=(N, 3))


def said(model, X, *y, single=False):
    """The warnings of a model over a stream, as (words, file)."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        if single:
            for row, *target in zip(X.tolist(), *(column.tolist() for column in y), strict=True):
                model.learn_one(dict(enumerate(row)), *target)
        else:
            model.learn_many(X, *y)
    assert all(warning.category is rb.StreamWarning for warning in found)
    return [(str(warning.message), warning.filename) for warning in found]


CLASSIFIERS = [
    rb.BSGDClassifier(20),
    rb.ForgetronClassifier(20),
    rb.SBPClassifier(30, seed=1),
    rb.KernelPerceptronClassifier(),
]
STEPS = [rb.BSGDRegressor(20), rb.FOGDRegressor(20, seed=1), rb.NOGDRegressor(20)]
names = lambda model: type(model).__name__  # noqa: E731


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("model", [*CLASSIFIERS, rb.FOGDClassifier(20, seed=1)], ids=names)
def test_a_stream_of_one_class_is_noticed_once(model, single):
    model, X = model.clone(), rows()
    ((words, file),) = said(model, X, np.ones(N, bool), single=single)
    assert type(model).__name__ in words
    assert "1000 examples were all of one class" in words
    assert file == __file__
    assert not said(model, X, np.ones(N, bool), single=single)


@pytest.mark.parametrize("size", [1e-5, 20.0, 1e4])
@pytest.mark.parametrize("model", STEPS, ids=names)
def test_targets_far_from_one_are_noticed_once(model, size):
    model, X = model.clone(), rows()
    y = size * (2.0 + np.sin(X[:, 0]))
    for times in (1, 0):
        assert sum("TargetStandardScaler" in words for words, _ in said(model, X, y)) == times


def test_learning_that_diverges_is_noticed_once():
    X = rows(30.0)
    model = rb.KernelOGDRegressor(Linear(), learning_rate=5.0)
    found = said(model, X, np.sin(X[:, 0]))
    assert ["diverged" in words for words, _ in found] == [True]
    assert not said(model, X, np.sin(X[:, 0]))


@pytest.mark.parametrize("model", [*CLASSIFIERS, *STEPS], ids=names)
def test_nothing_is_said_of_a_stream_that_is_well(model):
    X = rows()
    y = np.sin(2.0 * X[:, 0]) if isinstance(model, base.Regressor) else X[:, 0] > 0.0
    assert not said(model.clone(), X, y)


def test_in_a_target_scaler_targets_of_any_size_are_well():
    model = preprocessing.TargetStandardScaler(rb.BSGDRegressor(20))
    X = rows()[:500]
    assert not said(model, X, 1e6 * X[:, 0], single=True)


def test_it_can_be_silenced_and_a_warning_that_is_an_error_loses_nothing():
    X, y = rows(), np.ones(N, bool)
    quiet, loud = rb.BSGDClassifier(20), rb.BSGDClassifier(20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(rb.StreamWarning):
            loud.learn_many(X, y)
        loud.learn_many(X[1000:], y[1000:])
        warnings.filterwarnings("ignore", category=rb.StreamWarning)
        quiet.learn_many(X, y)
    assert loud.support_vectors() == quiet.support_vectors()


def test_a_copy_and_a_loaded_model_do_not_say_it_again(tmp_path):
    X, y = rows(), np.ones(N, bool)
    model = rb.BSGDClassifier(20)
    assert said(model, X, y)
    rb.save(model, tmp_path / "model")
    for twin in (rb.load(tmp_path / "model"), model.clone(include_attributes=True)):
        assert not said(twin, X, y)


def unscaled(n, seed=0):
    rng = np.random.default_rng(seed)
    return 1e4 * rng.normal(size=(n, 3)), rng.random(n) > 0.5


FAR = [
    rb.BSGDClassifier(),
    rb.KernelOGDClassifier(),
    rb.ForgetronClassifier(20),
    rb.SBPClassifier(30),
    rb.NOGDClassifier(20),
    rb.KernelPerceptronClassifier(Laplacian(1.0)),
    rb.KernelOneClassSVM(),
]


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("model", FAR, ids=names)
def test_features_without_a_scale_are_noticed_once(model, single):
    X, y = unscaled(60)
    targets = (y,) if hasattr(model, "predict_one") else ()
    model = model.clone()
    ((words, _),) = said(model, X, *targets, single=single)
    assert "StandardScaler" in words
    assert model.n_support_vectors > 0
    assert not said(model, X, *targets)


def test_scaled_features_and_single_outliers_are_not_mentioned():
    X, y = unscaled(500)
    X /= 1e4
    X[::20] *= 1e6
    assert not said(rb.BSGDClassifier(), X, y)
    assert not said(rb.BSGDClassifier(kernel=RBF(10.0)), X, y)


# words and categories


def documents(n=60, words=8):
    rng = np.random.default_rng(0)
    return [{f"w{word}": 1.0 for word in rng.integers(300, size=words)} for _ in range(n)]


APPROXIMATE = [
    rb.FOGDClassifier(20, seed=1),
    rb.FOGDRegressor(20, kernel=Laplacian("1/d"), seed=1),
    rb.NOGDClassifier(20),
    rb.NOGDRegressor(20, RBF("auto")),
]


@pytest.mark.parametrize(
    ("model", "many"), [*((model, False) for model in APPROXIMATE), (APPROXIMATE[0], True)]
)
def test_a_width_by_the_first_of_many_documents_is_noticed_once(model, many):
    """(A first matrix has all columns, so that there is nothing to notice.)"""
    X = documents()
    whole = pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_matrix([[x.get(f"w{i}", 0.0) for i in range(300)] for x in X]),
        columns=[f"w{i}" for i in range(300)],
    )
    model = model.clone()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(2):
            for i, x in enumerate(X):
                if many:
                    model.learn_many(whole[i : i + 1], [i % 2 == 0])
                else:
                    model.learn_one(x, i % 2 == 0)
    if many:
        assert not found
        return
    (warning,) = found
    assert warning.category is rb.StreamWarning
    assert f"{names(model)}: gamma='c/d' counts the features of the first example" in str(
        warning.message
    )
    assert warning.filename == __file__


@pytest.mark.parametrize(
    "model",
    [
        *(rb.FOGDClassifier(20, RBF(0.1), seed=1), rb.NOGDClassifier(20, RBF(0.1))),
        *(rb.NOGDClassifier(20, Linear()), rb.BSGDClassifier(20), rb.AutoKernelClassifier()),
    ],
    ids=names,
)
def test_of_a_width_that_is_a_number_or_exact_nothing_is_said(model):
    model = model.clone()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i, x in enumerate(documents()):
            model.learn_one(x, i % 2 == 0)


# seeds


@pytest.mark.parametrize("kind", [type(entry.values[0]) for entry in one_of_each(MODELS)])
def test_a_seed_is_taken_or_it_is_said_that_nothing_is_drawn(kind):
    if "seed" in kind._parameters():
        assert kind(seed=3).seed == 3
        return
    with pytest.raises(TypeError, match=rf"{kind.__name__} has no parameter 'seed' and needs none"):
        kind(seed=3)
    X = rows()[:200]
    y = np.sin(2.0 * X[:, 0]) if issubclass(kind, base.Regressor) else X[:, 0] > 0.0
    one, other = kind(), kind()
    for model in (one, other):
        model.learn_many(*((X, y) if model._supervised else (X,)))
    assert one._block[memory.TABLES_AT :].tobytes() == other._block[memory.TABLES_AT :].tobytes()

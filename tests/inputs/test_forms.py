"""Examples, targets and parameters of the wrong form: one sentence says what is expected."""

from __future__ import annotations

import copy
import pickle
import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from models import MODELS, learn, one_of_each
from optional import pandas as pd
from optional import polars as pl
from optional import pyarrow as pa
from streams import emerging

import river_budget as rb
from river_budget.kernels import RBF

COLUMNS = {"a": [1.0, 3.0, 0.0], "b": [2.0, 0.0, 1.0]}
Y = [True, False, True]
ROWS = [({"a": 1.0 * (i % 4), "b": 1.0 + i % 3}, i % 2 == 0) for i in range(12)]
DICTS = [{"a": 1.0}, {"b": 2.0}]
A_DICT = "an example must be a dict of its features, not "
A_FRAME = "examples must come as a frame, a 2-D array or a sparse matrix, not as "
A_COLUMN = "the targets must be a list, an array or a series, not "


@pytest.mark.parametrize("x", [[1, 2], (1.0,), np.zeros(2), "ab", None, 1.0], ids=repr)
@pytest.mark.parametrize(
    "model", [rb.BSGDClassifier(5), rb.FOGDRegressor(5), rb.AutoKernelClassifier(5)]
)
@pytest.mark.parametrize("columns", [0, 2])
def test_one_example_is_a_dict(model, x, columns):
    model = model.clone()
    if columns:
        model.learn_many(np.ones((3, columns)), Y)
    before = pickle.dumps(model)
    for call in (model.predict_one, lambda x: model.learn_one(x, True)):
        with pytest.raises(TypeError, match=re.escape(A_DICT + repr(x))):
            call(x)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    "step",
    [
        *map(rb.Guard, ("raise", "skip", "last")),
        *(rb.FeatureBudget(9), rb.StandardScaler(), rb.MinMaxScaler()),
    ],
    ids=repr,
)
def test_what_stands_in_front_says_so_too(step):
    step = step.clone()
    step.learn_one({"a": 1.0})
    for call in (step.learn_one, step.transform_one):
        with pytest.raises(TypeError, match=re.escape(A_DICT + "[1, 2]")):
            call([1, 2])


def frames():
    yield DICTS, A_FRAME + "a list of dicts: pandas.DataFrame(X).fillna(0.0)"
    yield [[1.0, 2.0]], A_FRAME + "a list: numpy.array(X, float)"
    yield COLUMNS, A_FRAME + "a dict"
    yield None, A_FRAME + "a NoneType"
    yield pa.array([1.0, 2.0]), A_FRAME + "a DoubleArray"
    yield pl.LazyFrame(COLUMNS), "a LazyFrame has no rows yet: X.collect() computes them"


@pytest.mark.parametrize(("X", "words"), list(frames()))
def test_many_examples_are_a_frame_or_a_matrix(X, words):
    model = rb.BSGDClassifier()
    for call in (lambda: model.learn_many(X, Y), lambda: model.predict_many(X)):
        with pytest.raises(TypeError, match=re.escape(words)):
            call()


def columns():
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        yield frame({"b": Y}), " one of its columns, such as y['b']"
    yield pl.LazyFrame({"b": Y}), "the targets must be one column, not a LazyFrame"
    yield True, A_COLUMN + "a bool"
    yield {"b": Y}, A_COLUMN + "a dict"


@pytest.mark.parametrize(("y", "words"), list(columns()))
def test_targets_are_a_column(y, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        rb.BSGDClassifier().learn_many(np.ones((3, 2)), y)


@pytest.mark.parametrize("make", [pa.table, pa.RecordBatch.from_pydict])
@pytest.mark.parametrize("wrap", [pa.array, lambda y: pa.chunked_array([y])])
def test_what_pyarrow_has_is_taken(make, wrap):
    model, other = rb.BSGDClassifier(5), rb.BSGDClassifier(5)
    model.learn_many(make(COLUMNS), wrap(Y), w=pa.array([1.0, 2.0, 1.0]))
    other.learn_many(pd.DataFrame(COLUMNS), Y, w=[1.0, 2.0, 1.0])
    assert model.predict_many(make(COLUMNS)).to_pylist() == Y
    assert other.support_vectors() == model.support_vectors()


@pytest.mark.parametrize(
    ("kind", "named", "words"),
    [
        (rb.BSGDClassifier, {"gamma": 2}, "but its kernel has: kernel=rb.kernels.RBF(2)"),
        (rb.Nystroem, {"degree": 3}, "but its kernel has: kernel=rb.kernels.Polynomial(degree=3)"),
        (rb.PolynomialCountSketch, {"gamma": 2}, "kernel=rb.kernels.Polynomial(gamma=2)"),
        (rb.AutoKernelClassifier, {"gamma": 2}, "'gamma', only budget, classes, seed"),
        (rb.FOGDRegressor, {"learnin_rate": 2}, "perhaps 'learning_rate' is meant"),
    ],
)
def test_a_parameter_that_a_class_lacks(kind, named, words):
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter.*{re.escape(words)}"):
        kind(**named)


def test_without_l2_nothing_shrinks():
    stream = [(x, y == "blue") for x, y in emerging(80)]
    rates = {"kernel": RBF(0.5), "learning_rate": 0.3}
    model = learn(rb.BSGDClassifier(None, l2=0, **rates), stream)
    plain = learn(rb.KernelOGDClassifier(**rates), stream)
    assert model.n_support_vectors == plain.n_support_vectors
    for x, _ in stream:
        found, expected = (each.decision_function_one(x) for each in (model, plain))
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", [rb.BSGDClassifier, rb.BSGDRegressor])
def test_the_steps_of_pegasos_need_l2(kind):
    with pytest.raises(ValueError, match=re.escape("the steps of Pegasos are 1 / (l2 t)")):
        kind(l2=0.0, learning_rate=None)
    with pytest.raises(ValueError, match="l2 must be a positive number where learning_rate"):
        kind(l2=0.0).learning_rate = None


@pytest.mark.parametrize(
    "name", ["kernels", "maintenance", "datasets", "distributed", "export", ""]
)
def test_dir_shows_public_names(name):
    module = getattr(rb, name) if name else rb
    shown = set(dir(module))
    assert set(module.__all__) <= shown
    assert not shown & {"annotations", "Any", "importlib", "core", "model", "parameters", "base"}
    assert all(hasattr(module, each) for each in shown - {"plots", "sklearn"})


INVENTING = {"Counter": Counter, "defaultdict": lambda x: defaultdict(lambda: 7.0, x)}


@pytest.mark.parametrize("kind", INVENTING)
@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_dicts_that_invent_values_are_read_as_what_they_hold(model, kind):
    """River's BagOfWords returns a Counter, which has 0 for every name: other names were learned as
    zeros.
    """
    model = learn(model.clone(), ROWS)
    as_dict = copy.deepcopy(model)
    for x in ({"a": 2, "b": 1}, {"c": 1, "d": 1}, {"a": 1, "d": 3}, {"e": 1}):
        given = INVENTING[kind](x)
        if hasattr(model, "predict_one"):
            assert model.predict_one(given) == as_dict.predict_one(x)
        learn(model, [(given, True)])
        learn(as_dict, [(x, True)])
        assert dict(given) == x
    assert pickle.dumps(model) == pickle.dumps(as_dict)

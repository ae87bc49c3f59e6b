"""Many examples at once, from pandas, polars, pyarrow and numpy: always a loop over single ones."""

from __future__ import annotations

import copy
import datetime
import pickle

import numpy as np
import pytest
from keyed import values_of
from models import (
    MODELS,
    content,
    crossed,
    learn,
    learned,
    one_of_each,
    same,
    two_classes_only,
    variant,
)
from optional import given, settings, st
from optional import pandas as pd
from optional import polars as pl
from optional import pyarrow as pa
from river import base

import river_budget as rb
from river_budget.inputs.batches import batch_of
from river_budget.inputs.targets import Targets
from river_budget.kernels import RBF
from river_budget.maintenance import RemoveRandom

N, NAMES = 40, ["d", "b", "a", "c"]
BACKENDS = ["pandas", "polars", "pyarrow"]
A_CLASSIFIER = rb.BSGDClassifier(8, RBF(0.5), RemoveRandom(), seed=1)
A_REGRESSOR = rb.BSGDRegressor(8, RBF(0.5), RemoveRandom(), seed=1)
TWO = [pytest.param(A_CLASSIFIER, id="classifier"), pytest.param(A_REGRESSOR, id="regressor")]


def index(n):
    return pd.Index([f"row {7 * i % n}" for i in range(n)], name="place")


def frame(backend, columns):
    if backend == "pandas":
        n = len(next(iter(columns.values()), []))
        return pd.DataFrame(columns, index=index(n))
    return pl.DataFrame(columns, strict=False) if backend == "polars" else pa.table(columns)


def series(backend, values, name="target"):
    if backend == "pandas":
        return pd.Series(values, index=index(len(values)), name=name)
    return pl.Series(name, values) if backend == "polars" else pa.chunked_array([values])


def table_of(result):
    return result.to_dict("list") if isinstance(result, pd.DataFrame) else dictionary(result)


def dictionary(result):
    return (
        result.to_dict(as_series=False) if isinstance(result, pl.DataFrame) else result.to_pydict()
    )


def rows(n=N, seed=0):
    """A matrix with some zeros in it."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, len(NAMES))) * (rng.random((n, len(NAMES))) < 0.8)


def columns(matrix, names=NAMES):
    return {name: matrix[:, i].tolist() for i, name in enumerate(names)}


def examples(matrix, names=NAMES):
    return [dict(zip(names, row, strict=True)) for row in matrix.tolist()]


def targets_for(model, n=N, seed=0):
    """Targets that suit the model; of several classes, the last ones come late."""
    rng = np.random.default_rng(seed)
    if isinstance(model, base.Regressor):
        return rng.normal(size=n).tolist()
    if two_classes_only(model):
        return rng.integers(2, size=n).astype(bool).tolist()
    known = 1 + 4 * np.arange(n) // n
    return [("one", "two", "three", "four")[i] for i in (rng.random(n) * known).astype(int)]


def progressive(model, stream):
    """The prediction of each example, which may have a weight, before it is learned."""
    predictions = []
    for x, y, *w in stream:
        predictions.append(model.predict_one(x))
        model.learn_one(x, y, *w)
    return predictions


def assert_loop(model, stream, X, y, *w):
    """The batch is learned, and predicted before it is, as the stream is in a loop."""
    one, many, stream = model.clone(), model.clone(), list(stream)
    expected = progressive(one, stream)
    found = values_of(many.predict_then_learn_many(X, y, *w))
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))
    assert same(one, many, [example[:2] for example in stream])


# a loop of learn_one


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=4)
@given(cuts=st.sets(st.integers(0, N), max_size=6))
def test_predict_then_learn_many_is_progressive_validation(model, cuts):
    model = model.clone()
    one, many = copy.deepcopy(model), copy.deepcopy(model)
    X, y, found = rows(), targets_for(model), []
    stream = list(zip(examples(X), y, strict=True))
    expected = progressive(one, stream)
    for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), N], strict=True):
        batch = pd.DataFrame(X[a:b], columns=NAMES)
        found += values_of(model.predict_then_learn_many(batch, y[a:b]))
        many.learn_many(batch, y[a:b])
    assert found == expected
    assert same(model, one, stream)
    if isinstance(model, base.Classifier):  # whose link to probabilities follows scores and labels
        x = stream[0][0]
        assert model.predict_proba_one(x) == one.predict_proba_one(x)
    assert pickle.dumps(model) == pickle.dumps(many)


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_an_array_is_a_loop_of_learn_one_over_numbered_features(model):
    X, y = rows(), targets_for(model)
    model = variant(model, seed=1)
    assert_loop(model, zip(examples(X, range(len(NAMES))), y, strict=True), X, y)


@pytest.mark.parametrize("backend", [*BACKENDS, "array"])
@pytest.mark.parametrize("estimator", [rb.BSGDClassifier, rb.BSGDRegressor])
def test_columns_may_come_go_and_change_places(estimator, backend):
    one, many = estimator(8, RBF(0.5), seed=1), estimator(8, RBF(0.5), seed=1)
    orders = [("b", "a"), ("a", "c", "b"), ("c",), ("e", "d"), ("b", "c", "d", "a", "e"), ()]
    if backend == "array":
        orders = [range(n) for n in (2, 4, 1, 3, 6, 5)]
    for seed, names in enumerate(orders):
        X, y = rows(12, seed)[:, : len(names)], targets_for(one, 12, seed)
        X = np.hstack([X, np.ones((12, len(names) - X.shape[1]))])
        stream = list(zip(examples(X, names), y, strict=True))
        if names:
            expected = progressive(one, stream)
            batch = X if backend == "array" else frame(backend, columns(X, names))
            assert values_of(many.predict_then_learn_many(batch, y)) == expected
            assert values_of(many.predict_many(batch)) == [one.predict_one(x) for x, _ in stream]
    assert same(one, many, stream)


# predictions


@pytest.mark.parametrize(("model", "backend"), crossed(MODELS, BACKENDS))
def test_predict_many_says_what_predict_one_says(model, backend):
    model = model.clone()
    for n in (0, 1, 2, N):
        learn(model, list(zip(examples(rows()), targets_for(model), strict=True))[:n])
        X = rows(10, seed=1)
        found = model.predict_many(frame(backend, columns(X)))
        assert values_of(found) == [model.predict_one(x) for x in examples(X)]


def test_of_an_array_the_results_are_arrays():
    X, y = rows(), targets_for(A_CLASSIFIER)
    model = A_CLASSIFIER.clone()
    assert isinstance(model.predict_then_learn_many(X, y), np.ndarray)
    assert isinstance(model.predict_many(X), np.ndarray)
    shares = model.predict_proba_many(X)
    assert set(shares) == {"one", "two", "three", "four"}
    assert np.sum(list(shares.values()), axis=0) == pytest.approx(np.ones(N))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("model", TWO)
def test_results_keep_the_backend_the_index_and_the_name_of_the_target(model, backend):
    model, X = model.clone(), frame(backend, columns(rows()))
    y = series(backend, targets_for(model), name="what it is")
    for found in (model.predict_then_learn_many(X, y), model.predict_many(X)):
        assert type(found) is type(y)
        if backend == "pandas":
            assert found.index.equals(X.index)
            assert found.index.name == "place"
        if backend != "pyarrow":
            assert found.name == "what it is"
    if isinstance(model, base.Classifier):
        found = model.predict_proba_many(X)
        assert type(found) is type(X)
        shares = model.predict_proba_one(examples(rows())[0])
        names = shares if backend == "pandas" else map(str, shares)
        assert {name: column[0] for name, column in table_of(found).items()} == pytest.approx(
            dict(zip(names, shares.values(), strict=True))
        )
        assert backend != "pandas" or found.index.equals(X.index)


def test_probabilities_of_a_fresh_model_keep_the_index():
    X = frame("pandas", columns(rows()))
    found = A_CLASSIFIER.clone().predict_proba_many(X)
    assert found.shape == (N, 0)
    assert found.index.equals(X.index)


# what columns may hold


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([True, False, True], None),
        ([1, -2, 3], None),
        ([2**53, 0, 1], None),
        ([0.5, 0.0, -0.0], None),
        ([0.1, 0.2, 0.3], "float32"),
        ([1, 2, 3], "uint8"),
        ([1, 2.5, True], "object"),
    ],
)
def test_columns_of_all_kinds_of_numbers_are_learned(backend, column, kind):
    a, ones = [0.1, 0.2, 0.3], [1.0, 1.0, 1.0]
    X = frame(backend, {"a": a, "b": column})
    if kind and backend == "pandas":
        X["b"] = X["b"].astype(kind)
        column = X["b"].tolist()
    elif kind == "object":
        X = frame("polars", {"a": a}).with_columns(pl.Series("b", column, pl.Object))
    stream = [({"a": x, "b": b}, 1.0) for x, b in zip(a, column, strict=True)]
    assert_loop(A_REGRESSOR, stream, X, ones)


@pytest.mark.parametrize("kind", ["Float64", "Int64", "boolean", "float64[pyarrow]", "category"])
def test_extension_columns_of_pandas_are_learned(kind):
    X = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": pd.Series([1, 0, 1]).astype(kind)})
    stream = [({"a": a, "b": b}, 1.0) for a, b in ((0.1, 1.0), (0.2, 0.0), (0.3, 1.0))]
    assert_loop(A_REGRESSOR, stream, X, [1.0, 1.0, 1.0])


@pytest.mark.parametrize("kind", [None, object])
@pytest.mark.parametrize("names", [[0, 1, 2, 3], ["a", 1, None, 2.5], [("a", 1), ("a", 2), "b", 1]])
def test_columns_of_pandas_may_have_any_names(kind, names):
    X, y = rows(), targets_for(A_REGRESSOR)
    batch = pd.DataFrame(dict(enumerate(X.T))).astype(kind or float).set_axis(names, axis=1)
    assert_loop(A_REGRESSOR, zip(examples(X, names), y, strict=True), batch, y)


# pandas' own frames and series do not go through narwhals; those of subclasses do


def of_subclass(data):
    kind = type("Kind", (type(data),), {"_constructor": property(lambda self: type(self))})
    return kind(data)


KINDS_OF_COLUMNS = [
    {"a": [0.5, 1.0, 2.0], "b": [1.0, 0.0, 3.0]},
    {"a": [1, 2, 3], "b": [1.5, 0.0, 3.0], "c": [True, False, True]},
    {0: [1, 2, 3], 7: [4, 5, 6]},
    {("a", 1): [1.0, 2.0, 3.0], "b": [0, 0, 1]},
    {"a": ["1", "2", "3"], "b": [1, 2, 3]},
    {"a": [1, None, 3], "b": [1, 2, 3]},
    {},
]


@pytest.mark.parametrize("columns", KINDS_OF_COLUMNS, ids=repr)
def test_frames_are_read_as_those_of_subclasses(columns):
    frame = pd.DataFrame(columns, index=["x", "y", "z"])
    same_batch(frame)
    for kind in ("float32", "Float64", "Sparse[float]", object):
        try:
            other = frame.astype(kind)
        except (TypeError, ValueError):  # text, for example, is no number
            continue
        same_batch(other)


def same_batch(frame):
    found = []
    for X in (frame, of_subclass(frame)):
        try:
            batch = batch_of(X, predicted=True)
            results = batch.names, batch.rows.tolist(), batch.listed
            results += (batch.table({"p": np.arange(3.0)}), batch.table({}))
        except ValueError as error:
            results = (str(error),)
        found.append(results)
    plain, other = found
    assert plain[:3] == other[:3]
    for one, two in zip(plain[3:], other[3:], strict=True):
        pd.testing.assert_frame_equal(pd.DataFrame(one), pd.DataFrame(two))


VALUES = [
    np.array([True, False, True]),
    np.array([1, 2, 3]),
    np.array([0.5, 0.25, -1.0]),
    np.array(["a", "bc", "d"]),
    np.array(["a", None, 3], object),
    np.array([None, None, None], object),
]


@pytest.mark.parametrize("values", [*VALUES, np.array([1.0, np.nan, 2.0])], ids=repr)
def test_targets_are_read_as_those_of_subclasses(values):
    same_targets(pd.Series(values, name=("a", 1)))
    for kind in ("float32", "Float64", "boolean", "category", object):
        try:
            series = pd.Series(values, name=("a", 1), dtype=kind)
        except (TypeError, ValueError):
            continue
        same_targets(series)


def same_targets(series):
    plain, other = (Targets(y, 3) for y in (series, of_subclass(series)))
    assert plain.name == other.name == ("a", 1)
    assert type(plain.values) is type(other.values)
    assert list(map(repr, plain.values)) == list(map(repr, other.values))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "column", [[0.5, None, 0.25], [1, None, 2], [True, None, False], [None] * 3, [0.5, np.nan, 1.0]]
)
def test_a_missing_value_is_not_learned_and_counts_as_0_in_predictions(backend, column):
    X = frame(backend, {"good": [0.1, 0.2, 0.3], "empty": column})
    for state in (A_REGRESSOR.clone(), learned(A_REGRESSOR)):
        before = pickle.dumps(state)
        for method in ("learn_many", "predict_then_learn_many"):
            with pytest.raises(ValueError, match="'empty'"):
                getattr(state, method)(X, [1.0] * 3)
        filled = frame(
            backend,
            {
                "good": [0.1, 0.2, 0.3],
                "empty": [float(v or 0.0) if v == v else 0.0 for v in column],
            },
        )
        assert list(state.predict_many(X)) == list(state.predict_many(filled))
        assert pickle.dumps(state) == before


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("column", [[0.5, None, 1.0], [1, None, 2], [True, None, False]], ids=repr)
@pytest.mark.parametrize("model", TWO)
def test_a_missing_target_is_refused_and_nothing_is_learned(model, column, backend):
    """It is named as it is missing: None, and in columns of pandas what stands for it there."""
    X, y = frame(backend, {"a": [0.1, 0.2, 0.3]}), series(backend, column)
    missing = "None|nan|<NA>" if backend == "pandas" else "None"
    model = model.clone()
    with pytest.raises(ValueError, match=f"the target must be .* not ({missing})"):
        model.learn_many(X, y)
    assert model.n_support_vectors == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_columns_of_text_dates_and_lists_are_refused_by_name(backend):
    for value in ("text", datetime.date(2024, 1, 1), datetime.timedelta(1), [1.0]):
        X = frame(backend, {"good": [0.1, 0.2], "bad": [value] * 2})
        with pytest.raises(ValueError, match="'bad'"):
            A_REGRESSOR.clone().learn_many(X, [1.0, 1.0])


def test_columns_of_the_same_name_are_refused():
    X = pd.DataFrame(rows(), columns=["a", "b", "a", "c"])
    with pytest.raises(ValueError, match="a"):
        A_REGRESSOR.clone().learn_many(X, targets_for(A_REGRESSOR))


@pytest.mark.parametrize("backend", [*BACKENDS, "array"])
@pytest.mark.parametrize("model", TWO)
def test_empty_frames_change_nothing(model, backend):
    for state in (model.clone(), learned(model)):
        empty = frame(backend, columns(rows(0))) if backend != "array" else np.empty((0, 3))
        y = series(backend, []) if backend != "array" else []
        vectors, size = content(state), state.memory_usage
        state.learn_many(empty, y)
        assert values_of(state.predict_then_learn_many(empty, y)) == []
        assert values_of(state.predict_many(empty)) == []
        if isinstance(model, base.Classifier):
            state.predict_proba_many(empty)
        assert (content(state), state.memory_usage) == (vectors, size)


# targets


@pytest.mark.parametrize("backend", [*BACKENDS, "array", "list"])
@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes", "no", "perhaps", "yes", "no", "never", "no"],
        [3, 1, 3, 3, 2, 1, 7, 3],
        [0, 1, 0, 1, 1, 1, 0, 0],
        [0.5, 1.5, 0.5, 2.5, 0.5, 1.5, 2.5, 3.5],
        [-1, 1, -1, 1, -1, 1, 2**62 + 1, 1],
        ["the only one"] * 8,
    ],
    ids=lambda labels: str(labels[0]),
)
def test_labels_may_be_of_any_type_and_appear_in_the_middle(labels, backend):
    names = range(len(NAMES)) if backend == "array" else NAMES
    X = rows(len(labels))
    batch = X if backend == "array" else frame(backend.replace("list", "pandas"), columns(X))
    stream = zip(examples(X, names), labels, strict=True)
    assert_loop(rb.BSGDClassifier(4, seed=1), stream, batch, column_of(backend, labels))


def column_of(backend, values):
    if backend == "array":
        return np.array(values)
    return values if backend == "list" else series(backend, values)


@pytest.mark.parametrize("backend", [*BACKENDS, "array"])
def test_a_boolean_column_makes_both_labels_known_at_once(backend):
    X, y = rows(), (rows()[:, 0] > 0).tolist()
    one, many = rb.BSGDClassifier(8, RBF(0.5)), rb.BSGDClassifier(8, RBF(0.5))
    names = range(len(NAMES)) if backend == "array" else NAMES
    expected = progressive(one, list(zip(examples(X, names), y, strict=True)))
    batch = X if backend == "array" else frame(backend, columns(X))
    found = many.predict_then_learn_many(batch, column_of(backend, y))
    assert expected[0] is None
    assert values_of(found) == [True, *expected[1:]]
    assert content(one) == content(many)


@pytest.mark.parametrize("classes", [("a", "b"), ("b", "a", "c")])
def test_classes_are_known_before_the_first_batch(classes):
    X, y = rows(6), ["a", "b", "a", "b", "b", "a"]
    stream = zip(examples(X), y, strict=True)
    model = rb.BSGDClassifier(4, classes=classes)
    assert_loop(model, stream, frame("polars", columns(X)), series("polars", y))


@pytest.mark.parametrize("kind", ["category", "string", "object", "Int64", "datetime64[D]"])
def test_extension_columns_of_pandas_and_dates_hold_labels(kind):
    labels = [1, 2, 1, 3] * 3 if kind == "Int64" else ["x", "y", "x", "z"] * 3
    if kind == "datetime64[D]":
        labels = column = np.array(["2024-01-01", "2024-01-02"] * 6, kind)
    else:
        column = pd.Series(labels, dtype=kind)
    X = rows(12)
    one, many = rb.BSGDClassifier(4, seed=1), rb.BSGDClassifier(4, seed=1)
    learn(one, list(zip(examples(X), labels, strict=True)))
    many.learn_many(pd.DataFrame(X, columns=NAMES), column)
    assert content(one) == content(many)


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "bool", "object"])
def test_targets_of_a_regressor_may_be_any_numbers(kind):
    y = np.array([0, 1, 1, 0, 1, 0]).astype(kind)
    stream = list(zip(examples(rows(6)), y.astype(float).tolist(), strict=True))
    for X in (pd.DataFrame(rows(6), columns=NAMES), frame("polars", columns(rows(6)))):
        assert_loop(rb.BSGDRegressor(4), stream, X, y)


# weights


@pytest.mark.parametrize("model", TWO)
@pytest.mark.parametrize("form", [*BACKENDS, "list", "array", "float32", "integers"])
def test_a_column_of_weights_is_a_loop_of_learn_one(model, form):
    weights = np.random.default_rng(1).integers(0, 3, N) * 0.5
    X, y = rows(), targets_for(model)
    if form == "integers":
        weights = np.ceil(weights).astype(int)
    column = {"list": list(weights), "float32": weights.astype(np.float32)}.get(form, weights)
    column = series(form, weights.tolist()) if form in BACKENDS else column
    stream = zip(examples(X), y, weights.tolist(), strict=True)
    assert_loop(model, stream, pd.DataFrame(X, columns=NAMES), y, column)


@pytest.mark.parametrize("model", TWO)
@pytest.mark.parametrize("w", [0, 2, 0.5, True, np.float64(0.5), np.float32(0.5), np.int64(2)])
def test_one_weight_counts_for_all_examples(model, w):
    X, y = rows(), targets_for(model)
    stream = zip(examples(X), y, [w] * N, strict=True)
    assert_loop(model, stream, pd.DataFrame(X, columns=NAMES), y, w)


# arrays


def unaligned(X):
    raw = np.zeros(X.nbytes + 1, np.uint8)
    result = raw[1:].view(np.float64).reshape(X.shape)
    result[:] = X
    return result


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def of_kind(kind):
    return lambda X: (4 * np.abs(X)).astype(kind)


@pytest.mark.parametrize("model", TWO)
@pytest.mark.parametrize(
    "laid_out",
    [
        np.asfortranarray,
        read_only,
        unaligned,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.repeat(X, 3, axis=1)[:, ::3],
        lambda X: X[::-1].copy()[::-1],
        lambda X: X.T.copy().T,
        *map(of_kind, [">f8", np.longdouble, object, "f4", np.float16, np.int64, np.uint8, bool]),
    ],
)
def test_the_layout_of_an_array_and_the_kind_of_its_numbers_do_not_matter(model, laid_out):
    y, plain, other, given = targets_for(model), model.clone(), model.clone(), laid_out(rows())
    X = given.astype(float)
    expected = plain.predict_then_learn_many(X, y).tolist()
    assert other.predict_then_learn_many(given, y).tolist() == expected
    assert other.predict_many(given).tolist() == plain.predict_many(X).tolist()
    assert content(plain) == content(other)
    assert (given == X).all()


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_batches_are_left_as_they_are(model):
    X, y, w = rows(), np.array(targets_for(model)), np.ones(N)
    before = X.copy(), y.copy(), w.copy()
    model.clone().predict_then_learn_many(X, y, w)
    for array, copied in zip((X, y, w), before, strict=True):
        assert (array == copied).all()


def test_a_model_does_not_keep_the_batch():
    X, y = rows(), targets_for(A_REGRESSOR)
    model = A_REGRESSOR.clone()
    predictions = model.predict_then_learn_many(X, y)
    before, kept = pickle.dumps(model), predictions.copy()
    X[:] = 1e9
    model.predict_many(X)
    assert pickle.dumps(model) == before
    assert (predictions == kept).all()


def test_rows_that_may_not_be_written_are_read_where_they_are():
    """Frames of pandas 3 and files mapped into memory are such. What is missing in them stays."""
    X = rows()
    X[7, 1] = np.nan
    X.setflags(write=False)
    assert np.shares_memory(batch_of(X[:7]).rows, X)
    learned(A_REGRESSOR).predict_many(X)
    assert np.isnan(X[7, 1])

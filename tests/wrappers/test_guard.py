"""Guard: whatever is no finite number stays out, one by one and in frames, arrays and sparse
matrices.
"""

from __future__ import annotations

import copy
import decimal
import fractions
import math
import pickle
import warnings

import numpy as np
import pytest
from optional import pandas as pd
from optional import polars as pl
from optional import pyarrow as pa
from river import compose, linear_model, preprocessing
from scipy import sparse

import river_budget as rb

MODES = ["raise", "skip", "last"]
REASONS = {
    "missing": [None, math.nan, np.float64("nan"), np.float32("nan"), pd.NA, pd.NaT],
    "infinite": [math.inf, -math.inf, np.float32("inf")],
    "text": ["text", "1.5", b"1", np.str_("1")],
    "complex": [1j, 1 + 0j, np.complex128(1 + 2j), np.complex64(1)],
    "an array": [np.zeros(2), np.ones(1), np.ones((1, 1)), pd.Series([1.0, 2.0])],
    "too large": [10**400, -(10**5000)],
    "no number": [
        *(decimal.Decimal("sNaN"), decimal.Decimal("NaN"), bytearray(b"1"), [1.0], object()),
        *(np.array(1j), np.array("1"), {"a": 1.0}),
    ],
}
BAD = [(reason, value) for reason, values in REASONS.items() for value in values]
NAMES = [f"{type(value).__name__}-{i}" for i, (_, value) in enumerate(BAD)]
GOOD = [
    *(1, 1.0, True, np.float32(1), np.int8(1), np.bool_(True), fractions.Fraction(1)),
    *(decimal.Decimal(1), np.array(1.0)),
]


def model_behind(guard):
    return guard | rb.BSGDClassifier(20, classes=(False, True), seed=1)


def scores(model):
    rng = np.random.default_rng(5)
    return [
        rb.decision_function_one(model, dict(zip("abc", x, strict=True)))
        for x in rng.normal(size=(9, 3))
    ]


# one example


@pytest.mark.parametrize(("reason", "value"), BAD, ids=NAMES)
def test_a_guard_keeps_out_what_is_no_finite_number(reason, value):
    for mode in MODES:
        guard = rb.Guard(mode)
        model = model_behind(guard)
        for a in (1.0, 2.0):
            model.learn_one({"a": a, "b": 3.0}, a > 1.5)
        before = pickle.dumps(model["BSGDClassifier"])
        if mode == "raise":
            with pytest.raises(ValueError, match="feature 'b' must be a finite number"):
                model.learn_one({"a": 1.0, "b": value}, True)
            with pytest.raises(ValueError, match="feature 'b' must be a finite number"):
                model.predict_one({"b": value})
            assert pickle.dumps(model["BSGDClassifier"]) == before
            continue
        instead = {"a": 1.0} if mode == "skip" else {"a": 1.0, "b": 3.0}
        assert guard.transform_one({"a": 1.0, "b": value}) == instead
        assert guard.transform_one({"a": 1.0, "new": value}) == {"a": 1.0}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert model.predict_one({"a": 1.0, "b": value}) == model.predict_one(instead)
            model.learn_one({"a": 1.0, "b": value}, True)
        if mode == "skip":
            assert pickle.dumps(model["BSGDClassifier"]) == before
            assert guard.n_skipped == {reason: 1}
        else:
            twin = pickle.loads(before)
            twin.learn_one(instead, True)
            assert pickle.dumps(model["BSGDClassifier"]) == pickle.dumps(twin)


@pytest.mark.parametrize("value", GOOD, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("mode", MODES)
def test_a_guard_lets_numbers_of_all_types_through(value, mode):
    guard = rb.Guard(mode)
    for x in ({"a": value}, {"a": value, "b": 1e308, "c": 1e308}):
        guard.learn_one(x)
        assert guard.transform_one(x) == x
    assert guard.n_skipped == {}


def test_a_guard_counts_what_it_skips_and_says_which_feature_was_at_fault():
    model = model_behind(rb.Guard("skip"))
    for x in [{"a": math.nan, "b": "x"}] * 3 + [{"a": 1.0, "b": "x"}] * 2 + [{"a": 1.0}] * 5:
        model.learn_one(x, True)
    assert model["Guard"].n_skipped == {"missing": 3, "text": 2}
    assert model["BSGDClassifier"].n_examples == 5
    for shown in (repr(model["Guard"]), rb.summary(model), repr(model)):
        assert "5 skipped: 'a' missing 3 times, 'b' text 2 times" in shown
    assert repr(model["Guard"].clone()) == repr(rb.Guard("skip"))


def test_a_guard_names_a_bounded_number_of_features():
    model = model_behind(rb.Guard("skip"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.StreamWarning)
        for i in range(1000):
            model.learn_one({f"word {i}": math.nan}, True)
    assert model["Guard"].n_skipped == {"missing": 1000}
    assert len(pickle.dumps(model["Guard"])) < 10_000
    assert "other features missing 900 times" in repr(model["Guard"])


def skipping(n, good_after, many):
    """Run n bad rows, after each `good_after` of them a good one. Returns the warnings."""
    model = model_behind(rb.Guard("skip"))
    rows = [
        {"a": 1.0 if i % (good_after + 1) == good_after else math.nan, "b": 1.0} for i in range(n)
    ]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if many:
            model.learn_many(pd.DataFrame(rows), [True] * n)
        else:
            for x in rows:
                model.learn_one(x, True)
    return [warning for warning in heard if warning.category is rb.StreamWarning]


@pytest.mark.parametrize("many", [False, True])
def test_a_guard_warns_once_when_a_hundred_examples_in_a_row_are_skipped(many):
    (warning,) = skipping(500, 1000, many)
    assert "feature 'a' is missing" in str(warning.message)
    assert warning.filename == __file__
    (warning,) = skipping(500, 100, many)
    assert not skipping(500, 99, many)
    assert not skipping(99, 1000, many)


def test_a_guard_that_is_saved_remembers_what_it_has_skipped(tmp_path):
    model = model_behind(rb.Guard("skip"))
    for x in [{"a": math.nan}, {"a": 1.0}, {object: "x"}]:
        model.learn_one(x, True)
    rb.save(model, tmp_path / "model.rb")
    found = rb.load(tmp_path / "model.rb")
    assert repr(found) == repr(model)
    assert found["Guard"].n_skipped == {"missing": 1, "text": 1}
    found.learn_many(np.array([[math.nan]]), [True])  # still a pipeline that can skip
    assert found["Guard"].n_skipped == {"missing": 2, "text": 1}


# many examples

N = 120


def table(seed=0, first_bad=0, columns=3):
    """(rows with bad cells, whether an example is bad, targets)"""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, columns))
    y = X[:, 0] * X[:, 1] > 0.0
    spoilt = rng.random(X.shape) < 0.08
    spoilt[:first_bad] = False
    X[spoilt] = rng.choice([math.nan, math.inf, -math.inf], spoilt.sum())
    return X, spoilt.any(axis=1), y


def objects(X):
    """The same with None, text and complex numbers for what is not finite."""
    found = X.astype(object)
    for i, place in enumerate(np.argwhere(~np.isfinite(X)).tolist()):
        found[tuple(place)] = [None, "text", 1j, pd.NA, np.complex128(1)][i % 5]
    return found


def nullable(X):
    return pd.DataFrame({name: pd.array(X[:, i]) for i, name in enumerate("abc")})


def of_missing(X):
    """The same with NaN for what is not finite, and names for the columns."""
    return {name: np.where(np.isfinite(X[:, i]), X[:, i], np.nan) for i, name in enumerate("abc")}


FORMS = {  # {form: (what learn_many gets, names of the columns)}
    "array": (lambda X: X, range(3)),
    "float32": (lambda X: X.astype(np.float32), range(3)),
    "objects": (objects, range(3)),
    "masked": (lambda X: np.ma.masked_invalid(X), range(3)),
    "pandas": (lambda X: pd.DataFrame(X, columns=list("abc"), index=range(7, 7 + len(X))), "abc"),
    "pandas objects": (lambda X: pd.DataFrame(objects(X), columns=list("abc")), "abc"),
    "nullable": (nullable, "abc"),
    "polars": (lambda X: pl.DataFrame(of_missing(X)), "abc"),
    "polars nulls": (lambda X: pl.DataFrame(of_missing(X), nan_to_null=True), "abc"),
    "pyarrow": (lambda X: pa.table(of_missing(X)), "abc"),
    "csr": (sparse.csr_matrix, range(3)),
    "sparse frame": (
        lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=list("abc")),
        "abc",
    ),
}


def in_form(form, X):
    """(what learn_many gets, the same as dicts)"""
    make, names = FORMS[form]
    rows = X.astype(np.float32) if form == "float32" else X
    return make(X), [dict(zip(names, row, strict=True)) for row in rows.tolist()]


def behind_of(kind):
    if kind == "scaler":
        return rb.StandardScaler() | rb.BSGDClassifier(20, classes=(False, True), seed=1)
    return rb.BSGDClassifier(20, classes=(False, True), seed=1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["skip", "last"])
def test_learning_many_examples_is_a_loop(form, mode):
    X, bad, y = table()
    many, rows = in_form(form, X)
    one, model = model_behind(rb.Guard(mode)), model_behind(rb.Guard(mode))
    w = np.linspace(0.5, 1.5, N)
    for x, target, weight in zip(rows, y.tolist(), w.tolist(), strict=True):
        one.learn_one(x, target, w=weight)
    model.learn_many(many, y, w=w)
    assert scores(model) == scores(one)
    assert model["BSGDClassifier"].n_examples == one["BSGDClassifier"].n_examples
    assert sum(model["Guard"].n_skipped.values()) == (bad.sum() if mode == "skip" else 0)
    assert model["Guard"]._in_a_row == one["Guard"]._in_a_row
    assert model["Guard"]._last == one["Guard"]._last
    predictions = [one.predict_one(x) for x in rows]
    found = model.predict_many(many)
    assert list(found) == predictions if form != "pyarrow" else found.to_pylist() == predictions
    if form == "pandas":
        assert found.index.tolist() == many.index.tolist()
    shares, expected = model.predict_proba_many(many), [one.predict_proba_one(x) for x in rows]
    for label in (False, True):
        column = shares[label if label in shares else str(label)]
        column = column.to_pylist() if form == "pyarrow" else list(column)
        assert column == [each[label] for each in expected]


def test_a_fresh_guarded_model_and_frames_of_good_rows_or_bad_ones_or_none():
    X, bad, y = table(1)
    for form in FORMS:
        model = model_behind(rb.Guard("skip"))
        assert len(model.predict_proba_many(in_form(form, X)[0])) in (0, 2, N)  # nothing learned
        model.learn_many(in_form(form, X)[0], y)
        for part in (X[bad], X[~bad], X[:0]):
            assert len(model.predict_many(in_form(form, part)[0])) == len(part)


def test_a_guard_that_raises_learns_nothing_of_a_frame_with_a_bad_cell():
    X, _, y = table(first_bad=30)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = rb.Guard() | preprocessing.StandardScaler() | rb.BSGDClassifier(20)
    model.learn_many(frame[:30], y[:30])
    before = pickle.dumps(model)
    for call in (lambda: model.learn_many(frame, y), lambda: model.predict_many(frame)):
        with pytest.raises(ValueError, match=r"feature '[abc]' must be a finite number"):
            call()
    assert pickle.dumps(model) == before
    assert len(model.predict_many(frame[:30])) == 30


@pytest.mark.parametrize("mode", ["skip", "last"])
@pytest.mark.parametrize("form", ["array", "pandas objects", "polars", "csr"])
@pytest.mark.parametrize("scaled", [False, True])
def test_predicting_and_learning_many_is_a_loop(mode, form, scaled):
    X, bad, y = table(2)
    many, rows = in_form(form, X)
    one, model = (rb.Guard(mode) | behind_of("scaler" if scaled else "") for _ in range(2))
    expected = []
    for x, target in zip(rows, y.tolist(), strict=True):
        expected.append(one.predict_one(x))
        one.learn_one(x, target)
    assert list(rb.predict_then_learn_many(model, many, y)) == expected
    assert scores(model) == scores(one)
    counts = [sum(guarded["Guard"].n_skipped.values()) for guarded in (model, one)]
    assert counts == ([bad.sum()] * 2 if mode == "skip" else [0, 0])


def test_a_scaler_of_river_behind_a_guard_learns_the_rows_that_are_left():
    X, bad, y = table(3)
    frame = pd.DataFrame(X, columns=list("abc"))
    guarded = rb.Guard("skip") | preprocessing.StandardScaler() | linear_model.LogisticRegression()
    plain = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    guarded.learn_many(frame, pd.Series(y))
    plain.learn_many(frame[~bad], pd.Series(y)[~bad])
    assert guarded["StandardScaler"].means == plain["StandardScaler"].means
    assert guarded["LogisticRegression"].weights == plain["LogisticRegression"].weights
    found = guarded.predict_many(frame)
    assert found.tolist() == [guarded.predict_one(x) for x in frame.to_dict("records")]


def test_steps_in_front_of_a_guard_learn_all_examples():
    X, _, y = table(4)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = compose.Select("a", "b") | (rb.Guard("skip") | rb.RBPClassifier(9, seed=1))
    one = copy.deepcopy(model)
    model.learn_many(frame, y)
    for x, target in zip(frame.to_dict("records"), y.tolist(), strict=True):
        one.learn_one(x, target)
    assert model["RBPClassifier"].n_examples == np.isfinite(X[:, :2]).all(axis=1).sum()
    assert model.predict_many(frame).tolist() == [
        one.predict_one(x) for x in frame.to_dict("records")
    ]


def test_wrong_columns_beside_a_frame_are_refused():
    X, _, y = table()
    for mode in ("skip", "last"):
        model = model_behind(rb.Guard(mode))
        with pytest.raises(ValueError, match="y must hold one value for each of 120 examples"):
            model.learn_many(X, y[:-1])
        with pytest.raises(ValueError, match="w must hold one value for each of 120 examples"):
            model.learn_many(X, y, w=[1.0])
        with pytest.raises(ValueError, match="2 dimensions"):
            model.learn_many(X[0], y[:3])


def test_a_transformer_behind_a_guard_and_a_guard_alone():
    X, bad, _ = table(first_bad=1)
    for form in ("array", "pandas", "csr", "sparse frame"):
        many, _ = in_form(form, X)
        guard = rb.Guard("last")
        guard.learn_many(in_form(form, X[~bad])[0])
        last = X[~bad][-1]
        found = guard.transform_many(many)
        found = found.toarray() if form == "csr" else np.asarray(found)
        assert np.array_equal(found, np.where(np.isfinite(X), X, last))
        missing = rb.Guard("skip").transform_many(many)
        missing = missing.toarray() if form == "csr" else np.asarray(missing)
        assert np.array_equal(missing, np.where(np.isfinite(X), X, np.nan), equal_nan=True)
    with pytest.raises(RuntimeError, match=r"rb.Guard\('skip'\) \|"):
        compose.Pipeline(rb.Guard("skip"), rb.RBPClassifier(5)).learn_many(X, X[:, 0] > 0)
    for model in (
        compose.Pipeline(rb.Guard("skip"), rb.RBPClassifier(5)),
        compose.Select("a") | rb.Guard("skip") | rb.RBPClassifier(5),
    ):
        message = r"'a' is missing, and only .* parentheses: step \| \(rb.Guard\('skip'\) \|"
        with pytest.raises(RuntimeError, match=message):
            model.learn_one({"a": math.nan}, True)

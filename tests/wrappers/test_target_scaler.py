"""Our TargetStandardScaler: River's numbers around any regressor; what is refused leaves it as it
was.
"""

from __future__ import annotations

import copy
import functools
import pickle

import numpy as np
import pytest
from optional import given, pandas, polars, settings, st
from processes import in_threads
from river import linear_model, preprocessing

import river_budget as rb

INSIDE = [
    pytest.param(rb.BSGDRegressor(10), id="ours"),
    pytest.param(rb.StandardScaler() | rb.BOGDRegressor(9, removal="oldest"), id="pipeline"),
    pytest.param(linear_model.LinearRegression(), id="river's"),
]
TARGETS = st.one_of(st.floats(-1e6, 1e6), st.integers(-1000, 1000), st.booleans())
COPIES = [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), lambda m: m.clone()]


@pytest.mark.parametrize("regressor", INSIDE)
@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
@given(ys=st.lists(TARGETS, max_size=20), data=st.data())
@settings(max_examples=15, deadline=None)
def test_rivers_numbers_under_any_order_of_calls(regressor, kind, ys, data):
    ours = rb.TargetStandardScaler(regressor.clone())
    theirs = preprocessing.TargetStandardScaler(regressor.clone())
    for y in ys:
        x, target = {"a": data.draw(st.floats(-3, 3)), "b": 1.0}, kind(y)
        assert ours.predict_one(x) == pytest.approx(theirs.predict_one(x), rel=1e-9, abs=1e-9)
        if data.draw(st.integers(0, 9)) == 0:
            change = data.draw(st.sampled_from(COPIES))
            ours, theirs = change(ours), change(theirs)
        ours.learn_one(x, target)
        theirs.learn_one(x, float(target))
        assert ours.func(2.5) == pytest.approx(theirs.func(2.5), rel=1e-12, abs=1e-12)
        assert ours.inverse_func(2.5) == pytest.approx(theirs.inverse_func(2.5), rel=1e-12)
        assert [ours.var.n, ours.var.mean.get(), ours.var.get()] == pytest.approx(
            [theirs.var.n, theirs.var.mean.get(), theirs.var.get()], rel=1e-12
        )


@pytest.mark.parametrize(
    "bad", [None, "1.0", float("nan"), float("inf"), [1.0], {"a": 1.0}], ids=repr
)
def test_a_target_that_is_no_finite_number_is_refused_and_nothing_is_learned(bad):
    model = rb.TargetStandardScaler(linear_model.LinearRegression())
    model.learn_one({"a": 1.0}, 2.0)
    with pytest.raises(ValueError, match="the target must be a finite number, not"):
        model.learn_one({"a": 1.0}, bad)
    assert model.var.n == 1
    assert dict(model.regressor.weights) == {"a": 0.0}
    model.learn_one({"a": 1.0}, 3.0)
    assert model.var.mean.get() == 2.5


def test_an_example_that_the_regressor_refuses_leaves_the_statistics_as_they_were():
    model = rb.TargetStandardScaler(rb.BSGDRegressor(9))
    model.learn_one({"a": 1.0}, 2.0)
    with pytest.raises(ValueError, match="feature 'a'"):
        model.learn_one({"a": "text"}, 3.0)
    assert model.var.n == 1


def test_threads_learn_every_target_once_and_others_predict():
    model = rb.TargetStandardScaler(rb.StandardScaler() | rb.BSGDRegressor(9))

    def work(call):
        for i in range(500):
            call({"a": float(i % 7)}, float(i))

    calls = [model.learn_one, model.learn_one, lambda x, y: model.predict_one(x)]
    in_threads(*(functools.partial(work, call) for call in calls))
    assert [model.var.n, model.var.mean.get()] == [1000, pytest.approx(249.5)]


def test_a_target_that_is_learned_meanwhile_is_not_lost():
    """By a value of the example, or a signal handler."""

    class Nesting(linear_model.LinearRegression):
        def learn_one(self, x, y):
            if "outer" in x:
                model.learn_one({"a": 1.0}, 8.0)
            super().learn_one(x, y)

    model = rb.TargetStandardScaler(Nesting())
    model.learn_one({"outer": 1.0}, 2.0)
    assert [model.var.n, model.var.mean.get()] == [2, 5.0]


def test_other_arguments_go_to_the_regressor():
    with_weight, twice = (rb.TargetStandardScaler(rb.BSGDRegressor(9)) for _ in range(2))
    for model, weight in ((with_weight, 0.5), (twice, 1.0)):
        for i in range(5):
            model.learn_one({"a": float(i)}, 2.0 * i, w=weight)
    assert 0.0 != with_weight.predict_one({"a": 4.0}) != twice.predict_one({"a": 4.0})


def test_a_distribution_in_units_of_scaled_targets_is_refused():
    model = rb.TargetStandardScaler(rb.AutoKernelRegressor(seed=1))
    for i in range(9):
        model.learn_one({"a": float(i)}, 2.0 * i)
    with pytest.raises(TypeError, match="AutoKernelRegressor scales targets itself"):
        model.predict_one({"a": 1.0}, with_dist=True)


# batches

X = np.random.default_rng(0).normal(3.0, 2.0, (80, 3))
Y = 1000.0 + 50.0 * X[:, 0] * X[:, 1]


@pytest.mark.parametrize("regressor", INSIDE)
@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_batches_are_a_loop_to_the_bit(regressor, kind, weighted):
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else None
    names = range(3) if kind in ("array", "sparse") else "abc"
    forms = {
        "array": lambda rows: rows,
        "pandas": lambda rows: pandas.DataFrame(rows, columns=[*"abc"]),
        "polars": lambda rows: polars.DataFrame(rows, [*"abc"]),
        "sparse": lambda rows: pytest.importorskip("scipy.sparse").csr_matrix(rows),
    }
    form, loop, many = forms[kind], *(rb.TargetStandardScaler(regressor.clone()) for _ in range(2))
    for rows in (slice(30), slice(30, 80)):
        for i in range(rows.start or 0, rows.stop):
            further = {} if w is None else {"w": float(w[i])}
            loop.learn_one(dict(zip(names, X[i].tolist(), strict=True)), Y[i], **further)
        many.learn_many(form(X[rows]), Y[rows], *([] if w is None else [w[rows]]))
    expected = [loop.predict_one(dict(zip(names, row, strict=True))) for row in X.tolist()]
    assert np.asarray(many.predict_many(form(X))).tolist() == expected
    assert many._seen.numbers == loop._seen.numbers


def test_a_batch_with_a_wrong_row_is_refused_before_it_begins():
    model = rb.TargetStandardScaler(rb.StandardScaler() | rb.BSGDRegressor(9))
    model.learn_many(X[:20], Y[:20])
    before, bad = model.predict_many(X).tolist(), X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match="feature 1"):
        model.learn_many(bad, Y)
    with pytest.raises(ValueError, match="target"):
        model.learn_many(X, [*Y[1:], "text"])
    with pytest.raises(ValueError, match="80 examples but 79 targets"):
        model.learn_many(X, Y[1:])
    assert model.predict_many(X).tolist() == before
    expected = [model.predict_one(dict(enumerate(row))) for row in bad.tolist()]
    assert model.predict_many(bad).tolist() == expected  # a missing value may be predicted with


def test_predictions_come_in_the_container_of_the_frame():
    model = rb.TargetStandardScaler(rb.StandardScaler() | rb.BSGDRegressor(9))
    frame = pandas.DataFrame(X, columns=[*"abc"], index=range(5, 85))
    model.learn_many(frame, pandas.Series(Y, frame.index, name="price"))
    found = model.predict_many(frame)
    assert found.index.tolist() == frame.index.tolist()
    assert found.name == "price"
    assert type(model.predict_many(polars.DataFrame(X, [*"abc"]))) is polars.Series


def test_a_normal_distribution_gets_the_units_of_the_targets():
    inside = rb.KRLSTRegressor(20)
    model = rb.TargetStandardScaler(inside)
    for i in range(40):
        model.learn_one({"a": i % 7}, 100.0 + 10.0 * (i % 5))
    found = model.predict_one({"a": 2.0}, with_dist=True)
    scaled = model.regressor.predict_one({"a": 2.0}, with_dist=True)
    assert found.mu == pytest.approx(model.predict_one({"a": 2.0}), rel=1e-12)
    deviation = np.std([100.0 + 10.0 * (i % 5) for i in range(40)], ddof=1)
    assert found.sigma == pytest.approx(scaled.sigma * deviation, rel=1e-9)

"""Our TargetStandardScaler: River's numbers around any regressor; what is refused leaves it as it was."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from optional import given, settings, st
from river import checks, linear_model, preprocessing

import river_budget as rb

INSIDE = [
    pytest.param(rb.BSGDRegressor(10), id="ours"),
    pytest.param(rb.StandardScaler() | rb.BOGDRegressor(9, removal="oldest"), id="pipeline"),
    pytest.param(linear_model.LinearRegression(), id="river's"),
]
TARGETS = st.one_of(st.floats(-1e6, 1e6), st.integers(-1000, 1000), st.booleans())
NOT_OF_RIVERS_OWN = {"check_init_has_default_params_for_tests", "check_wrapper_accepts_kwargs"}
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


def test_a_second_thread_that_learns_is_refused_and_others_predict():
    model = rb.TargetStandardScaler(rb.BSGDRegressor(9))
    model.learn_one({"a": 1.0}, 2.0)
    model.turn.taken = True
    with pytest.raises(RuntimeError, match="two threads"):
        model.learn_one({"a": 1.0}, 2.0)
    assert model.predict_one({"a": 1.0}) == 2.0


def test_river_takes_it_for_one_of_its_own():
    pytest.importorskip("sklearn", reason="River's checks take data from scikit-learn")
    model = rb.TargetStandardScaler(rb.StandardScaler() | rb.BSGDRegressor(9))
    for check in checks.yield_checks(model):
        if check.__name__ not in NOT_OF_RIVERS_OWN:
            check(model.clone())

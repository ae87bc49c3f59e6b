"""The ball that the model of Pegasos stays in: large enough for targets and weights, and otherwise
that of the paper.
"""

from __future__ import annotations

import pytest
from models import stream_for

import river_budget as rb
from river_budget.kernels import RBF

# A stream of one class on purpose
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")


def test_the_ball_is_large_enough_for_the_targets():
    model = rb.BSGDRegressor(l2=0.01)
    for _ in range(3000):
        model.learn_one({"a": 1.0}, 50.0)
    assert model.predict_one({"a": 1.0}) == pytest.approx(49.9, abs=0.05)


def test_the_ball_is_large_enough_for_weights():
    model = rb.BSGDClassifier(l2=1.0, learning_rate=None)
    for _ in range(3000):
        model.learn_one({"a": 1.0}, True, 25.0)
    free = model.clone({"project_to_ball": False})
    for _ in range(3000):
        free.learn_one({"a": 1.0}, True, 25.0)
    assert model.decision_function_one({"a": 1.0}) == pytest.approx(0.999, abs=2e-2)
    assert free.decision_function_one({"a": 1.0}) == pytest.approx(0.999, abs=2e-2)


def test_without_weights_the_ball_of_a_classifier_is_that_of_the_paper():
    model = rb.BSGDClassifier(10, RBF(0.5), l2=0.1)
    for x, y in stream_for(model, 200):
        model.learn_one(x, y)
        assert model._state_record().surplus == 0.0
        assert model._squared_length() <= 10.0 * (1 + 1e-9)

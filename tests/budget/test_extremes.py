"""Every number of a model stays finite, whatever its parameters and however large its examples
are.
"""

from __future__ import annotations

import inspect
import pickle
import random

import numpy as np
import pytest
from optional import given, settings, st
from river import base
from saved_models import file_of

import river_budget as rb
from river_budget.core.memory import views
from river_budget.kernels import RBF, Laplacian, Linear, Polynomial
from river_budget.saving import opened

# Numbers this large are the subject
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

STRATEGIES = [
    rb.maintenance.Merge(),
    rb.maintenance.Merge(objective="eq21"),
    rb.maintenance.Merge(3),
    rb.maintenance.Merge(4, "gradient"),
    rb.maintenance.RemoveSmallest(),
    rb.maintenance.Project(),
]
SIZES = st.one_of(st.floats(1e-300, 1e300), st.sampled_from([1e-300, 1e-8, 1.0, 1e8, 1e300]))
HUGE = st.sampled_from([1.0, -1.0, 0.5, 1e8, 1e150, -1e154, 1e200, 1e307, 1e308, -1e308])
ROWS = st.lists(st.tuples(HUGE, HUGE, st.booleans()), min_size=1, max_size=25)


def assert_finite(model):
    """All that the model keeps but norms, which may be infinite, and what it answers."""
    block = views(model._block)
    for name in ("vectors", "coefficients", "arrivals", "per_vector", "factor"):
        assert np.isfinite(getattr(block, name)).all(), name
    assert np.isfinite(block.head.scale)
    record = model._state_record()
    assert all(np.isfinite(record[name]) for name in record.dtype.names if name != "learning_rate")
    again = pickle.loads(pickle.dumps(model))
    for x in ({"a": 1.0, "b": 1e308}, {"a": -1e200, "b": 1.0}):
        assert np.isfinite(again.decision_function_one(x))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
@settings(max_examples=60)
@given(SIZES, st.one_of(st.none(), SIZES), st.booleans(), st.booleans(), SIZES, ROWS)
def test_every_number_stays_finite(strategy, l2, learning_rate, ball, average, gamma, rows):
    arguments = l2, ball, (False, True), 1, learning_rate, average
    if learning_rate is not None and learning_rate * l2 > 1.0:
        with pytest.raises(ValueError, match="must be at most 1"):
            rb.BSGDClassifier(3, rb.kernels.RBF(gamma), strategy, *arguments)
        return
    model = rb.BSGDClassifier(3, rb.kernels.RBF(gamma), strategy, *arguments)
    for a, b, y in rows:
        model.learn_one({"a": a, "b": b}, y)
    assert_finite(model)


@pytest.mark.parametrize("strategy", STRATEGIES[:4], ids=repr)
def test_shares_beyond_the_members_give_a_finite_vector(strategy):
    """Where shares are -5 and 6, a combination of vectors of 1e308 overflows: it is one of the
    members.
    """
    model = rb.BSGDClassifier(3, rb.kernels.RBF(1e-300), strategy, seed=1, project_to_ball=False)
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b = (rng.choice([-1.0, 1.0], 2) * rng.uniform(0.5, 1.0, 2) * 1.7e308).tolist()
        model.learn_one({"a": a, "b": b}, bool(rng.random() < 0.5))
        assert_finite(model)


# Parameters, weights and values of any size


NUMBERS = 5e-324, 1e-300, 1e-30, 1e-9, 1e-3, 0.1, 1.0, 10.0, 1e6, 1e30, 1e100, 1.7e308
ESTIMATORS = [
    getattr(rb, name) for name in sorted(rb.__all__) if name.endswith(("Classifier", "Regressor"))
]


def extreme_model(rng):
    """A model whose parameters are of any size; None if it refuses them."""
    estimator, gamma, chosen = rng.choice(ESTIMATORS), rng.choice(NUMBERS), {"seed": 1}
    kernels = [None, RBF(gamma), Laplacian(gamma), Linear(), Polynomial(rng.randint(1, 11), gamma)]
    given = inspect.signature(estimator).parameters
    for name, parameter in given.items():
        if isinstance(parameter.default, float) and rng.random() < 0.5:
            chosen[name] = rng.choice(NUMBERS)
    chosen |= {"budget": rng.randint(1, 11), "kernel": rng.choice(kernels)}
    try:
        return estimator(**{name: chosen[name] for name in chosen if name in given})
    except ValueError:
        return None


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_models_of_any_size_answer_with_numbers_and_can_be_saved(seed):
    """And loaded, and saved again once they have learned on."""
    rng, made = random.Random(seed), 0
    while made < (1000 if seed else 40):
        model = extreme_model(rng)
        if model is None:
            continue
        made += 1
        for _ in range(40):
            size = 10.0 ** rng.randint(-300, 300) if rng.random() < 0.3 else 1.0
            x = {"a": rng.gauss(0.0, 1.0) * size, "b": rng.gauss(0.0, 1.0)}
            y = x["a"] if isinstance(model, base.Regressor) else x["a"] > 0.0
            model.learn_one(x, y, w=10.0 ** rng.randint(-300, 300) if rng.random() < 0.3 else 1.0)
        assert np.isfinite(model.decision_function_one({"a": 1.0, "b": 1.0})), model
        if isinstance(model, base.Classifier):
            assert np.isfinite(list(model.predict_proba_one({"a": 1.0}).values())).all(), model
        loaded = opened(file_of(model))
        loaded.learn_one(x, y)
        opened(file_of(loaded))

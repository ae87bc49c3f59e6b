"""The stochastic batch Perceptron: water levels, the batch method, and what a stream makes of
it.
"""

from __future__ import annotations

import copy
import pickle

import numba
import numpy as np
import pytest
from inside import plain
from models import KERNELS, learn
from optional import sklearn_svm
from oracles import sbp as oracle
from oracles.randoms import SplitMix
from oracles.sbp import water_level
from streams import LABELS, emerging, matrix

import river_budget as rb
from river_budget.core.memory import views
from river_budget.core.passes.window import sbp as core
from river_budget.core.passes.window import water_levels
from river_budget.kernels import RBF

# Rows far from each other on purpose
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

SEED = 7
CLOSE = 1e-9


# Water levels.


@numba.njit
def level_of(heights, volume, rest):
    return water_levels.water_level(heights, heights.shape[0], volume, rest)


@numba.njit
def levels_of(u, v, volume, rest):
    return water_levels.water_levels(u, u.shape[0], v, v.shape[0], volume, rest)


def level(heights, volume):
    return level_of(np.array(heights, float), float(volume), np.empty(len(heights)))


def levels(u, v, volume):
    u, v = np.array(u, float), np.array(v, float)
    return levels_of(u, v, float(volume), np.empty(len(u) + len(v)))


def heights(rng, n):
    kind = rng.integers(4)
    if kind == 0:
        return rng.integers(-2, 3, n).astype(float)  # ties
    if kind == 1:
        return np.zeros(n)
    return rng.normal(size=n) * 10.0 ** rng.integers(-4, 4)


def volume_for(rng, heights):
    if rng.random() < 0.2:
        return 0.0
    return float(np.ptp(heights) + 1e-3) * len(heights) * 10.0 ** rng.uniform(-3, 1)


@pytest.mark.parametrize("seed", range(40))
def test_the_water_level_is_the_best_margin_of_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    c = heights(rng, int(rng.integers(1, 40)))
    volume = volume_for(rng, c)
    found = level(c, volume)
    assert found == pytest.approx(oracle.water_level_lp(c, volume), rel=1e-7, abs=1e-9)
    assert found == pytest.approx(oracle.water_level(c, volume), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_the_levels_with_a_bias_are_those_of_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    u, v = heights(rng, int(rng.integers(1, 30))), heights(rng, int(rng.integers(1, 30)))
    volume = volume_for(rng, np.concatenate([u, v]))
    plus, minus = levels(u, v, volume)
    best = oracle.water_levels_biased_lp(u, v, volume)
    assert 0.5 * (plus + minus) == pytest.approx(best, rel=1e-7, abs=1e-8)
    expected = oracle.water_levels_biased(u, v, volume)[:2]
    assert (plus, minus) == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("n", [1, 2, 1000, 100_000])
@pytest.mark.parametrize("kind", ["random", "sorted", "reversed", "equal", "steep"])
def test_water_levels_of_many_columns(n, kind):
    c = {
        "random": lambda: np.random.default_rng(0).normal(size=n),
        "sorted": lambda: np.linspace(0, 1, n),
        "reversed": lambda: np.linspace(1, 0, n),
        "equal": lambda: np.full(n, 0.1),
        "steep": lambda: -np.exp2(np.linspace(0, 300, n)),
    }[kind]()
    for slack in (0.0, 1e-3, 1.0):
        volume = slack * n
        assert level(c, volume) == pytest.approx(oracle.water_level(c, volume), rel=1e-12)
        expected = oracle.water_levels_biased(c, c[: n // 2 + 1], volume)[:2]
        assert levels(c, c[: n // 2 + 1], volume) == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_infinite_columns_have_levels_too():
    plus, minus = levels([np.inf, np.inf, 0.0], [np.inf, 1.0, np.inf, np.inf], 1.0)
    assert np.isfinite([plus, minus]).all()


# The batch method.


def batch(X, y, kernel, slack, iterations, fit_bias):
    """The model after the iterations, and the same by the reference."""
    model = rb.SBPClassifier(len(X), kernel, slack, 0, fit_bias, classes=(-1.0, 1.0), seed=SEED)
    model.learn_many(X, y)
    model.refine(iterations)
    draws = SplitMix(SEED).below
    return model, oracle.batch(plain(kernel)(X, X), y, slack, iterations, draws, fit_bias)


def assert_batch(X, y, kernel, slack, iterations, fit_bias):
    model, (alpha, bias) = batch(X, y, kernel, slack, iterations, fit_bias)
    found = [vector["coefficients"] for vector in model.support_vectors()]
    scale = np.abs(alpha).max()
    np.testing.assert_allclose(np.array(found) / scale, alpha * y / scale, atol=CLOSE)
    assert model.bias == pytest.approx(bias, abs=CLOSE * max(1.0, abs(bias)))


@pytest.mark.parametrize("fit_bias", [False, True])
@pytest.mark.parametrize(
    ("name", "gamma", "slack", "iterations"),
    [("german.numer", 1 / 128, 0.01, 300), ("a9a", 1 / 20, 0.011, 200)],
)
def test_refining_a_window_of_all_data_is_the_batch_method(data, name, gamma, slack, iterations, fit_bias):  # fmt: skip  # noqa: E501
    X, y = data(name)
    assert_batch(X[:2000], y[:2000], RBF(gamma), slack, iterations, fit_bias)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if not isinstance(k, RBF)], ids=repr)
@pytest.mark.parametrize("fit_bias", [False, True])
def test_other_kernels_are_replayed(kernel, fit_bias):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=120) > 0, 1.0, -1.0)
    assert_batch(X, y, kernel, 0.05, 200, fit_bias)


# The stream.


def two_labels(n, seed=0):
    return [(x, y == LABELS[0]) for x, y in emerging(n, seed=seed)]


def compare(stream, model, reference, refine_at=()):
    rows, found, expected = matrix(stream), [], []
    for t, (x, label) in enumerate(stream):
        found.append(model.decision_function_one(x))
        expected.append(reference.step(rows[t], 1 if label else -1))
        model.learn_one(x, label)
        if t in refine_at:
            model.refine(5)
            reference.refine(5)
    np.testing.assert_allclose(found, expected, atol=CLOSE, rtol=CLOSE)


@pytest.mark.parametrize("eviction", ["reservoir", "oldest"])
@pytest.mark.parametrize("fit_bias", [False, True])
@pytest.mark.parametrize(("steps", "table"), [(0, True), (1, True), (4, True), (4, False)])
def test_a_stream_is_replayed(eviction, fit_bias, steps, table, monkeypatch):
    """Also as a large window is kept, without a table of kernel values."""
    if not table:
        monkeypatch.setattr("river_budget.algorithms.window.sbp.LARGEST_GRAM", 0)
    options = {"slack": 0.05, "steps": steps, "fit_bias": fit_bias, "eviction": eviction}
    model = rb.SBPClassifier(25, RBF(0.5), **options, seed=SEED)
    reference = oracle.StreamingSBP(plain(RBF(0.5)), 25, **options, choose=SplitMix(SEED).below)
    compare(two_labels(150), model, reference, refine_at=(60, 61, 100))
    assert bool(views(model._block).head.factored) == table


def recomputed(model):
    """Responses and |w|^2 from scratch, beside those that were kept."""
    block = views(model._block)
    n = int(block.head.count)
    X, y = block.vectors[:, :n].T, block.per_vector[core.LABELS, :n]
    a, K = block.coefficients[0, :n], plain(model.kernel)(X, X)
    kept = np.append(block.per_vector[core.RESPONSES, :n], model._state_record().norm2)
    return np.append(y * (K @ a), a @ K @ a), kept


@pytest.mark.parametrize("eviction", ["reservoir", "oldest"])
def test_responses_stay_exact_over_many_evictions(eviction):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 3))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=len(X)) > 0
    model = rb.SBPClassifier(60, RBF(0.5), eviction=eviction, seed=SEED)
    model.learn_many(X, y)
    assert model.n_support_vectors == 60
    expected, kept = recomputed(model)
    np.testing.assert_allclose(kept, expected, atol=1e-8)


def test_the_window_is_never_exceeded_and_memory_grows_with_what_is_in_it():
    model = rb.SBPClassifier(5000, RBF(0.5), seed=SEED)
    for t, (x, label) in enumerate(two_labels(100)):
        model.learn_one(x, label)
        assert model.n_support_vectors == t + 1
    assert model.memory_usage < 200_000
    model.mutate({"window": 30})
    assert model.n_support_vectors == 30
    for x, label in two_labels(50, seed=1):
        model.learn_one(x, label)
        assert model.n_support_vectors == 30


def test_a_window_that_has_been_made_large_keeps_no_table_and_its_responses():
    model = rb.SBPClassifier(20, RBF(0.5), seed=SEED)
    learn(model, two_labels(40))
    model.mutate({"window": 5000})
    learn(model, two_labels(100, seed=1))
    assert model.n_support_vectors == 120
    assert model.memory_usage < 200_000
    np.testing.assert_allclose(*recomputed(model), atol=1e-10)


@pytest.mark.parametrize("fit_bias", [False, True])
def test_a_smaller_window_keeps_the_youngest_and_its_responses_are_right(fit_bias):
    model = rb.SBPClassifier(50, RBF(0.5), fit_bias=fit_bias, seed=SEED)
    learn(model, two_labels(80))
    before = [v["arrival"] for v in model.support_vectors()]
    model.refine(3)
    model.mutate({"window": 12})
    assert [v["arrival"] for v in model.support_vectors()] == before[-12:]
    np.testing.assert_allclose(*recomputed(model), atol=1e-10)
    learn(model, two_labels(20, seed=1))
    np.testing.assert_allclose(*recomputed(model), atol=1e-10)


def test_refining_predicts_with_the_mean_until_the_next_example():
    stream = two_labels(60)
    model, twin = (rb.SBPClassifier(40, RBF(0.5), fit_bias=True, seed=SEED) for _ in range(2))
    for each in (model, twin):
        learn(each, stream)
    before = model.decision_function_one(stream[0][0])
    model.refine(50)
    assert model.decision_function_one(stream[0][0]) != before
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    model.refine(0)  # back to the last iterate
    for each in (model, *copies):
        learn(each, two_labels(10, seed=2))
    scores = [each.decision_function_one(stream[0][0]) for each in (model, *copies)]
    assert scores[0] == scores[1] == scores[2]


def test_refining_needs_both_classes_only_where_there_is_a_bias():
    for fit_bias in (False, True):
        model = rb.SBPClassifier(10, RBF(0.5), fit_bias=fit_bias, classes=(-1, 1), seed=SEED)
        model.refine(3)  # nothing to refine
        model.learn_one({"a": 1.0}, 1)
        model.refine(10)
        assert np.isfinite(model.decision_function_one({"a": 1.0}))
        assert (model.decision_function_one({"a": 1.0}) > 0) is not fit_bias


@pytest.mark.parametrize("n", [-1, 1.5, "3", None])
def test_the_number_of_iterations_is_checked(n):
    with pytest.raises(ValueError, match="n must be a whole number of at least 0"):
        rb.SBPClassifier().refine(n)


def test_a_weight_is_a_longer_step():
    stream = two_labels(60)
    model, twin = (rb.SBPClassifier(60, RBF(0.5), steps=1, seed=SEED) for _ in range(2))
    for t, (x, label) in enumerate(stream):
        model.learn_one(x, label, 3.0 if label else 1.0)
        twin.learn_one(x, label)
        assert model.n_support_vectors == t + 1
    lift = [model.decision_function_one(x) - twin.decision_function_one(x) for x, _ in stream]
    assert np.mean(lift) > 0.01


def refined(slack=0.05, n=0, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=200) > 0
    model = rb.SBPClassifier(200, RBF(1.0), slack, steps=0, seed=1, **options)
    model.learn_many(X, y)
    model.refine(n)
    return model, X, np.where(y, 1.0, -1.0)


def test_the_margin_is_the_water_level_of_the_window():
    model, X, y = refined(n=500)
    length = np.sqrt(model._squared_length())
    responses = y * model._scores_at(X)[:, 0] / length
    assert model._margin == pytest.approx(water_level(responses, 200 * 0.05))
    assert rb.SBPClassifier()._margin == 0.0


def test_the_objective_is_that_of_the_regularised_problem():
    model, X, y = refined(n=500)
    hinge = np.maximum(0, 1 - y * model._scores_at(X)[:, 0]).mean()
    assert model._objective(0.01) == pytest.approx(0.005 * model._squared_length() + hinge)
    assert rb.SBPClassifier()._objective(0.01) == 1.0


def test_slack_and_regularisation_lead_to_the_same_model():
    l2 = 0.01
    model, X, y = refined()
    slack = model.slack_for(l2)
    svc = sklearn_svm.SVC(C=1 / (l2 * 200), gamma=1.0).fit(X, y)
    fitted, X, y = refined(slack, n=20_000)
    best = svc.decision_function(X)
    agreement = np.corrcoef(best, fitted._scores_at(X)[:, 0])[0, 1]
    assert agreement > 0.99
    # the optimum, from the exact solution, has no smaller objective
    w2 = float(svc.dual_coef_[0] @ (best - svc.intercept_)[svc.support_])
    exact = 0.5 * l2 * w2 + np.maximum(0, 1 - y * best).mean()
    assert exact * 0.95 <= fitted._objective(l2) <= exact * 1.1


def test_refining_stops_when_the_margin_does_not_grow():
    model, _, _ = refined()
    model.refine(1_000_000, tolerance=0.01)
    stopped = model._state_record().done
    assert 400 <= stopped < 100_000
    rough, _, _ = refined()
    rough.refine(1_000_000, tolerance=0.2)
    assert rough._state_record().done <= stopped
    assert rough._margin > 0.0
    limited, _, _ = refined()
    limited.refine(300, tolerance=0.0)
    assert limited._state_record().done <= 300
    with pytest.raises(ValueError, match="tolerance"):
        model.refine(10, tolerance=-1.0)

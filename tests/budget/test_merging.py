"""Merging: the pair, the place, several at once, and the squared norm kept up to date."""

from __future__ import annotations

import numpy as np
import pytest
from inside import maintained, plain, squared_length, support
from maintenances import BEST, ROUNDING, assert_best_pairs, loss_by_place
from models import POSITIVE, STRATEGIES
from optional import assume, given, st
from oracles.budgeted_sgd import best_merge, best_merge_eq21, degradations, merge_points
from oracles.rounds import lightest
from streams import PEGASOS, emerging, examples, smooth

import river_budget as rb
from river_budget.kernels import RBF
from river_budget.maintenance import Merge, Project

CLOSE = 1e-11  # of the sizes of the terms of which a squared norm is the sum
GOLDEN = 2e-4  # width of the bracket at which the search for equation 21 stops
OF_ANY_KERNEL = [strategy for strategy in STRATEGIES if not strategy.needs_rbf]
OTHER_KERNELS = [kernel for kernel in POSITIVE if not isinstance(kernel, RBF)]

distances = st.floats(-4.0, 1.5).map(lambda power: 10.0**power)


# The choice of the pair, at every maintenance of a stream.


@pytest.mark.parametrize(
    ("n", "budget"), [(200, 20), pytest.param(1000, 100, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    ("name", "gamma", "scaled", "classes"),
    [
        pytest.param("german.numer", 1 / 128, False, (-1, 1), id="raw data"),
        pytest.param("german.numer", 1 / 24, True, (-1, 1), id="a wide kernel"),
        pytest.param("dna.scale", 1 / 128, False, (1, 2, 3), id="three classes"),
    ],
)
def test_the_best_pair_is_merged_on_real_data(data, name, gamma, scaled, classes, n, budget):
    rows, targets = data(name)
    if scaled:
        rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    model = rb.BSGDClassifier(budget, RBF(gamma), Merge(), classes=classes, **PEGASOS)
    assert_best_pairs(model, examples(rows[:n], targets[:n]), at_least=n // 4)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("gamma", [0.05, 0.5])
def test_the_best_pair_is_merged_while_features_and_classes_appear(seed, gamma):
    model = rb.BSGDClassifier(15, RBF(gamma), Merge(), **PEGASOS)
    assert_best_pairs(model, emerging(250, seed=seed), at_least=80)


# The squared norm.


def rounding(X, A, kernel):
    """How far two ways to compute |w|^2 may be apart.

    |w|^2 is a sum of terms a_i a_j k_ij of both signs. Each is rounded in proportion to its own size, and after a
    projection the terms are orders of magnitude larger than their sum. So the bound is a share of the sum of
    their sizes: how much of |w|^2 that is depends on the processor no more.
    """  # noqa: E501
    return CLOSE * float(np.sum(np.abs(A) * (np.abs(plain(kernel)(X, X)) @ np.abs(A))))


def assert_norm_is_kept(model, stream):
    """Here it is kept exactly all the time, and is no bound."""
    for x, y in stream:
        model.learn_one(x, y, 0.0)  # makes the block, and no more
        model._state_record().exact = 1
        model.learn_one(x, y)
        X, A, _ = support(model)
        expected = squared_length(X, A, model.kernel)
        computed = float(model._state_record().norm2)
        assert computed == pytest.approx(expected, abs=rounding(X, A, model.kernel))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
@pytest.mark.parametrize("gamma", [0.05, 0.5])
def test_the_squared_norm_is_kept_while_features_and_classes_appear(strategy, gamma):
    model = rb.BSGDClassifier(20, RBF(gamma), strategy, seed=3)
    assert_norm_is_kept(model, emerging(300, seed=9))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_the_squared_norm_is_kept_in_regression(strategy):
    model = rb.BSGDRegressor(20, RBF(0.3), strategy, l2=1e-2, seed=3)
    assert_norm_is_kept(model, smooth(250, seed=9))


@pytest.mark.parametrize("strategy", OF_ANY_KERNEL, ids=repr)
@pytest.mark.parametrize("kernel", OTHER_KERNELS, ids=repr)
def test_the_squared_norm_is_kept_with_other_kernels(strategy, kernel):
    model = rb.BSGDClassifier(20, kernel, strategy, seed=3)
    assert_norm_is_kept(model, emerging(150, seed=9))


@pytest.mark.parametrize("l2", [1e-4, 1e-2])
@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_a_bound_on_the_norm_lies_above_it_and_the_model_in_the_ball(strategy, l2):
    model = rb.BSGDClassifier(20, RBF(0.5), strategy, l2, seed=3, learning_rate=None)
    seen = set()
    for t, (x, y) in enumerate(emerging(900, seed=9)):
        model.learn_one(x, y)
        if t % 3:
            continue
        own, (X, A, _) = model._state_record(), support(model)
        norm2, error = squared_length(X, A, RBF(0.5)), rounding(X, A, RBF(0.5))
        assert norm2 <= 1.0 / l2 + error
        assert norm2 <= own.norm2 + error
        assert own.bounded or own.norm2 == pytest.approx(norm2, abs=error)
        seen.add(int(own.bounded))
    assert 0 in seen
    assert 1 in seen or l2 == 1e-4 or isinstance(strategy, Project)


@pytest.mark.parametrize("outputs", [1, 3, 26])
@pytest.mark.parametrize("strategy", [Merge(), Merge(3), Merge(3, "gradient")], ids=repr)
def test_the_squared_norm_is_kept_whatever_the_number_of_outputs(strategy, outputs):
    rng = np.random.default_rng(outputs)
    X, A = rng.normal(size=(4, 2)), rng.normal(size=(4, outputs))
    model = maintained(X, A, strategy, RBF(0.5))
    X, A, _ = support(model)
    expected = squared_length(X, A, RBF(0.5))
    assert model._state_record().norm2 == pytest.approx(expected, abs=rounding(X, A, RBF(0.5)))


# Two vectors.


def pair_on_a_line(distance, a_m, a_n):
    return np.array([[0.0], [distance]]), np.array([np.atleast_1d(a_m), np.atleast_1d(a_n)])


def loss_of_pair(model, X, A):
    """What the merger of two vectors on a line has lost, from the place it found."""
    z = support(model).X[0]
    return loss_by_place(X, A, 0, 1, z, gamma=1.0)


@given(distances, st.sampled_from([1, 3]), st.integers(0, 10**6))
def test_a_pair_merges_at_the_best_place(distance, outputs, seed):
    rng = np.random.default_rng(seed)
    a_m, a_n = rng.normal(size=(2, outputs)) * 10.0 ** rng.uniform(-5.0, 5.0, size=(2, 1))
    X, A = pair_on_a_line(distance, a_m, a_n)
    _, best = best_merge(distance**2, a_m @ a_m, a_n @ a_n, a_m @ a_n)
    lost = loss_of_pair(maintained(X, A, Merge(), RBF(1.0)), X, A)
    assert lost <= best * BEST + ROUNDING * min(a_m @ a_m, a_n @ a_n)


@pytest.mark.parametrize("strategy", [Merge(), Merge(objective="eq21")], ids=repr)
@pytest.mark.parametrize("outputs", [1, 3])
def test_merging_duplicates_moves_no_prediction(strategy, outputs):
    rng = np.random.default_rng(outputs)
    X, A = rng.normal(size=(10, 4)), rng.normal(size=(10, outputs))
    X[7], A[7] = X[2], A[2] * 0.01  # the lightest vector, a duplicate
    places = rng.normal(size=(20, 4))
    expected = plain(RBF(0.5))(places, X) @ A
    model = maintained(X, A, strategy, RBF(0.5))
    computed = model._score_rows(places)
    assert model.n_support_vectors == 9
    np.testing.assert_allclose(computed, expected, rtol=0, atol=1e-12)


def place_of_pair(model, distance):
    return 1.0 - support(model).X[0, 0] / distance


@given(st.floats(0.01, 1.0), st.floats(0.1, 10.0), st.floats(0.1, 10.0))
def test_eq21_is_the_degradation_for_one_output_and_equal_signs(distance, a_m, a_n):
    X, A = pair_on_a_line(distance, a_m, a_n)
    literal = place_of_pair(maintained(X, A, Merge(objective="eq21"), RBF(1.0)), distance)
    exact = place_of_pair(maintained(X, A, Merge(), RBF(1.0)), distance)
    assert literal == pytest.approx(exact, abs=GOLDEN)


@given(st.floats(0.01, 1.0), st.integers(0, 10**6))
def test_eq21_finds_the_place_of_its_reference(distance, seed):
    a_m, a_n = np.random.default_rng(seed).normal(size=(2, 3))
    assume(np.abs(a_m + a_n).min() > 0.1)
    X, A = pair_on_a_line(distance, a_m, a_n)
    expected, _ = best_merge_eq21(distance**2, a_m, a_n)
    computed = place_of_pair(maintained(X, A, Merge(objective="eq21"), RBF(1.0)), distance)
    assert computed == pytest.approx(expected, abs=GOLDEN)


def test_the_pair_does_not_depend_on_the_size_of_the_coefficients():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, A = rng.normal(size=(15, 2)), rng.normal(size=(15, 1))
        expected = support(maintained(X, A, Merge(), RBF(0.5))).arrivals.tolist()
        for size in (1e-6, 1e6):
            model = maintained(X, A * size, Merge(), RBF(0.5))
            assert support(model).arrivals.tolist() == expected


def test_of_partners_that_lose_alike_up_to_rounding_the_nearest_is_chosen():
    X = np.array([[0.0], [100.0], [4.0], [-200.0]])  # exp(-2 * 16) is lost in 1 - exp(-2 * 16)
    model = maintained(X, np.ones((4, 1)), Merge(), RBF(1.0))
    assert support(model).arrivals.tolist() == [1, 3, 4]


# Several vectors.


@pytest.mark.parametrize("method", ["cascade", "gradient"])
@pytest.mark.parametrize("arity", [2, 3, 10, 30])
def test_a_maintenance_makes_room_for_arity_minus_one_vectors(method, arity):
    rng = np.random.default_rng(arity)
    X, A = rng.normal(size=(21, 3)), rng.normal(size=(21, 1))
    model = maintained(X, A, Merge(arity, method), RBF(0.5))
    assert model.n_support_vectors == max(20 + 2 - arity, 1)


@pytest.mark.parametrize("method", ["cascade", "gradient"])
def test_several_partners_are_those_that_lose_least(method):
    rng = np.random.default_rng(5)
    X, A = rng.normal(size=(30, 2)), rng.normal(size=(30, 3))
    p = lightest(np.sum(A**2, axis=1))
    expected = {p, *np.argsort(degradations(A, X, 0.5, p))[:3].tolist()}
    model = maintained(X, A, Merge(4, method), RBF(0.5))
    computed = set(range(30)) - set(support(model).arrivals.tolist())
    assert computed == expected


def members(seed):
    """3 to 6 vectors, near each other or not; every other time of one class, as most mergers
    are.
    """
    rng = np.random.default_rng(seed)
    m, outputs = int(rng.integers(3, 7)), int(rng.choice([1, 3]))
    X, A = rng.normal(size=(m, 3)) * rng.choice([0.1, 0.5, 1.0]), rng.normal(size=(m, outputs))
    return X, np.abs(A) if seed % 2 else A


def loss_of(X, A, z, a_z):
    return squared_length(np.vstack([X, z]), np.vstack([A, -a_z]), RBF(0.5))


def in_order_of_loss(X, A):
    """The lightest vector and its partners, best first."""
    p = lightest(np.sum(A**2, axis=1))
    losses = degradations(A, X, 0.5, p)
    losses[p] = -np.inf
    order = np.argsort(losses, kind="stable")
    return X[order], A[order]


@pytest.mark.parametrize("method", ["cascade", "gradient"])
def test_merging_several_vectors_loses_as_little_as_the_reference(method):
    for seed in range(100):
        X, A = members(seed)
        expected = loss_of(X, A, *merge_points(*in_order_of_loss(X, A), 0.5, method))
        Z, a_z, _ = support(maintained(X, A, Merge(len(X), method), RBF(0.5)))
        computed = loss_of(X, A, Z[0], a_z[0])
        assert computed <= expected * 1.03 + ROUNDING

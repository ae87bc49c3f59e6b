"""Random Fourier features: the frequencies, the kernel they approximate, and FOGD against its
reference.
"""

from __future__ import annotations

import numpy as np
import pytest
from inside import plain
from models import KERNELS, STATIONARY
from replayed_cases import SEED, pair_of_waves
from replaying import (
    CLOSE,
    assert_close,
    assert_same,
    plain_frequencies,
    run,
    run_reference,
    run_regression,
    some_weights,
)
from river import feature_extraction
from streams import emerging, examples, names, smooth

import river_budget as rb
from river_budget.algorithms.features.fourier import frequencies_of
from river_budget.inputs.batches import batch_of
from river_budget.kernels import RBF, Laplacian

# frequencies


def header(kernel):
    return kernel.header_fields(1)


def frequencies(name, *given):
    return frequencies_of([name], *given)[0]


@pytest.mark.parametrize("name", ["a", 0, 3, 2.5, ("a", 1), None])
@pytest.mark.parametrize("kernel", STATIONARY, ids=repr)
def test_frequencies_depend_on_the_name_and_the_seed_alone(name, kernel):
    computed = frequencies(name, SEED, 50, header(kernel))
    np.testing.assert_allclose(computed, plain_frequencies(name, kernel, 50), rtol=1e-12)


def test_frequencies_are_the_same_for_ever():
    first = frequencies("age", 42, 3, header(RBF(0.5)))
    np.testing.assert_allclose(
        first, [-0.4364099333904562, 1.2048124847081243, 0.03147515700802396]
    )


def test_names_that_are_one_key_have_the_same_frequencies():
    one, *others = (
        frequencies(name, 1, 9, header(RBF(1.0))) for name in (1, 1.0, True, np.int64(1))
    )
    assert all((one == other).all() for other in others)
    text = frequencies("a", 1, 9, header(RBF(1.0)))
    assert (text == frequencies(np.str_("a"), 1, 9, header(RBF(1.0)))).all()
    assert (one != frequencies("1", 1, 9, header(RBF(1.0)))).all()


# the map


@pytest.mark.parametrize("kernel", [RBF(0.1), Laplacian(0.1)])
def test_inner_products_approximate_the_kernel(kernel):
    X = np.random.default_rng(0).normal(size=(60, 5))
    Z = rb.RandomFourier(10_000, kernel, seed=1, scale=1.0).transform_many(X)
    assert np.abs(Z @ Z.T - plain(kernel)(X, X)).max() < 0.04  # four deviations of a sum


@pytest.mark.parametrize("scale", [1.0, 7.0])
def test_the_map_has_the_length_that_was_asked_for_and_a_name_for_every_feature(scale):
    z = rb.RandomFourier(10, seed=1, scale=scale).transform_one({"a": 1.0, "b": -2.0})
    assert list(z) == [f"cos_{j}" for j in range(10)] + [f"sin_{j}" for j in range(10)]
    assert sum(value**2 for value in z.values()) == pytest.approx(scale**2)


def test_order_of_arrival_and_learning_make_no_difference():
    stream = [x for x, _ in emerging(60, seed=1)]
    forward, backward, fresh = (rb.RandomFourier(20, RBF(0.3), seed=4) for _ in range(3))
    for a, b in zip(stream, reversed(stream), strict=True):
        forward.learn_one(a)
        backward.learn_one(dict(reversed(b.items())))
    for x in stream:
        z = fresh.transform_one(x)
        for other in (forward, backward):
            assert other.transform_one(x) == pytest.approx(z, abs=1e-14)


@pytest.mark.parametrize("zeros", [0.0, 0.02])
def test_rows_of_features_that_came_in_another_order_give_the_same_scores(zeros):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 9)) * (rng.random((40, 9)) >= zeros)
    first, second = (rb.FOGDClassifier(60, RBF(0.1), seed=1) for _ in range(2))
    second.learn_one({8: 1.0}, True, 0.0)  # weighs nothing, but has its place before the others
    second.learn_one({4: 1.0, 5: 1.0}, True, 0.0)
    for model in (first, second):
        model.learn_many(X, X[:, 0] > 0.0)
    assert list(first._features) != list(second._features)
    found = [model._score_rows(model._rows_of(batch_of(X))) for model in (first, second)]
    np.testing.assert_allclose(*found, rtol=1e-12)  # sums go in the order of places


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_the_sampler_is_the_map_for_one_kernel(gamma):
    x = {"a": 0.3, "b": -1.0}
    sampler = rb.RBFSampler(gamma, 30, 5)
    assert sampler.transform_one(x) == rb.RandomFourier(30, RBF(gamma), 5).transform_one(x)
    assert sampler._get_params() == {"gamma": gamma, "n_components": 30, "seed": 5, "scale": 7.0}
    theirs = feature_extraction.RBFSampler(gamma=gamma, n_components=30, seed=5)
    names = list(theirs._get_params())
    assert list(sampler._get_params())[: len(names)] == names
    assert sampler.transform_one(x, True) == sampler.transform_one(x, y=None)  # River's signature


def test_the_gamma_of_a_sampler_can_be_assigned():
    x = {"a": 0.3, "b": -1.0}
    model, other = rb.RBFSampler(0.5, 30, 5), rb.RBFSampler(2.0, 30, 5)
    model.learn_one(x)
    other.learn_one(x)
    model.gamma = 2.0
    assert model.transform_one(x) == other.transform_one(x)
    model.learn_one(x | {"new": 1.0})
    assert model.transform_one(x | {"new": 1.0}) == other.transform_one(x | {"new": 1.0})
    assert repr(model) == repr(other)
    with pytest.raises(ValueError, match="gamma"):
        model.gamma = -1.0


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k not in STATIONARY], ids=repr)
@pytest.mark.parametrize("estimator", [rb.RandomFourier, rb.FOGDClassifier, rb.FOGDRegressor])
def test_kernels_without_a_spectrum_are_refused(estimator, kernel):
    with pytest.raises(ValueError, match="kernel"):
        estimator(10, kernel=kernel)


# FOGD


def test_three_classes_are_replayed_on_real_data(data):
    rows, targets = data("dna.scale")
    stream = examples(rows[:600], targets[:600])
    order, classes = names(stream), (1, 2, 3)
    model, oracle = pair_of_waves(
        rb.FOGDClassifier, "multiclass", RBF(0.05), order, 3, classes=classes
    )
    assert_same(run(model, stream), run_reference(oracle, stream, labels=classes), CLOSE)


@pytest.mark.parametrize("kernel", STATIONARY, ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_emerging_features_and_classes_are_replayed(kernel, seed):
    stream = emerging(400, seed=seed)
    model, oracle = pair_of_waves(rb.FOGDClassifier, "binary", kernel, names(stream))
    weights = some_weights(stream)
    expected = run_reference(oracle, stream, weights=weights)
    assert_same(run(model, stream, weights), expected, CLOSE)


@pytest.mark.parametrize("kernel", STATIONARY, ids=repr)
@pytest.mark.parametrize("longest", [None, 0.5])
def test_regression_is_replayed(kernel, longest):
    stream = smooth(400)
    clip = np.inf if longest is None else longest
    options = {"rate": 0.3, "clip": clip, "max_error": longest}
    model, oracle = pair_of_waves(rb.FOGDRegressor, "regression", kernel, names(stream), **options)
    weights = some_weights(stream)
    _, scores = run(model, stream, weights)
    assert_close(scores[:, 0], run_regression(oracle, stream, weights), CLOSE)


def test_a_feature_counts_in_predictions_before_it_is_learned():
    stream = emerging(50)
    model = rb.FOGDClassifier(30, RBF(0.5), seed=1)
    for x, y in stream:
        model.learn_one(x, y)
    x = stream[0][0] | {"new": 1.5}
    before = model.decision_function_one(x)
    model.learn_one(x, stream[0][1], 0.0)
    assert "new" in model._features
    assert model.decision_function_one(x) == before
    assert before != model.decision_function_one(stream[0][0])

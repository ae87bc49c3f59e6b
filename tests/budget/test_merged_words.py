"""Merging examples of a few of many features: vectors that become long."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from inside import squared_length, support
from maintenances import assert_best_pairs, maintenances, members_and_result
from many_names import NAMES, K, at, crowd, run
from streams import PEGASOS

import river_budget as rb

KINDS = {
    "two": rb.BSGDClassifier(6, K, seed=1),
    "many": rb.BSGDClassifier(6, K, rb.maintenance.Merge(3), seed=1),
    "mistakes": rb.KernelPerceptronClassifier(K, budget=6, maintenance=rb.maintenance.Merge()),
    "strange": rb.KernelOneClassSVM(0.5, 6, K),
    "tube": rb.BSGDRegressor(6, K, l2=1e-3, seed=1),
}

SLOW = "ignore:.*merged vectors:river_budget.StreamWarning"


@pytest.mark.filterwarnings(SLOW)
def test_the_best_pair_is_merged_and_the_norm_is_kept():
    """By the exhaustive search of the reference."""
    every_name = [(dict.fromkeys((f"w{i}" for i in range(NAMES)), 0.0), True)]
    model = rb.BSGDClassifier(5, K, project_to_ball=False, **PEGASOS)
    run(model, [*every_name, *crowd(400)])
    assert_best_pairs(model, crowd(120, seed=1), at_least=60)
    assert_combinations(model, crowd(120, seed=2), at_least=40)

    model = rb.BSGDClassifier(5, K, l2=1e-3)
    run(model, crowd(400))
    own = model._state_record()
    own.norm2, own.bounded = model._squared_length(), 0
    for x, y in crowd(200, seed=1):
        model._state_record().exact = 1  # and no bound
        model.learn_one(x, y)
        X, A, _ = support(model)
        expected = squared_length(X, A, K)
        assert float(model._state_record().norm2) == pytest.approx(expected, rel=1e-9)


def assert_combinations(model, stream, at_least):
    """z lies on the line through its members, and has the coefficients of the projection."""
    found = 0
    for X, A, before, after in maintenances(model, stream):
        (p, q), z, a_z = members_and_result(X, A, before, after)
        line = X[p] - X[q]
        h = (z - X[q]) @ line / (line @ line)
        assert z == pytest.approx(X[q] + h * line, abs=1e-12)
        s = K.gamma * (line @ line)
        expected = math.exp(-s * (1.0 - h) ** 2) * A[p] + math.exp(-s * h**2) * A[q]
        assert a_z == pytest.approx(expected, rel=1e-9)
        found += 1
    assert found >= at_least


@pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")
def test_scores_among_long_vectors_are_those_of_the_differences():
    """Where examples are so long that |v|^2 + |x|^2 - 2 <v, x> would cancel."""
    huge = [pair for t, pair in enumerate(crowd(80, seed=5, size=1e4)) if t % 2]
    near = [({name: value * (1.0 + 1e-5) for name, value in x.items()}, y) for x, y in huge]
    model = KINDS["two"].clone()
    run(model, [*crowd(400), *huge])
    for x, _ in near:
        X, A, _ = support(model)
        row = np.array([x.get(name, 0.0) for name in model._features])
        rest = sum(value**2 for name, value in x.items() if name not in model._features)
        distances = np.square(X - row).sum(axis=1) + rest
        expected = float(A[:, 0] @ np.exp(-K.gamma * distances))
        assert at(model, x) == pytest.approx(expected, rel=1e-9, abs=1e-12)


# the warning


def said(model, stream):
    """The warnings while a model learns a stream."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run(model, stream)
    return [str(warning.message) for warning in found]


@pytest.mark.parametrize("kind", KINDS)
def test_long_merged_vectors_are_warned_of_once(kind):
    (text,) = said(KINDS[kind].clone(), crowd(800, kind))
    assert "RemoveOldest()" in text
    assert "AutoKernel" in text


def test_removal_and_examples_with_most_of_the_features_are_not_warned_of():
    assert not said(rb.BSGDClassifier(6, K, rb.maintenance.RemoveOldest(), seed=1), crowd(800))
    rows = 0.1 * np.random.default_rng(0).normal(size=(60, 700))
    stream = [({f"w{i}": value for i, value in enumerate(x)}, x[0] > 0.0) for x in rows.tolist()]
    assert not said(KINDS["two"].clone(), stream)

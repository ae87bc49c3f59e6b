"""The one-class model finds what is strange, and agrees with its plain reference."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from inside import plain
from optional import pandas as pd
from oracles.perceptrons import NormaOneClass
from oracles.randoms import SplitMix
from river import anomaly, checks, datasets, evaluate, metrics
from scipy.stats import rankdata
from streams import emerging, matrix

import river_budget as rb
from river_budget.kernels import RBF
from river_budget.maintenance import Merge, Project, RemoveOldest, RemoveRandom

CENTRES = np.array([(0, 0), (4, 0), (2, 3)])
STRATEGIES = [None, Merge(3), Project(), RemoveOldest(), RemoveRandom()]


def clusters(n, seed=0):
    """Three Gaussians and one point in a hundred from anywhere, standardised; and which those
    are.
    """
    rng = np.random.default_rng(seed)
    X = CENTRES[rng.integers(3, size=n)] + 0.5 * rng.normal(size=(n, 2))
    strange = rng.random(n) < 0.01
    X[strange] = rng.uniform(-4, 8, size=(int(strange.sum()), 2))
    return (X - X.mean(0)) / X.std(0), strange


def area_under_curve(strange, scores):
    """The share of pairs of a strange and a usual example in which the strange one has the higher
    score.
    """
    n = int(strange.sum())
    above = rankdata(scores)[strange].sum() - n * (n + 1) / 2
    return above / (n * (len(scores) - n))


@pytest.mark.parametrize("strategy", ["oldest", "random"])
def test_it_replays_its_reference(strategy):
    strategies = {"oldest": RemoveOldest(), "random": RemoveRandom()}
    model = rb.KernelOneClassSVM(0.2, 15, RBF(0.5), strategies[strategy], seed=7)
    oracle = NormaOneClass(
        plain(RBF(0.5)), budget=15, nu=0.2, removal=strategy, choose=SplitMix(7).below
    )
    stream = emerging(500)
    found, expected = [], []
    for (x, _), row in zip(stream, matrix(stream), strict=True):
        found.append(model.decision_function_one(x))
        expected.append(oracle.anomaly(row))
        model.learn_one(x)
        oracle.step(row)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.max(np.abs(expected)))
    assert model.n_support_vectors == 15


def test_outliers_of_three_clusters_are_found():
    areas, shares = [], []
    for seed in range(5):
        X, strange = clusters(20_000, seed)
        scores = rb.KernelOneClassSVM(kernel=RBF(1.0)).score_then_learn_many(X)
        areas.append(area_under_curve(strange, scores))
        shares.append(np.mean(scores > 0.5))
    assert np.mean(areas) >= 0.96
    assert shares == pytest.approx([0.1] * 5, abs=0.02)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_a_batch_is_a_loop(strategy):
    X, _ = clusters(300)
    one = rb.KernelOneClassSVM(0.3, 10, RBF(1.0), strategy, seed=1)
    many, frames = copy.deepcopy(one), copy.deepcopy(one)
    expected = []
    for x in X.tolist():
        expected.append(one.score_one(dict(enumerate(x))))
        one.learn_one(dict(enumerate(x)))
        assert one.n_support_vectors <= 10
    assert many.score_then_learn_many(X).tolist() == expected
    frames.learn_many(pd.DataFrame(X))
    assert frames.score_many(pd.DataFrame(X)).tolist() == many.score_many(X).tolist()
    for far in (0.1, 1.0, 1e3):
        scores = [one.score_one(dict(enumerate(x))) for x in (far * X[:20]).tolist()]
        assert np.asarray(many.score_many(far * X[:20])).tolist() == scores


@pytest.mark.parametrize("kernel", [None, RBF(1.0)], ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_ten_thresholds_give_the_area_under_the_curve(kernel, seed):
    X, strange = clusters(3000, seed)
    model, scores = rb.KernelOneClassSVM(kernel=kernel), []
    pairs = [(dict(enumerate(x)), y) for x, y in zip(X.tolist(), strange.tolist(), strict=True)]
    area = evaluate.progressive_val_score(pairs, model.clone(), metrics.ROCAUC())
    for x, _ in pairs:
        scores.append(model.score_one(x))
        model.learn_one(x)
    assert area.get() == pytest.approx(area_under_curve(strange, scores), abs=0.02)
    assert area.get() > 0.85


def test_scores_lie_between_0_and_1_and_keep_the_order():
    X, _ = clusters(500)
    model = rb.KernelOneClassSVM(kernel=RBF(1.0))
    for x in X.tolist():
        rows = [dict(enumerate(row)) for row in [*X[:40].tolist(), [1e9, 0.0]]]
        rows = rows[:: 1 + model.n_support_vectors // 4]
        raw = [model.decision_function_one(row) for row in rows]
        scores = [model.score_one(row) for row in rows]
        assert min(scores) >= 0.0
        assert max(scores) <= 1.0
        assert (np.diff(np.array(scores)[np.argsort(raw)]) >= 0.0).all()
        assert [score > 0.5 for score in scores] == [value > 0.0 for value in raw]
        model.learn_one(dict(enumerate(x)))
    assert model.score_one({0: 1e9}) == 1.0


def test_it_works_behind_a_quantile_filter():
    X, strange = clusters(5000)
    detector = anomaly.QuantileFilter(rb.KernelOneClassSVM(kernel=RBF(1.0)), q=0.98)
    found = []
    for x in X.tolist():
        score = detector.score_one(dict(enumerate(x)))
        found.append(detector.classify(score))
        detector.learn_one(dict(enumerate(x)))
    found = np.array(found)
    assert 0.005 < found.mean() < 0.05
    assert found[strange].mean() > 10 * found[~strange].mean()


def test_bad_input_is_refused():
    model = rb.KernelOneClassSVM()
    with pytest.raises(ValueError, match="a"):
        model.learn_one({"a": float("nan")})
    with pytest.raises(ValueError, match="learning_rate"):
        rb.KernelOneClassSVM(learning_rate=200.0)
    assert model.n_support_vectors == 0


def test_river_checks_pass(monkeypatch):
    pytest.importorskip("sklearn", reason="River's checks take data from scikit-learn")

    def stand_in(dataset):  # River's own would be downloaded
        X, strange = clusters(200)
        return iter(
            [(dict(enumerate(x)), int(y)) for x, y in zip(X.tolist(), strange, strict=True)]
        )

    monkeypatch.setattr(datasets.CreditCard, "__iter__", stand_in)
    checks.check_estimator(rb.KernelOneClassSVM(budget=20, seed=1))

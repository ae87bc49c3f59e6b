"""Runs a model and its plain reference over one stream and compares them."""

from __future__ import annotations

import hashlib
import math

import numpy as np
from inside import plain
from models import STRATEGIES as ALL_STRATEGIES
from oracles.budgeted_sgd import BudgetedSGD
from oracles.randoms import SplitMix
from scipy import stats
from streams import PEGASOS, matrix

import river_budget as rb
from river_budget.core.budget.projection import TINY
from river_budget.kernels import RBF
from river_budget.maintenance import Merge

CLOSE = 1e-9  # relative to the largest score: removal computes the same in another order
CLOSE_PROJECTED = 1e-6  # projection solves linear systems, which the reference does from scratch
STRATEGIES = {  # by the names of the reference; merging is compared step by step in test_merging
    type(strategy).__name__.removeprefix("Remove").lower(): strategy
    for strategy in ALL_STRATEGIES
    if not isinstance(strategy, Merge)
}
KERNEL, SEED = RBF(0.2), 7


def as_row(scores):
    return list(scores.values()) if isinstance(scores, dict) else [scores]


def table(rows):
    """Rows of growing length as a matrix, padded."""
    result = np.full((len(rows), max(map(len, rows))), np.nan)
    for row, values in zip(result, rows, strict=True):
        row[: len(values)] = values
    return result


def run(model, stream, weights=None):
    """(predictions, scores) of a model before it learns each example."""
    predictions, scores = [], []
    for (x, y), w in zip(stream, weights or [1.0] * len(stream), strict=True):
        predictions.append(model.predict_one(x))
        scores.append(as_row(model.decision_function_one(x)))
        model.learn_one(x, y, w)
    return predictions, table(scores)


def run_reference(oracle, stream, labels=(), weights=None):
    """`run` for the reference; `labels` are those known in advance."""
    labels, predictions, scores = list(labels), [], []
    pairs = zip(matrix(stream), stream, weights or [1.0] * len(stream), strict=True)
    for x, (_, label), w in pairs:
        f = oracle.scores(x)
        predictions.append(predicted(f, labels))
        scores.append(f)
        meet(oracle, labels, label)
        oracle.step(x, code(oracle, labels, label), w)
    return predictions, table(scores)


def predicted(scores, labels):
    if len(labels) > 2:
        return labels[int(np.argmax(scores))]
    return labels[int(scores[0] >= 0.0) if len(labels) == 2 else 0] if labels else None


def meet(oracle, labels, label):
    if label not in labels:
        labels.append(label)
        if len(labels) == 3:
            oracle.promote()
        elif len(labels) > 3:
            oracle.add_output()


def code(oracle, labels, label):
    place = labels.index(label)
    return place if oracle.task == "multiclass" else 2.0 * place - 1.0


def run_regression(oracle, stream, weights=None):
    pairs = zip(matrix(stream), stream, weights or [1.0] * len(stream), strict=True)
    return np.array([oracle.step(x, y, w)[0] for x, (_, y), w in pairs])


def some_weights(stream):
    return np.random.default_rng(6).choice([0.0, 0.25, 1.0, 3.0], len(stream)).tolist()


def assert_same(computed, expected, close=CLOSE):
    (predictions, scores), (expected_predictions, expected_scores) = computed, expected
    assert predictions == expected_predictions
    assert_close(scores, expected_scores, close)


def assert_close(scores, expected, close=CLOSE):
    expected = np.asarray(expected)
    assert np.isfinite(expected[:, 0] if expected.ndim == 2 else expected).all()
    np.testing.assert_allclose(scores, expected, rtol=0, atol=close * np.nanmax(np.abs(expected)))


def assert_classes_replay(model, oracle, stream, labels=(), weights=None):
    """An AutoKernel has the probabilities and weights of its reference, while labels appear."""
    labels, computed, expected = list(labels), [], []
    for (x, y), w in zip(stream, weights or [1.0] * len(stream), strict=True):
        if len(labels) >= 2:
            shares = model.predict_proba_one(x)
            computed += [shares[label] for label in labels]
            expected += oracle.probabilities(x).tolist()
        if y not in labels:
            labels.append(y)
            if len(labels) > 2:
                oracle.add_class()
        model.learn_one(x, y, w)
        oracle.learn(x, labels.index(y), w)
    assert_close(computed, expected)
    assert_close([expert["weight"] for expert in model.experts()], oracle.w)


def plain_frequencies(name, kernel, n, seed=SEED):
    """The definition of frequencies, repeated here: it must never change, as files contain seeds
    only.
    """
    text = repr(float(name)) if isinstance(name, (int, float)) else repr(name)
    digest = hashlib.blake2b(text.encode(), digest_size=8, key=seed.to_bytes(8, "little")).digest()
    words = SplitMix(int.from_bytes(digest, "little"))
    uniform = np.array([words.uniform() + 2.0**-54 for _ in range(n)])
    if isinstance(kernel, RBF):
        return math.sqrt(2.0 * kernel.gamma) * stats.norm.ppf(uniform)
    return kernel.gamma * stats.cauchy.ppf(uniform)


def closeness(strategy):
    return CLOSE_PROJECTED if strategy == "project" else CLOSE


def assert_replays(stream, strategy, budget, kernel=KERNEL, labels=(), weights=None, **options):
    """A classifier makes the mistakes of its reference, with the same scores. Returns it.

    `labels` are known in advance; without them, labels appear in the stream.
    """
    options = PEGASOS | options
    several = {"task": "multiclass", "outputs": len(labels)} if len(labels) > 2 else {}
    oracle = reference(strategy, budget, kernel, **several, **options)
    how = {"classes": labels or None, "seed": SEED} | options
    model = rb.BSGDClassifier(budget, kernel, STRATEGIES[strategy], **how)
    expected = run_reference(oracle, stream, labels, weights)
    assert_same(run(model, stream, weights), expected, closeness(strategy))
    return model


def assert_regression_replays(stream, strategy, weights=None, budget=30, **options):
    options = {"learning_rate": None, "l2": 1e-2} | options
    oracle = reference(strategy, budget, KERNEL, task="regression", **options)
    model = rb.BSGDRegressor(budget, KERNEL, STRATEGIES[strategy], seed=SEED, **options)
    _, scores = run(model, stream, weights)
    assert_close(scores[:, 0], run_regression(oracle, stream, weights), closeness(strategy))


def reference(strategy, budget, kernel, task="binary", **options):
    """With the random numbers of the model, and the same vectors counted as dependent."""
    options |= {"budget": budget, "maintenance": strategy, "min_residual": TINY}
    return BudgetedSGD(plain(kernel), task, choose=SplitMix(SEED).below, **options)

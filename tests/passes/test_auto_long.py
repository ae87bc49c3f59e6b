"""The automatic learners on long streams, and with labels that come late."""

from __future__ import annotations

import time

import numpy as np
import pytest
from long_runs import resident
from river import datasets, evaluate, forest, metrics

import river_budget as rb

pytestmark = pytest.mark.slow


def errors(make, stream, delays):
    """Shares of wrong predictions, in percent, with labels that come so many examples late."""
    found = []
    for delay in delays:
        metric = evaluate.progressive_val_score(stream, make(), metrics.Accuracy(), delay=delay)
        found.append(100.0 * (1.0 - metric.get()))
    return np.array(found)


def shuffled(stream):
    stream = list(stream)
    return [stream[i] for i in np.random.default_rng(1).permutation(len(stream))]


@pytest.mark.parametrize("stream", [datasets.Phishing, datasets.ImageSegments])
def test_late_labels_cost_no_more_than_they_cost_a_forest(stream):
    examples = shuffled(stream())
    delays = [None, 1, 100, 1000]
    own = errors(lambda: rb.AutoKernelClassifier(seed=1), examples, delays)
    others = errors(lambda: forest.ARFClassifier(n_models=10, seed=1), examples, delays)
    assert (own < others).all()
    noise = 1.0  # a forest may win a little by chance
    assert (own - own[0] <= np.maximum(others - others[0], 0.0) + noise).all()


def test_a_million_rows_take_flat_time_and_memory():
    model, times, sizes = rb.AutoKernelClassifier(seed=1), [], []
    for part in range(10):
        start = time.process_time()
        for chunk in range(10):
            X = np.random.default_rng(10 * part + chunk).normal(size=(10_000, 21))
            model.predict_then_learn_many(X, X[:, 0] * X[:, 1] > np.sin(X[:, 2]))
        times.append(time.process_time() - start)
        sizes.append(resident())
    assert model.n_examples == 1_000_000
    assert sizes[-1] < 1.05 * sizes[0]
    assert np.median(times[5:]) < 1.5 * np.median(times[1:5])

"""Streams with a few of many names in each example."""

from __future__ import annotations

import numpy as np
from river.base import Regressor

import river_budget as rb

K = rb.kernels.RBF(0.05)
NAMES, WORDS = 900, 6


def crowd(n, kind="two", seed=0, size=1.0, names=NAMES):
    """Examples of a few out of many features, with labels that are mostly noise."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        words = rng.choice(names, WORDS, replace=False)
        numbers = size * rng.normal(1.0, 0.5, WORDS)
        y = int(rng.integers(0, 3)) if kind == "three" else bool(rng.random() < 0.5)
        y = float(rng.normal()) if kind == "tube" else y
        yield dict(zip(map("w{}".format, words.tolist()), numbers.tolist(), strict=True)), y


def run(model, stream):
    scores = []
    for x, y in stream:
        scores.append(at(model, x))
        if isinstance(model, rb.KernelOneClassSVM):
            model.learn_one(x)
        else:
            model.learn_one(x, y, weight(x))
    return scores


def weight(x):
    """A weight for each example, some so large that other vectors are merged when they arrive."""
    return 7.0 if next(iter(x)).endswith("3") else 1.0


def at(model, x):
    """The score, or one for each class."""
    score = model.predict_one if isinstance(model, Regressor) else model.decision_function_one
    found = score(x)
    return list(found.values()) if isinstance(found, dict) else found


def with_gaps(model, kind, n=700):
    """A model of documents that has forgotten names, and has vacant places."""
    model = model.clone()
    stream = crowd(2 * n, kind)
    met = set()
    while len(met) < n or not model._features.vacant:
        x, y = next(stream)
        run(model, [(x, y)])
        met |= x.keys()
    assert len(model._features) < len(met)
    return model

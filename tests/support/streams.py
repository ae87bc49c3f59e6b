"""Seeded streams of examples, as dicts, whose features and classes appear one after the other."""

from __future__ import annotations

import functools

import numpy as np

PEGASOS = {"learning_rate": None, "l2": 1e-4}  # BSGD with the steps of the papers
LABELS = ("blue", "amber", "coral", "dun")


def emerging(n, n_features=8, n_labels=4, seed=0):
    """n examples: new features and labels appear at even intervals, and every other value is
    missing.

    Each label has one cluster; a share of the labels is noise. Returns a list of (x, label).
    """
    return list(_emerging(n, n_features, n_labels, seed))


@functools.cache
def _emerging(n, n_features, n_labels, seed):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_labels, n_features))
    stream = []
    for t in range(n):
        features = 2 + (n_features - 2) * (t + 1) // n
        labels = min(n_labels, 2 + n_labels * t // n)
        label = int(rng.integers(labels))
        values = centres[label] + rng.normal(size=n_features)
        if rng.random() < 0.1:
            label = int(rng.integers(labels))
        x = {f"f{i}": float(values[i]) for i in range(features) if rng.random() < 0.5}
        stream.append((x, LABELS[label]))
    return stream


def smooth(n, n_features=5, seed=0):
    """n examples for regression: a wave over features that appear one after the other, plus
    noise.
    """
    return list(_smooth(n, n_features, seed))


@functools.cache
def _smooth(n, n_features, seed):
    rng = np.random.default_rng(seed)
    stream = []
    for t in range(n):
        features = 2 + (n_features - 2) * (t + 1) // n
        values = rng.normal(size=features)
        target = np.sin(2.0 * values[0]) + values[1:].mean() + 0.1 * rng.normal()
        stream.append(({f"f{i}": float(value) for i, value in enumerate(values)}, float(target)))
    return stream


def examples(rows, targets):
    """The examples of a matrix as (x, y), with column numbers as names."""
    return list(zip((dict(enumerate(row.tolist())) for row in rows), targets.tolist(), strict=True))


def names(stream):
    """All features of a stream, in the order of their first appearance."""
    return list(dict.fromkeys(name for x, _ in stream for name in x))


def matrix(stream):
    """A stream as a matrix, with 0 for missing values."""
    order = names(stream)
    return np.array([[x.get(name, 0.0) for name in order] for x, _ in stream])

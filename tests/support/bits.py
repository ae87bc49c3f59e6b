"""Prints a digest of the scores of some models: two processes that print the same agree to the bit.

`python tests/support/bits.py BSGD RBP ...` takes ids of tests/support/models.py; the name of an
estimator stands for it with default parameters.
"""

from __future__ import annotations

import hashlib
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))  # the package beside the tests
from models import MODELS, TRANSFORMERS, list_of, stream_for, variant
from river import base

import river_budget as rb

TABLE = {entry.id: entry.values[0] for entry in MODELS + TRANSFORMERS}


def scores_of(model, x):
    """The scores of an example, or its features, as numbers."""
    if isinstance(model, base.Transformer):
        return list(model.transform_one(x).values())
    return list_of(model.decision_function_one(x))


def learns_alone(model):
    """Whether it learns examples without targets."""
    return isinstance(model, base.Transformer) or hasattr(model, "score_one")


def of_dicts(model, n=80):
    """Scores during a stream in which features and labels appear one after the other."""
    stream = stream_for(rb.RBPClassifier() if learns_alone(model) else model, n)
    return _learned(model, stream)


def of_words(model):
    """Scores during a stream with always new names, a few in each example."""
    stream = [({f"w{n * i % 97}": 1.0 / i for i in range(1, 5)}, n % 3 == 0) for n in range(80)]
    return _learned(model, stream)


def _learned(model, stream):
    found = []
    for x, y in stream:
        found += scores_of(model, x)
        model.learn_one(x) if learns_alone(model) else model.learn_one(x, y)
    return found


def of_arrays(model, n=400):
    """Rows of features, learned together and scored together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 9)) @ np.diag(np.linspace(0.2, 2.0, 9))
    target = np.sin(X[:, 0] * X[:, 1]) + 0.3 * X[:, 8]
    late = [dict(enumerate(x)) for x in X[-20:].tolist()]
    if learns_alone(model):
        model.learn_many(X)
        together = model.score_many if hasattr(model, "score_many") else model.transform_many
        return np.ravel(together(X)).tolist()
    if isinstance(model, base.Regressor):
        model.learn_many(X, target)
        return [*model.predict_many(X).tolist(), *(s for x in late for s in scores_of(model, x))]
    model.learn_many(X, target > 0.3)
    shares = np.ravel(list(model.predict_proba_many(X).values())).tolist()
    return [*shares, *(s for x in late for s in scores_of(model, x))]


def digest(model):
    seeded = variant(model, seed=3)
    found = [*of_dicts(seeded.clone()), *of_words(seeded.clone()), *of_arrays(seeded.clone())]
    assert np.any(np.diff(found))  # constant scores would agree with everything
    return hashlib.sha256(np.array(found, np.float64).tobytes()).hexdigest()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, digest(TABLE[name] if name in TABLE else getattr(rb, name)()), flush=True)

"""No pass writes outside the memory that it was given, and none takes anything from what it finds
there.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse
from models import crossed, may_be_unlimited, one_of_each, two_classes_only
from river import base
from saved_models import ALL, file_of
from streams import LABELS

import river_budget as rb
from river_budget.core import memory

# Streams that no kernel fits are the subject
pytestmark = pytest.mark.filterwarnings("ignore::river_budget.StreamWarning")

GUARD = 4096  # bytes before and behind
CANARY = 0xA5
# (vectors, features): around the multiples of 8, and far from them
FEW_SHAPES = (1, 3), (17, 8)
SHAPES = *FEW_SHAPES, (1, 0), (7, 4), (8, 9), (9, 5), (16, 0), (70, 1)
FIRST = [entry.values[0] for entry in one_of_each(ALL)]


@pytest.fixture
def arrays(monkeypatch):
    """Blocks and scratch spaces from here on: (all bytes, where the array begins, where it
    ends).
    """
    made = []

    def zeros(nbytes):
        raw = np.full(nbytes + 2 * GUARD + 64, CANARY, np.uint8)
        start = GUARD + -(raw.ctypes.data + GUARD) % 64
        raw[start : start + nbytes] = 0
        made.append((raw, start, start + nbytes))
        return raw[start : start + nbytes]

    monkeypatch.setattr(memory, "zeros", zeros)
    return made


def assert_untouched(arrays):
    assert arrays
    for raw, start, end in arrays:
        assert (raw[:start] == CANARY).all(), f"written before an array of {end - start} bytes"
        assert (raw[end:] == CANARY).all(), f"written behind an array of {end - start} bytes"
    arrays.clear()


def batch(model, n, width, rng):
    """Rows, some of them equal, zero or far away, and targets where the model takes some."""
    X = rng.normal(size=(n, width)) * rng.choice([0.0, 1.0, 1.0, 1e3], size=(n, 1))
    X[n // 2 :: 5] = X[: len(X[n // 2 :: 5])]
    if isinstance(model, base.Regressor):
        return X, rng.normal(size=n)
    if not isinstance(model, base.Classifier):
        return (X,)
    if model.classes is not None:
        return X, [model.classes[i] for i in rng.integers(len(model.classes), size=n)]
    labels = LABELS[:2] if two_classes_only(model) else range(20)
    return X, [labels[i] for i in rng.integers(len(labels), size=n)]


def of_size(model, number):
    """A clone with room for so many vectors."""
    if getattr(model, "rank", None) is not None:
        return model.clone({"budget": max(number, model.rank)})
    for name in ("budget", "window"):
        if getattr(model, name, None) is not None:
            return model.clone({name: number})
    return model.clone()


def examples(X, *targets):
    return zip((dict(enumerate(row)) for row in X.tolist()), *targets, strict=True)


def live(model, width, rng):
    """All that a user can have a model do, with rows of this width and then wider ones."""
    model.learn_many(*batch(model, 40, width, rng))
    for arguments in examples(*batch(model, 10, width + 2, rng)):
        model.learn_one(*arguments)
    model.learn_many(*batch(model, 30, width + 3, rng))
    X = batch(model, 5, width + 5, rng)[0]
    for x in examples(X):
        (model.transform_one if hasattr(model, "transform_one") else model.decision_function_one)(
            *x
        )
    if hasattr(model, "predict_many"):
        model.predict_many(X)
    if hasattr(model, "refine"):
        model.refine(3)
        model.learn_many(*batch(model, 10, width, rng))


def change(model):
    """A smaller and a larger budget."""
    for name in ("budget", "window"):
        size = getattr(model, name, None)
        if size is not None and name in model._mutable_attributes and not hasattr(model, "rank"):
            model.mutate({name: max(size // 2, 1)})
            model.mutate({name: 2 * size})
            if name == "budget" and may_be_unlimited(model):
                model.mutate({name: None})


@pytest.mark.parametrize("model", ALL)
def test_nothing_is_written_beside_blocks_and_scratch_space(model, arrays):
    rng = np.random.default_rng(0)
    for number, width in SHAPES if model in FIRST else FEW_SHAPES:
        one, other = (of_size(model, number) for _ in range(2))
        live(one, width, rng)
        by_class = getattr(one, "span", "all") == "class"  # which have no sum
        if not (hasattr(one, "transform_one") or one._unmergeable_because or by_class):
            other._entropy = one._entropy
            live(other, width, rng)
            live(rb.merge([one, other], budget=getattr(one, "budget", None) and 5), width, rng)
        change(one)
        live(one, width, rng)
        assert_untouched(arrays)


def rows(model, rng):
    """Rows without features, rows of three features and then of more."""
    live(model, 0, rng)
    live(model, 3, rng)


def word_counts(n, rng):
    """Names that come and go, and as many targets."""
    for i in range(n):
        words = rng.choice(np.arange(4 * i, 4 * i + 300), 12, replace=False)
        yield {f"word {word}": 1.0 + word % 3 for word in words.tolist()}, bool(words[0] % 2)


def documents(model, rng):
    """Documents, one by one and as a matrix."""
    for x, y in word_counts(90, rng):
        model.learn_one(*((x, y) if hasattr(model, "predict_one") else (x,)))
    matrix = scipy.sparse.random_array((60, 500), density=0.02, rng=rng, format="csr")
    model.learn_many(
        *((matrix, np.arange(60) % 2 == 0) if hasattr(model, "predict_one") else (matrix,))
    )


@pytest.mark.parametrize(("model", "lived"), crossed(ALL, [rows, documents]))
def test_what_lies_in_scratch_space_makes_no_difference(model, lived, monkeypatch):
    rng = np.random.default_rng(1)
    first = model.clone()
    second = copy.deepcopy(first)
    clean = memory.table

    def dirty(kind, shape):
        table = clean(kind, shape)
        table.view(np.uint8)[...] = 0xFF  # NaN as a number, -1 as a place
        return table

    lived(first, copy.deepcopy(rng))
    monkeypatch.setattr(memory, "table", dirty)
    lived(second, rng)
    assert file_of(first) == file_of(second)

"""An example is written once for a prediction and for learning, and always as it is at the time."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from optional import pandas as pd

import river_budget as rb

K = rb.kernels.RBF(0.3)
MODELS = {
    "BSGD": lambda: rb.BSGDClassifier(6, K, seed=1),
    "RBP": lambda: rb.RBPClassifier(6, K, seed=1),
    "FOGD": lambda: rb.FOGDClassifier(n_components=10, kernel=K, seed=1),
    "custom": lambda: rb.KernelPerceptronClassifier(rb.kernels.Custom(lambda u, v: u @ v)),
}
NAMES = "abcdefgh"


def stream(n, present, kind, seed=3):
    """Examples with values of some type: whole rows, or documents of which some words are new."""
    rng = np.random.default_rng(seed)
    for t in range(n):
        names = [*rng.permutation(list(NAMES))[:present].tolist()]
        names += [f"new{t}"] if present < len(NAMES) else []
        x = {name: kind(rng.normal()) for name in names}
        yield x, bool(float(next(iter(x.values()))) > 0.0)


def state(model):
    return None if model._block is None else model._block.tobytes()


@pytest.mark.parametrize(
    "kind", [float, np.float64, np.float32, np.array], ids=lambda k: k.__name__
)
@pytest.mark.parametrize("present", [8, 5], ids=["rows", "documents"])
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_an_example_that_changes_after_its_prediction_is_learned_as_it_is(make, present, kind):
    """Also where only a number of numpy changes, in its place."""
    model = make()
    expected = copy.deepcopy(model)
    for t, (x, y) in enumerate(stream(60, present, kind)):
        model.predict_one(x)
        name = next(iter(x))
        if kind is np.array:
            x[name] += 1.0
        elif t % 3 == 0:
            x[name] = kind(float(x[name]) + 1.0)
        elif t % 3 == 1 and t > 30:  # from then on no example has all known names
            x["more"] = x.pop(name)
        model.learn_one(x, y)
        expected._replace()  # which drops all that was written before
        expected.learn_one(x, y)
        assert state(model) == state(expected)
        expected._replace()
        assert model.predict_one(x) == expected.predict_one(x)


def test_learning_behind_a_prediction_reads_no_value_again(monkeypatch):
    """Most examples are predicted and then learned."""
    model = rb.RBPClassifier(6, K, seed=1)
    for x, y in stream(40, 5, float):
        model.learn_one(x, y)
    summed, read = model._features.summed, []

    def counted(x):
        read.append(x)
        return summed(x)

    for x, _ in stream(40, 5, float, seed=4):
        monkeypatch.setattr(model._features, "summed", counted)
        y = model.predict_one(
            x
        )  # so nothing is stored: names of what is stored get their places anew
        model.learn_one(dict(x), y)
        monkeypatch.undo()
    assert len(read) == 40


def test_an_example_is_written_again_once_its_names_have_their_places():
    """The same document twice: the first time its names are new, and the model stores it."""
    model = rb.KernelPerceptronClassifier(K)
    expected = copy.deepcopy(model)
    for x, y in stream(30, 5, float):
        for label in (y, not y, y):
            model.predict_one(x)
            model.learn_one(x, label)
            expected.learn_one(dict(x), label)
    assert state(model) == state(expected)
    assert model._features.places == expected._features.places


def test_float32_values_are_scaled_in_double_precision():
    """A batch is: with scales that are no powers of two the products differ."""
    kernel = rb.kernels.RBF(0.3, scales={"a": 0.1})
    one, many = (rb.BSGDClassifier(6, kernel, seed=1) for _ in range(2))
    X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    y = X[:, 0] > 0.0
    for row, label in zip(X, y.tolist(), strict=True):
        one.learn_one(dict(zip("abc", row, strict=True)), label)
    many.learn_many(pd.DataFrame(X, columns=list("abc")), y)
    assert state(one) == state(many)

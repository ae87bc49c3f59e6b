"""River's own models in files: whatever the docs put around one of ours comes back to the bit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from river import compose, linear_model, multiclass, optim, preprocessing

import river_budget as rb
from river_budget.saving import nodes
from river_budget.saving.archive import Source

Scaler, Targets = preprocessing.StandardScaler, preprocessing.TargetStandardScaler
REGRESSION, BINARY, CLASSES = "regression", "binary", "classes"

SCALERS = [Scaler(), Scaler(with_std=False), preprocessing.MinMaxScaler()]
SCALERS += [rb.StandardScaler(), rb.StandardScaler(with_std=False), rb.MinMaxScaler()]
WAVES = rb.RandomFourier(10, seed=1)
PIPELINES = {
    REGRESSION: [
        Targets(Scaler() | rb.BSGDRegressor(10, l2=0.01)),
        rb.TargetStandardScaler(rb.StandardScaler() | rb.BSGDRegressor(10, l2=0.01)),
        Scaler() | WAVES | linear_model.LinearRegression(l2=0.1),
        Scaler() | (preprocessing.MinMaxScaler() | rb.RBPRegressor(9, seed=1)),
    ],
    BINARY: [
        Scaler() | WAVES | linear_model.LogisticRegression(optim.SGD(0.5), intercept_lr=0.1),
        Scaler() | WAVES | rb.ForgetronClassifier(9),
        rb.Guard("skip") | Scaler() | rb.RBPClassifier(5, seed=1),
        rb.Guard("last") | preprocessing.MinMaxScaler() | rb.RBPClassifier(5, seed=1),
        *(scaler | rb.BSGDClassifier(15) for scaler in SCALERS),
        preprocessing.MinMaxScaler() | rb.Nystroem(9, 5) | rb.NOGDClassifier(9),
        compose.Pipeline(("scaling", Scaler()), ("last", rb.BPAClassifier(9))),
    ],
    CLASSES: [
        Scaler() | rb.Nystroem(10) | linear_model.SoftmaxRegression(),
        Scaler() | multiclass.OneVsRestClassifier(rb.SBPClassifier(20, seed=1)),
    ],
}
CASES = [
    pytest.param(task, model.clone, id=f"{task} {number}")
    for task, models in PIPELINES.items()
    for number, model in enumerate(models)
]


def stream(task, n, seed=0):
    rng = np.random.default_rng(seed)
    for a, b in rng.normal([3.0, 0.0], [2.0, 1.0], size=(n, 2)).tolist():
        y = {REGRESSION: a * b, BINARY: a * b > 0.0, CLASSES: "xyz"[int(abs(a)) % 3]}[task]
        yield {"a": a, "b": b}, y


def learned(task, make, n=120):
    model = make()
    for x, y in stream(task, n):
        model.predict_one(x)
        model.learn_one(x, y)
    return model


def predictions(model, task, x):
    found = [model.predict_one(x)]
    return found if task == REGRESSION else [*found, model.predict_proba_one(x)]


@pytest.mark.parametrize("n", [120, 1])
@pytest.mark.parametrize(("task", "make"), CASES)
def test_a_pipeline_comes_back_to_the_bit_and_learns_on(task, make, n, file):
    model = learned(task, make, n)
    rb.save(model, file)
    same = rb.load(file)
    assert list(getattr(same, "steps", [])) == list(getattr(model, "steps", []))
    for x, y in stream(task, 60, seed=1):
        assert predictions(same, task, x) == predictions(model, task, x)
        model.learn_one(x | {"c": 1.0}, y)
        same.learn_one(x | {"c": 1.0}, y)


@pytest.mark.parametrize(("task", "make"), CASES)
def test_one_that_only_predicts_refuses_to_learn(task, make, file):
    model = learned(task, make)
    rb.save(model, file)
    frozen = rb.load(file, predict_only=True)
    x, y = next(stream(task, 1, seed=2))
    value, *shares = predictions(
        frozen, task, x
    )  # a window without its zeros adds up in another order
    expected, *expected_shares = predictions(model, task, x)
    assert value == (pytest.approx(expected, rel=1e-12) if task == REGRESSION else expected)
    assert shares == [pytest.approx(share, rel=1e-12) for share in expected_shares]
    rb.save(frozen, file)
    for each in (frozen, rb.load(file)):
        with pytest.raises(RuntimeError, match="predict_only"):
            each.learn_one(x, y)
    if isinstance(frozen, compose.Pipeline):
        with pytest.raises(RuntimeError, match="predict_only"):
            frozen.mutate({list(frozen.steps)[-1]: {"budget": 3}})


@pytest.mark.parametrize("scaler", SCALERS, ids=repr)
def test_a_scaler_alone_comes_back(scaler, file):
    scaler = scaler.clone()
    for x in ({"a": 1.5, 2: -1}, {"a": 10, "b": np.float64(0.1)}, {("c", 1): 1e300, "a": 0}):
        scaler.learn_one(x)
    rb.save(scaler, file)
    twin = rb.load(file)
    twin.learn_one({"a": 0.3, "d": 1.0})
    scaler.learn_one({"a": 0.3, "d": 1.0})
    x = {"a": 0.7, "b": 0.2, 2: 3.0, ("c", 1): 1.0, "d": 0.5, "never seen": 1.0}
    found, expected = ([*map(float, s.transform_one(x).values())] for s in (twin, scaler))
    assert repr(found) == repr(expected)  # some are NaN


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (linear_model.LogisticRegression(optim.Adam()), "SGD"),
        (linear_model.LogisticRegression(l1=0.1), "l1"),
        (linear_model.LinearRegression(loss=optim.losses.Absolute()), "loss"),
        (
            linear_model.SoftmaxRegression(optim.SGD(optim.schedulers.InverseScaling(0.1))),
            "InverseScaling",
        ),
        (linear_model.PAClassifier(), "PAClassifier"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_saved_whole_is_refused_with_a_reason(model, reason, file):
    with pytest.raises(rb.SavedModelError, match=reason):
        rb.save(model, file)
    assert not file.exists()


def places(node, path=()):
    """All places of a node that hold a single value."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))
        yield (*path, key)


WRONG = [None, [], {}, "text", -1, {"float": "nan"}, {"float": "inf"}, {"float": "1e301"}, 10**400]


@pytest.mark.parametrize(("task", "make"), CASES)
def test_a_forged_node_loads_or_is_refused_and_never_breaks(task, make):
    node, arrays = nodes.encoded(learned(task, make))
    text = json.dumps(node)
    refused = 0
    for number, path in enumerate(places(json.loads(text))):
        if "arrays" in path or "own" in path or "numbers" in path:
            continue  # of our own models: see test_saving.py
        for wrong in WRONG[number % 3 :: 3]:
            node = json.loads(text)
            inner = node
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = wrong
            try:
                model = nodes.loaded(node, Source(arrays))
                assert nodes.saved(model)[0] == node
                assert isinstance(model, compose.Pipeline) or hasattr(model, "predict_one")
            except rb.SavedModelError:
                refused += 1
    assert refused > 15

"""Models survive any sequence of operations and streams of every special kind."""

from __future__ import annotations

import contextlib
import copy
import math
import pickle
import random

import numpy as np
import pytest
from models import MODELS, list_of, may_be_unlimited, two_classes_only
from river import base
from saved_models import ALL, answers, file_of, is_supervised, teach

import river_budget as rb
from river_budget.core.block.blocks import table_of, views
from river_budget.kernels import Linear, Polynomial
from river_budget.maintenance import Project
from river_budget.saving import opened

pytestmark = pytest.mark.slow

SEQUENCES = 300  # for each of about 80 models
MORE = [
    pytest.param(rb.ProjectronClassifier(9, Linear()), id="Projectron-linear"),
    pytest.param(rb.ProjectronRegressor(9, Polynomial(2)), id="Projectron-R-polynomial"),
    pytest.param(rb.BPAClassifier(9, Polynomial(2), update="projection"), id="BPA-P-polynomial"),
    pytest.param(rb.BPAClassifier(9, Linear(), update="nearest"), id="BPA-N-linear"),
    pytest.param(rb.BSGDClassifier(9, Polynomial(), Project()), id="BSGD-P-polynomial"),
    pytest.param(rb.BudgetPerceptronClassifier(9, Linear()), id="CKS-linear"),
    pytest.param(rb.NOGDClassifier(9, Linear(), 4), id="NOGD-linear"),
    pytest.param(rb.BOGDClassifier(9, Linear(), sampling="nonuniform", seed=1), id="BOGD-linear"),
    pytest.param(rb.SBPClassifier(9, Polynomial(3, 1.0, -1.0), fit_bias=True), id="SBP-not-psd"),
    pytest.param(rb.SBPClassifier(9, Linear(), fit_bias=True, eviction="oldest"), id="SBP-linear"),
]
ESTIMATORS = ALL + MORE
MAGNITUDES = [10.0**power for power in (-300, -160, -30, -8, 8, 30, 150, 155, 300)]
NAMES = ["a", "b", "c", "d", "e", "f", 7, ("g", 1)]
LABELS = ["blue", "amber", "coral", "dun"]


def any_example(rng, seen):
    """An example: often a repetition or nothing at all, at times with values of any size."""
    kind = rng.randrange(10)
    if kind == 0:
        return {}
    if kind <= 2 and seen:
        return rng.choice(seen)
    names = rng.sample(NAMES, rng.randrange(1, 5))
    if kind == 3:
        return dict.fromkeys(names, 0.0)
    if kind <= 5:
        return {name: rng.choice([-1, 1]) * rng.choice(MAGNITUDES) for name in names}
    return {name: rng.gauss(0.0, 1.0) for name in names}


def any_target(rng, model):
    if isinstance(model, base.Regressor):
        return rng.choice([-1.0, 0.5, 2.0, 0.0, 1e300, -1e-300])
    if getattr(model, "classes", None):
        return rng.choice(model.classes)
    return rng.random() < 0.5 if two_classes_only(model) else rng.choice(LABELS)


def learn_something(rng, model, seen):
    x = any_example(rng, seen)
    seen.append(x)
    if not is_supervised(model):
        model.learn_one(x)
    else:
        w = rng.choice([1.0, 1.0, 1.0, 0.0, 0.3, 5.0, 1e-300, 1e8])
        model.learn_one(x, any_target(rng, model), w)
    return model


def predict_something(rng, model, seen):
    answers(model, [(any_example(rng, seen) | {"unknown": 1.0}, None)])
    return model


def mutate_something(rng, model, seen):
    if hasattr(model, "budget"):
        choices = [1, 2, 5, 20, None] if may_be_unlimited(model) else [1, 2, 5, 20]
        least = getattr(model, "rank", None) or 1
        budget = rng.choice([b for b in choices if b is None or b >= least] or [model.budget])
        with contextlib.suppress(ValueError):  # only the Gaussian kernel can merge
            model.mutate({"budget": budget})
    elif hasattr(model, "window"):
        model.mutate({"window": rng.choice([1, 2, 5, 20])})
    elif hasattr(model, "learning_rate") and "learning_rate" in model._mutable_attributes:
        model.mutate({"learning_rate": rng.choice([1e-8, 0.1, 0.9])})
    return model


def refine_something(rng, model, seen):
    if hasattr(model, "refine"):
        model.refine(rng.choice([0, 1, 7]))
    return model


def save_and_load(rng, model, seen):
    twin = opened(file_of(model))
    assert file_of(twin) == file_of(model)
    return twin


def freeze_a_copy(rng, model, seen):
    frozen = opened(file_of(model), predict_only=True)
    stream = [(x, None) for x in seen[-3:]]
    assert answers(frozen, stream) == answers(model, stream)
    with pytest.raises(RuntimeError):
        frozen.learn_one({})
    return model


OPERATIONS = [
    *[learn_something] * 8,
    predict_something,
    mutate_something,
    refine_something,
    save_and_load,
    freeze_a_copy,
    lambda rng, model, seen: pickle.loads(pickle.dumps(model)),
    lambda rng, model, seen: copy.deepcopy(model),
    lambda rng, model, seen: model.clone(include_attributes=True),
]


def check(model, seen):
    """Nothing but finite numbers, and never more than the budget."""
    for x in (seen[-1] if seen else {}, {"a": 1.0, "new": -1.0}):
        if hasattr(model, "transform_one"):
            scores = model.transform_one(x).values()
        else:
            scores = list_of(model.decision_function_one(x))
        assert all(map(math.isfinite, scores))
        if isinstance(model, base.Classifier):
            assert all(0.0 <= share <= 1.0 for share in model.predict_proba_one(x).values())
            model.predict_one(x)
    if model.block is None:
        return
    block = views(model.block)
    n = int(block.head.count)
    limit = getattr(model, "budget", None) or getattr(model, "window", None)
    assert limit is None or n <= limit
    for table in (table_of(block), block.coefficients, block.per_vector):
        assert np.isfinite(table).all()
    assert not np.isnan(block.norms).any()
    assert not block.coefficients[:, n:].any()
    if isinstance(model, (rb.AutoKernelClassifier, rb.AutoKernelRegressor)):
        return  # arrivals stand elsewhere
    if hasattr(model, "n_support_vectors"):
        arrivals = block.arrivals[:n]
        assert len(set(arrivals.tolist())) == n
        assert n == 0 or 0 <= arrivals.min() <= arrivals.max() < block.head.arrived


@pytest.mark.parametrize("number", range(len(ESTIMATORS)), ids=[e.id for e in ESTIMATORS])
def test_models_survive_any_sequence_of_operations(number, no_hang):
    (original,) = ESTIMATORS[number].values
    for seed in range(SEQUENCES):
        rng, seen = random.Random(1000 * number + seed), []
        model, done = original.clone(), []
        for _ in range(rng.randrange(8, 23)):
            operation = rng.choice(OPERATIONS)
            done.append(operation.__name__)
            try:
                model = operation(rng, model, seen)
                check(model, seen)
            except Exception as error:
                error.add_note(f"seed {1000 * number + seed}: {done}")
                raise


ZERO, FAR = {}, {"c": 1e300}


OVERFLOWING = [
    pytest.param(
        rb.ProjectronClassifier(9, Linear()),
        [({"b": 1e-160}, "coral"), ({"b": 1e300}, "amber")],
        id="the factor of a tiny vector times a huge kernel value",
    ),
    pytest.param(
        rb.BPAClassifier(1, Linear(), update="nearest"),
        [({"a": 1.0}, "dun"), ({"a": -1e-160}, "dun"), (ZERO, "blue")],
        id="a loss that is NaN has no least",
    ),
    pytest.param(
        rb.NOGDClassifier(9, Linear(), rank=4),
        [
            *(({"c": 1.0}, "coral"), (ZERO, "blue"), (ZERO, "blue"), (ZERO, "coral")),
            *((FAR, "amber"), (ZERO, "amber"), (ZERO, "amber")),
            *(({"c": 1.0, 7: 1.0}, "blue"), ({7: 1.0}, "dun"), (ZERO, "dun")),
        ],
        id="a Gram matrix whose largest values are cut off",
    ),
]


@pytest.mark.parametrize(("model", "stream"), OVERFLOWING)
def test_extreme_values_do_no_harm_with_kernels_that_have_no_bound(model, stream):
    model = model.clone()
    for example in stream:
        teach(model, [example])
        check(model, [example[0]])


def targets_for(model, n, one_class=False):
    if isinstance(model, base.Regressor):
        return [1.0 if one_class else math.sin(i) for i in range(n)]
    if getattr(model, "classes", None):
        return [model.classes[0 if one_class else i % len(model.classes)] for i in range(n)]
    return [True if one_class else i % 2 == 0 for i in range(n)]


def special_streams(model):
    rng = np.random.default_rng(0)
    point = {"a": 0.5, "b": -1.0}
    two, one = targets_for(model, 150), targets_for(model, 150, one_class=True)
    points = [dict(zip("abc", row, strict=True)) for row in rng.normal(size=(150, 3)).tolist()]
    yield "constant", [(point, y) for y in one]
    yield "contradiction", [(point, y) for y in two]
    yield "one class", list(zip(points, one, strict=True))
    yield "duplicates", [(points[i % 3], y) for i, y in enumerate(two)]
    yield "zero vectors", [({"a": 0.0}, y) for y in two[:75]] + [({}, y) for y in two[75:]]
    yield "collinear", [({"a": 1.0 + i, "b": 2.0 + 2 * i}, y) for i, y in enumerate(two)]
    yield "tiny steps", [({"a": 1.0 + 1e-12 * i}, y) for i, y in enumerate(two)]


@pytest.mark.parametrize("model", ESTIMATORS)
def test_special_streams_do_no_harm(model, no_hang):
    for name, stream in special_streams(model):
        twin = model.clone()
        for i, example in enumerate(stream):
            teach(twin, [example])
            if i % 10 == 9:
                check(twin, [example[0]])
        assert file_of(opened(file_of(twin))) == file_of(twin), name


@pytest.mark.parametrize("model", ESTIMATORS)
def test_ten_thousand_features(model):
    rng, model = np.random.default_rng(0), model.clone()
    names = [f"feature {i}" for i in range(10_000)]
    targets = targets_for(model, 25)
    for i, row in enumerate(rng.normal(size=(25, 10_000)) / 100.0):
        teach(model, [(dict(zip(names, row.tolist(), strict=True)), targets[i])])
    for i in range(5):  # and few of them
        teach(model, [({f"feature {i}": 1.0, f"another {i}": 0.5}, targets[i])])
    check(model, [{"feature 3": 1.0}])
    twin = opened(file_of(model))
    stream = [(dict.fromkeys(names, 0.01), None), ({"feature 3": 1.0}, None)]
    assert answers(twin, stream) == answers(model, stream)


@pytest.mark.parametrize(
    "model",
    [e for e in MODELS if isinstance(e.values[0], base.Classifier) and not two_classes_only(e.values[0])],
)  # fmt: skip
def test_five_hundred_classes(model):
    rng, model = np.random.default_rng(0), model.clone()
    centres = rng.normal(size=(500, 4))
    for i in range(700):
        x = centres[i % 500] + 0.1 * rng.normal(size=4)
        model.learn_one(dict(enumerate(x.tolist())), f"class {i % 500}")
    check(model, [dict(enumerate(centres[0].tolist()))])
    shares = model.predict_proba_one({0: 1.0})
    assert len(shares) == 500
    assert math.isclose(sum(shares.values()), 1.0)
    assert opened(file_of(model)).predict_proba_one({0: 1.0}) == shares

"""Models survive kernel values without a bound, many features and many classes. (Any operations:
test_fuzz.py.)
"""

from __future__ import annotations

import math

import fuzzing
import numpy as np
import pytest
from fuzzing import check_model
from models import MODELS, two_classes_only
from river import base
from saved_models import answers, file_of, teach

import river_budget as rb
from river_budget.kernels import Linear
from river_budget.saving import opened

pytestmark = pytest.mark.slow

each_model = pytest.mark.parametrize(
    "model", fuzzing.MODELS, ids=lambda model: type(model).__name__
)
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
        check_model(model, [example[0]])


def targets_for(model, n):
    if isinstance(model, base.Regressor):
        return [math.sin(i) for i in range(n)]
    classes = getattr(model, "classes", None) or (True, False)
    return [classes[i % len(classes)] for i in range(n)]


@each_model
def test_ten_thousand_features(model):
    rng, model = np.random.default_rng(0), model.clone()
    names = [f"feature {i}" for i in range(10_000)]
    targets = targets_for(model, 25)
    for i, row in enumerate(rng.normal(size=(25, 10_000)) / 100.0):
        teach(model, [(dict(zip(names, row.tolist(), strict=True)), targets[i])])
    for i in range(5):  # and few of them
        teach(model, [({f"feature {i}": 1.0, f"another {i}": 0.5}, targets[i])])
    check_model(model, [{"feature 3": 1.0}])
    twin = opened(file_of(model))
    stream = [(dict.fromkeys(names, 0.01), None), ({"feature 3": 1.0}, None)]
    assert answers(twin, stream) == answers(model, stream)


@pytest.mark.parametrize(
    "model",
    [e for e in MODELS if isinstance(e.values[0], base.Classifier) and not two_classes_only(e.values[0])],  # noqa: E501
)  # fmt: skip
def test_five_hundred_classes(model):
    rng, model = np.random.default_rng(0), model.clone()
    centres = rng.normal(size=(500, 4))
    for i in range(700):
        x = centres[i % 500] + 0.1 * rng.normal(size=4)
        model.learn_one(dict(enumerate(x.tolist())), f"class {i % 500}")
    check_model(model, [dict(enumerate(centres[0].tolist()))])
    shares = model.predict_proba_one({0: 1.0})
    assert len(shares) == 500
    assert math.isclose(sum(shares.values()), 1.0)
    assert opened(file_of(model)).predict_proba_one({0: 1.0}) == shares

"""A kernel row that a prediction has left is used again for the same example only, and only while no vector has changed."""

import copy
import random

import pytest

import river_budget as rb
from river_budget.saving.nodes import encoded

WORDS = "abcdefgh"
NAMES = ("x", "y", "z")
MODELS = {
    "removing": rb.RBPClassifier(6, seed=1),
    "merging": rb.BSGDClassifier(6),
    "ball": rb.BSGDClassifier(6, l2=0.5, project_to_ball=True),
    "mean": rb.BSGDClassifier(6, average=True),
    "projecting": rb.BSGDRegressor(5, maintenance=rb.maintenance.Project()),
    "truncating": rb.NORMARegressor(6),
    "window": rb.SBPClassifier(6, seed=1),
    "growing": rb.KernelPerceptronClassifier(),
    "Laplacian": rb.ForgetronClassifier(6, rb.kernels.Laplacian(0.5)),
    "landmarks": rb.NOGDClassifier(6),
}


def examples(n, seed):
    rng = random.Random(seed)
    whole = [
        {name: float(rng.choice((0, 1, -2, 0.5))) for name in rng.sample(NAMES, 3)}
        for _ in range(n)
    ]
    for x in whole:
        if rng.random() < 0.3:
            del x[rng.choice(NAMES)]
        if rng.random() < 0.2:
            x[rng.choice(WORDS)] = 1.0
    return rng, whole


def without_rows(model):
    """The model, with calls of its own that know no earlier row."""
    model.replace()
    return model


@pytest.mark.parametrize("name", MODELS)
def test_predictions_in_any_order_leave_the_model_as_a_loop_without_them(name):
    model = MODELS[name].clone()
    plain = copy.deepcopy(model)
    rng, known = examples(300, 4)
    classifier = hasattr(plain, "classes")
    for i, x in enumerate(known):
        y = (x.get("x", 0.0) * x.get("y", 1.0) > 0.0) if classifier else x.get("x", 0.0) ** 2 - 1.0
        for other in [x, *rng.choices(known, k=rng.randrange(3)), x][rng.randrange(3) :]:
            expected = without_rows(plain).decision_function_one(other)
            assert model.decision_function_one(other) == expected
            assert model.decision_function_one(dict(other)) == expected
        for _ in range(rng.randrange(1, 3)):
            w = rng.choice((1.0, 0.1))  # a small one may shrink the ball, and with it the model
            model.learn_one(x, y, w)
            without_rows(plain).learn_one(x, y, w)
        if i == 80 and "budget" in model._get_params():
            model.mutate({"budget": 3})
            plain.mutate({"budget": 3})
    assert encoded(model)[0] == encoded(plain)[0]  # with the calibration


def test_a_row_of_other_vectors_or_another_example_is_not_used():
    """Two threads have two calls: one predicts, the other learns, and then the first learns what it has predicted."""
    x, other = {"x": 1.0, "y": 2.0}, {"x": -1.0, "y": 0.5}
    model, plain = rb.KernelOGDRegressor(), rb.KernelOGDRegressor()
    for each in (model, plain):
        each.learn_one(x, 1.0)
        each.learn_one({"x": 0.0, "y": 1.0}, -1.0)
    model.predict_one(other)
    first = model.free_rows.pop()  # what a second thread would find: no free call
    model.learn_one(other, 3.0)
    model.free_rows.append(first)
    model.learn_one(other, 3.0)
    plain.learn_one(other, 3.0)
    without_rows(plain).learn_one(other, 3.0)
    assert model.decision_function_one(x) == without_rows(plain).decision_function_one(x)

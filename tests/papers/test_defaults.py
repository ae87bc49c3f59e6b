"""What models do without settings, and that the table of `examples/papers defaults` is what a pipeline gives."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from papers import command, defaults
from river import base, datasets, evaluate, linear_model, metrics, preprocessing
from streams import emerging

import river_budget as rb
from river_budget.core.block.blocks import views
from river_budget.kernels import RBF, Laplacian, Linear
from river_budget.maintenance import Merge, Project


@pytest.mark.parametrize(
    ("name", "least"), [("phishing", 89.0), ("bananas", 87.0), ("image-segments", 85.0)]
)
def test_the_first_model_of_the_readme_is_good_without_settings(name, least):
    assert defaults.measure(rb.BSGDClassifier(), name) >= least


@pytest.mark.parametrize("kind", defaults.REGRESSORS.values(), ids=list(defaults.REGRESSORS))
def test_no_regressor_explodes_without_settings(kind):
    for name in ("trump", "chick"):
        assert defaults.measure(defaults.seeded(kind), name) > 0.3


@pytest.mark.parametrize("name", ["BSGD", "FOGD", "NOGD", "Projectron"])
def test_regressors_are_good_without_settings(name):
    model = defaults.seeded(defaults.REGRESSORS[name])
    assert defaults.measure(model, "trump") >= 0.94
    assert defaults.measure(model, "chick") >= 0.69


@pytest.mark.parametrize(
    "model",
    [rb.RandomFourier(seed=1), rb.Nystroem(), rb.RBFSampler(seed=1)],
    ids=lambda model: type(model).__name__,
)
def test_maps_in_front_of_rivers_linear_models_are_good_without_settings(model):
    linear = linear_model.LogisticRegression()
    pipeline = preprocessing.StandardScaler() | model | linear
    metric = evaluate.progressive_val_score(datasets.Phishing(), pipeline, metrics.Accuracy())
    assert metric.get() >= 0.88


def moving():
    """XOR whose centre moves from 0 to 20."""
    rng = np.random.default_rng(0)
    square = rng.uniform(-1, 1, (20_000, 2))
    return square + np.linspace(0, 20, len(square))[:, None], square[:, 0] * square[:, 1] > 0


def share_right_at_the_end(model):
    X, y = moving()
    return np.mean(model.predict_then_learn_many(X, y)[-1000:] == y[-1000:])


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (rb.AutoKernelClassifier(seed=1), 0.93),
        (rb.BSGDClassifier(), 0.85),
        (rb.FOGDClassifier(seed=1), 0.85),
        (rb.BSGDClassifier(maintenance=rb.maintenance.RemoveOldest()), 0.82),
    ],
)
def test_a_model_follows_a_target_that_moves(model, least):
    assert share_right_at_the_end(model) >= least


@pytest.mark.parametrize(
    "model", [rb.NOGDClassifier(), rb.ProjectronClassifier(), rb.BSGDClassifier(learning_rate=None)]
)
def test_a_model_that_the_docs_call_unable_to_follow_is_no_better_than_guessing(model):
    assert share_right_at_the_end(model) <= 0.6


@pytest.mark.parametrize(
    "name", ["AutoKernel", "BSGD", "FOGD", "NOGD", "NORMA", "SBP", "BOGD", "Forgetron"]
)
def test_rivers_area_under_the_curve_is_nearly_the_exact_one(name):
    """Ten thresholds are enough where probabilities are spread out."""
    model = preprocessing.StandardScaler() | defaults.seeded(getattr(rb, f"{name}Classifier"))
    metric, found = metrics.ROCAUC(), []
    for x, y in datasets.Phishing():
        probability = model.predict_proba_one(x).get(True, 0.5)
        metric.update(y, probability)
        found.append((probability, y))
        model.learn_one(x, y)
    right, wrong = (np.array([p for p, y in found if y == label]) for label in (True, False))
    exact = np.mean((right[:, None] > wrong) + 0.5 * (right[:, None] == wrong))
    assert metric.get() == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize(
    ("kernel", "usual"),
    [(None, Merge()), (RBF(), Merge()), (Laplacian(), Project()), (Linear(), Project())],
)
def test_maintenance_goes_with_the_kernel(kernel, usual):
    model = rb.BSGDClassifier(10, kernel)
    assert model.strategy == usual
    for x, y in emerging(100):
        model.learn_one(x, y)
    assert model.n_support_vectors <= 10
    model.budget = None
    for x, y in emerging(100, seed=1):
        model.learn_one(x, y)
    assert model.n_support_vectors > 10 or kernel == Linear()  # spanned by the features


@pytest.mark.parametrize(
    ("model", "width"),
    [
        (rb.BSGDClassifier(), 2.0),
        (rb.BPAClassifier(), 1.5),
        (rb.BSGDRegressor(), 0.5),
        (rb.BSGDClassifier(kernel=RBF()), 1.0),
        (rb.BSGDClassifier(kernel=RBF("0.25/d")), 0.25),
    ],
)
def test_widths_are_in_units_of_the_number_of_features(model, width):
    model.learn_one({"a": 1.0, "b": 2.0, "c": 0.0, "d": 1.0}, 1)
    assert views(model.block).head.gamma == width / 4


@pytest.mark.parametrize(
    "gamma", ["", "d", "/d", "0/d", "-1/d", "1/e", "1e5/d", "nan/d", "2/ d", "٣/d"]
)
def test_other_texts_are_no_widths(gamma):
    with pytest.raises(ValueError, match="gamma"):
        RBF(gamma)


def through_river(model, name):
    """`defaults.measure` by River's own scalers."""
    pipeline = preprocessing.StandardScaler() | model.clone()
    regression = isinstance(model, base.Regressor)
    if regression:
        pipeline = preprocessing.TargetStandardScaler(pipeline)
    predictions = []
    for x, y in defaults.examples_of(name):
        predictions.append(pipeline.predict_one(x))
        pipeline.learn_one(x, y)
    found, y = np.array(predictions), np.array([y for _, y in defaults.examples_of(name)])
    if regression:
        return 1.0 - np.mean((found - y)[50:] ** 2) / np.var(y[50:])
    return 100.0 * np.mean(found == y)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (rb.BSGDClassifier(), "phishing"),
        (rb.FOGDClassifier(seed=1), "image-segments"),
        (rb.BSGDRegressor(), "chick"),
        (rb.NOGDRegressor(), "trump"),
    ],
)
def test_the_table_is_what_a_pipeline_of_river_gives(model, name):
    assert defaults.measure(model, name) == pytest.approx(through_river(model, name), abs=0.2)


def test_what_is_kept_for_comparison_says_so_first():
    marked = {
        kind.__name__
        for kind in (*defaults.CLASSIFIERS.values(), *defaults.REGRESSORS.values())
        if "Kept for comparison" in inspect.getdoc(kind)
    }
    for name in marked:
        assert "Kept for comparison" in inspect.getdoc(getattr(rb, name))[:260]
    assert not marked & {f"{n}Classifier" for n in ("BSGD", "FOGD", "NOGD", "BPA", "SBP")}
    assert not marked & {f"{n}Regressor" for n in ("BSGD", "FOGD", "NOGD", "Projectron", "NORMA")}


def test_the_table_is_printed_with_a_caption(capsys):
    assert command.main(["defaults", "--data", "chick"]) == 0
    text = capsys.readouterr().out
    assert "LinearRegression" in text
    assert defaults.CAPTION[False] in text
    assert len(text.splitlines()) > len(defaults.REGRESSORS)
    assert command.main(["defaults", "--data", "nowhere"]) == 2

"""What models do without settings, and that the table of `examples/papers defaults` is what a
pipeline gives.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from papers import command, defaults
from river import base, preprocessing

import river_budget as rb
from river_budget.core.memory import views
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
    ("kernel", "usual"),
    [(None, Merge()), (RBF(), Merge()), (Laplacian(), Project()), (Linear(), Project())],
)
def test_maintenance_goes_with_the_kernel(kernel, usual):
    assert rb.BSGDClassifier(10, kernel)._strategy == usual


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
    assert views(model._block).head.gamma == width / 4


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

"""The state of a model as text and in notebooks."""

from __future__ import annotations

import pickle
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from models import MODELS, learn, learned, one_of_each, stream_for
from river import compose, linear_model, preprocessing

import river_budget as rb
from river_budget.kernels import RBF

MAPS = [rb.RandomFourier(5), rb.Nystroem(5), rb.RBFSampler(5), rb.KernelOneClassSVM()]


def lines_of(text):
    return dict(re.findall(r"^  (\S.*?)  +(.+)$", text, re.M))


@pytest.mark.parametrize("model", one_of_each(MODELS))
def test_a_summary_says_what_the_model_holds_and_changes_nothing(model):
    model = learned(model, 40)
    before = pickle.dumps(model)
    text, html = model.summary(), model._repr_html_()
    assert pickle.dumps(model) == before
    lines = lines_of(text)
    assert text.splitlines()[0] == type(model).__name__
    assert lines["examples"] == "40"
    assert lines["features"] == str(len(model._features))
    assert "memory" in lines
    picture = ET.fromstring(html.partition("<style")[0] + "</div>")
    cells = [cell.text for cell in picture.iter("td")]
    assert dict(zip(cells[::2], cells[1::2], strict=True)) == lines


@pytest.mark.parametrize(
    "model", [entry.values[0] for entry in one_of_each(MODELS)] + MAPS, ids=repr
)
def test_a_fresh_model_has_a_summary(model):
    lines = lines_of(model.clone().summary())
    assert lines["features"] == "0"
    assert lines.get("examples", "0") == "0"


def test_vectors_are_counted_against_the_budget():
    limited, free = rb.RBPClassifier(10, seed=1), rb.KernelPerceptronClassifier()
    for model in (limited, free):
        learn(model, stream_for(model, 200))
    assert lines_of(limited.summary())["vectors"] == "10 of 10"
    assert lines_of(free.summary())["vectors"] == f"{free.n_support_vectors}, no limit"


def test_examples_without_weight_do_not_count():
    model = rb.FOGDRegressor(5, seed=1)
    for w in (1.0, 0.0, 2.0):
        model.learn_one({"a": 1.0}, 1.0, w=w)
    assert model.n_examples == 2


def test_the_width_in_use_is_shown_where_it_follows_from_the_data():
    model = rb.BSGDClassifier()
    model.learn_one({"a": 1.0, "b": 0.0}, True)
    assert lines_of(model.summary())["kernel"] == "RBF(gamma='2/d'), here gamma = 1"
    assert lines_of(rb.BSGDClassifier(kernel=RBF(0.3)).summary())["kernel"] == "RBF(gamma=0.3)"


@pytest.mark.parametrize(
    "model",
    [
        rb.BSGDClassifier(30, RBF(0.5)),
        rb.NOGDClassifier(30, RBF(0.5)),
        rb.BSGDClassifier(30, RBF(0.5), average=True),
        rb.AutoKernelClassifier(seed=1),
    ],
    ids=repr,
)
def test_the_feature_that_decides_is_the_best(model):
    rng = np.random.default_rng(0)
    for a, b, c in rng.normal(size=(400, 3)).tolist():
        model.learn_one({"a": a, "b": b, "c": c}, b > 0)
    assert lines_of(model.summary())["best features"].startswith("b (0.")


def test_many_features_are_looked_at_in_no_time_or_not_at_all():
    model = rb.RBPClassifier(10, seed=1)
    x = {f"f{i}": 1.0 for i in range(6000)}
    model.learn_one(x, True)
    model.learn_one(x, False)
    assert "best features" not in lines_of(model.summary())


def test_many_classes_are_counted():
    model = rb.BSGDClassifier(classes=tuple("abcdefgh"))
    assert lines_of(model.summary())["classes"] == "a, b, c, d, e, and 3 more"
    assert lines_of(rb.BSGDClassifier().summary())["classes"] == "none yet"


def test_a_pipeline_says_what_its_steps_hold():
    pipeline = compose.Pipeline(preprocessing.StandardScaler(), rb.BSGDClassifier(7))
    pipeline.learn_one({"a": 1.0}, True)
    text = rb.summary(pipeline)
    assert "StandardScaler" in text
    assert lines_of(text)["vectors"] == "1 of 7"
    assert "LogisticRegression" in rb.summary(linear_model.LogisticRegression())


def test_the_picture_of_a_model_is_rivers_with_its_state():
    html = rb.BSGDClassifier(7, RBF(0.25))._repr_html_()
    assert 'class="river-component river-estimator"' in html
    assert "budget=7" in html
    assert "RBF(gamma=0.25)" in html
    assert "<td>0 of 7</td>" in html

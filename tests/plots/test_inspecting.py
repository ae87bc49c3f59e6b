"""Plots of what a model has learned: importances, trust in experts, intervals; names at points;
counts.
"""

from __future__ import annotations

import numpy as np
import pytest
from river import datasets, preprocessing

import river_budget as rb

pytest.importorskip("matplotlib", reason="figures need matplotlib: the extra `plots`")
import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt

TRUMP = list(datasets.TrumpApproval())[:300]
PHISHING = list(datasets.Phishing())[:300]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def learned():
    model = rb.AutoKernelClassifier(seed=1)
    for x, y in PHISHING:
        model.learn_one(x, y)
    return model


def test_the_most_important_features_have_the_longest_bars():
    model = learned()
    ax = rb.plots.importances(model, features=4)
    expected = sorted(model.importances().items(), key=lambda part: part[1])[-4:]
    assert [text.get_text() for text in ax.get_yticklabels()] == [name for name, _ in expected]
    assert [bar.get_width() for bar in ax.patches] == [share for _, share in expected]
    texts = rb.AutoKernelClassifier(seed=1)
    for i in range(200):
        texts.learn_one({"colour": ["red", "blue"][i % 2], "size": i}, i % 2 == 0)
    shown = rb.plots.importances(texts).get_yticklabels()
    assert {text.get_text() for text in shown} == {"colour = red", "colour = blue", "size"}
    other = plt.subplots()[1]
    assert rb.plots.importances(preprocessing.StandardScaler() | model, ax=other) is other


def test_trust_in_experts_is_that_at_the_end():
    ax = rb.plots.experts(rb.AutoKernelClassifier(seed=1), PHISHING)
    expected = {each["name"]: each["weight"] for each in learned().experts()}
    ends = [line.get_ydata()[-1] for line in ax.lines]
    assert ends == pytest.approx(list(expected.values()))
    assert {line.get_xdata()[-1] for line in ax.lines} == {300}


def test_intervals_hold_the_share_of_targets_in_the_title():
    model = rb.AutoKernelRegressor(seed=1)
    ax = rb.plots.intervals(model, TRUMP, share=0.8, last=50)
    inside, clone = [], model.clone()
    for x, y in TRUMP:
        within = clone.predict_one(x, with_dist=True).interval(0.8)
        inside.append(within.lower <= y <= within.upper)
        clone.learn_one(x, y)
    assert ax.get_title().startswith(f"{100 * np.mean(inside):.1f} % of targets")
    assert [len(line.get_xdata()) for line in ax.lines] == [50, 50]
    assert model._block is None


def test_wrong_models_and_shares_are_named():
    with pytest.raises(ValueError, match="must end in an AutoKernel, not in BSGDClassifier"):
        rb.plots.importances(rb.BSGDClassifier())
    with pytest.raises(ValueError, match="learned nothing"):
        rb.plots.importances(rb.AutoKernelClassifier())
    with pytest.raises(ValueError, match="AutoKernelRegressor, which has intervals"):
        rb.plots.intervals(rb.AutoKernelClassifier(), PHISHING)
    with pytest.raises(ValueError, match="share must be a number between 0 and 1"):
        rb.plots.intervals(rb.AutoKernelRegressor(), TRUMP, share=90)


def test_names_stand_at_points_and_there_is_no_legend():
    models = {"small": rb.BSGDClassifier(5), "large": rb.BSGDClassifier(50)}
    ax = rb.plots.error_against_memory(models, PHISHING)
    assert not ax.figure.legends
    assert [text.get_text() for text in ax.texts] == ["small", "large"]
    assert [text.get_ha() for text in ax.texts] == ["left", "right"]


def test_counts_stand_under_the_reliability():
    ax = rb.plots.reliability(rb.AutoKernelClassifier(seed=1), PHISHING)
    (below,) = ax.child_axes
    (bars,) = below.patches
    assert bars.get_data().values.sum() == len(PHISHING) - 1  # the first row has no probabilities
    assert bars.get_facecolor()[:3] == mpl.colors.to_rgb(ax.lines[0].get_color())

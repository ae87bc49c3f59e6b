"""Pictures of models: what is drawn is what River measures, on the axes that were handed in."""

from __future__ import annotations

import numpy as np
import pytest
from optional import package
from river import datasets, dummy, evaluate, forest, linear_model, metrics, preprocessing

import river_budget as rb
from river_budget.plots import running
from river_budget.plots.figures import DPI

package("matplotlib").use("Agg")
plt = package("matplotlib.pyplot")

PHISHING = list(datasets.Phishing())[:200]
BANANAS = list(datasets.Bananas())[:300]
NUMBERS = [({"a": i % 7, "b": i % 5}, float(i % 7)) for i in range(60)]


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def scaled(model):
    return preprocessing.StandardScaler() | model


def bananas_learned(model):
    for x, y in BANANAS:
        model.learn_one(x, y)
    return model


def legend_of(axes):
    legend = axes.figure.legends[0] if axes.figure.legends else axes.get_legend()
    return [text.get_text() for text in legend.get_texts()]


# mistake_curve


def test_a_curve_ends_where_progressive_validation_does():
    model = scaled(rb.BSGDClassifier(20, classes=(False, True)))
    ax = rb.plots.mistake_curve(model, PHISHING, orders=1)
    accuracy = evaluate.progressive_val_score(PHISHING, model.clone(), metrics.Accuracy()).get()
    x, y = ax.lines[0].get_data()
    assert (x[-1], y[-1]) == (200, pytest.approx(1 - accuracy))
    assert not ax.collections


def test_several_orders_give_a_band_of_one_standard_deviation():
    model = rb.RBPClassifier(10, seed=1)
    ax = rb.plots.mistake_curve(model, PHISHING, orders=3, examples=100)
    ends = []
    for k in range(3):
        rows = [PHISHING[i] for i in np.random.default_rng(100 + k).permutation(200)[:100]]
        _, guesses = running.predict_and_learn(model.clone(), rows)
        ends.append(np.mean([guess != y for guess, (_, y) in zip(guesses, rows, strict=True)]))
    vertices = ax.collections[0].get_paths()[0].vertices
    at_end = vertices[vertices[:, 0] == 100, 1]
    assert ax.lines[0].get_ydata()[-1] == pytest.approx(np.mean(ends))
    assert np.ptp(at_end) == pytest.approx(2 * np.std(ends, ddof=1))


def test_a_window_shows_the_last_examples_only():
    model = rb.BSGDClassifier(20, classes=(False, True))
    ax = rb.plots.mistake_curve(model, PHISHING, orders=1, window=30)
    _, guesses = running.predict_and_learn(model.clone(), PHISHING)
    wrong = running.errors_of(guesses, PHISHING, False)
    x, y = ax.lines[0].get_data()
    assert y.tolist() == pytest.approx([wrong[max(t - 30, 0) : t].mean() for t in x.astype(int)])
    assert ax.get_ylabel() == "wrong predictions in the last 30 examples"


def test_models_that_are_handed_in_learn_nothing():
    model = rb.FOGDClassifier(10, seed=1)
    rb.plots.mistake_curve(model, PHISHING, examples=20)
    rb.plots.budget_sweep(model, PHISHING, budgets=[5], examples=20)
    rb.plots.error_against_time(model, PHISHING, examples=20)
    rb.plots.reliability(model, PHISHING, examples=20)
    assert model._block is None


def test_names_come_from_the_last_step_and_are_told_apart():
    models = [scaled(rb.ProjectronPPClassifier()), rb.FOGDClassifier(seed=1), rb.FOGDClassifier()]
    ax = rb.plots.mistake_curve(models, PHISHING, orders=1, examples=30)
    assert legend_of(ax)[:3] == ["Projectron++", "FOGD", "FOGD 2"]


def test_regressors_are_shown_by_their_mean_absolute_error():
    model = preprocessing.TargetStandardScaler(scaled(rb.BSGDRegressor(10)))
    ax = rb.plots.mistake_curve(model, NUMBERS, orders=1)
    error = evaluate.progressive_val_score(NUMBERS, model.clone(), metrics.MAE()).get()
    assert ax.lines[0].get_ydata()[-1] == pytest.approx(error)
    assert ax.get_ylabel() == "mean absolute error so far"
    assert legend_of(ax) == ["BSGD"]


def test_a_stream_in_time_has_one_order(data):
    data("elec2")
    from river_budget.datasets import Electricity

    ax = rb.plots.mistake_curve(rb.RBPClassifier(10, seed=1), Electricity(), examples=50)
    assert not ax.collections


def test_what_cannot_be_drawn_is_named():
    classifier, regressor = rb.FOGDClassifier(), rb.FOGDRegressor()
    with pytest.raises(ValueError, match="all classifiers or all regressors"):
        rb.plots.mistake_curve([classifier, regressor], PHISHING)
    with pytest.raises(ValueError, match="models: a must be a River model, not 3"):
        rb.plots.mistake_curve({"a": 3}, PHISHING)
    with pytest.raises(ValueError, match="orders must be a whole number of at least 1"):
        rb.plots.mistake_curve(classifier, PHISHING, orders=0)
    with pytest.raises(ValueError, match="window must be a whole number of at least 1"):
        rb.plots.mistake_curve(classifier, PHISHING, window=0)
    with pytest.raises(ValueError, match="no examples"):
        rb.plots.mistake_curve(classifier, [])
    with pytest.raises(ValueError, match="models: FOGD is no classifier"):
        rb.plots.reliability(regressor, PHISHING)
    with pytest.raises(ValueError, match="bins must be a whole number of at least 1"):
        rb.plots.reliability(classifier, PHISHING, bins=0)
    with pytest.raises(ValueError, match="LogisticRegression has no budget, window or n_comp"):
        rb.plots.budget_sweep(linear_model.LogisticRegression(), PHISHING)
    with pytest.raises(ValueError, match="two features to show, not 9"):
        rb.plots.decision_surface(classifier, PHISHING)
    with pytest.raises(ValueError, match="two names"):
        rb.plots.decision_surface(classifier, features=["a"])
    with pytest.raises(ValueError, match="limits must be given"):
        rb.plots.decision_surface(classifier, features=["a", "b"])


# axes


def test_axes_of_the_reader_are_drawn_on():
    _, (left, right) = plt.subplots(1, 2)
    model = rb.BSGDClassifier(5)
    assert rb.plots.mistake_curve(model, PHISHING, examples=20, ax=left) is left
    assert rb.plots.decision_surface(model, BANANAS, resolution=5, ax=right) is right
    assert legend_of(left) == ["BSGD"]
    assert left.lines


def test_without_axes_there_is_a_new_figure_of_pyplot():
    ax = rb.plots.mistake_curve(rb.BSGDClassifier(5), PHISHING, examples=20)
    assert plt.gcf() is ax.figure
    assert ax.figure.dpi == DPI


# budgets and costs


def test_a_sweep_has_a_point_for_each_budget_wherever_the_model_stands():
    models = {
        "BSGD": scaled(rb.BSGDClassifier()),
        "SBP": rb.SBPClassifier(seed=1),
        "FOGD": rb.FOGDClassifier(seed=1),
    }
    ax = rb.plots.budget_sweep(models, PHISHING, budgets=[20, 5], orders=1, examples=60)
    for line, name in zip(ax.lines, models, strict=True):
        assert line.get_xdata().tolist() == [5, 20], name
    _, guesses = running.predict_and_learn(scaled(rb.BSGDClassifier(5)), PHISHING[:60])
    wrong = np.mean([guess != y for guess, (_, y) in zip(guesses, PHISHING, strict=False)])
    assert ax.lines[0].get_ydata()[0] == pytest.approx(wrong)
    assert ax.get_xlabel() == "budget (SBP: window, FOGD: components), log scale"


def test_a_sweep_reaches_the_model_inside_a_target_scaler():
    model = preprocessing.TargetStandardScaler(scaled(rb.BSGDRegressor()))
    ax = rb.plots.budget_sweep(model, NUMBERS, budgets=[2, 30], orders=2)
    few, many = ax.lines[0].get_ydata()
    assert many < few


def test_memory_is_that_of_the_whole_pipeline_after_the_stream():
    model = scaled(rb.BSGDClassifier(5))
    ax = rb.plots.error_against_memory(model, PHISHING)
    clone = model.clone()
    running.predict_and_learn(clone, PHISHING)
    assert ax.lines[0].get_xdata()[0] == pytest.approx(running.memory(clone) / 1000, rel=0.05)


def test_time_is_positive_and_errors_of_several_orders_have_bars():
    models = {"A": scaled(rb.BSGDClassifier(5)), "B": linear_model.LogisticRegression()}
    ax = rb.plots.error_against_time(models, PHISHING, orders=2, examples=50)
    path = "predict + learn, dicts of 9 features, StandardScaler (not B)"
    assert ax.get_title() == path
    assert all(line.get_xdata()[0] > 0 for line in ax.lines)
    assert ax.get_xscale() == "log"
    assert len(ax.collections) == 2


# reliability


def test_a_model_that_is_as_sure_as_right_lies_on_the_diagonal():
    rng = np.random.default_rng(0)
    stream = [({}, bool(y)) for y in rng.random(4000) < 0.7]
    ax = rb.plots.reliability(dummy.PriorClassifier(), stream)
    line, diagonal = ax.lines
    x, y = line.get_data()
    assert x[-1] == pytest.approx(y[-1], abs=0.02)
    assert x[-1] == pytest.approx(0.7, abs=0.03)
    assert diagonal.get_xdata().tolist() == diagonal.get_ydata().tolist()
    assert legend_of(ax)[0].startswith("Prior, ECE ")


def test_bins_hold_what_was_said_and_what_came_true():
    from river_budget.plots.probabilities import binned, confidence

    sure, right = confidence([{}, {1: 0.9, 2: 0.1}, {1: 0.3, 2: 0.7}, {1: 1.0}], [1, 1, 1, 1])
    assert (sure.tolist(), right.tolist()) == ([0.9, 0.7, 1.0], [1.0, 0.0, 1.0])
    counts, gaps, x, y = binned(sure, right, 2)
    assert (counts.tolist(), y.tolist()) == ([3.0], [pytest.approx(2 / 3)])
    assert gaps.tolist() == [pytest.approx(2 - 2.6)]
    assert x.tolist() == [pytest.approx(2.6 / 3)]


# decision_surface


def drawn(ax, label):
    return [part for part in ax.collections if part.get_label() == label]


@pytest.mark.parametrize("scaler", [preprocessing.StandardScaler, preprocessing.MinMaxScaler])
def test_support_vectors_are_shown_in_the_units_of_the_user(scaler):
    pipeline = bananas_learned(scaler() | rb.RBPClassifier(15, seed=1))
    ax = rb.plots.decision_surface(pipeline, resolution=5)
    (rings,) = drawn(ax, "vectors")
    stored = {
        tuple(sorted(v["features"].items())) for v in pipeline["RBPClassifier"].support_vectors()
    }
    seen = {
        tuple(sorted(scaled_one.items()))
        for scaled_one in (
            pipeline[scaler.__name__].transform_one(dict(zip("12", place, strict=True)))
            for place in rings.get_offsets().tolist()
        )
    }
    assert len(stored) == len(seen) == 15
    assert np.allclose(
        sorted(v for items in stored for _, v in items),
        sorted(v for items in seen for _, v in items),
    )


def test_vectors_are_left_out_where_features_are_mixed_or_on_request():
    mixing = rb.RandomFourier(5, seed=1) | rb.BSGDClassifier(5)
    ax = rb.plots.decision_surface(bananas_learned(mixing), BANANAS, resolution=5)
    assert not drawn(ax, "vectors")
    model = bananas_learned(rb.BSGDClassifier(5))
    assert not drawn(
        rb.plots.decision_surface(model, resolution=5, vectors=False, limits=(0, 1, 0, 1)),
        "vectors",
    )


def test_a_vector_has_the_colour_of_the_class_that_it_speaks_for():
    from matplotlib.colors import to_hex

    from river_budget.plots.surfaces import PALETTE

    model = rb.BSGDClassifier(5, rb.kernels.RBF(1.0))
    for label, place in (
        ("z", -1.0),
        ("a", 1.0),
    ):  # the order of the alphabet is not that of the labels
        model.learn_one({"x": place, "y": 0.0}, label)
    (rings,) = drawn(rb.plots.decision_surface(model, resolution=5), "vectors")
    found = {
        place[0]: to_hex(edge)
        for place, edge in zip(rings.get_offsets().tolist(), rings.get_edgecolor(), strict=True)
    }
    assert found == {1.0: PALETTE[0], -1.0: PALETTE[1]}


def test_regions_say_what_the_model_predicts():
    model = bananas_learned(scaled(rb.BSGDClassifier(20, rb.kernels.RBF(2.0))))
    ax = rb.plots.decision_surface(model, BANANAS, resolution=10)
    assert legend_of(ax) == ["False", "True", "support vector"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 1", "feature 2")


@pytest.mark.parametrize(
    "model",
    [
        scaled(forest.ARFClassifier(n_models=2, seed=1)),
        rb.AutoKernelClassifier(30, seed=1),
        scaled(rb.BSGDRegressor(10)),
        preprocessing.TargetStandardScaler(scaled(rb.BSGDRegressor(10))),
        linear_model.LinearRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_river_model_of_two_features_can_be_shown(model):
    bananas_learned(model)
    rb.plots.decision_surface(model, BANANAS[:50], resolution=5).figure.canvas.draw()


def test_a_detector_and_several_classes_are_shown():
    detector = rb.KernelOneClassSVM()
    several = rb.BSGDClassifier(20, rb.kernels.RBF(1.0))
    for i, (x, _) in enumerate(BANANAS):
        detector.learn_one(x)
        several.learn_one(x, "abc"[i % 3])
    figure = rb.plots.decision_surface(detector, BANANAS[:20], resolution=5).figure
    assert figure.axes[1].get_ylabel() == "anomaly score; unusual beyond the line of .5"
    ax = rb.plots.decision_surface(several, [(x, "d") for x, _ in BANANAS[:9]], resolution=5)
    assert legend_of(ax) == ["a", "b", "c", "d", "support vector"]

"""The examples of a first hour run, and what they print is better than having learned nothing."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import pickle
import re

import pytest
import river
from folders import EXAMPLES
from river import base, datasets
from scripts import load

import river_budget as rb

FOLDER = EXAMPLES / "first_hour"


@pytest.fixture(scope="module")
def front():
    pytest.importorskip("sklearn", reason="River's projectors need it")
    return load("first_hour/front")


@pytest.fixture(scope="module")
def around():
    return load("first_hour/around")


@pytest.fixture(scope="module")
def anomalies():
    return load("first_hour/anomalies")


@pytest.fixture(scope="module")
def everyday():
    return load("first_hour/everyday")


def assert_better_than_nothing(lines):
    """Shares right above, mean errors below those of a model that has learned nothing."""
    lines = list(lines)
    nothing = {task: value for task, name, value in lines if name == "(nothing learned)"}
    for task, name, value in lines:
        if name == "(nothing learned)":
            continue
        if task in ("regression", "shops"):
            assert value < 0.6 * nothing[task], (task, name)
        else:
            assert value > nothing[task] + 0.05, (task, name)
    return len(lines)


def test_whatever_scales_selects_and_projects_stands_in_front(front):
    assert assert_better_than_nothing(front.scalers_and_selectors(400)) == 3 * len(front.FRONTS) + 2


class Widths(base.Classifier):
    """Notes how many features it gets."""

    def __init__(self):
        self.learned, self.predicted = set(), set()

    def learn_one(self, x, y):
        self.learned.add(len(x))

    def predict_one(self, x):
        self.predicted.add(len(x))


def test_the_best_features_are_selected_for_learning_too(front):
    examples = front.stream("two classes", 20)
    pipeline = front.FRONTS["SelectKBest"].clone() | Widths()
    for x, y in examples:
        pipeline.learn_one(x, y)
        pipeline.predict_one(x)
    widths = list(pipeline.steps.values())[-1]
    assert (widths.learned, widths.predicted) == ({4, len(x)}, {4})  # nothing is known of the first


def test_gaps_categories_words_and_aggregates(front):
    lines = [*front.imputers(800), *front.encoders(800), *front.texts(200)]
    assert min(value for *_, value in lines) > 0.75
    assert assert_better_than_nothing(front.aggregates(600)) == 1 + len(front.AGGREGATES)


NOT_IN_FILES = {"GaussianRandomProjector", "SparseRandomProjector", "PoissonInclusion"}
# By pickles too: River finds its leaves by their addresses in memory
LOST = {"RandomTreesEmbedding"}


def test_what_stands_in_front_goes_on_from_a_pickle_and_from_a_file_or_its_error_says_pickle(
    front, tmp_path
):
    stream = list(itertools.islice(datasets.Phishing(), 200))
    for name, transformer in front.FRONTS.items():
        if name in LOST:
            continue
        model = transformer.clone() | rb.BSGDClassifier(20)
        for x, y in stream[:100]:
            model.predict_one(x)
            model.learn_one(x, y)
        twins = [pickle.loads(pickle.dumps(model))]
        if name not in NOT_IN_FILES:
            rb.save(model, tmp_path / "file")
            twins.append(rb.load(tmp_path / "file"))
        else:
            with pytest.raises(rb.SavedModelError, match="pickle"):
                rb.save(model, tmp_path / "file")
        for x, y in stream[100:]:
            expected = model.predict_proba_one(x)
            assert [twin.predict_proba_one(x) for twin in twins] == [expected] * len(twins)
            for each in (model, *twins):
                each.learn_one(x, y)


def test_our_maps_stand_in_front_of_rivers_linear_models(front):
    lines = list(front.maps(400))
    nothing = [
        (task, "(nothing learned)", front.usual(task, front.stream(task, 400)))
        for task in front.MODELS
    ]
    assert assert_better_than_nothing(nothing + lines) == 12


def test_whatever_stands_around(around):
    n = sum(len(models) for _, models, _ in around.TASKS.values())
    assert assert_better_than_nothing(around.ensembles_and_wrappers(500)) == n + 3


def test_several_outputs(around):
    found = {(task, name): value for task, name, value in around.several_outputs(300)}
    assert min(v for (task, _), v in found.items() if task == "two labels") > 0.65  # .25 by chance
    assert max(v for (task, _), v in found.items() if task == "two numbers") < 0.5  # .92 of zeros


def test_a_sampler_asks_for_few_labels(around):
    (_, _, asked), (_, _, right) = around.asking_for_labels(1000)
    assert 0.05 < asked < 0.5
    assert right > 0.85


def test_a_rule_that_turns_over_is_followed(around):
    found = list(around.drifting(3000))
    assert len(found) == 3
    assert min(value for *_, value in found) > 0.88


def test_detectors_see_outliers_and_rivers_metric_sees_it(anomalies):
    found = {(name, what): value for name, what, value in anomalies.detectors(800)}
    for name in ("KernelOneClassSVM", "QuantileFilter", "ThresholdFilter"):
        assert found[name, "exact"] > 0.95
        assert abs(found[name, "exact"] - found[name, "River's ROCAUC"]) < 0.02


def test_filters_in_front_and_regressors_inside(anomalies):
    filtered = {name: value for _, name, value in anomalies.filters(800)}
    assert len(filtered) == 4
    assert min(filtered.values()) > 0.7
    scores = {name: value for _, name, value in anomalies.by_prediction(800)}
    assert scores["outliers"] > 0.9 > 0.1 > scores["others"]


def test_models_are_judged_by_rivers_validation(everyday):
    found = dict(everyday.validation())
    assert found["checkpoints"] == 1.0
    assert found["log loss"] < 0.4
    assert found["ROCAUC"] > 0.9
    assert min(found[name] for name in ("progressive", "labels 20 examples late", "F1")) > 0.8


@pytest.mark.parametrize("part", ["bad_rows", "storing"])
def test_promises_are_kept(everyday, part):
    assert {value for _, value in getattr(everyday, part)()} == {1.0}


def test_frames(everyday):
    pytest.importorskip("pandas")
    loop, series, right = (value for _, value in everyday.tables())
    assert loop == series == 1.0
    assert right > 0.85


def test_what_changes_selects_and_forecasts(everyday):
    assert [value for _, value in everyday.changing()] == [10.0, 1.0]
    assert min(value for _, value in everyday.selecting()) > 0.8
    assert dict(everyday.forecasting())["share of the plain error"] < 1.0


NO_PLACE = {  # what has no place beside a model of ours, or takes none
    "Interval",  # what a jackknife gives
    *("GaussianScorer", "LODA", "OneClassSVM", "StandardAbsoluteDeviation", "LocalOutlierFactor"),
    *("base", "datasets", "binary"),  # modules
    # detectors of drift: any of them goes into DriftRetrainingClassifier
    *("ADWIN", "DummyDriftDetector", "KSWIN", "NoDrift", "PageHinkley", "PeriodicTrigger"),
}
MODULES = [
    *("preprocessing", "feature_selection", "feature_extraction", "ensemble", "imblearn", "drift"),
    *("model_selection", "multiclass", "multioutput", "active", "anomaly", "conf"),
]


@pytest.mark.skipif(not river.__version__.startswith("0.26"), reason="written for River 0.26")
@pytest.mark.parametrize("module", MODULES)
def test_nothing_of_river_is_left_out(module):
    text = "".join(path.read_text() for path in FOLDER.glob("*.py"))
    names = set(importlib.import_module(f"river.{module}").__all__) - NO_PLACE
    assert not {name for name in names if not re.search(rf"\b{name}\(", text)}


def test_the_scripts_are_listed():
    listed = set(re.findall(r"`(\w+\.py)`", (FOLDER / "README.md").read_text()))
    assert listed == {path.name for path in FOLDER.glob("*.py")}

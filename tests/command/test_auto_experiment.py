"""`river-budget auto`: the automatic learners beside River's models."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from river_budget.experiments import command
from river_budget.experiments.auto import auto
from river_budget.experiments.auto.auto_streams import STREAMS, UNSEEN, USUAL, examples_of
from river_budget.experiments.common import scores

QUICK = ["phishing", "trump"]


@pytest.fixture(scope="module")
def results():
    return auto.compare(QUICK, examples=200)


def test_every_model_runs_on_every_stream(results):
    expected = [("phishing", model) for model in auto.CLASSIFIERS]
    expected += [("trump", model) for model in auto.REGRESSORS]
    assert [(r.data, r.model) for r in results] == expected
    for r in results:
        assert r.error > 0.0
        assert 0.0 < r.loss < 100.0
        assert r.microseconds > 0.0
        assert r.bytes > 1000
        assert math.isnan(r.calibration_error) == r.regression


def test_the_table_has_a_line_for_each_and_a_star_for_the_best(results):
    for regression, models in ((False, auto.CLASSIFIERS), (True, auto.REGRESSORS)):
        header, lines = auto.rows(results, regression)
        assert [line[1] for line in lines] == list(models)
        assert {len(line) for line in lines} == {len(header)}
        assert sum("*" in line[2] for line in lines) >= 1


def test_the_picture_has_a_point_for_every_model(results):
    panels = auto.panels(results)
    assert [len(panel.lines) for panel in panels] == [len(auto.CLASSIFIERS), len(auto.REGRESSORS)]


def test_what_is_worse_than_the_mean_counts_as_the_mean(results):
    calm = dataclasses.replace(results[-1], error=0.5)
    wild = dataclasses.replace(results[-1], data="other", error=40.0)
    (panel,) = auto.panels([calm, wild])
    assert panel.lines[0].y[0] == pytest.approx(0.75)


@pytest.mark.parametrize("name", [name for name, s in STREAMS.items() if s.needs is None])
def test_streams_are_those_of_their_seed(name):
    stream = examples_of(name, 300, 1)
    assert len(stream) == 300
    assert list(STREAMS[name].load(1))[:300] == stream


def test_unseen_streams_are_others_and_run_only_when_asked_for():
    unseen = set(UNSEEN)
    assert len(unseen) > 11
    assert not unseen & set(USUAL)
    assert any(STREAMS[name].regression for name in unseen)


def test_predictions_and_calibration_are_judged_as_they_should_be():
    score = scores.LabelScore()
    for y in (True, False, True, True):
        score.add({False: 0.25, True: 0.75}, y)
    assert score.error == 0.25
    assert score.log_loss == pytest.approx(-(3 * math.log(0.75) + math.log(0.25)) / 4)
    assert score.calibration_error == pytest.approx(0.0)
    score.add({True: 1.0}, False)
    assert score.calibration_error == pytest.approx(0.2)
    score.add({}, False)
    assert score.wrong == 3


def test_numbers_are_judged_as_they_should_be():
    score = scores.NumberScore(unscored=1)
    for guess, y in ((9.0, 0.0), (1.0, 2.0), (2.0, 4.0), (6.0, 6.0)):
        score.add(guess, y)
    assert score.unexplained == pytest.approx((1.0 + 4.0) / 8.0)
    assert score.error == pytest.approx(1.0)


def test_the_command_prints_what_was_measured(capsys):
    arguments = ["auto", "--data", "phishing", "--models", "AutoKernel", "--examples", "100"]
    assert command.main([*arguments, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["model"] == "AutoKernel"
    assert command.main(arguments) == 0
    assert auto.CAPTION[False] in capsys.readouterr().out
    for option in ("--data", "--models", "--without"):
        assert command.main(["auto", option, "nothing"]) == command.USAGE


def test_experts_are_left_out_one_by_one():
    how = {"without": ["prior", "last target", "vote far"], "examples": 300}
    found = auto.compare(QUICK, ["AutoKernel"], **how)
    whole, less, further, *numbers = [result.loss for result in found]
    assert [result.model for result in found[:3]] == [
        "AutoKernel",
        "AutoKernel without prior",
        "AutoKernel without vote far",
    ]
    assert len({whole, less, further}) == len(set(numbers)) == 3
    fewer = auto.makers_of(True, ["last target"])["AutoKernel without last target"](1, False)
    fewer.learn_one({"a": 1.0}, 2.0)
    assert "last target" not in [expert["name"] for expert in fewer.experts()]

"""`river-budget curve`: mistakes along any stream at hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commands import run

import river_budget as rb
from river_budget.experiments import command
from river_budget.experiments.race import curve
from river_budget.plots import running
from river_budget.wrappers.nested import steps_of

pytest.importorskip("matplotlib", reason="figures need matplotlib: the extra `plots`")


def test_the_table_says_where_the_curves_end(capsys, tmp_path):
    path = tmp_path / "bananas.png"
    arguments = ("--models", "BSGD", "KNN", "--orders", 2, "--examples", 60, "--plot", path)
    code, out, _ = run(capsys, "curve", "bananas", *arguments, "--json")
    rows = json.loads(out)
    assert code == command.GOOD
    assert [row["model"] for row in rows] == ["BSGD", "KNN"]
    assert path.read_bytes().startswith(b"\x89PNG")
    model, ends = curve.models_for(curve.stream_of("bananas"))["BSGD"], []
    for stream in running.in_orders(curve.stream_of("bananas"), 2, 60):
        _, guesses = running.predict_and_learn(model.clone(), stream)
        ends.append(100 * np.mean(running.errors_of(guesses, stream, False)))
    assert rows[0]["wrong, %"] == round(np.mean(ends), 2)
    assert rows[0]["wrong, % deviation"] == round(np.std(ends, ddof=1), 2)


def test_regression_is_drawn_too_into_a_file_named_after_the_data(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ("--models", "LinearRegression", "--examples", 50, "--json")
    code, out, _ = run(capsys, "curve", "trump", *arguments)
    assert code == command.GOOD
    assert "mean absolute error so far" in json.loads(out)[0]
    assert (tmp_path / "curve-trump.png").exists()


def test_models_for_two_classes_learn_one_against_the_rest():
    models = curve.models_for(curve.stream_of("image-segments"))
    assert "OneVsRestClassifier" in str(models["SBP"])
    assert "OneVsRestClassifier" not in str(curve.models_for(curve.stream_of("bananas"))["SBP"])


def test_all_estimators_and_rivers_models_may_be_drawn():
    models = curve.models_for(curve.stream_of("bananas"))
    assert {"ARF", "KNN", "AutoKernel", "Perceptron", "Projectron++"} < set(models)
    assert set(curve.usual(models)) < set(models)
    assert {name for name in rb.__all__ if name.endswith("Classifier")} == {
        type(steps_of(model)[-1]).__name__
        for model in models.values()
        if type(steps_of(model)[-1]).__module__.startswith("river_budget")
    }


def test_wrong_names_are_told(capsys):
    assert command.main(["curve", "nothing"]) == command.USAGE
    assert "there is no stream 'nothing'; there are" in capsys.readouterr().err
    assert command.main(["curve", "bananas", "--models", "Nobody"]) == command.USAGE
    assert "there is no model 'Nobody'" in capsys.readouterr().err

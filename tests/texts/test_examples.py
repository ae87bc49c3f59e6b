"""The examples run, and the README's commands are the ones that are tested."""

from __future__ import annotations

import re

import pytest
from folders import ROOT
from scripts import load

from river_budget import __version__


def test_first_steps_beat_a_linear_model(capsys):
    load("first_steps").main()
    out = capsys.readouterr().out
    linear, kernel = map(float, re.findall(r"Accuracy: ([\d.]+)%", out))
    assert kernel > linear + 30
    assert "after mutate: 20 support vectors" in out


def test_merging_is_more_accurate_than_forgetting(capsys):
    load("compare_maintenance").main(n=8000)
    rows = re.findall(r"^(\w[\w ]+?) {2,}([\d.]+)%", capsys.readouterr().out, re.M)
    accuracy = {name: float(value) for name, value in rows}
    assert len(accuracy) == 7
    assert accuracy["merge two"] > accuracy["forget the oldest"] + 10


def test_joint_maps_learn_xor_and_waves_over_single_features_do_not(capsys):
    load("feature_maps").main(n=2000)
    rows = re.findall(r"^(r.*?|R.*?) {2,}([\d.]+)%", capsys.readouterr().out, re.M)
    xor = {name.partition(" |")[0]: float(value) for name, value in rows}
    assert xor.pop("River's RBFSampler") < 60
    assert len(xor) == 5
    assert min(xor.values()) > 90


def test_a_model_survives_changing_features(capsys):
    load("changing_features").main(n=3600)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    assert "vibration" not in lines[0]
    assert "load, vibration" not in lines[-1].split("Accuracy")[0]
    assert float(re.search(r"([\d.]+)%", lines[-1])[1]) > 85


def test_a_model_without_settings_follows_drift_and_finds_the_features_that_count(capsys):
    load("no_settings").main()
    out = capsys.readouterr().out
    accuracies = [float(value) for value in re.findall(r"Accuracy: ([\d.]+)%", out)]
    assert len(accuracies) == 8
    assert min(accuracies[3], accuracies[-1]) > 90
    weights = [float(value) for value in re.findall(r"feature \d: ([\d.]+)", out)]
    assert min(weights[:2]) > 3 * max(weights[2:])
    assert 85 < float(re.search(r"held (\d+) %", out)[1]) < 95


def test_a_curve_of_rivers_own_evaluation_ends_in_the_digits_of_the_paper(capsys, data, tmp_path):
    data("german.numer")
    pytest.importorskip("matplotlib")
    load("paper_curve").main(plot=str(tmp_path / "curve.png"))
    rows = re.findall(r"([\d.]+) ± ([\d.]+) +([\d.]+) ± ([\d.]+)$", capsys.readouterr().out, re.M)
    assert len(rows) == 4
    for here, spread, printed, printed_spread in rows:
        assert abs(float(here) - float(printed)) < 0.0501
        assert abs(float(spread) - float(printed_spread)) < 0.0501
    assert (tmp_path / "curve.png").exists()


def test_a_logarithm_helps_where_a_few_numbers_are_giants(capsys):
    load("heavy_tails").main(n=400)
    rows = re.findall(r"^(\S.*?) {2,}([\d.]+) % wrong$", capsys.readouterr().out, re.M)
    wrong = {name: float(value) for name, value in rows}
    assert len(wrong) == 5
    assert wrong.pop("AutoKernel behind a logarithm") < min(wrong.values()) - 5


def test_a_pipeline_is_timed_alone_and_behind_a_scaler(capsys):
    load("pipeline_times").main(300, 1)
    rows = re.findall(r"^\w+(?: +[\d.]+){5}$", capsys.readouterr().out, re.M)
    assert len(rows) == 3


def test_the_readme_is_short_and_the_first_version_of_the_changelog_too():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 110
    first = (ROOT / "CHANGELOG.md").read_text().partition("## 1.0.0")[2]
    assert len(first.splitlines()) <= 40


def test_the_citation_names_the_released_version():
    path = ROOT / "CITATION.cff"
    if not path.exists():
        pytest.skip("the citation is not part of this copy")
    cited = re.search(r"^version: (\S+)$", path.read_text(), re.M)[1]
    assert "dev" in __version__ or cited == __version__


def test_ci_runs_the_test_command_of_the_readme():
    pattern = r"^python3 -m venv .*pytest -n 2$"
    assert len(re.findall(pattern, (ROOT / "README.md").read_text(), re.M)) == 1
    script = ROOT / ".ci" / "run"
    if not script.exists():
        pytest.skip("the CI script is not part of this copy")
    assert "grep -m 1 -E '^python3 -m venv .*pytest' README.md" in script.read_text()


def test_models_on_a_budget_forget_words_that_are_gone(capsys):
    load("text").main(n=900)
    names = r"^(\S.*?)  .*?(\d+) names.*?(\d+) names.*?(\d+) names"
    rows = re.findall(names, capsys.readouterr().out, re.M)
    remembered = {name: [int(number) for number in found] for name, *found in rows}
    assert len(remembered) == 7
    assert remembered["LogisticRegression"][2] > 2 * remembered["LogisticRegression"][0]
    assert remembered["RBP"][2] < remembered["LogisticRegression"][2] / 2

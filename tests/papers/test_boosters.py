"""`python examples/papers boosters`: AutoKernel beside batch learners that are refitted, and
mixtures of both.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from papers import boosters, boosters_report, command
from papers.records.outcomes import Outcomes
from river import linear_model

import river_budget as rb
from river_budget.experiments.auto.auto_streams import examples_of

tree = pytest.importorskip("sklearn.tree")

SHORT = boosters.Settings(examples=300, rows=300)


@pytest.fixture
def quick(monkeypatch):
    """Small trees instead of libraries that take their time."""

    def small(seed, regression, two):
        kind = tree.DecisionTreeRegressor if regression else tree.DecisionTreeClassifier
        return rb.Refitted(kind(max_depth=3, random_state=seed))

    for name in set(boosters.MEMBERS) - {boosters.OURS, "linear"}:
        monkeypatch.setitem(boosters.MEMBERS, name, small)
    monkeypatch.setattr(boosters, "start", lambda: None)
    monkeypatch.setattr(boosters, "SINGLE_ROWS", 150)


def test_a_played_mixture_is_the_mixture():
    stream = examples_of("sea", 300, 1, 300)
    models = [rb.Refitted(tree.DecisionTreeClassifier(random_state=1)), rb.BSGDClassifier(seed=1)]
    parts = [boosters.play(model.clone(), stream, regression=False) for model in models]
    mixed = boosters.mix(parts, stream, regression=False)
    alone = boosters.play(rb.Mixture(*models), stream, regression=False, ahead=False)
    assert mixed.opinions == alone.opinions
    assert mixed.seconds > sum(part.seconds for part in parts)


def test_a_stopped_run_is_compared_on_the_rows_that_it_saw(tmp_path, quick, monkeypatch):
    stream = examples_of("sea", 300, 1, 300)
    runs = boosters.Runs("sea", SHORT, Outcomes(tmp_path / "file"))
    cut = boosters.play(boosters.linear(1, False, True), stream[:200], regression=False)
    monkeypatch.setattr(runs, "_run", lambda learner: cut)
    ours = boosters.play(boosters.ours(1, False, True), stream, regression=False)
    runs._played[boosters.OURS] = ours
    found = runs.comparison("linear")
    # 195 is the last point of the curve of AutoKernel before row 200
    assert (found.rows, found.of, found.cut) == (195, 300, True)
    guesses = map(boosters.best_of, ours.opinions)
    wrong = [guess != y for guess, (_, y) in zip(guesses, stream, strict=True)]
    assert found.ours == pytest.approx(np.mean(wrong[:195]), abs=1e-6)
    assert found.whole == pytest.approx(np.mean(wrong), abs=1e-6)


def test_the_command_fills_both_pages_and_repeats_no_run(tmp_path, quick, monkeypatch, capsys):
    for page, part in zip(command.BOOSTERS_PAGES, ("boosters", "measured"), strict=True):
        (tmp_path / page).write_text(f"above\n<!-- {part} -->\n<!-- end of {part} -->\nbelow\n")
    how = ["boosters", "--data", "sea", "trump", "--examples", "250", "--rows", "250"]
    how += ["--results", str(tmp_path), "--guide", str(tmp_path)]
    assert command.main(how) == 0
    first, pages = (
        capsys.readouterr().out,
        [(tmp_path / p).read_text() for p in command.BOOSTERS_PAGES],
    )
    lines = (tmp_path / command.BOOSTERS_RECORD).read_text().splitlines()
    assert len(lines) == 2 * len(boosters.USUAL) + len(boosters.SINGLE)
    assert all({"rows", "errors", "microseconds"} <= set(json.loads(e)["outcome"]) for e in lines)
    for learner in boosters.USUAL:
        assert f"| {learner} |" in pages[0]
        assert f"{learner}: {boosters.MADE[learner]}" in pages[1]
    assert "| sea | 248 |" in pages[1]
    monkeypatch.setattr(boosters, "play", None)  # nothing is measured again
    assert command.main(how) == 0
    assert capsys.readouterr().out == first
    assert [(tmp_path / page).read_text() for page in command.BOOSTERS_PAGES] == pages


def test_a_lead_is_listed_with_both_figures():
    one = boosters.Comparison("rules", "LightGBM", False, 10, 10, 0.1, 0.2, 0.2, 1.0, 1.0)
    small = boosters.Comparison("near", "LightGBM", False, 10, 10, 0.199, 0.2, 0.2, 1.0, 1.0)
    mixed = boosters.Comparison("mixed", boosters.ORDINARY, False, 10, 10, 0.1, 0.2, 0.2, 1.0, 1.0)
    assert boosters_report.losses([one, small, mixed]) == [
        "rules (LightGBM 10.00, AutoKernel 20.00)"
    ]


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(boosters.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match=r"needs lightgbm.*pip install"):
        boosters.start()


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("learner", boosters.MEMBERS)
def test_each_learner_is_made_and_learns(learner, regression):
    if "LightGBM" in learner:
        pytest.importorskip("lightgbm")
    model = boosters.MEMBERS[learner](1, regression, True)
    assert model.clone() is not model
    for t in range(20):
        model.learn_one({"a": t / 7, "b": t % 3}, float(t) if regression else t % 2 == 0)
    assert model.predict_one({"a": 1.0, "b": 2.0}) is not None
    assert isinstance(
        boosters.linear(1, False, False)["SoftmaxRegression"], linear_model.SoftmaxRegression
    )

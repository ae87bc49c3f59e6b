"""`python examples/papers moa`: AutoKernel beside MOA's learners, with a stand-in for CapyMOA where
that is missing.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import types

import numpy as np
import pytest
from conftest import ROOT
from papers import command, moa, moa_report
from papers.moa import LEARNERS

from river_budget.experiments.auto import auto
from river_budget.experiments.auto.auto_streams import SEEN, examples_of
from river_budget.experiments.common import console

VERSIONS = {"capymoa": "0", "java": "0"}


class Instance:
    """What CapyMOA makes of a row."""

    java_instance = None

    @classmethod
    def from_array(cls, schema, x, y):
        made = cls()
        made.x, made.y = x, y
        return made


class LastSeen:
    """A learner that guesses what came last, and nothing at first."""

    def __init__(self, schema, random_seed, ensemble_size=0):
        self.last = 0.0 if schema["categories"] is None else None

    def predict(self, instance):
        return self.last

    def train(self, instance):
        self.last = instance.y


@pytest.fixture
def capymoa(monkeypatch):
    kinds = {learner.kind: LastSeen for learner in LEARNERS.values()}
    schema = types.SimpleNamespace(from_custom=dict)
    parts = {
        "classifier": kinds,
        "regressor": kinds,
        "core": {"LabeledInstance": Instance, "RegressionInstance": Instance},
        "stream": {"Schema": schema},
    }
    for name, held in parts.items():
        module = types.SimpleNamespace(**held)
        monkeypatch.setitem(sys.modules, f"capymoa.{name}", module)
    monkeypatch.setitem(sys.modules, "capymoa", types.ModuleType("capymoa"))
    monkeypatch.setattr(moa, "start", lambda: dict(VERSIONS))


def match(folder, examples=200, **how):
    return moa.Match(folder / "moa.jsonl", examples=examples, **how)


def compared(one, data=("phishing", "trump"), rivals=tuple(LEARNERS)):
    return moa.compare(one, data, rivals)


def error_of_ours(data, examples):
    (found,) = auto.compare([data], ["AutoKernel"], examples=examples)
    return found.error


def test_moas_learners_get_the_same_rows_and_are_judged_alike(capymoa, tmp_path):
    found = compared(match(tmp_path))
    of = {False: "phishing", True: "trump"}
    assert [(c.data, c.rival) for c in found] == sorted(
        ((of[learner.regression], name) for name, learner in LEARNERS.items()),
        key=lambda pair: pair[0] == "trump",
    )
    labels = [y for _, y in examples_of("phishing", 200, 1)]
    wrong = [guess != y for guess, y in zip([None, *labels], labels, strict=False)]
    assert found[0].theirs == np.mean(wrong)
    assert found[0].ours == pytest.approx(error_of_ours("phishing", 200))
    assert found[-1].ours == pytest.approx(error_of_ours("trump", 200))
    assert not any(one.cut for one in found)


def test_a_learner_that_is_cut_off_is_compared_on_the_rows_that_it_has_seen(capymoa, tmp_path):
    (one,) = compared(match(tmp_path, limit=1e-9), ["phishing"], ["SGBT"])
    assert (one.rows, one.of, one.cut) == (100, 200, True)
    assert one.ours == pytest.approx(error_of_ours("phishing", 100))
    (longer,) = compared(match(tmp_path), ["phishing"], ["SGBT"])
    assert longer.rows == 200, "a larger limit runs it again"


def test_kept_runs_are_not_repeated_also_for_fewer_rows(capymoa, tmp_path, monkeypatch):
    first = compared(match(tmp_path, examples=400), ["phishing"], ["SGBT"])
    with (tmp_path / "moa.jsonl").open("a") as file:
        file.write('{"key": "cut off when a run was kil')
    monkeypatch.setattr(moa, "start", lambda: pytest.fail("Java ran again"))
    again = compared(match(tmp_path, examples=400, limit=1e-9), ["phishing"], ["SGBT"])
    assert [(c.theirs, c.ours) for c in again] == [(c.theirs, c.ours) for c in first]
    (fewer,) = compared(match(tmp_path), ["phishing"], ["SGBT"])
    assert 100 < fewer.rows <= 200
    with pytest.raises(LookupError, match="at least 100"):
        match(tmp_path, examples=99)


def test_the_command_prints_tables_and_fills_a_page(capymoa, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="figures need matplotlib: the extra `plots`")
    page = tmp_path / "page.md"
    page.write_text("before\n\n<!-- measured -->\nold\n<!-- end of measured -->\n\nafter\n")
    arguments = ["moa", "--data", "phishing", "trump", "--examples", "200"]
    arguments += ["--results", str(tmp_path)]
    assert command.main([*arguments, "--page", str(page)]) == 0
    assert moa_report.CAPTION[False] in capsys.readouterr().out
    text = page.read_text()
    assert re.match(
        r"before\n\n<!-- measured -->\n.*<!-- end of measured -->\n\nafter\n", text, re.S
    )
    assert "old" not in text
    assert "CapyMOA 0 on Java 0" in text
    for picture in (moa_report.TIME_PICTURE, moa_report.WINS_PICTURE):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
    assert command.main([*arguments, "--json"]) == 0
    assert {row["learner"] for row in json.loads(capsys.readouterr().out)} == set(LEARNERS)


def comparison(theirs, ours, rows=100, rival="SGBT"):
    return moa.Comparison(
        "letter", rival, rival == "SOKNL", rows, 100, theirs, ours, ours, 50.0, 5.0
    )


def test_what_is_lost_is_said_and_no_error_divides_by_nothing():
    lost, won = comparison(0.1, 0.2, rows=50), comparison(0.3, 0.0)
    assert moa_report.losses([won, lost]) == [
        "AutoKernel loses 1 of 2 comparisons:",
        "",
        "- letter: SGBT 10.00, AutoKernel 20.00 %, after 50 rows",
    ]
    assert moa_report.losses([won])[0] == "AutoKernel loses none of 1 comparisons. The closest:"
    assert [lost.ratio, won.ratio] == [0.5, 60.0]
    assert comparison(7.0, 0.5).ratio == 2.0, "worse than the mean counts as the mean"
    header, ((*_, cell),) = moa_report.wide([lost], False)
    assert (header[-1], cell) == ("SGBT", "**10.00** (20.00 at 50)")
    assert [line[2] for line in moa_report.summary([lost, won])[1]] == ["1 of 2"]
    assert len(moa_report.wins_panels([lost, comparison(0.1, 0.1, rival="SOKNL")])) == 2


@pytest.mark.parametrize(("missing", "says"), [(None, "CapyMOA"), ("java", "Java")])
def test_without_java_or_capymoa_one_sentence_says_what_to_install(
    missing, says, capsys, monkeypatch, tmp_path
):
    monkeypatch.setitem(sys.modules, "capymoa", None)
    if missing:
        import_module = moa.importlib.import_module

        def no_java(name):
            if name == "capymoa":
                raise RuntimeError("Java not found")
            return import_module(name)

        monkeypatch.setattr(moa.importlib, "import_module", no_java)
    arguments = ["moa", "--data", "phishing", "--results", str(tmp_path)]
    assert command.main([*arguments, "--quiet"]) == console.NO_DATA
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert f"needs {says}" in said[0]
    assert "pip install" in said[0]


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("capymoa"), reason="capymoa is not installed")
def test_all_of_moas_learners_play(tmp_path):
    """In a process of its own: Java takes signals."""
    arguments = ["moa", "--data", "image-segments", "trump", "--examples", "300", "--json"]
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "papers", *arguments, "--results", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == console.NO_DATA:
        pytest.skip(done.stderr)
    rows = [row for row in json.loads(done.stdout) if "rows" in row]
    assert [row["learner"] for row in rows] == list(LEARNERS)
    assert all(row["rows"] >= 100 for row in rows)
    assert all(row["error %, MOA's"] < 80 for row in rows if row["data"] == "image-segments")


def test_the_stored_runs_of_the_guide_are_of_all_streams_that_the_command_takes():
    guide = ROOT / "examples" / "guide"
    one = moa.Match(guide / command.MOA_RECORD, examples=30_000, rows=30_000)
    for name, stream in SEEN.items():
        for rival, learner in LEARNERS.items():
            if learner.regression == stream.regression:
                assert one.outcomes.get(one.key(name, rival)) is not None

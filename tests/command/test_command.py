"""The command line `river-budget`: what all verbs share, and those without a test file of their own."""

from __future__ import annotations

import argparse
import re
import sys

import pytest
from papers import command as papers

import river_budget as rb
from river_budget.experiments import command
from river_budget.experiments.auto import auto
from river_budget.experiments.race import race


def run(capsys, *arguments):
    code = command.main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("verb", ["race", "auto"])
def test_without_matplotlib_a_picture_is_refused_before_anything_runs(verb, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for module, name in ((race, "race"), (auto, "compare")):
        monkeypatch.setattr(module, name, lambda *anything, **named: pytest.fail("it ran"))
    code, _, err = run(capsys, verb, "--plot", "x.png")
    assert code == command.NO_DATA
    assert "pip install matplotlib" in err


def test_speed_prints_a_ratio_for_every_contest(capfd, monkeypatch, tmp_path):
    pytest.importorskip("sklearn")
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(tmp_path))
    monkeypatch.setenv("RIVER_DATA", str(tmp_path))
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    arguments = ["--data", "cod-rna", "--examples", "400", "--repeats", "1"]
    code, out, _ = run(capfd, "speed", *arguments)
    assert code == command.GOOD
    table, _, caption = out.partition("\n\n")
    assert "medians of 1 runs" in caption
    assert "Set aside: OPENBLAS_CORETYPE" in caption
    assert "as no file is at hand: cod-rna." in caption
    lines = table.splitlines()[2:]
    assert len(lines) == 8
    pattern = r"cod-rna, d=8( +\d+\.\d+){3} +\d\S* +(scikit-learn|rbf_kernel.*)$"
    assert all(re.search(pattern, line) for line in lines)


def test_speed_knows_its_streams(capsys):
    code, _, err = run(capsys, "speed", "--data", "nonsense")
    assert code == command.USAGE
    assert "waveform, a9a, cod-rna, mnist" in err


def test_the_command_says_its_version(capsys):
    with pytest.raises(SystemExit) as end:
        command.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out.strip() == rb.__version__


NO_TABLES = [["papers", "list"], ["papers", "reproduce"]]  # a list of names, and a document
VERBS = {
    f"{parser.prog} {name}": verb
    for parser in (command.parser(), papers.parser())
    for action in parser._actions
    if isinstance(action, argparse._SubParsersAction)
    for name, verb in action.choices.items()
}


@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
def test_every_option_has_a_sentence_and_says_its_default(verb):
    for action in verb._actions:
        assert action.help
        if action.option_strings and action.nargs != 0 and action.dest != "target":
            shown = " ".join(verb.format_help().partition(action.option_strings[0])[2].split())
            assert "(default: " in shown
    options = {option for action in verb._actions for option in action.option_strings}
    assert "--quiet" in options
    if verb.prog.split()[-2:] not in NO_TABLES:
        assert {"--csv", "--json"} <= options


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["tri", "x.csv"], "did you mean 'try'?"),
        (["race", "--exmples", "3"], "did you mean '--examples'?"),
    ],
)
def test_similar_words_are_proposed(arguments, hint, capsys):
    with pytest.raises(SystemExit) as end:
        command.main(arguments)
    assert end.value.code == command.USAGE
    assert hint in capsys.readouterr().err

"""The command line `river-budget`: what all verbs share, and those without a test file of their
own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys

import pytest
from commands import run
from folders import PYTHONPATH
from papers import command as papers

import river_budget as rb
from river_budget.experiments import command
from river_budget.experiments.auto import auto
from river_budget.experiments.common.tables import as_csv, as_json, plain
from river_budget.experiments.race import race


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
    arguments = ["--data", "cod-rna", "--examples", "400", "--repeats", "1"]
    code, out, _ = run(capfd, "speed", *arguments)
    assert code == command.GOOD
    table, _, caption = out.partition("\n\n")
    assert "medians of 1 runs" in caption
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


# a list of names, a document, and a script
NO_TABLES = [["papers", "list"], ["papers", "reproduce"], ["river-budget", "completion"]]
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


# What it writes: one number in a cell for programs, and text on systems that are not UTF-8

PROGRAM = """
import argparse, importlib, sys
from papers.records import document
from papers.records.tasks import Store

main = importlib.import_module("river_budget.experiments.command.main")

def run(options):
    print("85.2 \\u2248 85 \\xb5s")
    document.OPENING = "\\u2248"
    document.write(sys.argv[1], [], Store(sys.argv[1]))
    return 0

main.parser = lambda: argparse.Namespace(parse_args=lambda given: argparse.Namespace(quiet=False, run=run))
sys.exit(main.main())
"""  # noqa: E501


@pytest.mark.parametrize(
    ("cells", "columns"),
    [
        (["*9.12", "10"], {"c": [9.12, 10]}),
        (["85.2 ± 1.3", "", "7"], {"c": [85.2, None, 7], "c deviation": [1.3, None, None]}),
        (["3 of 20", "20"], {"c": [3, 20], "c of": [20, None]}),
        (["0.60-0.80"], {"c least": [0.6], "c most": [0.8]}),
        (["91.2 (92.3)"], {"c": [91.2], "c best of grid": [92.3]}),
        (["9.8: 0.7 (0.6-0.8)"], {"c": [9.8], "c ratio": [0.7], "c least": [0.6], "c most": [0.8]}),
        (["BSGD", "Forgetron *"], {"c": ["BSGD", "Forgetron"]}),
    ],
)
def test_a_cell_is_taken_apart(cells, columns):
    header, rows = plain(["c"], [[cell] for cell in cells])
    assert dict(zip(header, map(list, zip(*rows, strict=True)), strict=True)) == columns


def test_json_has_numbers_and_csv_no_signs():
    table = ["model", "R2"], [["a", "*0.5"], ["b", "-inf"]]
    assert json.loads(as_json(table)) == [{"model": "a", "R2": 0.5}, {"model": "b", "R2": None}]
    assert as_csv(*table) == "model,R2\na,0.5\nb,-inf"


def test_a_pipe_in_ascii_takes_tables_and_documents_are_in_utf_8(tmp_path):
    """As on Windows, where a pipe and a file have the code page of the country."""
    ascii_only = {"PYTHONPATH": PYTHONPATH, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-X", "utf8=0", "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(command, env=os.environ | ascii_only, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "85.2 \\u2248 85 \\xb5s\n"), done.stderr
    assert (tmp_path / "README.md").read_text("utf-8") == "≈"

"""What the command writes: one number in a cell for programs, and text on systems that are not UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from folders import PYTHONPATH

from river_budget.experiments.common.tables import as_csv, as_json, plain

PROGRAM = """
import argparse, importlib, sys
from papers.records import reports
from papers.records.tasks import Store

main = importlib.import_module("river_budget.experiments.command.main")

def run(options):
    print("85.2 \\u2248 85 \\xb5s")
    reports.OPENING = "\\u2248"
    reports.write(sys.argv[1], [], Store(sys.argv[1]))
    return 0

main.parser = lambda: argparse.Namespace(parse_args=lambda given: argparse.Namespace(quiet=False, run=run))
sys.exit(main.main())
"""


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

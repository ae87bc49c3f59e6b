"""The command line on systems whose text is not UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys

from folders import PYTHONPATH

PROGRAM = """
import argparse, importlib, sys
from river_budget.experiments import reports
from river_budget.experiments.records.tasks import Store

main = importlib.import_module("river_budget.experiments.command.main")

def run(options):
    print("85.2 \\u2248 85 \\xb5s")
    reports.OPENING = "\\u2248"
    reports.write(sys.argv[1], [], Store(sys.argv[1]))
    return 0

main.parser = lambda: argparse.Namespace(parse_args=lambda given: argparse.Namespace(quiet=False, run=run))
sys.exit(main.main())
"""


def test_a_pipe_in_ascii_takes_tables_and_documents_are_in_utf_8(tmp_path):
    """As on Windows, where a pipe and a file have the code page of the country."""
    ascii_only = {"PYTHONPATH": PYTHONPATH, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-X", "utf8=0", "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(command, env=os.environ | ascii_only, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "85.2 \\u2248 85 \\xb5s\n"), done.stderr
    assert (tmp_path / "README.md").read_text("utf-8") == "≈"

"""The page for referees: every command prints what the page says."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys

import pytest
from conftest import DATA, ROOT
from folders import PYTHONPATH

PAGE = (ROOT / "examples" / "referees.md").read_text()
CLAIMS = re.findall(r"```sh\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.S)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_there_are_ten_claims_and_each_command_has_its_output():
    titles = re.findall(r"^## (\d+)\.", PAGE, re.M)
    assert titles == [str(i) for i in range(1, 11)]
    assert len(CLAIMS) == PAGE.count("```sh") == PAGE.count("```text") >= 10


@pytest.mark.slow
@pytest.mark.parametrize(("command", "expected"), CLAIMS, ids=[c.split("\n")[0] for c, _ in CLAIMS])
def test_a_command_prints_what_the_page_says(command, expected, tmp_path):
    if "--data" in command and "race" not in command and not DATA.is_dir():
        pytest.skip("no real datasets here")
    python = f'"{sys.executable}"'
    command = re.sub(r"^river-budget ", f"{python} -m river_budget ", command)
    command = re.sub(r"^python examples/", f'{python} "{ROOT}"/examples/', command)
    command = re.sub(r"^(PYTHONPATH=examples )?python ", f"{python} ", command)
    places = {"PYTHONPATH": PYTHONPATH, "RIVER_BUDGET_DATA": str(DATA)}
    folder = ROOT if "pytest" in command else tmp_path
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
    )
    printed = done.stdout
    if "table" in command:  # the header and its rule stand above
        printed = printed.split("\n", 2)[2]
    assert doctest.OutputChecker().check_output(expected, printed, FLAGS), printed + done.stderr

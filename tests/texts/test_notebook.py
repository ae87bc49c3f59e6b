"""The notebook runs, and prints what stands below its cells, but for digits."""

from __future__ import annotations

import json
import re

import pytest
from folders import EXAMPLES


def test_the_notebook_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "from_install_to_a_saved_model.ipynb").read_text())
    space, shown = {}, 0
    for cell in notebook["cells"]:
        code = "".join(cell["source"])
        if cell["cell_type"] != "code" or code.startswith("%pip"):
            continue
        exec(code, space)
        expected = "".join(text for output in cell["outputs"] for text in output["text"])
        assert without_digits(capsys.readouterr().out) == without_digits(expected)
        shown += bool(expected)
    assert shown >= 4
    assert (tmp_path / "bananas.rb").exists()


def without_digits(text):
    return re.sub(r"\d+(\.\d+)?", "#", text)

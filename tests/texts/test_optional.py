"""The packages that the tests need: with the package's own dependencies and pytest alone, all files
can be read.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib

import pytest
from folders import ROOT, syntax_of
from optional import Missing

STORED = {"tests": ROOT / "tests", "river_budget": ROOT / "river_budget"}
OURS = {"river_budget", "papers", *(path.stem for path in STORED["tests"].rglob("*.py"))}
NEEDED = {"river", "numpy", "numba", "scipy", "narwhals"}
# Imported inside functions, of files that ask for them first or that they call.
GUARDED = {"matplotlib", "ray", "xdist"}


def imported(path):
    """(package, whether at the top) of every import."""
    tree = syntax_of(path)
    top = set(tree.body)
    tried = {node for each in ast.walk(tree) if isinstance(each, ast.Try) for node in each.body}
    for node in set(ast.walk(tree)) - tried:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        else:
            continue
        yield from ((name.partition(".")[0], node in top) for name in names)


def foreign(path):
    known = sys.stdlib_module_names | OURS | {"oracles"}
    return {(name, top) for name, top in imported(path) if name not in known}


def asked_for(path):
    """The packages without which the file, or what uses them, is skipped."""
    return set(re.findall(r"importorskip\(\s*[\"'](\w+)", path.read_text()))


def test_test_files_need_no_more_than_they_must():
    """What they need besides is asked for: `from optional import ...`, or `pytest.importorskip`."""
    wrong = {}
    for path in STORED["tests"].rglob("*.py"):
        allowed = NEEDED | {"pytest"} | asked_for(path)
        found = {
            name for name, top in foreign(path) if name not in allowed | (set() if top else GUARDED)
        }
        if found and path.name != "optional.py":
            wrong[str(path.relative_to(ROOT))] = found
    assert wrong == {}


def test_what_is_imported_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {requirement.split(">")[0].split("[")[0] for requirement in project["dependencies"]}
    assert declared == NEEDED
    extras = set(project["optional-dependencies"])
    undeclared = {}
    for path in STORED["river_budget"].rglob("*.py"):
        folder = path.relative_to(STORED["river_budget"]).parts[0]
        known = declared | ({"sklearn", "onnx"} if folder in extras | {"export"} else set())
        found = {name for name, top in foreign(path) if top and name not in known}
        if found:
            undeclared[str(path.relative_to(ROOT))] = found
    assert undeclared == {}


def test_a_stand_in_skips_whoever_uses_it():
    with pytest.raises(pytest.skip.Exception, match="nothing is not installed"):
        Missing("nothing").DataFrame()

"""The folders of tests, test helpers and package, and the import path of processes that tests
start.
"""

from __future__ import annotations

import ast
import gc
import os
import pathlib

SUPPORT = pathlib.Path(__file__).resolve().parent
TESTS = SUPPORT.parent
ROOT = TESTS.parent
EXAMPLES = ROOT / "examples"
# as `pythonpath` in pyproject.toml, and the package
PATHS = [str(SUPPORT), str(TESTS), str(EXAMPLES), str(ROOT)]
PYTHONPATH = os.pathsep.join(PATHS)


def syntax_of(path):
    """The syntax tree of a file.

    Garbage collection is off meanwhile: Python 3.11 fails if a finalizer parses another file.
    """
    gc.disable()
    try:
        return ast.parse(path.read_text())
    finally:
        gc.enable()

"""Starting where a machine is not as it should be: it works, or says what to do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest
from folders import ROOT
from optional import needs_compiler

from river_budget.core.compiling.plain import VARIABLE

pytestmark = pytest.mark.slow  # each compiles something

PACKAGE = ROOT / "river_budget"
PROGRAM = """
import river_budget as rb
model = rb.RBPClassifier(5, rb.kernels.RBF(0.5), seed=1)
for i in range(30):
    model.learn_one({"a": i % 7 / 7, "b": i % 3}, i % 2 == 0)
print(model.decision_function_one({"a": 0.5}))
"""


def start(folder=PACKAGE.parent, program=PROGRAM, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_"))}
    environment |= {
        "PYTHONPATH": str(folder),
        VARIABLE: "0",
    } | variables  # plain, nothing is cached
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        cwd=folder,  # where `python -c` looks first
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process):
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return output, errors


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache of this program alone."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, answer(start(NUMBA_CACHE_DIR=str(folder)))[0]


@needs_compiler
@pytest.mark.parametrize("ending", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("content", [b"", b"garbage\n", b"half"], ids=repr)
def test_a_damaged_cache_is_compiled_anew(content, ending, cache, tmp_path):
    folder, expected = cache
    damaged = tmp_path / "cache"
    shutil.copytree(folder, damaged)
    paths = list(damaged.rglob(ending))
    assert paths
    for path in paths:
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] if content == b"half" else content)
    output, errors = answer(start(NUMBA_CACHE_DIR=str(damaged)))
    assert (output, errors) == (expected, "")
    assert {path.name for path in damaged.rglob("*.nb*")} >= {path.name for path in paths}


@needs_compiler
def test_two_processes_may_compile_at_once(cache, tmp_path):
    processes = [start(NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert [answer(process) for process in processes] == [(cache[1], "")] * 2
    assert answer(start(NUMBA_CACHE_DIR=str(tmp_path))) == (cache[1], "")


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_cache_that_is_full_is_left_alone(cache, tmp_path):
    """Files may not grow beyond a few bytes, as on a disk without room."""
    program = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    program += "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n" + PROGRAM
    result = subprocess.run(
        [sys.executable, "-B", "-c", program],
        env=os.environ
        | {"PYTHONPATH": str(PACKAGE.parent), "NUMBA_CACHE_DIR": str(tmp_path), VARIABLE: "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == cache[1]
    assert len(re.findall("compiles anew", result.stderr)) == 1
    assert "NUMBA_CACHE_DIR" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="Windows finds the user's folder without HOME")
def test_without_a_home_and_without_a_cache_it_says_what_to_do(cache, tmp_path):
    """A copy that nobody may write, as in a container; its user has no folder anywhere."""
    shutil.copytree(
        PACKAGE, tmp_path / "river_budget", ignore=shutil.ignore_patterns("__pycache__")
    )
    # numba asks whether it may write beside the file, and then in the user's folder: a file is no folder
    folders = [path for path in (tmp_path / "river_budget").rglob("*") if path.is_dir()]
    for folder in folders:
        (folder / "__pycache__").write_text("")
    nowhere = tmp_path / "nowhere"
    nowhere.write_text("")
    process = start(tmp_path, HOME=str(nowhere), XDG_CACHE_HOME=str(nowhere), PYTHONDONTWRITEBYTECODE="1")  # fmt: skip
    output, errors = answer(process)
    assert output == cache[1]
    assert len(re.findall("compiles anew", errors)) == 1
    assert "NUMBA_CACHE_DIR" in errors


OTHERS = """
import river_budget as rb
K, forgets = rb.kernels.RBF(0.5), rb.maintenance.RemoveOldest()
for model in (rb.ForgetronClassifier(5, K), rb.BSGDClassifier(5, K, forgets), rb.BOGDClassifier(5, K, seed=1)):
    for i in range(30):
        model.learn_one({"a": i % 7 / 7, "b": i % 3}, i % 2 == 0)
    print(model.decision_function_one({"a": 0.5}))
"""


@needs_compiler
def test_passes_are_linked_with_what_another_program_has_left_in_the_cache(cache, tmp_path):
    shared = shutil.copytree(cache[0], tmp_path / "shared")
    alone = answer(start(program=OTHERS, NUMBA_CACHE_DIR=str(tmp_path / "alone")))
    assert answer(start(program=OTHERS, NUMBA_CACHE_DIR=str(shared))) == alone
    assert answer(start(program=OTHERS, NUMBA_CACHE_DIR=str(shared))) == alone


@needs_compiler
def test_where_numba_has_not_the_parts_that_link_functions_are_compiled_by_themselves(cache, tmp_path):  # fmt: skip
    without = "import sys; sys.modules['river_budget.core.compiling.linking'] = None\n" + PROGRAM
    for _ in range(2):
        assert answer(start(program=without, NUMBA_CACHE_DIR=str(tmp_path))) == (cache[1], "")

"""The cache of compiled code on disk, what numba is asked for, and what is said while code is
compiled.
"""

from __future__ import annotations

import io
import json
import os
import platform
import shutil
import subprocess
import sys
import threading

import pytest
from bits import TABLE
from folders import ROOT, SUPPORT
from optional import needs_cache, needs_compiler
from processes import output_of

from river_budget.core import compiling
from river_budget.experiments import command
from river_budget.messages import first_use

PACKAGE = ROOT / "river_budget"
DRAW = """
from river_budget.core import random_numbers
print(random_numbers.uniforms(7, 3).tolist(), sum(random_numbers.fill_uniforms.stats.cache_hits.values()))
"""  # noqa: E501


def answer(script, folder=ROOT, **variables):
    """(what a script prints, its errors), with the package in this folder."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_"))}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment | {"PYTHONPATH": str(folder)} | variables,
        cwd=folder,  # where `python -c` looks first
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def drawn(cache):
    """(random numbers, whether the function that draws them was found on disk)"""
    numbers, hits = answer(DRAW, NUMBA_CACHE_DIR=str(cache))[0].rsplit(" ", 1)
    return numbers, int(hits) > 0


# The disk


@pytest.mark.slow
@needs_cache
def test_a_damaged_index_is_compiled_again(tmp_path):
    numbers, found = drawn(tmp_path)
    assert not found
    assert drawn(tmp_path) == (numbers, True)
    indexes = list(tmp_path.rglob("*.nbi"))
    assert indexes
    for damage in (
        lambda data: b"",
        lambda data: b"garbage\n",
        lambda data: data[: len(data) // 2],
    ):
        for path in tmp_path.rglob("*.nbi"):
            path.write_bytes(damage(path.read_bytes()))
        assert drawn(tmp_path) == (numbers, False)
        assert drawn(tmp_path) == (numbers, True)


@needs_cache
def test_nothing_is_written_beside_the_package(tmp_path):
    shutil.copytree(
        PACKAGE, tmp_path / "p" / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__")
    )
    answer(DRAW, tmp_path / "p", XDG_CACHE_HOME=str(tmp_path / "home"))
    assert not list((tmp_path / "p").rglob("*.nb?"))
    assert list((tmp_path / "home" / "river_budget").rglob("*.nbi"))


@needs_cache
def test_an_edit_of_core_reaches_all_callers(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    first = answer(DRAW, tmp_path, **cache)[0]
    path = tmp_path / PACKAGE.name / "core" / "random_numbers.py"
    text = path.read_text()
    assert "2.0**-53\n\n\n@inner\ndef below" in text
    path.write_text(text.replace("+ 0.5) * 2.0**-53", "+ 0.5) * 2.0**-54"))
    second = answer(DRAW, tmp_path, **cache)[0]
    halves = [0.5 * number for number in json.loads(first.rpartition(" ")[0])]
    assert json.loads(second.rpartition(" ")[0]) == halves


USER = """
from helpers import share_of
from river_budget.core import compiling

@compiling.of_user
def faded(y):
    return share_of(y)

value = compiling.entry_of(faded, (1.0,))(1.0)
print(value, sum(faded.stats.cache_hits.values()))
"""
HELPERS = """
from river_budget.core import compiling

@compiling.of_user
def share_of(y):
    return 0.5 * y
"""


@needs_cache
def test_an_edit_of_a_users_helper_is_noticed(tmp_path):
    """A cache entry of numba's is found by the file and the line of the caller alone."""
    (tmp_path / "main.py").write_text(USER)
    (tmp_path / "helpers.py").write_text(HELPERS)
    places = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "NUMBA_CACHE_DIR": str(tmp_path / "c")}
    said = [answer("import main", tmp_path, **places)[0].split() for _ in range(2)]
    assert said == [["0.5", "0"], ["0.5", "1"]]
    (tmp_path / "helpers.py").write_text(HELPERS.replace("0.5", "0.2"))
    assert answer("import main", tmp_path, **places)[0].split() == ["0.2", "0"]


@needs_cache
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="makes a file in the place of a folder")
def test_a_cache_that_cannot_be_written_is_a_warning(tmp_path):
    (tmp_path / "file").write_text("")
    numbers, errors = answer(DRAW, NUMBA_CACHE_DIR=str(tmp_path / "file"))
    assert numbers.rpartition(" ")[0] == answer(DRAW)[0].rpartition(" ")[0]
    assert "compiles anew in every process" in errors
    assert errors.count("RuntimeWarning") == 1


@needs_cache
def test_a_write_that_fails_compiles_in_memory(tmp_path):
    script = (
        """
import numba, resource
from river_budget.core import compiling
compiling.folder()
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
"""
        + DRAW
    )
    assert answer(script, NUMBA_CACHE_DIR=str(tmp_path))[0].startswith("[0.")


def test_folders_of_other_versions_are_removed_late(tmp_path):
    for name, days in (("old", compiling.KEPT_DAYS + 1), ("new", 1)):
        (tmp_path / name).mkdir()
        then = (tmp_path / name).stat().st_mtime - 86400 * days
        os.utime(tmp_path / name, (then, then))
    compiling._remove_unused(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


# numba


@needs_compiler
@pytest.mark.slow
def test_everything_works_with_reference_counts(tmp_path):
    """Without the option whose name has an underscore, with the same results to the bit."""
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / PACKAGE.name / "core" / "compiling.py"
    text = path.read_text()
    assert '{"_nrt": False}' in text
    path.write_text(text.replace('{"_nrt": False}', "{}"))
    script = f"""
import sys
sys.path[:0] = [{str(SUPPORT)!r}, {str(SUPPORT.parent)!r}]
import river_budget
from bits import TABLE, digest
print([digest(TABLE[name]) for name in ("BSGD", "RBP", "Forgetron", "AutoKernel")])
"""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert answer(script, tmp_path, **cache)[0] == answer(script, **cache)[0]


NARROW = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,+bmi,+bmi2"}
NAMES = [*TABLE, "KernelOneClassSVM"]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names a processor")
def test_narrow_vectors_learn_the_same_bits(tmp_path):
    """One process compiles for another processor, one for this one, and one loads what that has
    compiled.
    """
    narrow, here, loaded = (
        output_of(SUPPORT / "bits.py", *NAMES, **processor, NUMBA_CACHE_DIR=str(tmp_path / cache))
        for processor, cache in ((NARROW, "narrow"), ({}, "here"), ({}, "here"))
    )
    assert len(narrow.splitlines()) == len(NAMES)
    assert narrow == here == loaded


# What is said


class Screen(io.StringIO):
    def __init__(self, terminal=True):
        super().__init__()
        self.isatty = lambda: terminal


def said_on(screen, monkeypatch, slow):
    """What is printed on a screen while something takes until the timer has fired, if there is
    one.
    """
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(first_use, "_said", threading.Event())
    for _ in range(2):
        with first_use.announced(slow):
            timers = [t for t in threading.enumerate() if isinstance(t, threading.Timer)]
            for timer in timers if slow == 0.0 else ():
                timer.join()
    return screen.getvalue()


def test_a_slow_first_call_is_told_once(monkeypatch):
    text = said_on(Screen(), monkeypatch, 0.0)
    assert text.count("code is compiled for its first use") == 1


def test_a_quick_first_call_is_not_told(monkeypatch):
    assert said_on(Screen(), monkeypatch, 3600.0) == ""


def test_nothing_is_told_where_there_is_no_terminal(monkeypatch):
    assert said_on(Screen(terminal=False), monkeypatch, 0.0) == ""


@needs_cache
def test_compiling_ahead_says_where_it_is_kept(capsys):
    assert command.main(["compile", "PolynomialCountSketch"]) == 0
    out = capsys.readouterr().out
    assert "compiled anew; kept in" in out
    assert compiling.folder() in out


def test_arguments_are_given_by_name():
    @compiling.inlined
    def learn(m, states, rows):
        return 0

    assert compiling.arguments_of(learn) == ("m", "states", "rows")

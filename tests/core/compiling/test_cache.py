"""The cache of compiled code on disk: damaged files, edited sources, sources in a zip, several processes, no place to write."""

from __future__ import annotations

import concurrent.futures
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import zipfile

import numba
import numpy as np
import pytest
from folders import ROOT
from optional import needs_cache, needs_compiler

from river_budget.core.block import random_numbers
from river_budget.core.compiling.plain import VARIABLE

PACKAGE = ROOT / "river_budget"
DRAW = """
import numpy as np
from river_budget.core.block.random_numbers import fill_uniforms
drawn = np.zeros((1, 3))
fill_uniforms(np.array([7], np.uint64), drawn)
print(drawn.tolist(), sum(fill_uniforms.stats.cache_hits.values()))
"""


def answer(script, folder=ROOT, flags=(), **variables):
    """(what a script prints, its errors), with the package in this folder or archive."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_"))}
    environment |= {"PYTHONPATH": str(folder), VARIABLE: "0"}  # plain, nothing is cached
    done = subprocess.run(
        [sys.executable, *flags, "-c", script],
        env=environment | variables,
        cwd=folder if folder.is_dir() else folder.parent,  # where `python -c` looks first
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


def flipped(share):
    def damage(data):
        damaged = bytearray(data)
        damaged[int(share * (len(data) - 1))] ^= 4
        return bytes(damaged)

    return damage


DAMAGES = [flipped(share) for share in (0.0, 0.03, 0.9)]
DAMAGES += [lambda data: b"", lambda data: b"garbage\n", lambda data: data[: len(data) // 2]]


def drawn_anew():
    """The same by functions of which nothing is in memory yet, as in another process."""
    spec = importlib.util.spec_from_file_location(random_numbers.__name__, random_numbers.__file__)
    module, numbers = importlib.util.module_from_spec(spec), np.zeros((1, 3))
    spec.loader.exec_module(module)
    module.fill_uniforms(np.array([7], np.uint64), numbers)
    return numbers.tolist(), sum(module.fill_uniforms.stats.cache_hits.values()) > 0


@needs_cache
def test_whatever_is_damaged_is_only_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    numbers, found = drawn_anew()
    assert not found
    assert drawn_anew() == (numbers, True)
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*.nb?") if path.is_file()}
    assert kept
    for damage in DAMAGES:
        for path, data in kept.items():
            path.write_bytes(damage(data))
        assert drawn_anew() == (numbers, False)
    assert drawn_anew() == (numbers, True)


@needs_cache
def test_processes_that_compile_side_by_side_leave_a_cache_that_holds(tmp_path):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        first, *others = pool.map(drawn, [tmp_path] * 3)
    assert all(numbers == first[0] for numbers, _ in others)
    assert drawn(tmp_path) == (first[0], True)


@needs_cache
def test_sources_in_a_zip_have_a_stamp_of_their_own(tmp_path):
    stamp = "from river_budget.core.compiling import jit; print(jit.stamp())"
    stamps = []
    for version, text in enumerate(("", "# another version\n")):
        path = tmp_path / f"{version}.zip"
        with zipfile.ZipFile(path, "w") as packed:
            for source in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]):
                own = text if source.name == "random_numbers.py" else ""
                packed.writestr(str(source.relative_to(ROOT)), source.read_text() + own)
        stamps.append(answer(stamp, path)[0])
    assert stamps[0] != stamps[1]
    assert stamps[0] == answer(stamp)[0]


OWN = """
from river_budget.core.compiling.jit import compiled
from river_budget.core.simd.exponential import exp_of

@compiled(called_from_python=True)
def twice(x):
    return 2.0 * exp_of(x)
"""
RUN = """
import json, own, river_budget
value = own.twice(-1.0)
hits, misses = (sum(c.values()) for c in (own.twice.stats.cache_hits, own.twice.stats.cache_misses))
print(json.dumps([value, hits, misses, river_budget.__file__]))
"""
EDIT = "    return value if x >= SMALLEST_EXPONENT else 0.0", "    return 0.25"


@needs_cache
def test_a_second_process_starts_from_the_cache_and_an_edit_reaches_all_callers(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "own.py").write_text(OWN)

    def run():
        return json.loads(answer(RUN, tmp_path)[0])

    *first, file = run()
    value = pytest.approx(2.0 * math.exp(-1.0), rel=1e-15)
    assert first == [value, 0, 1]
    assert file.startswith(str(tmp_path))
    assert run()[:3] == [value, 1, 0]

    path = tmp_path / PACKAGE.name / "core" / "simd" / "exponential.py"
    assert EDIT[0] in path.read_text()
    path.write_text(path.read_text().replace(*EDIT))
    assert run()[:3] == [0.5, 0, 1]


# Where nothing can be kept, and where something else has been.

PROGRAM = """
import river_budget as rb
K = rb.kernels.RBF(0.5)
for model in {models}:
    for i in range(30):
        model.learn_one({{"a": i % 7 / 7, "b": i % 3}}, i % 2 == 0)
    print(model.decision_function_one({{"a": 0.5}}))
"""
ONE = PROGRAM.format(models="[rb.RBPClassifier(5, K, seed=1)]")
OTHERS = PROGRAM.format(
    models="rb.ForgetronClassifier(5, K), rb.BSGDClassifier(5, K, rb.maintenance.RemoveOldest()), rb.BOGDClassifier(5, K, seed=1)"
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """The cache of a program, and what it prints."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, answer(ONE, NUMBA_CACHE_DIR=str(folder))[0]


def assert_says_what_to_do(errors):
    assert len(re.findall("RuntimeWarning: river_budget compiles anew", errors)) == 1
    assert "NUMBA_CACHE_DIR" in errors


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_cache_that_is_full_is_left_alone(cache, tmp_path):
    """Files may not grow beyond a few bytes, as on a disk without room."""
    program = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    program += "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n" + ONE
    output, errors = answer(program, flags=["-B"], NUMBA_CACHE_DIR=str(tmp_path))
    assert output == cache[1]
    assert_says_what_to_do(errors)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows finds the user's folder without HOME")
def test_without_a_home_and_without_a_cache_it_says_what_to_do(cache, tmp_path):
    """A copy that nobody may write, as in a container; its user has no folder anywhere."""
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    # numba asks whether it may write beside the file, and then in the user's folder: a file is no folder
    folders = [path for path in (tmp_path / PACKAGE.name).rglob("*") if path.is_dir()]
    for folder in folders:
        (folder / "__pycache__").write_text("")
    nowhere = tmp_path / "nowhere"
    nowhere.write_text("")
    home = {"HOME": str(nowhere), "XDG_CACHE_HOME": str(nowhere), "PYTHONDONTWRITEBYTECODE": "1"}
    output, errors = answer(ONE, tmp_path, **home)
    assert output == cache[1]
    assert_says_what_to_do(errors)


@needs_compiler
@pytest.mark.slow
def test_passes_are_linked_with_what_another_program_has_left_in_the_cache(cache, tmp_path):
    shared = shutil.copytree(cache[0], tmp_path / "shared")
    alone = answer(OTHERS, NUMBA_CACHE_DIR=str(tmp_path / "alone"))
    assert answer(OTHERS, NUMBA_CACHE_DIR=str(shared)) == alone
    assert answer(OTHERS, NUMBA_CACHE_DIR=str(shared)) == alone


@needs_compiler
@pytest.mark.slow
def test_where_numba_has_not_the_parts_that_link_functions_are_compiled_by_themselves(cache, tmp_path):  # fmt: skip
    without = "import sys; sys.modules['river_budget.core.compiling.linking'] = None\n" + ONE
    for _ in range(2):
        assert answer(without, NUMBA_CACHE_DIR=str(tmp_path)) == (cache[1], "")

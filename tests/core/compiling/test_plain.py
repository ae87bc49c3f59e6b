"""RIVER_BUDGET_PLAIN=1 (core/compiling/plain.py): public parts of numba and CPython only, and the same results to the bit."""

from __future__ import annotations

import ast
import functools

import pytest
from bits import TABLE
from folders import ROOT, SUPPORT
from optional import needs_compiler
from processes import output_of

from river_budget.core.compiling.plain import VARIABLE

PACKAGE, BITS = ROOT / "river_budget", SUPPORT / "bits.py"
# The files of core that need private parts
PRIVATE = {"numba_pipeline", "linking", "cache", "trial"}

FEW = [
    "RandomFourier"
]  # each is compiled anew; this one takes 3 seconds, those with vectors 10 to 20
ALL = [*TABLE, "KernelOneClassSVM"]


def run(*arguments, plain="0", **variables):
    return output_of(*arguments, **{VARIABLE: plain}, **variables).splitlines()


@functools.cache
def usual(*names):
    """What the other processes are compared with."""
    return run(BITS, *names)


@needs_compiler
@pytest.mark.parametrize(
    "names", [FEW, pytest.param(ALL, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_plain_models_learn_the_same_bits_and_leave_nothing_on_disk(names, tmp_path):
    plain = run(BITS, *names, plain="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert [line.split()[0] for line in plain] == names
    assert plain == usual(*names)
    assert not list(tmp_path.rglob("*.nb*"))


LOADED = """
import sys
from river_budget import *
print(*(name.rpartition(".")[2] for name in sys.modules if name.startswith("river_budget.core.")))
"""


@pytest.mark.parametrize(
    ("value", "plain"), [("1", True), ("0", False), pytest.param("", False, marks=pytest.mark.slow)]
)
def test_the_switch_keeps_out_the_files_that_need_private_parts(value, plain):
    (loaded,) = run("-c", LOADED, plain=value)
    assert PRIVATE & set(loaded.split()) == (set() if plain else PRIVATE)


OFFERED = {  # by numba to authors of extensions and to those who listen: what core/compiling/plain.py says remains
    "numba": None,
    "numba.extending": None,
    "numba.core": {"cgutils", "config", "errors", "event", "types"},
    "numba.core.errors": None,
    "numba.core.typing.templates": {"AttributeTemplate"},
    "numba.np": {"arrayobj"},
}


def imports_of_numba(path):
    """(module, name) for all that a file takes from numba."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "numba":
            yield from ((node.module, alias.name) for alias in node.names)
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("numba."):
                    yield alias.name, "*"


def test_all_other_files_import_from_numba_what_is_offered():
    taken = {
        (path.name, module, name)
        for path in PACKAGE.rglob("*.py")
        if path.stem not in PRIVATE and "experiments" not in path.parts
        for module, name in imports_of_numba(path)
    }
    assert taken
    refused = {
        (file, module, name)
        for file, module, name in taken
        if module not in OFFERED or name not in (OFFERED[module] or {name})
    }
    assert not refused


MORE = ["RBP", "FOGD", "Nystroem"]
# Private parts that are looked up while a function is compiled: of the libraries, of the steps, and of their order
PARTS = [
    ("numba.core.codegen", "JITCodeLibrary", "_ensure_finalized"),
    ("numba.core.codegen", "JITCodeLibrary", "_finalize_dynamic_globals"),
    ("numba.core.lowering", "Lower", "lower"),
    ("numba.core.untyped_passes", "InlineInlinables", "_do_work"),
    ("numba.core.compiler_machinery", "PassManager", "finalize"),
    ("numba.core.typing.context", "Context", "resolve_function_type"),
]


@needs_compiler
@pytest.mark.parametrize(
    ("part", "names"),
    [(PARTS[0], FEW), *(pytest.param(part, MORE, marks=pytest.mark.slow) for part in PARTS)],
)
def test_a_numba_that_lacks_a_private_part_at_the_first_compilation_compiles_in_its_own_way(
    part, names, tmp_path
):
    program = SUPPORT / "without_parts.py"
    *digests, warning = run(program, ",".join(part), *names, NUMBA_CACHE_DIR=str(tmp_path))
    assert part[-1] in warning
    assert "compiles more slowly" in warning
    assert digests == usual(*names)


WITHOUT_A_GLOBAL_LOCK = """
import sys
sys._is_gil_enabled = lambda: {enabled}
try:
    import river_budget
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("enabled", [False, True])
def test_a_python_without_its_global_lock_is_refused_by_one_sentence(enabled):
    printed = run("-c", WITHOUT_A_GLOBAL_LOCK.format(enabled=enabled))
    assert len(printed) == (not enabled)
    assert enabled or "PYTHON_GIL=1" in printed[0]

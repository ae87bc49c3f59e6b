"""The laws of the architecture: who imports whom, what core may hold, how it is compiled."""

from __future__ import annotations

import ast
import collections
import copy
import graphlib
import json
import pathlib
import pickle
import re
import sys

import bits
import pytest
from folders import PYTHONPATH, syntax_of
from models import KERNELS, MODELS, STRATEGIES, one_of_each, stream_for, variant
from optional import needs_compiler
from processes import output_of

import river_budget as rb

TESTS = pathlib.Path(__file__).parents[1]
PACKAGE = pathlib.Path(rb.__file__).parent
CORE = sorted(PACKAGE.glob("core/**/*.py"))
# types, enums, and what prepares memory and calls in Python
PLUMBING = {
    "codes.py",
    "compiling.py",
    "custom_kernels.py",
    "memory.py",
    "own_tables.py",
    "tables.py",
}
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "cfunc", "jitclass", "stencil"}


# imports


def module_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in PACKAGE.rglob("*.py")}


def imports_of(path):
    """The modules that a file imports, by their full names."""
    package = module_of(path) if path.name == "__init__.py" else module_of(path).rpartition(".")[0]
    for node in ast.walk(syntax_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                name = f"{base}.{alias.name}"
                yield name if name in MODULES else base


FLOORS = [  # from the ground up; modules may import what lies on their own floor or below
    {"_version", "_names", "core"},
    {"messages"},
    {"parameters"},
    {"inputs"},
    {"kernels", "maintenance", "datasets"},
    {"model"},
    {"guard", "wrappers", "mixing"},
    {"algorithms"},
    {"uniting"},
    {"saving"},
    {"extending"},  # what an author of an algorithm imports
    {""},  # the package itself, with the public names
    # these use the package as its users do
    {"distributed", "export", "plots", "sklearn"},
    {"experiments"},
    {"__main__"},
]


def floor(module):
    first = f"{module}.".split(".")[1]
    found = [number for number, names in enumerate(FLOORS) if first in names]
    assert found, f"{module} stands on no floor: give it one in FLOORS"
    return found[0]


def test_imports_are_resolved():
    assert "river_budget.core.expansion.scoring" in set(
        imports_of(PACKAGE / "model" / "expansion.py")
    )
    assert "river_budget.core.compiling" in set(
        imports_of(PACKAGE / "core" / "expansion" / "kernels.py")
    )


def own_imports(module):
    return {name for name in imports_of(MODULES[module]) if name.startswith("river_budget")}


def arrows(part=""):
    """(module, module that it imports) inside the package, or a part of it."""
    inside = f"{PACKAGE.name}.{part}" if part else PACKAGE.name
    return [
        (module, name)
        for module in MODULES
        if module.startswith(inside)
        for name in own_imports(module)
        if name.startswith(inside)
    ]


def test_imports_go_one_way_only():
    assert [arrow for arrow in arrows() if floor(arrow[1]) > floor(arrow[0])] == []


# rooms: folders of a part of the package, from the ground up

CORE_ROOMS = [
    "compiling",
    "codes",
    "custom_kernels",
    "memory",
    "own_tables",
    "random_numbers",
    "numerics",
    "trigonometry",
    "expansion",
    "rounds",
    "budget",
    "passes",
]
MOST_FILES, MOST_LINES, MOST_LINES_OF_A_FUNCTION = 14, 450, 60
MOST_ROOMS = 24  # folders and files of the package


def room_of(module, part="core"):
    """The room of a module, and the one within `passes`."""
    return f"{module}.".removeprefix(f"river_budget.{part}.".replace("..", ".")).split(".")


def test_a_room_of_core_imports_rooms_below_it():
    offenders = [
        (module, name)
        for module, name in arrows("core.")
        if CORE_ROOMS.index(room_of(name)[0]) > CORE_ROOMS.index(room_of(module)[0])
    ]
    assert not offenders


def test_a_pass_imports_no_other_pass():
    """Those of a window and of AutoKernel are several files, which may know each other."""
    offenders = [
        (module, name)
        for module, name in arrows("core.passes.")
        if room_of(module)[1] not in ("window", "auto") or room_of(name)[1] != room_of(module)[1]
    ]
    assert not offenders


def order_of(below):
    """Parts, those first that import nothing of the others; a circle among them raises an error."""
    return list(graphlib.TopologicalSorter(below).static_order())


@pytest.mark.parametrize(
    "part",
    [
        "",
        "core",
        "messages",
        "inputs",
        "model",
        "guard",
        "algorithms",
        "experiments",
        "distributed",
    ],
)
def test_rooms_import_each_other_in_no_circle(part):
    below = collections.defaultdict(set)
    for module, name in arrows(part):
        own, other = (room_of(each, part)[0] for each in (module, name))
        if own and other:  # what stands beside the rooms hands on what is in them
            below[own].update({other} - {own})
    assert len(order_of(below)) > 1


def test_files_import_each_other_in_no_circle():
    """A room's own `__init__` may gather what is in it; nothing in the room asks for the
    gathered.
    """
    inside = MODULES.keys() - {PACKAGE.name}
    assert len(order_of({module: own_imports(module) & inside - {module} for module in inside})) > 9


def test_folders_files_and_functions_are_small():
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    large = [f for f in folders if len({*f.glob("*.py")} - {f / "__init__.py"}) > MOST_FILES]
    large += [p for p in PACKAGE.rglob("*.py") if len(p.read_text().splitlines()) > MOST_LINES]
    for path in CORE:
        large += [
            (path, node.name)
            for node in ast.walk(syntax_of(path))
            if isinstance(node, ast.FunctionDef)
            and node.end_lineno - node.lineno + 1 > MOST_LINES_OF_A_FUNCTION
        ]
    assert not large
    rooms = {f"{module}..".split(".")[1] for module in MODULES} - {
        "",
        "__main__",
        "_names",
        "_version",
    }
    assert len(rooms) <= MOST_ROOMS


def test_core_imports_numpy_numba_and_itself():
    others = {"numpy", "numba", *sys.stdlib_module_names}
    offenders = [
        (path, name)
        for path in CORE
        for name in imports_of(path)
        if not (name.startswith("river_budget.core") or name.partition(".")[0] in others)
    ]
    assert not offenders


# core


def test_core_holds_functions_and_constants_only():
    allowed = (ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr)
    offenders = [
        f"{path.name}:{node.lineno}"
        for path in CORE
        if path.name not in PLUMBING
        for node in syntax_of(path).body
        if not isinstance(node, (*allowed, ast.If))
    ]
    assert not offenders


def test_only_one_decorator_compiles():
    used = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(syntax_of(path)):
            name = getattr(node, "attr", getattr(node, "id", getattr(node, "name", None)))
            if name in COMPILERS:
                used.setdefault(path.name, []).append(name)
    # the kernel functions of users are compiled apart from all of this
    assert used == {"compiling.py": ["njit", "njit"], "custom_kernels.py": ["cfunc", "njit"]}


def test_core_needs_public_parts_of_numba_only():
    """But for one option, `_nrt`, without which everything works (test_compiling.py)."""
    words = re.compile(r"numba\.core|numba\.np|llvmlite|pythonapi|from_address|ctypes\.data_as")
    assert not [path for path in PACKAGE.rglob("*.py") if words.search(path.read_text())]
    private = [p for p in PACKAGE.rglob("*.py") if re.search(r"\"_nrt\"", p.read_text())]
    assert private == [PACKAGE / "core" / "compiling.py"]
    nodes = [(path, node) for path in CORE for node in ast.walk(syntax_of(path))]
    assert [path for path, node in nodes if isinstance(node, ast.Name) and node.id == "id"] == []


def test_a_pass_of_a_paper_begins_with_a_table_of_its_symbols():
    passes = [p for p in CORE if "passes" in p.parts and "def learn(m, " in p.read_text()]
    found = {
        path.stem: bool(re.search(r"^    paper +here$", ast.get_docstring(syntax_of(path)), re.M))
        for path in passes
        if "auto" not in path.relative_to(PACKAGE).parts and path.stem != "scaling"  # River's
    }
    assert len(found) > 10
    assert all(found.values()), found


def functions_of_core(compiled_as):
    for path in CORE:
        for node in syntax_of(path).body:
            if isinstance(node, ast.FunctionDef):
                calls = {ast.unparse(decorator) for decorator in node.decorator_list}
                if any(re.match(compiled_as, call) for call in calls):
                    yield node.name


def test_no_argument_is_a_literal_here_and_something_else_there():
    """As numba compiles a function for each literal. What it puts into the caller (`inlined`) may
    have any.
    """
    names = {*functions_of_core(r"inner|reordered|without_nan")}
    found = collections.defaultdict(set)
    for path in CORE:
        for node in ast.walk(syntax_of(path)) if path.name not in PLUMBING else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in names:
                for place, value in enumerate(node.args):
                    literal = isinstance(value, ast.Constant) and not isinstance(value.value, float)
                    found[node.func.id, place].add(ast.unparse(value) if literal else "no literal")
    assert len(found) > 200
    assert not {call for call, values in found.items() if len(values) > 1}


# without a compiler


def answers():
    """Scores of a model of each class, from a short stream and from a few rows, as plain data."""
    found = {}
    for entry in one_of_each(MODELS):
        budget = {"budget": 5} if getattr(entry.values[0], "budget", None) else {}
        model = variant(entry.values[0], seed=1, **budget)
        found[entry.id] = bits.of_dicts(model.clone(), 15) + bits.of_arrays(model.clone(), 25)
    return found


@needs_compiler
def test_the_package_works_without_a_compiler():
    script = (
        f"import sys; sys.path.insert(0, {str(TESTS / 'core')!r}); import json, test_laws; "
        "print(json.dumps(test_laws.answers()))"
    )
    plain = json.loads(output_of("-c", script, PYTHONPATH=PYTHONPATH, NUMBA_DISABLE_JIT="1"))
    compiled = answers()
    assert plain.keys() == compiled.keys()
    for name, scores in compiled.items():
        assert plain[name] == pytest.approx(scores, rel=1e-6, abs=1e-9), name


# kernels, maintenance, text


@pytest.mark.parametrize("value", KERNELS + STRATEGIES, ids=repr)
def test_kernels_and_maintenance_hold_parameters_and_nothing_else(value):
    assert set(vars(value)) == set(value._get_params())
    for twin in (copy.deepcopy(value), pickle.loads(pickle.dumps(value)), value.clone()):
        assert twin == value
        assert hash(twin) == hash(value)


@pytest.mark.parametrize("value", KERNELS + STRATEGIES, ids=repr)
def test_kernels_and_maintenance_cannot_be_changed(value):
    before = repr(value)
    for name in [*vars(value), "something_new"]:
        with pytest.raises(AttributeError, match=name):
            setattr(value, name, 1)
    for name in vars(value):
        with pytest.raises(AttributeError, match=name):
            delattr(value, name)
    assert repr(value) == before


def test_nothing_is_left_to_do():
    marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    for path in [*PACKAGE.rglob("*.py"), *TESTS.rglob("*.py")]:
        text = path.read_text()
        assert not [mark for mark in marks if mark in text], path


@needs_compiler
@pytest.mark.parametrize("param", MODELS)
def test_no_model_holds_compiled_code(param):
    """River counts everything that a model can reach: a compiled function is two megabytes and
    more.
    """
    model = param.clone()
    for x, y in stream_for(param, 20):
        model.learn_one(x, y)
        model.predict_one(x)
    assert model._raw_memory_usage < 3 * model.memory_usage + 50_000


# the tests themselves


def test_the_longest_files_of_tests_are_files_of_tests():
    from conftest import LONGEST  # here, as other programs import this file

    assert set(LONGEST) <= {path.stem for path in TESTS.rglob("test_*.py")}

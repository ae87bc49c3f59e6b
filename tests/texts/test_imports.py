"""What imports what: no circles between the rooms of the package. (What a start loads: test_names.py.)"""

from __future__ import annotations

import ast
import graphlib

from folders import ROOT, syntax_of

PACKAGE = ROOT / "river_budget"
MOST_ROOMS = 22  # at the top, beside what every package has: __init__, __main__, _version


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


MODULES = {module_of(path): path for path in PACKAGE.rglob("*.py")}


def for_types_only(tree):
    """What stands below `if TYPE_CHECKING`, which never runs."""
    blocks = (node for node in ast.walk(tree) if isinstance(node, ast.If))
    tests = (node for node in blocks if isinstance(node.test, ast.Name))
    return {inner for node in tests if node.test.id == "TYPE_CHECKING" for inner in ast.walk(node)}


def imported(module):
    """The modules of the package that one imports, wherever in its file."""
    path, tree = MODULES[module], syntax_of(MODULES[module])
    here = module if path.name == "__init__.py" else module[:-1]
    for node in set(ast.walk(tree)) - for_types_only(tree):
        if isinstance(node, ast.Import):
            named = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = here[: len(here) + 1 - node.level] if node.level else ()
            start += tuple((node.module or "").split(".")) if node.module else ()
            named = [(*start, alias.name) for alias in node.names]
        else:
            continue
        for name in named:
            found = name if name in MODULES else name[:-1]
            if found in MODULES and found != module:
                yield found


def rooms():
    """{room at the top: the rooms that it imports}; the package itself only hands on what is in rooms."""
    found = {}
    for module in MODULES:
        if len(module) > 1:
            room = found.setdefault(module[1], set())
            room.update(other[1] for other in imported(module) if len(other) > 1)
            room.discard(module[1])
    return found


def test_rooms_import_each_other_in_one_direction():
    order = list(graphlib.TopologicalSorter(rooms()).static_order())
    assert order.index("core") < order.index("model") < order.index("algorithms")
    assert order.index("algorithms") < order.index("saving") < order.index("distributed")


def test_files_within_a_room_import_each_other_in_one_direction():
    """A room's own `__init__` may gather what is in it; nothing in the room asks for the gathered."""
    graph = {module: set(imported(module)) for module in MODULES if len(module) > 1}
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) >= len(graph)


def test_there_are_few_rooms_at_the_top():
    assert len(rooms().keys() - {"__main__", "_version"}) <= MOST_ROOMS

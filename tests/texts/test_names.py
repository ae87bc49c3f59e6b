"""The public names: each is loaded when it is first used, and found wherever one looks for it."""

from __future__ import annotations

import ast
import importlib
import json
import pickle

import pytest
from folders import ROOT, syntax_of
from processes import output_of

import river_budget as rb
from river_budget import _names, algorithms

OTHERS = {"pandas", "polars", "pyarrow", "matplotlib", "ray", "sklearn", "onnx"}
HEAVY = {"numpy", "numba", "river", "scipy", "narwhals", "river_budget.core"} | OTHERS
LATE = {"scipy.stats", "scipy.special", "scipy.linalg", "river.optim", "river_budget.experiments"}
LATE |= OTHERS


def loaded_by(code):
    """The modules that a program loads."""
    shown = "import atexit, sys; atexit.register(lambda: print(*sys.modules))"
    return set(output_of("-c", f"{shown}\n{code}").split())


@pytest.mark.parametrize(
    "code",
    [
        "import river_budget",
        "from river_budget.experiments import command; command.main(['--version'])",
        "from river_budget.experiments import command; command.main(['try', '--help'])",
    ],
)
def test_neither_the_import_nor_the_version_nor_help_loads_anything_heavy(code):
    assert not HEAVY & loaded_by(code)


def test_a_class_loads_its_own_algorithm_and_no_other():
    loaded = loaded_by("import river_budget as rb; rb.BSGDClassifier")
    found = {name for name in loaded if name.startswith("river_budget.algorithms.")}
    own = ("averaging", "gradient", "gradient.bsgd")
    assert found == {f"river_budget.algorithms.{name}" for name in own}


def test_all_names_together_load_no_more_than_they_must():
    assert not LATE & loaded_by("from river_budget import *")


def stub():
    """{name: module} of what type checkers read."""
    nodes = syntax_of(ROOT / "river_budget" / "__init__.pyi").body
    found = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    assert all(alias.name == alias.asname for node in found for alias in node.names)
    return {alias.name: node.module or alias.name for node in found for alias in node.names}


def test_type_checkers_see_names_where_they_are_loaded_from():
    assert set(stub()) | {"__version__"} == set(dir(rb))
    assert set(rb.__all__) == set(stub()) - _names.ON_DEMAND
    for name in rb.__all__:
        found = getattr(rb, name)
        assert found is vars(rb)[name]
        module = getattr(found, "__module__", found.__name__)
        assert module.startswith(f"river_budget.{stub()[name]}")


def test_what_a_module_of_an_algorithm_offers_is_public():
    offered = set()
    for path in (ROOT / "river_budget" / "algorithms").glob("*/*.py"):
        module = ".".join(path.with_suffix("").parts[-3:])
        if "\n__all__ = " in path.read_text():
            names = importlib.import_module(f"river_budget.{module}").__all__
            offered |= {(name, module) for name in names}
    assert offered == set(algorithms.PLACES.items())


def test_names_are_listed_before_they_are_loaded_and_wrong_ones_are_refused():
    listed = json.loads(
        output_of("-c", "import json, river_budget; print(json.dumps(dir(river_budget)))")
    )
    assert set(stub()) | {"__version__"} == set(listed)
    with pytest.raises(AttributeError, match="has no attribute 'BSGD'"):
        _ = rb.BSGD
    with pytest.raises(ImportError, match="BSGD"):
        exec("from river_budget import BSGD")


def test_pickles_and_files_load_the_classes_in_them(tmp_path):
    model = rb.RBPClassifier(3, seed=1)
    model.learn_one({"a": 1.0}, True)
    (tmp_path / "pickle").write_bytes(pickle.dumps(model))
    rb.save(model, tmp_path / "file")
    read = "pickle.load(open(sys.argv[1] + '/pickle', 'rb')), rb.load(sys.argv[1] + '/file')"
    shown = "print(*(type(one).__name__ + str(one.predict_one({'a': 1.0})) for one in found))"
    code = f"import pickle, sys, river_budget as rb; found = {read}; {shown}"
    assert output_of("-c", code, tmp_path).split() == ["RBPClassifierTrue"] * 2

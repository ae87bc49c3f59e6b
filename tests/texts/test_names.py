"""The public names: each is loaded when it is first used, and found wherever one looks for it."""

from __future__ import annotations

import ast
import json
import pickle

import pytest
from folders import ROOT, syntax_of
from processes import output_of

import river_budget as rb
from river_budget import algorithms

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


def typed():
    """{name: module} of what type checkers read."""
    (block,) = (
        node
        for node in syntax_of(ROOT / "river_budget" / "__init__.py").body
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    )
    return {alias.name: node.module or alias.name for node in block.body for alias in node.names}


def test_type_checkers_see_the_names_where_they_are_loaded_from():
    assert set(typed()) == set(rb.__all__)
    for name, module in typed().items():
        found = getattr(rb, name)
        assert found is vars(rb)[name]
        assert getattr(found, "__module__", found.__name__).startswith(f"river_budget.{module}")


def test_what_a_module_of_an_algorithm_offers_is_public():
    for module, names in algorithms.MODULES.items():
        found = algorithms.importlib.import_module(f"river_budget.algorithms.{module}")
        assert sorted(names) == sorted(found.__all__)
    assert set(algorithms.PLACES) < set(rb.__all__)
    files = (ROOT / "river_budget" / "algorithms").glob("*/*.py")
    offering = {path for path in files if "\n__all__ = " in path.read_text()}
    assert {".".join(path.with_suffix("").parts[-2:]) for path in offering} == set(
        algorithms.MODULES
    )


def test_names_are_listed_before_they_are_loaded_and_wrong_ones_are_refused():
    listed = json.loads(
        output_of("-c", "import json, river_budget; print(json.dumps(dir(river_budget)))")
    )
    assert set(rb.__all__) | set(rb.MODULES) | {"__version__"} == set(listed)
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

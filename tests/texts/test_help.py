"""What a newcomer sees of the package at Python's prompt: help, members, and errors of missing
extras.
"""

from __future__ import annotations

import re

import pytest
from processes import ended, output_of
from river import feature_extraction, linear_model

import river_budget as rb

EXTRAS = ("onnx", "sklearn", "matplotlib", "ray", "pandas", "polars", "pyarrow")
WITHOUT = f"import sys\nfor name in {EXTRAS}: sys.modules[name] = None\n"
MOONS = "[({'a': 1.0, 'b': 0.5}, True), ({'a': 0.0, 'b': 2.0}, False)] * 20"
CALLS = {
    "rb.export.onnx(rb.BSGDClassifier())": "river_budget.export.onnx needs onnx: pip install onnx",
    "rb.sklearn.BudgetClassifier()": "needs scikit-learn 1.6 or later: pip install scikit-learn",
    "rb.sklearn.BudgetRegressor(epochs=2)": "river_budget.sklearn.BudgetRegressor needs",
    f"rb.plots.mistake_curve({{'a': rb.BSGDClassifier()}}, {MOONS})": "pip install matplotlib",
}


def test_help_shows_which_model_to_take():
    shown = output_of("-c", "import river_budget as rb; help(rb)")
    for line in rb.__doc__.splitlines():
        assert line in shown
    assert "class AutoKernelClassifier" in shown


def test_members_are_found_without_any_extra():
    code = f"{WITHOUT}import inspect, river_budget as rb\nprint(hasattr(rb, 'export'))\n"
    code += "print(*(name for name, _ in inspect.getmembers(rb)))\n"
    code += "for name in ('export', 'sklearn', 'plots'): inspect.getmembers(getattr(rb, name))"
    first, second = output_of("-c", code).splitlines()
    assert first == "True"
    assert set(dir(rb)) <= set(second.split())


@pytest.mark.parametrize("call", CALLS)
def test_a_call_says_which_extra_is_missing(call):
    status, _, errors = ended(f"{WITHOUT}import river_budget as rb\n{call}")
    assert status == 1
    assert CALLS[call] in errors.splitlines()[-1]


def test_the_table_of_models_names_what_exists():
    table = rb.__doc__.split("=\n")[2]
    named = set(re.findall(r"\b([A-Z]\w*[a-z][A-Z]\w*|Guard|Delayed)\b", table))
    theirs = {*dir(feature_extraction), *dir(linear_model)} - set(rb.__all__)
    assert len(named) > 9
    assert named <= {*rb.__all__, *theirs}
    assert set(re.findall(r"`(\w+)`", rb.__doc__)) <= {*dir(rb)}

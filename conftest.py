"""Examples of docstrings that need an extra are skipped where it is not installed."""

from __future__ import annotations

import importlib.util

import pytest

NEEDED_BY = {"matplotlib": "rb.plots.", "pandas": "import pandas"}


def pytest_collection_modifyitems(items):
    missing = [name for name in NEEDED_BY if importlib.util.find_spec(name) is None]
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            source = "".join(example.source for example in item.dtest.examples)
            for name in missing:
                if NEEDED_BY[name] in source:
                    item.add_marker(pytest.mark.skip(reason=f"{name} is not installed"))

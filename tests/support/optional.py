"""Packages that only some tests need: tests that use a missing one are skipped, and all others run.

`from optional import pandas as pd` gives the package, or a stand-in that skips the test that uses
it. `needs_compiler` marks tests that need numba's compiler, `needs_cache` those that need compiled
functions on disk.
"""

from __future__ import annotations

import importlib

import numba
import pytest

needs_compiler = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="NUMBA_DISABLE_JIT is set, so nothing is compiled"
)
needs_cache = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="NUMBA_DISABLE_JIT is set, so nothing is kept on disk"
)


class Missing:
    """Stands for a missing package. Skips the test that uses it, or a whole file that uses it on
    import.
    """

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith(("_", "pytest")):  # pytest reads all attributes of a file
            raise AttributeError(attribute)
        pytest.skip(f"{self._name} is not installed", allow_module_level=True)


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return Missing(name)


pandas = package("pandas")
polars = package("polars")
pyarrow = package("pyarrow")
sklearn_datasets = package("sklearn.datasets")
sklearn_svm = package("sklearn.svm")

try:
    from hypothesis import HealthCheck, assume, given, settings
    from hypothesis import strategies as st
except ImportError:

    class Anything:
        """Stands for hypothesis strategies, which a file makes on import."""

        def __getattr__(self, attribute):
            return self

        def __call__(self, *arguments, **named):
            return self

    assume = st = Anything()

    def given(*strategies, **named):
        return pytest.mark.skip(reason="hypothesis is not installed")

    def settings(*arguments, **named):
        return lambda test: test
else:
    # The same examples on every run, however slow the machine.
    settings.register_profile(
        "seeded", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("seeded")

__all__ = [
    "assume",
    "given",
    "needs_cache",
    "needs_compiler",
    "pandas",
    "polars",
    "pyarrow",
    "settings",
    "sklearn_datasets",
    "sklearn_svm",
    "st",
]

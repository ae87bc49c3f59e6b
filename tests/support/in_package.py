"""Functions of tests that are compiled as functions of the package are."""

from __future__ import annotations


def in_the_package(function):
    """As if it were one of the package: steps are left out, and references are not counted."""
    function.__module__ = "river_budget.core.compiling.numba_pipeline"
    return function

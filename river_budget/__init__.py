"""Kernel learning on streams with a fixed budget, for River."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ._names import MODULES, MODULES_ON_DEMAND, PLACES
from ._version import __version__ as __version__

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "river_budget has not been tested without Python's global lock: "
        "start Python with -X gil=1, or set PYTHON_GIL=1"
    )

__all__ = sorted([*PLACES, *MODULES])


def __dir__() -> list[str]:
    return [*__all__, *MODULES_ON_DEMAND, "__version__"]


def __getattr__(name: str) -> Any:
    if name in PLACES:
        found = getattr(importlib.import_module(f".{PLACES[name]}", __name__), name)
    elif name in MODULES or name in MODULES_ON_DEMAND:
        found = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # so that Python does not ask again
    globals()[name] = found
    return found

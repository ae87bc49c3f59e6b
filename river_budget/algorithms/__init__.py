"""The estimators: one file per algorithm, named as its class and as its file in core.

Each is loaded when it is first used: a program needs few of them.
"""

from __future__ import annotations

import importlib
from typing import Any

from .. import _names

# {class: module}
PLACES = {name: place for name, place in _names.PLACES.items() if place.startswith("algorithms.")}


def find(name: str) -> Any:
    """The class of this name, loaded if it was not."""
    return getattr(importlib.import_module(f"..{PLACES[name]}", __name__), name)

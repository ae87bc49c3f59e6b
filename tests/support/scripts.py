"""The programs among the examples, as modules."""

from __future__ import annotations

import importlib.util

from folders import EXAMPLES


def load(name):
    """The module `examples/<name>.py`; only its definitions have run."""
    place = EXAMPLES / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"example_{place.stem}", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

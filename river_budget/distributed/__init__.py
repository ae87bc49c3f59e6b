"""Beyond one model and one process: a model per key, many settings, one model from several streams.

Names are loaded when they are asked for: every worker loads this package, and needs but one of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .keyed import KeyedModels
    from .outcomes import Outcome
    from .sweeping import Sweep, sweep
    from .training import train_shards
    from .workers import WorkerLost

__all__ = ["KeyedModels", "Outcome", "Sweep", "WorkerLost", "sweep", "train_shards"]

HOMES = {
    "KeyedModels": "keyed",
    "Outcome": "outcomes",
    "Sweep": "sweeping",
    "WorkerLost": "workers",
    "sweep": "sweeping",
    "train_shards": "training",
}


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(importlib.import_module(f".{HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

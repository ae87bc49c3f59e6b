"""Learning in several processes: a model per key, many settings of a model, one model from several streams.

Names are imported when they are first used: every worker imports this package and needs only one of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .keyed.models import KeyedModels
    from .sweeps.outcomes import Outcome
    from .sweeps.sweep import Sweep, sweep
    from .training import train_shards
    from .workers.serial import WorkerLost

__all__ = ["KeyedModels", "Outcome", "Sweep", "WorkerLost", "sweep", "train_shards"]

HOMES = {
    "KeyedModels": "keyed.models",
    "Outcome": "sweeps.outcomes",
    "Sweep": "sweeps.sweep",
    "WorkerLost": "workers.serial",
    "sweep": "sweeps.sweep",
    "train_shards": "training",
}


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(importlib.import_module(f".{HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

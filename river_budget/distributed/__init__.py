"""Learning in several processes: a model per key, many settings of a model, one model from several
streams.
"""

from .keyed.models import KeyedModels
from .sweeps.outcomes import Outcome
from .sweeps.sweep import Sweep, sweep
from .training import train_shards
from .workers.serial import WorkerLost

__all__ = ["KeyedModels", "Outcome", "Sweep", "WorkerLost", "sweep", "train_shards"]

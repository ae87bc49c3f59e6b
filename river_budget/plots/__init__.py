"""Figures of River models: `pip install '.[plots]'`.

Every function takes River models, of this package or not, lets them predict and then learn a
stream, and returns the axes of matplotlib. Functions clone the models and leave yours unchanged.
Only `decision_surface` and `importances` take a model that has learned, and show it.
"""

from .costs import error_against_memory, error_against_time
from .curves import budget_sweep, mistake_curve
from .inspection import experts, importances, intervals
from .probabilities import reliability
from .surfaces import decision_surface

__all__ = [
    "budget_sweep",
    "decision_surface",
    "error_against_memory",
    "error_against_time",
    "experts",
    "importances",
    "intervals",
    "mistake_curve",
    "reliability",
]


def __dir__() -> list[str]:
    return __all__

"""Pictures of River models: `pip install '.[plots]'`.

Every function takes River models, of this package or not, lets them predict and then learn a stream, and returns
the axes of matplotlib. Models are cloned: those that are handed in stay as they are, except that
`decision_surface` shows what a model has learned already.
"""

from .costs import error_against_memory, error_against_time
from .curves import budget_sweep, mistake_curve
from .probabilities import reliability
from .surfaces import decision_surface

__all__ = [
    "budget_sweep",
    "decision_surface",
    "error_against_memory",
    "error_against_time",
    "mistake_curve",
    "reliability",
]


def __dir__() -> list[str]:
    return __all__

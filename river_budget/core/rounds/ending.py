"""The end of every round: report the scores of the mean of the iterates, calibrate on them, update the mean.

`state`: the record of a pass, with the fields average and averaged (core/expansion/mean_iterate.py).
"""

from __future__ import annotations

from ..compiling.jit import compiled
from ..expansion.mean_iterate import score_mean, update_mean
from .calibration import calibrate


@compiled(always_inlined=True)
def report(model, average, f, y, w):
    """Replace f by the scores of the mean of the iterates, if one is kept, and calibrate on f.

    Call it after computing loss and direction, which are the last iterate's. Overwrites f; modifies the header.
    """
    score_mean(model, average, f)
    calibrate(model, f, y, w)


@compiled(inlined=True)
def count_iterate(model, state):
    """Count the current iterate, and update the mean of the iterates, if one is kept."""
    state.averaged += 1.0
    update_mean(model, state.average, state.averaged)

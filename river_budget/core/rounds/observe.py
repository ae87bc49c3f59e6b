"""The beginning and the end of every round.

At the beginning: take the example, compute its kernel row and scores, calibrate on them. At the end, with a mean of
the iterates: report its scores, calibrate on them, update the mean. `state` is the record of a pass, with the fields
average and averaged (core/expansion/mean_iterate.py).
"""

from __future__ import annotations

from ..compiling.jit import compiled
from ..examples.finite import usable
from ..examples.present_features import example
from ..expansion.kernel_rows import kernel_row, norm_of, score_row
from ..expansion.mean_iterate import mean_scores, update_mean
from ..expansion.support import has_room
from .calibration import calibrate
from .stream_warnings import far_from_all

REFUSED = -1.0  # instead of a norm


@compiled(always_inlined=True)
def observe(model, stream, t):
    """(x, f, y, w, norm): example t with its scores, target, weight and norm; calibrates on the scores.

    Overwrites model.row with the kernel row of x and f with its scores, and modifies the calibration in the
    header.

    norm is REFUSED if x is not finite, if a model without a budget needs a larger block before it can learn
    x, or if a warning is due. Then the pass stops and returns t.
    """
    x, f, y, w, norm = score_example(model, stream, t)
    if norm >= 0.0:
        calibrate(model, f, y, w)
    return x, f, y, w, norm


@compiled(always_inlined=True)
def score_example(model, stream, t):
    """`observe` without the calibration: the kernel row and the scores of example t. Overwrites model.row and f."""
    x, f, y, w = example(model, stream, t)
    norm = norm_of(model, x)
    if not (usable(x, norm) and has_room(model)) or model.head.alarm != 0:
        return x, f, y, w, REFUSED
    kernel_row(model, x, norm)
    score_row(model, model.row, f)
    if f[0] != 0.0:
        if model.head.vanished > 0:
            model.head.vanished = 0
    elif far_from_all(model):
        return x, f, y, w, REFUSED
    return x, f, y, w, norm


# the end of a round


@compiled(always_inlined=True)
def report(model, average, f, y, w):
    """Replace f by the scores of the mean of the iterates, if one is kept, and calibrate on f.

    Call it after computing loss and direction, which are the last iterate's. Overwrites f; modifies the header.
    """
    if average != 0.0:
        mean_scores(model, f)
    calibrate(model, f, y, w)


@compiled(inlined=True)
def count_iterate(model, state):
    """Count the current iterate, and update the mean of the iterates, if one is kept."""
    state.averaged += 1.0
    update_mean(model, state.average, state.averaged)

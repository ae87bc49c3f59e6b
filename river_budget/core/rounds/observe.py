"""What stands around the rounds of a pass: the loop over rows, what it refuses, calibration, the mean of the iterates.

A round is what an algorithm does with one example, as its paper has it:

    round_of(model, state, x, norm, f, y, w)
        x, norm   the example and its norm; its kernel row is in model.row
        f, y, w   its scores, its target and its weight, which is positive
        state     the algorithm's own record

`learn_rows` runs a round for every row of a call. `learn_rows_with_mean` also keeps a mean of the iterates, if the record
says so (the fields average and averaged, core/expansion/mean_iterate.py): the round sees the scores of the last iterate, the
caller those of the mean. Its rounds get the kind of strategy too (core/budget/keep.py).

A row is refused if it is not finite, if a larger block is needed before it can be learned, or if a warning is due: the pass
returns its number, Python mends what is missing, and calls the pass again.
"""

from __future__ import annotations

from ..compiling.jit import compiled
from ..examples.finite import usable
from ..examples.present_features import example, unpack
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


@compiled(inlined=True)
def learn_rows(call, state_at, round_of):
    """Learn the rows in order; scores[t] = f(x_t) before row t is learned. Returns how many rows it has processed."""
    model, stream, n = unpack(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w, norm = observe(model, stream, t)
        if norm < 0.0:
            return t
        if w > 0.0:
            round_of(model, state, x, norm, f, y, w)
    return n


@compiled(inlined=True)
def learn_rows_with_mean(call, state_at, round_of, strategy):
    """`learn_rows` with a mean of the iterates, whose scores are those that the caller gets."""
    model, stream, n = unpack(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w, norm = score_example(model, stream, t)
        if norm < 0.0:
            return t
        shown = shown_scores(model, state.average, f)
        calibrate(model, shown, y, w)
        if w > 0.0:
            round_of(model, state, x, norm, f, y, w, strategy)
            count_iterate(model, state)
        copy_scores(shown, f)
    return n


@compiled(always_inlined=True)
def shown_scores(model, average, f):
    """The scores of the mean of the iterates, in memory that no round overwrites; or f, if no mean is kept."""
    if average == 0.0:
        return f
    mean_scores(model, model.shown)
    return model.shown


@compiled(always_inlined=True)
def copy_scores(shown, f):
    """Show the caller these scores. Overwrites f."""
    for r in range(f.shape[0]):
        f[r] = shown[r]


@compiled(inlined=True)
def count_iterate(model, state):
    """Count the current iterate, and update the mean of the iterates, if one is kept."""
    state.averaged += 1.0
    update_mean(model, state.average, state.averaged)

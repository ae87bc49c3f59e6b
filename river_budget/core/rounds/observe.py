"""What stands around the rounds of a pass, once: the loop over rows, what it refuses, calibration, the mean of the iterates.

An algorithm gives the loop two functions:

    observe(model, state, stream, t)              returns (x, f, y, w, norm) of example t, and calibrates on its scores
    round_of(model, state, x, norm, f, y, w)      what the algorithm does with one example, as its paper has it
        state     the algorithm's own record
        x, norm   the example and its norm; its kernel row is in model.row
        f, y, w   its scores, its target and its weight, which is positive

Most algorithms observe by `observe`, those with a mean of the iterates by `observe_with_mean`. `learn_rows` runs a round for
every row of a call; `learn_rows_by` is for rounds that also get a constant, as the kind of strategy (core/budget/keep.py):
code that it rules out is not compiled.

A row is refused (its norm is REFUSED) if a larger block is needed before it can be learned, or if a warning is due: the
pass returns its number, Python mends what is missing, and calls the pass again.
"""

from __future__ import annotations

from ..compiling.jit import compiled
from ..examples.present_features import example, unpack
from ..expansion.kernel_rows import kernel_row, norm_of, score_row
from ..expansion.mean_iterate import mean_scores, update_mean
from ..expansion.support import has_room
from .calibration import calibrate
from .stream_warnings import far_from_all

REFUSED = -1.0  # instead of a norm


@compiled(inlined=True)
def learn_rows(call, state_at, observe, round_of):
    """Learn the rows in order; scores[t] = f(x_t) before row t is learned. Returns how many rows it has processed."""
    model, stream, n = unpack(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w, norm = observe(model, state, stream, t)
        if norm < 0.0:
            return t
        if w > 0.0:
            round_of(model, state, x, norm, f, y, w)
    return n


@compiled(inlined=True)
def learn_rows_by(call, state_at, observe, round_of, kind):
    """`learn_rows` for rounds that get a constant."""
    model, stream, n = unpack(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w, norm = observe(model, state, stream, t)
        if norm < 0.0:
            return t
        if w > 0.0:
            round_of(model, state, x, norm, f, y, w, kind)
    return n


@compiled(inlined=True)
def observe(model, state, stream, t):
    """(x, f, y, w, norm): example t with its scores, target, weight and norm; calibrates on the scores.

    Overwrites model.row with the kernel row of x and f with its scores, and modifies the calibration in the
    header.
    """
    x, f, y, w, norm = score_example(model, stream, t)
    if norm >= 0.0:
        calibrate(model, f, y, w)
    return x, f, y, w, norm


@compiled(inlined=True)
def observe_with_mean(model, state, stream, t):
    """`observe`, where the caller of the pass gets the scores of the mean of the iterates, if one is kept, and the round
    those of the last iterate. The round ends with `count_iterate`."""
    x, f, y, w, norm = score_example(model, stream, t)
    if norm >= 0.0:
        scores, f = f, last_scores(model, state.average, f)
        if state.average != 0.0:
            mean_scores(model, scores)
        calibrate(model, scores, y, w)
    return x, f, y, w, norm


@compiled(always_inlined=True)
def score_example(model, stream, t):
    """(x, f, y, w, norm) without the calibration. Overwrites model.row and f."""
    x, f, y, w = example(model, stream, t)
    norm = norm_of(model, x)
    if not has_room(model) or model.head.alarm != 0:
        return x, f, y, w, REFUSED
    kernel_row(model, x, norm)
    score_row(model, model.row, f)
    if f[0] != 0.0:
        if model.head.vanished > 0:
            model.head.vanished = 0
    elif far_from_all(model):
        return x, f, y, w, REFUSED
    return x, f, y, w, norm


@compiled(always_inlined=True)
def last_scores(model, average, f):
    """The scores f of the last iterate, where those of the mean do not overwrite them: in model.last, if a mean is kept."""
    if average == 0.0:
        return f
    for r in range(f.shape[0]):
        model.last[r] = f[r]
    return model.last


@compiled(inlined=True)
def count_iterate(model, state):
    """Count the current iterate, and update the mean of the iterates, if one is kept."""
    state.averaged += 1.0
    update_mean(model, state.average, state.averaged)

"""Work that a prediction has done and learning the same row right after it need not repeat.

What a prediction finds out stays on its desk, with the row and the number of rounds the model had learned. Both are
compared: another row, or a model that has learned since, starts afresh. The desk is no part of the model: it lies in
scratch space, and whoever lends that to another model wipes the note (model/calls/calls.py, core/examples/one_example.py).
"""

from __future__ import annotations

from ...compiling.jit import compiled
from .tables import RAW, noted

ROUNDS, NEIGHBOURS_FOUND, FORECAST, SPREAD, NUMBER = range(
    5
)  # of model.note; rounds + 1, as 0 is none


@compiled
def is_noted(model, state, x):
    """Whether the desk holds what follows from this row and this state of the model."""
    if model.note[ROUNDS] != state.rounds + 1.0:
        return False
    raw, different = noted(model, RAW)[0], 0
    if x.shape[0] < state.features:  # another thread has learned a new one
        return False
    for f in range(state.features):
        different += raw[f] != x[f]
    return different == 0


@compiled
def note(model, state):
    """From now on the desk holds it."""
    model.note[ROUNDS] = state.rounds + 1.0

"""The memory: recent rows, and older ones that were hard.

    spec   here
    W1     recent_places(model), the first half of the budget; state.recent_place is written next
    W2     the rest of it; state.hard_place, counted from there, is written next

Both halves are rings. A recent row that is overwritten moves to the other half if it was hard.
"""

from __future__ import annotations

from ...compiling.jit import compiled
from ...expansion.support import move
from .tables import ARRIVAL, HARD, ROW, SQUARED_ERROR, TARGET, WEIGHT, noted

LIGHTEST = 1e-9  # weight of a row in votes


@compiled
def recent_places(model):
    return model.head.budget - model.head.budget // 2


@compiled
def make_room(model, state):
    """The place of the next row, where nothing is needed any more."""
    place, recent, head = state.recent_place, recent_places(model), model.head
    hard = head.budget - recent
    if head.count >= recent and hard > 0 and model.per_vector[HARD, place] != 0.0:
        target = recent + state.hard_place
        move(model, place, target)
        head.count = max(head.count, target + 1)
        state.hard_place = (state.hard_place + 1) % hard
    head.count = max(head.count, place + 1)
    state.recent_place = (place + 1) % recent
    return place


@compiled
def write(model, state, place, target, hard, weight, squared_error):
    """The noted row becomes that of this place; its coefficients are written by who knows them."""
    row, per_vector = noted(model, ROW)[0], model.per_vector
    for f in range(state.features):
        model.vectors[f, place] = row[1 + f]
    per_vector[TARGET, place] = target
    per_vector[HARD, place] = 1.0 if hard else 0.0
    per_vector[WEIGHT, place] = max(weight, LIGHTEST)
    per_vector[ARRIVAL, place] = state.rounds
    per_vector[SQUARED_ERROR, place] = squared_error

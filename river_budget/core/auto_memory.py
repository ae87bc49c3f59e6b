"""The memory: recent rows, and older ones that were hard.

    spec   here
    W1     recent_places(model), the first half of the budget; own.recent_place is written next
    W2     the rest of it; own.hard_place, counted from there, is written next

Both halves are rings. A recent row that is overwritten moves to the other half if it was hard.
"""

from __future__ import annotations

from .auto_tables import ARRIVAL, HARD, ROW, SQUARED_ERROR, TARGET, WEIGHT, noted
from .jit import compiled
from .support import move

LIGHTEST = 1e-9  # weight of a row in votes


@compiled(hot=True)
def recent_places(model):
    return model.head.budget - model.head.budget // 2


@compiled(hot=True)
def make_room(model, own):
    """The place of the next row, where nothing is needed any more."""
    place, recent, head = own.recent_place, recent_places(model), model.head
    hard = head.budget - recent
    if head.count >= recent and hard > 0 and model.extras[HARD, place] != 0.0:
        target = recent + own.hard_place
        move(model, place, target)
        head.count = max(head.count, target + 1)
        own.hard_place = (own.hard_place + 1) % hard
    head.count = max(head.count, place + 1)
    own.recent_place = (place + 1) % recent
    return place


@compiled(hot=True)
def write(model, own, place, target, hard, weight, squared_error):
    """The noted row becomes that of this place; its coefficients are written by who knows them."""
    row, extras = noted(model, ROW)[0], model.extras
    for f in range(own.features):
        model.vectors[f, place] = row[1 + f]
    extras[TARGET, place] = target
    extras[HARD, place] = 1.0 if hard else 0.0
    extras[WEIGHT, place] = max(weight, LIGHTEST)
    extras[ARRIVAL, place] = own.rounds
    extras[SQUARED_ERROR, place] = squared_error

"""Choose the vector to remove.

A rule has a code in REMOVALS and a branch in `chosen_for_removal`. The first codes are in core/block/codes.py;
further rules define theirs here, from 5 on.
"""

from __future__ import annotations

from ..block.codes import Maintenance
from ..block.random_numbers import below
from ..compiling.jit import compiled
from ..examples.call import model_of
from ..expansion.support import lightest, oldest, remove
from .newcomer import no_newcomer

REMOVE_OLDEST, REMOVE_RANDOM = int(Maintenance.REMOVE_OLDEST), int(Maintenance.REMOVE_RANDOM)
REMOVE_SMALLEST = int(Maintenance.REMOVE_SMALLEST)
REMOVALS = (REMOVE_OLDEST, REMOVE_RANDOM, REMOVE_SMALLEST)  # those that chosen_for_removal knows


@compiled
def chosen_for_removal(model, newcomer):
    """The vector to remove. A random one is never the newcomer, which is the last.

    newcomer: see core/budget/newcomer.py. A rule that compares it with the others calls `row_of_newest`.
    """
    code = model.head.maintenance
    if code == REMOVE_OLDEST:
        return oldest(model)
    if code == REMOVE_RANDOM:
        return below(model, model.head.count - 1)
    return lightest(model, model.buffer)  # REMOVE_SMALLEST


@compiled
def remove_to_budget(model):
    """Remove vectors until the model keeps its budget, outside of a round: there is no newcomer."""
    while model.head.count > model.head.budget:
        remove(model, chosen_for_removal(model, no_newcomer(model)))


@compiled(called_from_python=True)
def shrink_to_budget(call):
    """Remove vectors until the model keeps its budget, which has been made smaller."""
    remove_to_budget(model_of(call))

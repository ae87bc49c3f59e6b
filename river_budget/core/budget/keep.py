"""Budget maintenance: a model with one vector too many gives up what it misses least.

`keep_budget` knows what it does to the model's length. With w' = w + delta, |w|^2 changes by
2 <w, delta> + |delta|^2, and the products <w, k(x, .)> = f(x) come from kernel rows of the vectors that
change. That costs as much as the search for them; |delta| alone, which bounds the change of |w|, is free.
The functions below `keep_budget` leave out the scale of the coefficients.

`strategy` is the kind of strategy: REMOVE, PAIRS, MANY, FACTOR. Passes give it as a constant, so that only its kind is
compiled. `newcomer`: what a round has just added (core/budget/newcomer.py).
"""

from __future__ import annotations

import math

from ..block.codes import Choice, Maintenance, Strategy
from ..compiling.jit import compiled
from ..examples.call import model_of
from ..expansion.kernel_rows import along_row, row_of_vector, self_kernel
from ..expansion.support import add_to, append_slot, lightest, weight_of
from ..vectors.stored import has_distance_table, write_vector
from .long_vectors import add_distance_row
from .merge import merge
from .newcomer import NO, YES, no_newcomer, remove_with_newcomer, unwritten_place, write_newcomer
from .projection import add_or_project, cheapest, project_out
from .removal import REMOVALS, chosen_for_removal

MERGE, PROJECT = int(Maintenance.MERGE), int(Maintenance.PROJECT)
BEST = int(Choice.BEST)
REMOVE, PAIRS, MANY, FACTOR = map(int, Strategy)
STRATEGIES = (
    *REMOVALS,
    PROJECT,
    MERGE,
)  # those that keep_budget knows; models of others are refused


@compiled
def strategy_of(model):
    """The kind of a model's strategy."""
    if model.head.maintenance == MERGE:
        return MANY if model.head.arity > 2 else PAIRS
    return FACTOR if model.head.maintenance == PROJECT else REMOVE


@compiled(inlined=True)
def add(model, x, norm, plus, minus, amount, strategy, exact):
    """Add amount (e_plus - e_minus) k(x, .) as the strategy of the model does, one vector above the budget perhaps.

    Returns (the newcomer, the squared length of what was added, what |w|^2 loses as dependent vectors are removed). The
    vector itself is written only when it is known where it stays, if nobody reads it before: a removal does not, and for
    merging a pair x is at hand. To know |w| exactly, merging reads all vectors.
    """
    if strategy == FACTOR:
        length, lost, _ = add_or_project(model, x, norm, plus, minus, amount)
        return (model.head.count - 1, YES, x), length, lost
    j, is_written = append_slot(model, norm), NO
    if strategy == MANY or (exact and not has_distance_table(model)):
        write_vector(model, j, x)
        is_written = YES
    add_to(model, j, plus, minus, amount)
    return (j, is_written, x), self_kernel(model, norm), 0.0


@compiled(inlined=True)
def keep_budget(model, exact, strategy, newcomer):
    """Maintain until the budget is kept. Returns the change of |w|^2 if `exact`, and otherwise how much |w| may have
    grown. head.cost becomes the sum of the lengths of what w was changed by."""
    head, change = model.head, 0.0
    head.cost = 0.0
    if has_distance_table(model):
        add_distance_row(model, newcomer[0], newcomer[2])
    while head.count > head.budget:
        if strategy == REMOVE:
            p = chosen_for_removal(model, newcomer)
            change += change_by_removal(model, p, exact)
            remove_with_newcomer(model, p, unwritten_place(newcomer), newcomer[2])
        elif strategy == FACTOR:
            change += change_by_projection(model, exact)
        else:
            change += merge(model, exact, strategy, newcomer)
        newcomer = no_newcomer(model)
    write_newcomer(model, newcomer)
    return head.scale * (head.scale * change if exact else change)


@compiled(inlined=True)
def add_within_budget(model, x, norm, plus, minus, amount, strategy):
    """Add amount (e_plus - e_minus) k(x, .), whose kernel row has just been computed, and keep the budget: for models
    that need not know |w|."""
    newcomer, _, _ = add(model, x, norm, plus, minus, amount, strategy, False)
    keep_budget(model, False, strategy, newcomer)


@compiled(called_from_python=True)
def shrink_to_budget(call):
    """Maintain until a budget that has been made smaller is kept."""
    model = model_of(call)
    keep_budget(model, False, strategy_of(model), no_newcomer(model))


@compiled(inlined=True)
def change_by_removal(model, p, exact):
    """-2 a_p . f(x_p) + |a_p|^2 k(x_p, x_p), or the root of its second part"""
    length = max(weight_of(model, p) * self_kernel(model, model.norms[p]), 0.0)
    model.head.cost += model.head.scale * math.sqrt(length)
    if not exact:
        return math.sqrt(length)
    row_of_vector(model, p)
    return length - 2.0 * along_row(model, model.row, p)


@compiled(inlined=True)
def change_by_projection(model, exact):
    """Project a vector on the others: the lightest, or the one that costs least. Returns -|a_p|^2 times its squared
    distance from what the others span, or 0."""
    head = model.head
    if head.choice == BEST:
        p = cheapest(model, head.count)
        weight = weight_of(model, p)
    else:
        p = lightest(model, model.buffer)
        weight = model.buffer[p] / self_kernel(model, model.norms[p])
    distance = project_out(model, p)
    head.cost += head.scale * math.sqrt(weight * max(distance, 0.0))
    return -weight * distance if exact else 0.0

"""Budget maintenance: remove, merge or project support vectors until the model keeps its budget.

`keep_budget` also returns how |w| changes. With w' = w + delta, |w|^2 changes by 2 <w, delta> + |delta|^2, where the
products <w, k(x, .)> = f(x) require the kernel rows of the vectors that change, which takes as long as to choose
these vectors. |delta| alone, a bound of the change of |w|, takes no extra time. The functions that return a change
leave out the scale of the coefficients.

strategy   the kind of strategy: REMOVE, PAIRS, MANY or FACTOR. A pass gives it as a constant, so that only
           the code of this kind is compiled into it
newcomer   the example that the round has added (core/budget/newcomer.py)
exact      whether the exact change of |w|^2 is wanted
"""

from __future__ import annotations

import math

from ..block.codes import Choice, Maintenance, Strategy
from ..compiling.jit import compiled
from ..examples.call import model_of
from ..expansion.kernel_rows import along_row, row_of_vector, self_kernel
from ..expansion.support import add_to, append_slot, lightest, weight_of
from ..vectors.table import write_vector
from .merge import merge
from .newcomer import NO, YES, no_newcomer, remove_with_newcomer
from .projection import add_or_project, cheapest, project_out
from .removal import REMOVALS, chosen_for_removal

MERGE, PROJECT = int(Maintenance.MERGE), int(Maintenance.PROJECT)
BEST = int(Choice.BEST)
REMOVE, PAIRS, MANY, FACTOR = map(int, Strategy)
# The strategies that `keep_budget` implements; a file whose model has another one is refused
STRATEGIES = (*REMOVALS, PROJECT, MERGE)


@compiled
def strategy_of(model):
    """The kind of a model's strategy: REMOVE, PAIRS, MANY or FACTOR."""
    if model.head.maintenance == MERGE:
        return MANY if model.head.arity > 2 else PAIRS
    return FACTOR if model.head.maintenance == PROJECT else REMOVE


@compiled(inlined=True)
def add(model, x, norm, plus, minus, amount, strategy, exact):
    """Add amount (e_plus - e_minus) k(x, .). The model may then have one vector more than its budget.

    Returns (the newcomer, the squared length of what was added, what |w|^2 loses as dependent vectors are
    removed). The vector is written later, to its final slot, where maintenance does not read it: a removal
    does not, and merging a pair uses x itself. For the exact |w|^2, or with more than two, merging reads it.
    """
    if strategy == FACTOR:
        length, lost, _ = add_or_project(model, x, norm, plus, minus, amount)
        return (model.head.count - 1, YES, x), length, lost
    j, is_written = append_slot(model, norm), NO
    if strategy == MANY or exact:
        write_vector(model, j, x)
        is_written = YES
    add_to(model, j, plus, minus, amount)
    return (j, is_written, x), self_kernel(model, norm), 0.0


@compiled(inlined=True)
def keep_budget(model, exact, strategy, newcomer):
    """Maintain until the model keeps its budget.

    Returns the change of |w|^2 if `exact`, otherwise a bound of the growth of |w|. Writes the sum of |delta|
    to head.cost. Overwrites all scratch space.
    """
    head, change = model.head, 0.0
    head.cost = 0.0
    while head.count > head.budget:
        if strategy == REMOVE:
            p = chosen_for_removal(model, newcomer)
            change += change_by_removal(model, p, exact)
            remove_with_newcomer(model, p, newcomer)
        elif strategy == FACTOR:
            change += change_by_projection(model, exact)
        else:
            change += merge(model, exact, strategy, newcomer)
        newcomer = no_newcomer(model)
    slot, is_written, x = newcomer
    if is_written == NO:
        write_vector(model, slot, x)
    return head.scale * (head.scale * change if exact else change)


@compiled(inlined=True)
def add_within_budget(model, x, norm, plus, minus, amount, strategy):
    """Add amount (e_plus - e_minus) k(x, .) and maintain, in models that do not use |w|. model.row is the kernel row of x."""
    newcomer, _, _ = add(model, x, norm, plus, minus, amount, strategy, False)
    keep_budget(model, False, strategy, newcomer)


@compiled(called_from_python=True)
def shrink_to_budget(call):
    """Maintain until the model keeps its budget, which has been made smaller."""
    model = model_of(call)
    keep_budget(model, False, strategy_of(model), no_newcomer(model))


@compiled(inlined=True)
def change_by_removal(model, p, exact):
    """The change of |w|^2 by removing vector p: |a_p|^2 k(x_p, x_p) - 2 a_p . f(x_p). If not `exact`: |delta|."""
    length = max(weight_of(model, p) * self_kernel(model, model.norms[p]), 0.0)
    model.head.cost += model.head.scale * math.sqrt(length)
    if not exact:
        return math.sqrt(length)
    row_of_vector(model, p)
    return length - 2.0 * along_row(model, model.row, p)


@compiled(inlined=True)
def change_by_projection(model, exact):
    """Project one vector p on the others: the lightest, or the one whose projection changes w least.

    Returns the change of |w|^2, which is -|a_p|^2 times the squared distance of p from the span of the others. If
    not `exact`, returns 0, as |w| does not grow.
    """
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

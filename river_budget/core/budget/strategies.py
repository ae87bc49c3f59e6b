"""Budget maintenance: add a vector, then remove, merge or project until the model keeps its budget.

A pass gets one of these functions, and so contains no code of the others:

    add_removing           remove a vector
    add_merging            merge a pair
    add_merging_several    merge more than two, or a pair by equation (21)
    add_projecting         project a vector, with a factor of the Gram matrix

Each adds amount (e_plus - e_minus) k(x, .) to the model, and returns (k(x, x), or the squared
length of what was added if x was projected; the change of |w|^2 by the maintenance, if it is
`exact`; the sum of |delta|, the lengths of the errors).

With w' = w + delta, |w|^2 changes by 2 <w, delta> + |delta|^2, where the products <w, k(x, .)> =
f(x) require the kernel rows of the vectors that change, which takes as long as to choose these
vectors. m.row is the kernel row of x.
"""

from __future__ import annotations

import math

import numpy as np

from ..codes import Choice, Maintenance
from ..compiling import inlined, inner, passes
from ..expansion.kernels import along_row, row_of_vector, self_kernel
from ..expansion.support import (
    add_to,
    append,
    drop_last_slot,
    insert,
    lightest,
    move_numbers,
    oldest,
    remove,
    weight_of,
    write_features,
)
from ..random_numbers import below
from .merging import merge, nobody
from .merging_several import merge_several
from .projection import add_or_project, cheapest, project_out

REMOVE_OLDEST, REMOVE_RANDOM, REMOVE_SMALLEST, PROJECT, MERGE = map(int, Maintenance)
# The strategies that have a branch here; a file whose model has another one is refused
STRATEGIES = (REMOVE_OLDEST, REMOVE_RANDOM, REMOVE_SMALLEST, PROJECT, MERGE)
BEST = int(Choice.BEST)
# typed, as numba would compile a function once more for the literals
NOT_EXACT, NOT_NEWEST, NO_FEATURES = np.bool_(False), np.bool_(False), np.int64(0)


@inlined
def add_removing(m, x, norm, plus, minus, amount, exact):
    """The strategy for models that remove vectors."""
    head, change, error = m.head[0], 0.0, 0.0
    j = append(m, norm)
    add_to(m, j, plus, minus, amount)
    if head.count > head.budget:
        error, change = replace_one(m, x, norm, exact)
    else:
        write_features(m, j, x)
    return self_kernel(m, norm), head.scale * head.scale * change, head.scale * error


@inlined
def add_merging(m, x, norm, plus, minus, amount, exact):
    """The strategy for models that merge pairs."""
    head, change, error = m.head[0], 0.0, 0.0
    j = append(m, norm)
    add_to(m, j, plus, minus, amount)
    if head.count > head.budget:
        error, change = merge(m, x, True, exact)
    else:
        write_features(m, j, x)
    return self_kernel(m, norm), head.scale * head.scale * change, head.scale * error


@inlined
def add_merging_several(m, x, norm, plus, minus, amount, exact):
    """The strategy for models that merge more than two at once, or pairs by equation (21)."""
    head, change, error = m.head[0], 0.0, 0.0
    add_to(m, insert(m, x, norm), plus, minus, amount)
    while head.count > head.budget:
        delta, grown = merge_several(m, exact, x[0].shape[0])
        change, error = change + grown, error + delta
    return self_kernel(m, norm), head.scale * head.scale * change, head.scale * error


@inlined
def add_projecting(m, x, norm, plus, minus, amount, exact):
    """The strategy for models with a factor: x itself is projected if it lies in the span of the
    support.
    """
    head, change, error = m.head[0], 0.0, 0.0
    length, lost, _ = add_or_project(m, x, norm, plus, minus, amount)
    while head.count > head.budget:
        delta, grown = project_one(m)
        change, error = change + grown, error + delta
    return length, head.scale * head.scale * change - lost, head.scale * error


@inner
def chosen_for_removal(m):
    """The vector to remove by head.maintenance: the oldest, a random one but the newcomer, which is
    last, or the lightest.
    """
    head = m.head[0]
    if head.maintenance == REMOVE_OLDEST:
        return oldest(m)
    if head.maintenance == REMOVE_RANDOM:
        return below(head, head.count - 1)
    return lightest(m, m.buffer)


@inlined
def replace_one(m, x, norm, exact):
    """Remove a vector p. The newcomer x, which is last and whose features are not yet written,
    moves to its slot.

    Returns (|delta|, the change of |w|^2 if `exact`: |a_p|^2 k(x_p, x_p) - 2 a_p . f(x_p)).
    """
    p, newcomer, change = chosen_for_removal(m), m.head[0].count - 1, 0.0
    length = max(weight_of(m, p) * self_kernel(m, m.norms[p]), 0.0)
    if exact:
        of_newcomer = self_kernel(m, norm)
        if p != newcomer:
            of_newcomer = m.row[p]
            row_of_vector(m, p)
        m.row[newcomer] = of_newcomer
        change = length - 2.0 * along_row(m, m.row, p)
    if p != newcomer:
        write_features(m, p, x)
        move_numbers(m, newcomer, p)
    drop_last_slot(m)
    return math.sqrt(length), change


@inner
def project_one(m):
    """Project one vector p on the others: the lightest, or the one whose projection changes w
    least.

    Returns (|delta|, the change of |w|^2: -|a_p|^2 times the squared distance of p from the span of
    the others).
    """
    head = m.head[0]
    p = cheapest(m, head.count) if head.choice == BEST else lightest(m, m.buffer)
    weight = weight_of(m, p)
    loss = weight * project_out(m, p)
    return math.sqrt(max(loss, 0.0)), -loss


# For a budget that a user has made smaller


@passes
def shrink_removing(m):
    """Remove vectors until the model keeps its budget."""
    while m.head[0].count > m.head[0].budget:
        remove(m, chosen_for_removal(m))


@passes
def shrink_merging(m):
    """Merge pairs until the model keeps its budget."""
    while m.head[0].count > m.head[0].budget:
        merge(m, nobody(m), NOT_NEWEST, NOT_EXACT)


@passes
def shrink_merging_several(m):
    """Merge several until the model keeps its budget."""
    while m.head[0].count > m.head[0].budget:
        merge_several(m, NOT_EXACT, NO_FEATURES)


@passes
def shrink_projecting(m):
    """Project vectors until the model keeps its budget."""
    while m.head[0].count > m.head[0].budget:
        project_one(m)

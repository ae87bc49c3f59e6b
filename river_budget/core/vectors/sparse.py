"""Vectors that are lists of what is not 0: what passes ask of them.

These functions are compiled where a model has such vectors (core/compiling/by_address.py).
"""

from __future__ import annotations

import numpy as np

from ..block.table_prefetch import ask_for_nodes
from ..compiling.by_address import shared
from ..compiling.jit import FUSED, compiled
from ..compiling.model_type import EXAMPLE, FLAG, MATRIX, MODEL, NOTHING, NUMBERS, WHOLE, WHOLES
from ..compiling.needs import Need
from ..examples.present_features import NONE, places_of, present, values_of
from .sparse_nodes import column_of, precedes, rewrite, unlink, wanted_for


@shared(Need.LISTS, FLAG, MODEL, EXAMPLE)
def has_nodes(model, x):
    """Whether there are nodes for one more vector, which is x."""
    wanted, whole = wanted_for(model, places_of(x))
    if wanted > 0:
        model.head.wanted = whole
    return wanted <= 0


@shared(Need.LISTS, NOTHING, MODEL, WHOLE, EXAMPLE)
def set_list(model, j, x):
    """Vector j becomes x."""
    rewrite(model, j, places_of(x), values_of(x))


@shared(Need.LISTS, NOTHING, MODEL, WHOLE, WHOLE)
def move_list(model, source, target):
    """Vector `source` goes to the place of vector `target`."""
    unlink(model, target)
    nodes, firsts = model.nodes, model.firsts
    node = firsts[source]
    firsts[target], firsts[source] = node, 0
    while node != 0:
        nodes[node].vector = target
        node = nodes[node].after


@shared(Need.LISTS, NOTHING, MODEL, WHOLE)
def forget_list(model, j):
    """Vector j is not needed any more."""
    unlink(model, j)


@shared(Need.LISTS, EXAMPLE, MODEL, WHOLE)
def listed_vector(model, j):
    """Vector j as an example, in scratch space."""
    places, values, n = model.nonzero, model.x, NONE
    nodes, node = model.nodes, model.firsts[j]
    while node != 0:
        places[n], values[n] = nodes[node].feature, nodes[node].value
        n += 1
        node = nodes[node].after
    return present(places, values, n)


@shared(Need.LISTS, WHOLE, MODEL, WHOLES, WHOLES, WHOLES, MATRIX)
def lists_side_by_side(model, members, cursors, places, points):
    """The members as rows of points, whose columns are the features that any of them has. Returns how many there are.

    Lists in the order of the keys run together."""
    nodes, n = model.nodes, 0
    for i in range(members.shape[0]):
        cursors[i] = model.firsts[members[i]]
    while True:
        feature = NONE - 1
        for i in range(members.shape[0]):
            if cursors[i] != 0:
                other = np.int64(nodes[cursors[i]].feature)
                if feature < 0 or precedes(model, other, feature):
                    feature = other
        if feature < 0:
            return n
        places[n] = feature
        for i in range(members.shape[0]):
            points[i, n] = 0.0
            if cursors[i] != 0 and nodes[cursors[i]].feature == feature:
                points[i, n] = nodes[cursors[i]].value
                cursors[i] = nodes[cursors[i]].after
        n += 1


@shared(Need.LISTS, NOTHING, MODEL, EXAMPLE, NUMBERS)
def add_listed_products(model, x, row):
    """row[j] += <vector j, x>"""
    ask_for_nodes(model, places_of(x))
    _add_products(model, places_of(x), values_of(x), row)


@compiled(fastmath=FUSED)
def _add_products(model, places, values, row):
    for i in range(places.shape[0]):
        value, column = values[i], column_of(model, places[i])
        for k in range(column.shape[0]):
            row[column[k].vector] += value * column[k].value

"""Sparse storage: the numbers that are not 0, in a list for each vector and in a column for each feature.

Products run over the columns of the features of x; reading a vector runs over its list. Nodes come from an allocator
(core/vectors/sparse_nodes.py). The functions are in the order of core/vectors/stored.py, and are compiled for the first
model with such vectors (core/compiling/by_address.py).
"""

from __future__ import annotations

import numpy as np

from ..block.limits import LAPLACIAN, padded_count
from ..compiling.by_address import shared
from ..compiling.jit import FUSED, compiled
from ..compiling.model_type import EXAMPLE, FLAG, MATRIX, MODEL, NOTHING, NUMBERS, WHOLE, WHOLES
from ..compiling.needs import Need
from ..examples.present_features import (
    ZERO,
    all_of,
    is_unknown,
    places_of,
    present,
    stands_in_places,
    values_of,
)
from .sparse_nodes import column_of, free_list, missing_nodes, precedes, write_list
from .table import size_of


@shared(Need.LISTS, FLAG, MODEL, EXAMPLE)
def has_nodes_for(model, x):
    """Whether there is memory for x as one more vector. If not, sets head.wanted to the number of nodes for it."""
    missing, whole = missing_nodes(model, places_of(x))
    if missing > 0:
        model.head.wanted = whole
    return missing <= 0


@shared(Need.LISTS, NOTHING, MODEL, WHOLE, EXAMPLE)
def write(model, j, x):
    """Overwrite vector j with x."""
    write_list(model, j, places_of(x), values_of(x))


@shared(Need.LISTS, EXAMPLE, MODEL, WHOLE)
def read(model, j):
    """Vector j as an example, in scratch space."""
    places, values, n = model.nonzero, model.x, ZERO
    nodes, node = model.nodes, model.firsts[j]
    while node != 0:
        places[n], values[n] = nodes[node].feature, nodes[node].value
        n += 1
        node = nodes[node].after
    return present(places, values, n)


@shared(Need.LISTS, NOTHING, MODEL, WHOLE, WHOLE)
def move(model, source, target):
    """Overwrite vector `target` with vector `source`, whose slot is empty then."""
    free_list(model, target)
    nodes, firsts = model.nodes, model.firsts
    node = firsts[source]
    firsts[target], firsts[source] = node, 0
    while node != 0:
        nodes[node].vector = target
        node = nodes[node].after


@shared(Need.LISTS, NOTHING, MODEL, WHOLE)
def forget(model, j):
    """Free the nodes of vector j."""
    free_list(model, j)


@shared(Need.LISTS, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def products(model, x, row, n):
    """row[j] = <vector j, x> for j < n"""
    for j in range(n):
        row[j] = 0.0
    _add_products(model, places_of(x), values_of(x), row)


@compiled(fastmath=FUSED)
def _add_products(model, places, values, row):
    """Add the products of x with all vectors to `row`, feature by feature."""
    for i in range(places.shape[0]):
        value, column = values[i], column_of(model, places[i])
        for k in range(column.shape[0]):
            row[column[k].vector] += value * column[k].value


@compiled
def add_absolute_differences(model, feature, value, row):
    """row[j] += |v - value| - |v|, where v is the value of the feature in vector j, or 0. Overwrites model.logs."""
    n, column, before = padded_count(model), column_of(model, feature), model.logs
    for k in range(column.shape[0]):
        j, stored = column[k].vector, column[k].value
        before[j] = row[j] + (abs(stored - value) - abs(stored))
    for j in range(n):
        row[j] += abs(value)
    for k in range(column.shape[0]):
        row[column[k].vector] = before[column[k].vector]


@shared(Need.LISTS, NOTHING, MODEL, EXAMPLE, NUMBERS)
def differences(model, x, distances):
    """distances[j] = |vector j - x|^2, or |vector j - x|_1 for the Laplacian kernel; model.whole holds x with its zeros."""
    absolute = model.head.kernel == LAPLACIAN
    for j in range(model.head.count):
        distances[j] = _distance(model, j, x, absolute)


@compiled
def _distance(model, j, x, absolute):
    """The distance of vector j from x: first sums over the features of vector j, then over those that only x has."""
    nodes, whole, node, total = model.nodes, model.whole, model.firsts[j], 0.0
    places, values, everything, k = places_of(x), values_of(x), all_of(x), 0
    while node != 0:
        f = nodes[node].feature
        total += size_of(nodes[node].value - whole[f], absolute)
        whole[f] = 0.0
        node = nodes[node].after
    for i in range(everything.shape[0]):
        unknown = is_unknown(x, i)
        if unknown:
            total += size_of(everything[i], absolute)
        else:
            total += size_of(whole[places[k]], absolute)
            whole[places[k]] = values[k]
        k += stands_in_places(x, unknown)
    return total


@shared(Need.LISTS, WHOLE, MODEL, WHOLES, WHOLES, WHOLES, MATRIX)
def side_by_side(model, members, cursors, places, points):
    """points[i, k] = the value of feature places[k] in member i, for all features of any member. Returns how many.

    Merges sorted lists: cursors[i] is the next node of member i."""
    nodes, n = model.nodes, 0
    for i in range(members.shape[0]):
        cursors[i] = model.firsts[members[i]]
    while True:
        feature = ZERO - 1
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

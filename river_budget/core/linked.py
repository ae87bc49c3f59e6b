"""Vectors as they are stored: columns of a table, or lists of what is not 0.

In a model with slots every number of a vector that is not 0 is a node (core/nodes.py): in the list of its vector, in
the order of the keys (of a heavy vector but for the first ones, core/heavy.py), and in the column of its feature. A
kernel row goes through the columns of the features of x, a vector that leaves takes its own list with it, and a feature
whose column is empty is not used any more. The table is faster where much is not 0; the lists take memory for what is
there. Sums are the same to the last bit.
"""

from __future__ import annotations

from .ahead import ask_for_nodes
from .examples import NONE, places_of, present, values_of
from .jit import FUSED, compiled
from .lanes import LANES, write_others
from .nodes import column_of, precedes, rewrite, unlink, wanted_for
from .numba_types import address_of, f64


@compiled(always_inlined=True)
def has_slots(model, x):
    """Whether there are nodes for one more vector, which is x."""
    head = model.head
    if head.slots == 0:
        return True
    wanted, whole = wanted_for(model, places_of(x))
    if wanted > 0:
        head.wanted = whole
    return wanted <= 0


@compiled
def set_vector(model, j, x):
    """Vector j becomes x."""
    places, values = places_of(x), values_of(x)
    if model.head.slots:
        rewrite(model, j, places, values)
        return
    vectors = model.vectors
    if places.shape[0] == vectors.shape[0]:  # all in their order
        for i in range(vectors.shape[0]):
            vectors[i, j] = values[i]
        return
    for i in range(vectors.shape[0]):
        vectors[i, j] = 0.0
    for i in range(places.shape[0]):
        vectors[places[i], j] = values[i]


@compiled
def move_vector(model, source, target):
    """Vector `source` goes to the place of vector `target`; of a table a copy stays behind."""
    if model.head.slots == 0:
        for i in range(model.vectors.shape[0]):
            model.vectors[i, target] = model.vectors[i, source]
        return
    unlink(model, target)
    nodes, firsts = model.nodes, model.firsts
    node = firsts[source]
    firsts[target], firsts[source] = node, 0
    while node != 0:
        nodes[node].vector = target
        node = nodes[node].after


@compiled(always_inlined=True)
def forget_vector(model, j):
    """Vector j, the last one, is not needed any more."""
    if model.head.slots:
        unlink(model, j)


@compiled
def vector(model, j):
    """Vector j as an example, in scratch space."""
    places, values, n = model.nonzero, model.x, NONE
    if model.head.slots:
        nodes, node = model.nodes, model.firsts[j]
        while node != 0:
            places[n], values[n] = nodes[node].feature, nodes[node].value
            n += 1
            node = nodes[node].after
    else:
        vectors = model.vectors
        for i in range(vectors.shape[0]):
            value = vectors[i, j]
            places[n], values[n] = i, value
            n += (value != 0.0) | (model.head.custom != 0)
    return present(places, values, n)


@compiled
def vectors_side_by_side(model, members, unwritten, x, cursors, places, points):
    """The members as rows of points, whose columns are the features that any of them has. Returns how many there
    are. In a table, the vector `unwritten` is that of x."""
    if model.head.slots:
        return _listed_side_by_side(model, members, cursors, places, points)
    vectors, n = model.vectors, NONE
    # sum_i |x_i|, in the room of the places, which do not overtake them
    sizes = f64(address_of(places), vectors.shape[0])
    for f in range(sizes.shape[0]):
        sizes[f] = 0.0
    for i in range(members.shape[0]):  # in the table, every feature is in another place of memory
        point, member = points[i], members[i]
        if member == unwritten:
            write_out(x, point)
        else:
            for f in range(vectors.shape[0]):
                point[f] = vectors[f, member]
        for f in range(sizes.shape[0]):
            sizes[f] += abs(point[f])
    whole = sizes.shape[0] // LANES * LANES
    for f in range(0, whole, LANES):
        n = write_others(sizes, f, places, n)
    for f in range(whole, sizes.shape[0]):
        found = sizes[f] != 0.0
        places[n] = f
        n += found
    if n < vectors.shape[0]:
        for i in range(members.shape[0]):
            point = points[i]
            for f in range(n):
                point[f] = point[places[f]]
    return n


@compiled(always_inlined=True)
def write_out(x, whole):
    """x with its zeros."""
    places, values = places_of(x), values_of(x)
    for f in range(whole.shape[0]):
        whole[f] = 0.0
    for i in range(places.shape[0]):
        whole[places[i]] = values[i]


@compiled
def _listed_side_by_side(model, members, cursors, places, points):
    """Lists in the order of the keys run together."""
    nodes, keys, n = model.nodes, model.keys, 0
    for i in range(members.shape[0]):
        cursors[i] = model.firsts[members[i]]
    while True:
        feature = NONE - 1
        for i in range(members.shape[0]):
            if cursors[i] != 0:
                other = nodes[cursors[i]].feature
                if feature < 0 or precedes(keys, other, feature):
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


@compiled(fastmath=FUSED)
def add_listed_products(model, places, values, row):
    """row[j] += <vector j, x>"""
    ask_for_nodes(model, places)
    for i in range(places.shape[0]):
        value, column = values[i], column_of(model, places[i])
        for k in range(column.shape[0]):
            row[column[k].vector] += value * column[k].value

"""Vectors as they are stored: columns of a table, or lists of what is not 0.

In a model with slots every number of a vector that is not 0 is a node in two lists: that of its vector, in the order
of the keys, and that of its feature. A kernel row goes through the lists of the features of x, a vector that leaves
takes its own list with it, and a feature whose list is empty is not used any more. The table is faster where much is
not 0; the lists take memory for what is there. Sums are the same to the last bit.
"""

from __future__ import annotations

from .examples import NONE, places_of, present, values_of
from .jit import FUSED, compiled


@compiled(always_inlined=True)
def has_slots(model, x):
    """Whether there are nodes for one more vector, which is x."""
    head = model.head
    if head.slots == 0 or head.slots - head.fresh + head.freed >= x[2]:
        return True
    head.wanted = x[2]
    return False


@compiled
def set_vector(model, j, x):
    """Vector j becomes x."""
    places, values = places_of(x), values_of(x)
    if model.head.slots:
        _rewrite(model, j, places, values)
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
    _unlink(model, target)
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
        _unlink(model, j)


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
    vectors, n = model.vectors, 0
    for f in range(vectors.shape[0]):
        places[f] = 0
    for i in range(members.shape[0]):  # in the table, every feature is in another place of memory
        point, member = points[i], members[i]
        if member == unwritten:
            write_out(x, point)
        else:
            for f in range(vectors.shape[0]):
                point[f] = vectors[f, member]
        for f in range(vectors.shape[0]):
            places[f] |= point[f] != 0.0
    for f in range(vectors.shape[0]):
        found = places[f]
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


@compiled(always_inlined=True)
def precedes(keys, a, b):
    return keys[a] < keys[b] or (keys[a] == keys[b] and a < b)


@compiled(fastmath=FUSED)
def add_listed_products(model, places, values, row):
    """row[j] += <vector j, x>"""
    nodes, columns = model.nodes, model.columns
    for i in range(places.shape[0]):
        value, node = values[i], columns[places[i]]
        while node != 0:
            row[nodes[node].vector] += value * nodes[node].value
            node = nodes[node].below


@compiled
def _rewrite(model, j, places, values):
    """The list of vector j becomes this one: nodes of features that stay are used again, where they are."""
    nodes, keys, firsts = model.nodes, model.keys, model.firsts
    last, old = 0, firsts[j]
    for i in range(places.shape[0]):
        if values[i] == 0.0:
            continue
        while old != 0 and precedes(keys, nodes[old].feature, places[i]):
            following = nodes[old].after
            _free(model, old)
            old = following
        if old != 0 and nodes[old].feature == places[i]:
            node = old
            old = nodes[old].after
        else:
            node = _new_node(model, j, places[i])
        nodes[node].value = values[i]
        if last == 0:
            firsts[j] = node
        else:
            nodes[last].after = node
        last = node
    if last == 0:
        firsts[j] = 0
    else:
        nodes[last].after = 0
    _free_all(model, old)


@compiled
def _unlink(model, j):
    """The nodes of vector j become free."""
    _free_all(model, model.firsts[j])
    model.firsts[j] = 0


@compiled
def _free_all(model, node):
    nodes = model.nodes
    while node != 0:
        following = nodes[node].after
        _free(model, node)
        node = following


@compiled(always_inlined=True)
def _new_node(model, j, feature):
    """A node of vector j at the head of the list of a feature."""
    head, nodes, columns = model.head, model.nodes, model.columns
    node = head.free_node
    if node != 0:
        head.free_node = nodes[node].after
        head.freed -= 1
    else:
        node = head.fresh
        head.fresh += 1
    below = columns[feature]
    nodes[node].vector, nodes[node].feature = j, feature
    nodes[node].below, nodes[node].above = below, 0
    columns[feature] = node
    if below != 0:
        nodes[below].above = node
    return node


@compiled(always_inlined=True)
def _free(model, node):
    """A node leaves the list of its feature; who holds that of its vector goes on."""
    head, nodes = model.head, model.nodes
    below, above = nodes[node].below, nodes[node].above
    if above == 0:
        model.columns[nodes[node].feature] = below
        if below == 0:
            _note_emptied(model, nodes[node].feature)
    else:
        nodes[above].below = below
    if below != 0:
        nodes[below].above = above
    nodes[node].feature = -1
    nodes[node].after = head.free_node
    head.free_node = node
    head.freed += 1


@compiled(always_inlined=True)
def _note_emptied(model, feature):
    """No vector uses a feature any more: its name may be given up. (Those that find no room are found later.)"""
    emptied = model.emptied
    if emptied[0] < emptied.shape[0] - 1:
        emptied[0] += 1
        emptied[emptied[0]] = feature

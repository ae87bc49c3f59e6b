"""The nodes of lists of numbers that are not 0: each is in the list of its vector and in that of its feature."""

from __future__ import annotations

import numpy as np

from .examples import NONE
from .jit import compiled

NOT_ZERO = 1e-300  # in place of a 0 that is stored


@compiled(always_inlined=True)
def precedes(keys, a, b):
    return keys[a] < keys[b] or (keys[a] == keys[b] and a < b)


@compiled
def rewrite(model, j, places, values):
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
            node = new_node(model, j, places[i])
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
def unlink(model, j):
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
def new_node(model, j, feature):
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


# Lists whose first nodes are not in the order of the keys (core/heavy.py)


@compiled
def sort_list(model, j):
    """The list of vector j in the order of the keys."""
    if model.unsorted[j] == 0:
        return
    nodes, keys, firsts, first = model.nodes, model.keys, model.nonzero, model.firsts[j]
    n = model.unsorted[j]
    for i in range(n):
        firsts[i] = first
        first = nodes[first].after
    _sort_nodes(nodes, keys, firsts, n)
    rest, last = first, NONE
    for i in range(n):
        while rest != 0 and _comes_first(nodes, keys, np.int64(rest), firsts[i]):
            last = _follow(model, j, last, rest)
            rest = nodes[rest].after
        last = _follow(model, j, last, firsts[i])
    _follow(model, j, last, rest)
    model.unsorted[j] = 0


@compiled(always_inlined=True)
def _follow(model, j, last, node):
    """A node comes behind the last one of the list of vector j. Returns which is the last one then."""
    if last == 0:
        model.firsts[j] = node
    else:
        model.nodes[last].after = node
    return node


@compiled
def add_to_list(model, j, places, values, share):
    """share x is added to what is stored of vector j; numbers that it lacks stand at the head of its list then."""
    nodes = model.nodes
    for i in range(places.shape[0]):
        node, added = _node_of(model, j, places[i]), share * values[i]
        if node == 0:
            node = new_node(model, j, places[i])
            nodes[node].value = 0.0
            _put_first(model, j, node)
        nodes[node].value = other_than_zero(nodes[node].value + added)


@compiled
def hand_over(model, source, target, share, multiplier):
    """share times vector `source`, which is this multiple of what is stored, is added to what is stored of vector
    `target`, with the nodes that this one lacks."""
    nodes, node = model.nodes, model.firsts[source]
    while node != 0:
        following, added = nodes[node].after, share * (multiplier * nodes[node].value)
        own = _node_of(model, target, np.int64(nodes[node].feature))
        if own == 0:
            nodes[node].vector, nodes[node].value = target, other_than_zero(added)
            _put_first(model, target, node)
        else:
            nodes[own].value = other_than_zero(nodes[own].value + added)
            _free(model, node)
        node = following
    model.firsts[source], model.unsorted[source] = 0, 0


@compiled(always_inlined=True)
def _node_of(model, j, feature):
    """The node of vector j in the list of a feature, or 0."""
    nodes, node = model.nodes, model.columns[feature]
    while node != 0 and nodes[node].vector != j:
        node = nodes[node].below
    return node


@compiled(always_inlined=True)
def _put_first(model, j, node):
    model.nodes[node].after = model.firsts[j]
    model.firsts[j] = node
    model.lengths[j] += 1
    model.unsorted[j] += 1


@compiled(always_inlined=True)
def other_than_zero(value):
    """A number that happens to become 0 stays one of those that are stored."""
    return value if value != 0.0 else NOT_ZERO


@compiled(always_inlined=True)
def _comes_first(nodes, keys, a, b):
    return precedes(keys, nodes[a].feature, np.int64(nodes[b].feature))


@compiled
def _sort_nodes(nodes, keys, chosen, n):
    """Shell's method, by the keys of their features."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            node, j = chosen[i], i
            while j >= gap and _comes_first(nodes, keys, node, chosen[j - gap]):
                chosen[j] = chosen[j - gap]
                j -= gap
            chosen[j] = node
        gap //= 3

"""The memory of sparse vectors: nodes, the list of nodes of a vector, the column of nodes of a feature.

A node is a number that is not 0, with its vector and its feature. Links lead to the next and the previous node of the
same vector: its list. The nodes of a feature, its column, lie side by side in a piece of memory whose size is a power
of two. A full column moves to a piece twice as large, and an empty column frees its piece. If a node is freed, the
last one of its column moves to its place, with new links of its neighbours in the list. A larger piece is split only
when no memory is left: pieces are never joined again, and large ones would become rare.

head.fresh     the first node that has not been part of any piece yet
head.freed     how many nodes before it are free
pieces[0, k]   the first of the free pieces of 2^(k - 1) nodes; the next one stands in its first node
pieces[1, k]   how many these are
"""

from __future__ import annotations

import numpy as np

from ..block.layout import NODE_SIZE, PIECES, nodes_at
from ..compiling.array_views import address_of
from ..compiling.jit import compiled
from ..examples.present_features import ZERO


@compiled(always_inlined=True)
def precedes(model, a, b):
    """Whether feature a comes before feature b in the order of summation: by key, then tie, then place.

    Two features are never equal in this order.
    """
    keys = model.keys
    return keys[a] < keys[b] or (keys[a] == keys[b] and _wins_tie(model, a, b))


@compiled
def _wins_tie(model, a, b):
    """Whether feature a comes before feature b, for features with equal keys: by tie, then place."""
    ties = model.ties
    return ties[a] < ties[b] or (ties[a] == ties[b] and a < b)


@compiled(always_inlined=True)
def column_of(model, feature):
    """The nodes of a feature."""
    first, count = model.columns[feature].first, model.columns[feature].count
    return nodes_at(address_of(model.nodes) + NODE_SIZE * first, count)


@compiled
def write_list(model, j, places, values):
    """Overwrite the list of vector j with these numbers, in the order of the keys. Nodes of the same features are reused."""
    nodes, firsts = model.nodes, model.firsts
    last, old = ZERO, firsts[j]
    for i in range(places.shape[0]):
        if values[i] == 0.0:
            continue
        while old != 0 and precedes(model, np.int64(nodes[old].feature), places[i]):
            following = nodes[old].after
            _free_node(model, old)
            old = following
        if old != 0 and nodes[old].feature == places[i]:
            node = old
            old = nodes[old].after
        else:
            node = new_node(model, j, places[i])
        nodes[node].value = values[i]
        last = _append(model, j, last, node)
    if last == 0:
        firsts[j] = 0
    else:
        nodes[last].after = 0
    _free_nodes(model, old)


@compiled(always_inlined=True)
def _append(model, j, last, node):
    """Link a node behind the last one of the list of vector j, where 0 stands for none. Returns the node."""
    if last == 0:
        model.firsts[j] = node
    else:
        model.nodes[last].after = node
    model.nodes[node].before = last  # node 0 stands for none, and its fields are not read
    return node


@compiled
def free_list(model, j):
    """Free the nodes of vector j."""
    _free_nodes(model, model.firsts[j])
    model.firsts[j] = 0


@compiled
def _free_nodes(model, node):
    """Free this node of a list and all nodes behind it."""
    nodes = model.nodes
    while node != 0:
        following = nodes[node].after
        _free_node(model, node)
        node = following


@compiled(always_inlined=True)
def new_node(model, j, feature):
    """A new node of vector j, at the end of the column of a feature. The caller sets its value and its links."""
    nodes, columns = model.nodes, model.columns
    count = np.int64(columns[feature].count)
    if count == nodes_in_piece(np.int64(columns[feature].kind)):
        _enlarge_column(model, feature)
    node = columns[feature].first + count
    nodes[node].vector, nodes[node].feature = j, feature
    columns[feature].count = count + 1
    model.head.freed -= 1
    return node


@compiled(always_inlined=True)
def nodes_in_piece(kind):
    """How many nodes a piece of this kind has: 2^(kind - 1), or 0 for kind 0, no piece."""
    return (np.int64(1) << kind) >> 1


@compiled
def _enlarge_column(model, feature):
    """Move the column of a feature to a piece twice as large."""
    columns = model.columns
    first, kind = np.int64(columns[feature].first), np.int64(columns[feature].kind)
    piece = _allocate_piece(model, kind + 1)
    for i in range(columns[feature].count):
        _move_node(model, first + i, piece + i)
    if kind > 0:
        _free_piece(model, first, kind)
    columns[feature].first, columns[feature].kind = piece, kind + 1


@compiled
def _move_node(model, source, target):
    """Move a node, and link its neighbours in the list with its new place."""
    nodes, firsts = model.nodes, model.firsts
    vector, after, before = nodes[source].vector, nodes[source].after, nodes[source].before
    nodes[target].value, nodes[target].vector = nodes[source].value, vector
    nodes[target].feature = nodes[source].feature
    nodes[target].after, nodes[target].before = after, before
    if after != 0:
        nodes[after].before = target
    if before != 0:
        nodes[before].after = target
    else:
        firsts[vector] = target


@compiled
def _allocate_piece(model, kind):
    """Allocate a piece of this kind: a free one, unused memory, or a part of a larger piece. Returns its first node."""
    head, pieces = model.head, model.pieces
    if pieces[0, kind] == 0 and head.fresh + nodes_in_piece(kind) <= head.slots:
        node = head.fresh
        head.fresh += nodes_in_piece(kind)
        head.freed += nodes_in_piece(kind)
        return node
    found = kind
    while (
        found < PIECES - 1 and pieces[0, found] == 0
    ):  # the caller has checked that there is a larger one
        found += 1
    node = pieces[0, found]
    pieces[0, found] = model.nodes[node].after
    pieces[1, found] -= 1
    while found > kind:
        found -= 1
        _free_piece(model, node + nodes_in_piece(found), found)
    return node


@compiled
def _free_piece(model, node, kind):
    """Put a piece at the head of the list of free pieces of its kind."""
    model.nodes[node].after = model.pieces[0, kind]
    model.pieces[0, kind] = node
    model.pieces[1, kind] += 1


@compiled
def missing_nodes(model, places):
    """(nodes that must be added to store numbers in these places, nodes to add if there were no free pieces)"""
    columns, pieces, needs, whole = model.columns, model.pieces, model.needs, ZERO
    for kind in range(PIECES):
        needs[kind] = 0
    for i in range(places.shape[0]):
        kind = np.int64(columns[places[i]].kind)
        if columns[places[i]].count == nodes_in_piece(kind):
            needs[kind + 1] += 1
            whole += nodes_in_piece(kind + 1)
    wanted = model.head.fresh - model.head.slots
    for kind in range(PIECES):
        wanted += max(needs[kind] - pieces[1, kind], 0) * nodes_in_piece(kind)
    return wanted, whole


@compiled
def _free_node(model, node):
    """Free a node: the last one of its column moves to its place. The caller updates the list of its vector."""
    nodes, columns = model.nodes, model.columns
    feature = np.int64(nodes[node].feature)
    first, count = np.int64(columns[feature].first), columns[feature].count - 1
    kind = np.int64(columns[feature].kind)
    if node != first + count:
        _move_node(model, first + count, node)
    columns[feature].count = count
    model.head.freed += 1
    if count == 0:
        _free_piece(model, first, kind)
        columns[feature].first = columns[feature].kind = 0
        # a feature that is 0 in all vectors now: Python may forget its name, or finds it later if `emptied` is full
        n, emptied = model.n_emptied, model.emptied
        if n[0] < emptied.shape[0]:
            emptied[n[0]] = feature
            n[0] += 1

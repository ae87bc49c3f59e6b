"""Trees that grow on the stream: eight of them, whose leaves have weights that learn together.

Random binning draws its cells at random; a leaf is cut where this reduces the error of all trees together most, as in
gradient boosting. So a rule about one or two features takes one or two cuts, and not hundreds of cells.

T. Chen, C. Guestrin. XGBoost: a scalable tree boosting system. KDD 2016 (cuts by sums of gradients).
P. Domingos, G. Hulten. Mining high-speed data streams. KDD 2000 (leaves that count until they are cut).

    here
    slots    of a tree: the features it uses, those with the smallest random numbers for this tree; every other tree
             only takes features with a number below HALF
    node     a row of room.nodes. CHILD is the node for values up to THRESHOLD, and the next row the other child; a
             leaf is its own child and has NO_THRESHOLD, so that all trees take equally many steps, in parallel
    leaf     its weights are the row of room.leaves with the same index; the last column is the sum of squares (or
             visits), as in bins
    v        the errors of a row in one number: for several classes a sum with random weights
    growth   of a leaf, in the row SPACE of its tree: n, sum v^2, sum v, the n at which to look for a cut, and from
             HEAD on (sum v, n) for every slot and cell of its values
    gain     of a cut: the sum of S^2 / (n + PRIOR) over both sides, minus that of the leaf; it must exceed
             GAIN mean v^2

A full tree reverses the cut between two leaves with the least difference, weighted by decaying visits. So trees
follow drift and keep growing.
"""

from __future__ import annotations

import math

import numpy as np

from ...block.random_numbers import numbered
from ...compiling.array_views import as_i64, as_u64
from ...compiling.jit import compiled
from ...examples.call import row_of
from ...simd.table_sums import add_rows
from ...simd.vector_ops import dot
from .binning import add_shares, step_rows
from .tables import (
    BIN_SLOTS,
    COUNTED,
    GROWTH_HEAD,
    MOST_LEAVES,
    NO_THRESHOLD,
    NODES,
    OUTERMOST,
    TREE_CELLS,
    TREE_SLOTS,
    TREES,
    columns_of,
    desk_of,
    room_of,
)

FEATURE, THRESHOLD, CHILD, DEPTH, VISITS, SPACE = range(6)  # columns of nodes
COUNT, SQUARES, TOTAL, DUE = range(4)  # columns of growth
HALF = 0.5
SCALE = (TREE_CELLS - 1) / (2.0 * OUTERMOST)  # cells per standard deviation
DEEPEST = 10.0
FIRST_LOOK, NEXT_LOOK, LOOK_GROWTH = 20.0, 8.0, 1.125  # when to look for a cut, in rows of a leaf
GAIN, PRIOR, LEAST_SIDE = 10.0, 5.0, 5.0
AHEAD = 1.0 + 1e-9  # so that rounding errors do not decide between equal cuts
LEAF_RATE = 1.0 / math.sqrt(TREES)
VISITS_FADE = 1024  # rounds after which visits count half


# Features and empty trees


@compiled
def join_trees(model, feature):
    """Add a feature to the trees for which its random number is small enough; these trees are emptied."""
    key = room_of(model).keys[feature]
    for j in range(TREES):
        draw = numbered(key, BIN_SLOTS + j)
        if j % 2 == 0 or draw < HALF:
            take_slot(model, j, feature, draw, numbered(key, BIN_SLOTS + TREES + j))


@compiled
def take_slot(model, j, feature, draw, shift):
    """Insert a feature into the slots of tree j, sorted by their numbers; drops the last one if they are full."""
    slots, first = room_of(model).tree_slots, j * TREE_SLOTS
    n = int(slots.known[j])
    if n == TREE_SLOTS and draw >= slots.draw[first + n - 1]:
        return
    i = first + min(n, TREE_SLOTS - 1)
    while i > first and slots.draw[i - 1] > draw:
        slots.feature[i] = slots.feature[i - 1]
        slots.draw[i] = slots.draw[i - 1]
        slots.shift[i] = slots.shift[i - 1]
        i -= 1
    slots.feature[i], slots.draw[i], slots.shift[i] = feature, draw, shift
    slots.known[j] = min(n + 1, TREE_SLOTS)
    empty_tree(model, j)


@compiled
def empty_tree(model, j):
    """A tree of one leaf, without weights."""
    room, root = room_of(model), j * NODES
    for c in range(room.leaves.shape[1]):
        room.leaves[root, c] = 0.0
    room.nodes[root, VISITS] = 0.0
    room.trees.leaves[j] = 1.0
    room.trees.depth[j] = 0.0
    make_leaf(model, j, root, 0.0, 0.0)


@compiled
def make_leaf(model, j, node, depth, space):
    """Make a node a leaf without counts."""
    room = room_of(model)
    nodes, counts = room.nodes, room.growth[j * MOST_LEAVES + int(space)]
    nodes[node, FEATURE], nodes[node, THRESHOLD] = 0.0, NO_THRESHOLD
    nodes[node, CHILD], nodes[node, DEPTH], nodes[node, SPACE] = node, depth, space
    for i in range(counts.shape[0]):
        counts[i] = 0.0
    counts[DUE] = FIRST_LOOK


# Prediction


@compiled
def predict_trees(model, scores):
    """scores[c] = sum_j of the weights of the leaf of tree j; writes these leaves to the desk."""
    room, desk = room_of(model), desk_of(model)
    nodes, row, leaves = room.nodes, desk.scaled[1:], room.leaves
    at, hits, depth = as_i64(desk.tree_hits.leaf), as_u64(desk.tree_hits.leaf), 0.0
    for j in range(TREES):
        at[j] = j * NODES
        depth = max(depth, room.trees.depth[j])
    for _ in range(int(depth)):
        for j in range(TREES):
            node = at[j]
            right = row[int(nodes[node, FEATURE])] > nodes[node, THRESHOLD]
            at[j] = int(nodes[node, CHILD]) + right
    if scores.shape[0] == 1:
        scores[0] = 0.0
        for j in range(TREES):
            scores[0] += leaves[hits[j], 0]
    else:
        add_rows(leaves, hits, TREES, scores)


# Learning


@compiled
def learn_trees(model, state, errors):
    """An AdaGrad step along errors[c], the negative gradient, in the leaves of this row; then count it and cut."""
    room, found, columns = room_of(model), desk_of(model).tree_hits, columns_of(model)
    hits, values = as_u64(found.leaf), found.step
    step_rows(room.leaves, hits, LEAF_RATE, found.sum, values, errors, columns)
    for j in range(TREES):
        values[j] = errors[0] if columns == 1 else dot(row_of(room.tree_signs, j), errors, columns)
    grow_trees(model, state, values)


@compiled
def learn_tree_means(model, state, error, units, w):
    """Leaves take over a share of an error, as bins do, and count it in other units."""
    found, leaves = desk_of(model).tree_hits, room_of(model).leaves
    hits, values = as_u64(found.leaf), found.step
    add_shares(leaves, hits, found.sum, values, error, w)
    for j in range(TREES):
        values[j] = units
    grow_trees(model, state, values)


@compiled
def grow_trees(model, state, values):
    """Count the row with values[j] in the leaf of each tree, and cut leaves that are due."""
    nodes, hits = room_of(model).nodes, as_i64(desk_of(model).tree_hits.leaf)
    write_cells(model)
    for j in range(TREES):
        node = hits[j]
        nodes[node, VISITS] += 1.0
        if nodes[node, DEPTH] < DEEPEST and count_row(model, j, node, values[j]):
            cut_leaf(model, j, node)
    if (state.rounds + 1) % VISITS_FADE == 0:
        for node in range(TREES * NODES):
            nodes[node, VISITS] *= 0.5


@compiled
def write_cells(model):
    """Write the indexes, in a row of growth, of this row's cells, for all slots of all trees."""
    desk, slots = desk_of(model), room_of(model).tree_slots
    cells, places, row = desk.tree_cells, as_i64(desk.tree_cells), desk.clipped[1:]
    features, shifts = slots.feature, slots.shift
    for i in range(TREES * TREE_SLOTS):
        cells[i] = row[features[i]]
    for i in range(TREES * TREE_SLOTS):
        cell = np.int64((cells[i] + OUTERMOST) * SCALE + shifts[i])
        places[i] = GROWTH_HEAD + COUNTED * ((i % TREE_SLOTS) * TREE_CELLS + cell)


@compiled
def count_row(model, j, node, value):
    """Count a row in a leaf. Returns whether it is time to look for a cut."""
    room = room_of(model)
    counts = row_of(room.growth, j * MOST_LEAVES + int(room.nodes[node, SPACE]))
    places, first = as_i64(desk_of(model).tree_cells), j * TREE_SLOTS
    counts[COUNT] += 1.0
    counts[SQUARES] += value * value
    counts[TOTAL] += value
    for i in range(first, first + int(room.tree_slots.known[j])):
        counts[places[i]] += value
        counts[places[i] + 1] += 1.0
    if counts[COUNT] < counts[DUE]:
        return False
    counts[DUE] = max(counts[COUNT] + NEXT_LOOK, counts[COUNT] * LOOK_GROWTH)
    return True


# Cuts


@compiled
def best_cut(counts, slots):
    """(slot, cell) of the cut with the largest gain, or (-1, 0) if none gains enough. (Compares without dividing, as most
    cuts gain less than the best so far.)"""
    n, total, found, last = counts[COUNT], counts[TOTAL], -1, 0
    whole = total * total / (n + PRIOR)
    least = AHEAD * GAIN * counts[SQUARES] / n + whole
    for i in range(slots):
        left, n_left = 0.0, 0.0
        for b in range(TREE_CELLS - 1):
            at = GROWTH_HEAD + COUNTED * (i * TREE_CELLS + b)
            left += counts[at]
            n_left += counts[at + 1]
            right, n_right = total - left, n - n_left
            one, other = n_left + PRIOR, n_right + PRIOR
            more = left * left * other + right * right * one > least * (one * other)
            if n_left >= LEAST_SIDE and n_right >= LEAST_SIDE and more:
                gain = left * left / one + right * right / other - whole
                least, found, last = AHEAD * gain + whole, i, b
    return found, last


@compiled
def cut_leaf(model, j, node):
    """Cut a leaf in two at the best cut, if its gain is large enough."""
    room = room_of(model)
    nodes, leaves, slots = room.nodes, room.leaves, room.tree_slots
    space, depth = nodes[node, SPACE], nodes[node, DEPTH] + 1.0
    i, cell = best_cut(row_of(room.growth, j * MOST_LEAVES + int(space)), int(slots.known[j]))
    first, new = room_for_two(model, j, node) if i >= 0 else (-1, 0.0)
    if first < 0:
        return
    slot = j * TREE_SLOTS + i
    make_leaf(model, j, first, depth, space)
    make_leaf(model, j, first + 1, depth, new)
    for child in range(first, first + 2):
        nodes[child, VISITS] = 0.5 * nodes[node, VISITS]
        for c in range(leaves.shape[1]):
            leaves[child, c] = leaves[node, c]
    nodes[node, FEATURE] = slots.feature[slot]
    nodes[node, THRESHOLD] = (cell + 1.0 - slots.shift[slot]) / SCALE - OUTERMOST
    nodes[node, CHILD] = first
    room.trees.depth[j] = max(room.trees.depth[j], depth)


@compiled
def room_for_two(model, j, node):
    """(index of two new nodes, row of growth of the second): unused ones, or those of the two leaves that differ least.
    (-1, 0) if there are none."""
    room = room_of(model)
    used = room.trees.leaves[j]
    if used < MOST_LEAVES:
        room.trees.leaves[j] = used + 1.0
        return j * NODES + 2 * int(used) - 1, used
    nodes = room.nodes
    parent = least_useful(model, j, node)
    if parent < 0:
        return np.int64(-1), 0.0
    first = int(nodes[parent, CHILD])
    new = nodes[first + 1, SPACE]
    unite_leaves(model, parent, first)
    make_leaf(model, j, parent, nodes[parent, DEPTH], nodes[first, SPACE])
    return first, new


@compiled
def least_useful(model, j, node):
    """The parent of the two leaves that differ least, weighted by visits, except the parent of `node`; -1 if none."""
    room, found, least = room_of(model), np.int64(-1), np.inf
    nodes, leaves = room.nodes, room.leaves
    for parent in range(j * NODES, (j + 1) * NODES - 1):
        a = int(nodes[parent, CHILD])
        if a == parent or node == a or node == a + 1:
            continue
        if nodes[a, CHILD] != a or nodes[a + 1, CHILD] != a + 1:
            continue
        difference = 0.0
        for c in range(leaves.shape[1] - 1):
            apart = leaves[a, c] - leaves[a + 1, c]
            difference += apart * apart
        one, other = nodes[a, VISITS], nodes[a + 1, VISITS]
        difference *= one * other / (one + other + 1e-9)
        if AHEAD * difference < least:
            found, least = np.int64(parent), difference
    return found


@compiled
def unite_leaves(model, parent, first):
    """Give the parent of two leaves their weighted mean weights and the sum of their visits."""
    room = room_of(model)
    nodes, leaves = room.nodes, room.leaves
    one, other = nodes[first, VISITS] + 1.0, nodes[first + 1, VISITS] + 1.0
    for c in range(leaves.shape[1]):
        leaves[parent, c] = (one * leaves[first, c] + other * leaves[first + 1, c]) / (one + other)
    nodes[parent, VISITS] = nodes[first, VISITS] + nodes[first + 1, VISITS]

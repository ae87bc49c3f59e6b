"""Trees that grow on the stream: eight of them, whose leaves are cells with weights that learn together.

Random binning draws its cells; these are cut where the errors of all trees together are told apart, as in gradient
boosting. So a rule about one or two features costs a cut or two, and not hundreds of cells.

T. Chen, C. Guestrin. XGBoost: a scalable tree boosting system. KDD 2016 (cuts by sums of gradients).
P. Domingos, G. Hulten. Mining high-speed data streams. KDD 2000 (leaves that count until they are cut).

    here
    slots    of a tree: the features it looks at, those that draw the smallest numbers for it; every other tree takes
             only those with a number below HALF
    node     a row of room.nodes. Its CHILD is that of values up to THRESHOLD, the other one follows it; a leaf is its
             own child and has NO_THRESHOLD, so all trees go down equally far, side by side
    leaf     its weights are the row of room.leaves of the same place, with the sum of squares (or visits) last, as in
             bins
    v        the errors of a row in one number: of several classes a sum with random signs and sizes
    growth   of a leaf, in the row SPACE of its tree: n, sum v^2, sum v, when to look for a cut, and from HEAD on for
             every slot and cell of its values (sum v, n)
    gain     of a cut: S^2 / (n + PRIOR) on both sides, less that of the whole; it must exceed GAIN mean v^2

A full tree takes back the cut of two leaves that makes the least difference, weighed by visits that fade. So trees
follow a drift, and never end to grow.
"""

from __future__ import annotations

import math

import numpy as np

from ...block.random_numbers import numbered
from ...compiling.array_views import as_i64, as_u64
from ...compiling.jit import compiled
from ...examples.call import row_of
from ...simd.table_sums import add_rows, add_to_rows
from ...simd.vector_ops import dot
from .linear_models import mean_square
from .tables import (
    BIN_SLOTS,
    COUNTED,
    GROWTH_HEAD,
    MOST_LEAVES,
    NO_THRESHOLD,
    NODES,
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
OUTERMOST_CUT = 3.0  # standard deviations
SCALE = (TREE_CELLS - 1) / (2.0 * OUTERMOST_CUT)  # cells per standard deviation
DEEPEST = 10.0
FIRST_LOOK, NEXT_LOOK, LOOK_GROWTH = 20.0, 8.0, 1.125  # rows of a leaf until a cut is looked for
GAIN, PRIOR, LEAST_SIDE = 10.0, 5.0, 5.0
AHEAD = 1.0 + 1e-9  # so that no rounding error decides between cuts that are equal
LEAF_RATE = 1.0 / math.sqrt(TREES)
LEAF_FORGETTING, LEAF_SOFTENING = 0.9995, 1e-2
LEAST_LEAF_SHARE = 0.05  # of an error that a leaf takes over, in regression
VISITS_FADE = 1024  # rounds after which visits count half
SUM = -1


# Features and empty trees


@compiled
def join_trees(model, feature):
    """A feature joins the trees for which its number is small enough; they begin anew."""
    key = room_of(model).keys[feature]
    for j in range(TREES):
        draw = numbered(key, BIN_SLOTS + j)
        if j % 2 == 0 or draw < HALF:
            take_slot(model, j, feature, draw, numbered(key, BIN_SLOTS + TREES + j))


@compiled
def take_slot(model, j, feature, draw, shift):
    """The feature takes its place among those of tree j, by their numbers; the last one may have to leave."""
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
    """The node becomes a leaf that has counted nothing."""
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
    """scores[c] = sum_j of the weights of the leaf of tree j; which leaf that is stays on the desk."""
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
    """AdaGrad along errors[c], which are lacking, in the leaves that are hit; then these count, and may be cut."""
    leaves, desk, columns = room_of(model).leaves, desk_of(model), columns_of(model)
    hits, steps = as_u64(desk.tree_hits.leaf), desk.tree_hits.step
    square, last = mean_square(errors, columns), leaves.shape[1] + SUM
    for j in range(TREES):
        total = LEAF_FORGETTING * leaves[hits[j], last] + square
        leaves[hits[j], last] = total
        steps[j] = LEAF_RATE / math.sqrt(total + LEAF_SOFTENING)
    if columns == 1:
        for j in range(TREES):
            leaves[hits[j], 0] += steps[j] * errors[0]
            steps[j] = errors[0]
    else:
        add_to_rows(leaves, hits, TREES, steps, errors[:columns])
        signs = room_of(model).tree_signs
        for j in range(TREES):
            steps[j] = dot(row_of(signs, j), errors, columns)
    grow_trees(model, state, steps)


@compiled
def learn_tree_means(model, state, error, units, w):
    """Leaves take over a share of an error, as bins do, and count it in other units."""
    leaves, desk = room_of(model).leaves, desk_of(model)
    hits, values = as_u64(desk.tree_hits.leaf), desk.tree_hits.step
    last = leaves.shape[1] + SUM
    for j in range(TREES):
        leaf = leaves[hits[j]]
        share = min(w * max(LEAST_LEAF_SHARE, 1.0 / math.sqrt(1.0 + leaf[last])), 1.0)
        leaf[0] += share * error / TREES
        leaf[last] += min(w, 1.0)
        values[j] = units
    grow_trees(model, state, values)


@compiled
def grow_trees(model, state, values):
    """The leaves that are hit count the row with values[j]."""
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
    """Where in a row of growth the cells of this row are, for all slots of all trees."""
    desk, slots = desk_of(model), room_of(model).tree_slots
    cells, places, row = desk.tree_cells, as_i64(desk.tree_cells), desk.scaled[1:]
    features, shifts = slots.feature, slots.shift
    for i in range(TREES * TREE_SLOTS):
        cells[i] = row[features[i]]
    for i in range(TREES * TREE_SLOTS):
        value = min(max(cells[i], -OUTERMOST_CUT), OUTERMOST_CUT)
        cell = np.int64((value + OUTERMOST_CUT) * SCALE + shifts[i])
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
    """(slot, cell) of the cut with the largest gain, or (-1, 0) if none gains enough."""
    n, total, found, last = counts[COUNT], counts[TOTAL], -1, 0
    best, whole = GAIN * counts[SQUARES] / n, total * total / (n + PRIOR)
    for i in range(slots):
        left, n_left = 0.0, 0.0
        for b in range(TREE_CELLS - 1):
            at = GROWTH_HEAD + COUNTED * (i * TREE_CELLS + b)
            left += counts[at]
            n_left += counts[at + 1]
            right, n_right = total - left, n - n_left
            gain = left * left / (n_left + PRIOR) + right * right / (n_right + PRIOR) - whole
            if n_left >= LEAST_SIDE and n_right >= LEAST_SIDE and gain > AHEAD * best:
                best, found, last = gain, i, b
    return found, last


@compiled
def cut_leaf(model, j, node):
    """Cut a leaf in two where that gains most, if it gains enough."""
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
    nodes[node, THRESHOLD] = (cell + 1.0 - slots.shift[slot]) / SCALE - OUTERMOST_CUT
    nodes[node, CHILD] = first
    room.trees.depth[j] = max(room.trees.depth[j], depth)


@compiled
def room_for_two(model, j, node):
    """(the place of two new nodes, the space of the second): unused ones, or those of the two leaves that differ least.
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
    """The parent of the two leaves whose weights differ least, for their visits; not that of `node`. Or -1."""
    room, found, least = room_of(model), np.int64(-1), np.inf
    nodes, leaves = room.nodes, room.leaves
    for parent in range(j * NODES, (j + 1) * NODES - 1):
        a = int(nodes[parent, CHILD])
        if a == parent or node - a in (0, 1):
            continue
        if nodes[a, CHILD] != a or nodes[a + 1, CHILD] != a + 1:
            continue
        difference = 0.0
        for c in range(leaves.shape[1] - 1):
            difference += (leaves[a, c] - leaves[a + 1, c]) ** 2
        one, other = nodes[a, VISITS], nodes[a + 1, VISITS]
        difference *= one * other / (one + other + 1e-9)
        if AHEAD * difference < least:
            found, least = np.int64(parent), difference
    return found


@compiled
def unite_leaves(model, parent, first):
    """The parent of two leaves gets their mean weights and all their visits."""
    room = room_of(model)
    nodes, leaves = room.nodes, room.leaves
    one, other = nodes[first, VISITS] + 1.0, nodes[first + 1, VISITS] + 1.0
    for c in range(leaves.shape[1]):
        leaves[parent, c] = (one * leaves[first, c] + other * leaves[first + 1, c]) / (one + other)
    nodes[parent, VISITS] = nodes[first, VISITS] + nodes[first + 1, VISITS]

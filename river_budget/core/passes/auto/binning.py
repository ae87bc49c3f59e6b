"""Random binning: experts that are sums over many tables, each with cells over a few features.

A. Rahimi, B. Recht. Random features for large-scale kernel machines. NIPS 2007 (random binning features).

    spec         here
    table j      uses 1 + depth j / BIN_TABLES features. The slots b of all tables lie side by side in `slots`, first
                 the unused ones of tables that have no slot b
    wid, off     slots.scale = 1 / wid, slots.shift = off / wid
    cell_j       hits.cell: the sum of the bins, each times a number of its slot (slots.turn), modulo 1: a hash in
                 plain arithmetic
    TW[j, cell]  a row of room.bins: a weight per column, and last a decaying sum of squared errors, the mean over
                 classes (in regression the number of visits)
"""

from __future__ import annotations

import math

import numpy as np

from ...block.random_numbers import numbered
from ...compiling.array_views import as_u64
from ...compiling.jit import compiled
from ...examples.call import row_of
from ...simd.table_sums import add_rows, add_to_rows
from .linear_models import mean_square
from .tables import (
    BIN_DEPTHS,
    BIN_EXPERTS,
    BIN_TABLES,
    CELLS_PER_TABLE,
    columns_of,
    desk_of,
    room_of,
)

COARSENESS = (4.0, 8.0)  # of each expert: bins per 4 standard deviations
BIN_RATE = 0.3 / math.sqrt(BIN_TABLES)
FORGETTING = 0.9995  # of the sums of squared errors
SOFTENING = 1e-2  # added to them under the root
SUM = -1  # the column of this sum in a row of cells
LEAST_SHARE = 0.05  # in regression, a step is at least this share of the error


def first_table(depth, b):
    """The first table that has a slot b: tables of an expert have 1 to `depth` slots, equally many of each number."""
    return -(-BIN_TABLES * b // depth)


FIRST_TABLES = tuple(first_table(depth, b) for depth in BIN_DEPTHS for b in range(depth))
EXPERT_SLOTS = tuple(np.cumsum((0, *BIN_DEPTHS)).tolist())  # where the slots of an expert begin


@compiled
def join_bins(model, feature):
    """Draw a number of the feature for every slot; it gets a slot if its number is the smallest so far. So all features
    have the same chance, in whatever order they appear. Tables that use the feature are emptied."""
    room = room_of(model)
    features, draws, key = room.slots.feature, room.slots.draw, room.keys[feature]
    for e in range(len(BIN_DEPTHS)):
        for b in range(EXPERT_SLOTS[e], EXPERT_SLOTS[e + 1]):
            for j in range(BIN_TABLES):
                s = b * BIN_TABLES + j
                draw = numbered(key, s)
                if draw < draws[s]:
                    draws[s] = draw
                    features[s] = feature
                    if j >= FIRST_TABLES[b]:
                        empty_table(model, e * BIN_TABLES + j)


@compiled
def empty_table(model, j):
    """Write zeros into all cells of table j."""
    cells = room_of(model).bins
    for i in range(CELLS_PER_TABLE * j, CELLS_PER_TABLE * (j + 1)):
        for c in range(cells.shape[1]):
            cells[i, c] = 0.0


@compiled
def of_expert(hits, expert):
    """The part of a row of desk.hits for the tables of an expert."""
    return hits[expert * BIN_TABLES : (expert + 1) * BIN_TABLES]


@compiled
def of_slot(slots, b):
    """The part of a row of room.slots for the tables that have a slot b."""
    return slots[b * BIN_TABLES + FIRST_TABLES[b] : (b + 1) * BIN_TABLES]


@compiled
def predict_bins(model):
    """Write the scores of both experts, and the cells that they come from to the desk."""
    scores = desk_of(model).scores
    for u in range(len(BIN_DEPTHS)):
        find_cells(model, u)
        bin_scores(model, u, row_of(scores, BIN_EXPERTS + u))


@compiled
def find_cells(model, expert):
    """Write hits.cell of this expert's tables: the rows of room.bins where the weights are."""
    desk, slots = desk_of(model), room_of(model).slots
    hash_sum, seen = of_expert(desk.hits.cell, expert), of_expert(desk.hits.seen, expert)
    hits, row, features = as_u64(hash_sum), desk.clipped[1:], slots.feature
    for j in range(BIN_TABLES):
        hash_sum[j] = 0.0
    for b in range(EXPERT_SLOTS[expert], EXPERT_SLOTS[expert + 1]):
        first, sums = b * BIN_TABLES + FIRST_TABLES[b], hash_sum[FIRST_TABLES[b] :]
        scales, shifts = of_slot(slots.scale, b), of_slot(slots.shift, b)
        turns = of_slot(slots.turn, b)
        for j in range(sums.shape[0]):  # gathered first, so that the next loop is vector code
            seen[j] = row[features[first + j]]
        for j in range(sums.shape[0]):
            sums[j] += math.floor(seen[j] * scales[j] + shifts[j]) * turns[j]
    for j in range(BIN_TABLES):
        part = hash_sum[j] - math.floor(hash_sum[j])
        cell = min(np.int64(part * CELLS_PER_TABLE), CELLS_PER_TABLE - 1)
        hits[j] = (expert * BIN_TABLES + j) * CELLS_PER_TABLE + cell


@compiled
def bin_scores(model, expert, scores):
    """scores[c] = sum_j TW[j, cell_j, c]"""
    cells, hits = room_of(model).bins, as_u64(of_expert(desk_of(model).hits.cell, expert))
    if scores.shape[0] == 1:
        first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for j in range(0, BIN_TABLES, 4):  # four sums, as each addition waits for the one before
            first += cells[hits[j], 0]
            second += cells[hits[j + 1], 0]
            third += cells[hits[j + 2], 0]
            fourth += cells[hits[j + 3], 0]
        scores[0] = (first + second) + (third + fourth)
    else:
        add_rows(cells, hits, BIN_TABLES, scores)


# Learning: rows `hits` of a table have a weight per column, and a sum in the last column


@compiled
def learn_bins(model, expert, errors):
    """An AdaGrad step along errors[c], the negative gradient, in the cells of this example."""
    desk_hits, columns = desk_of(model).hits, columns_of(model)
    hits, sums = of_expert(desk_hits.cell, expert), of_expert(desk_hits.seen, expert)
    steps = of_expert(desk_hits.step, expert)
    step_rows(room_of(model).bins, as_u64(hits), BIN_RATE, sums, steps, errors, columns)


@compiled
def step_rows(table, hits, rate, sums, steps, errors, columns):
    """An AdaGrad step in some rows of a table. All classes of a row have the same step length. (Gathers numbers first,
    so that roots and divisions are vector code, and takes these in float32, in a third of the time.) Overwrites sums
    and steps."""
    square, last, n = mean_square(errors, columns), table.shape[1] + SUM, hits.shape[0]
    for j in range(n):
        sums[j] = table[hits[j], last]
    for j in range(n):
        sums[j] = FORGETTING * sums[j] + square
    for j in range(n):
        steps[j] = np.float32(rate) / math.sqrt(np.float32(sums[j] + SOFTENING))
    for j in range(n):
        table[hits[j], last] = sums[j]
    if columns == 1:
        for j in range(n):
            table[hits[j], 0] += steps[j] * errors[0]
    else:
        add_to_rows(table, hits, n, steps, errors[:columns])


@compiled
def learn_bin_means(model, expert, error, w):
    """Add a share of the error to the cells of this example."""
    desk_hits = desk_of(model).hits
    hits, visits = of_expert(desk_hits.cell, expert), of_expert(desk_hits.seen, expert)
    steps = of_expert(desk_hits.step, expert)
    add_shares(room_of(model).bins, as_u64(hits), visits, steps, error, w)


@compiled
def add_shares(table, hits, visits, steps, error, w):
    """Add a share of the error to some rows of a table: all of it at the first visit of a row, then less. (Gathers
    numbers first and takes roots in float32, as above.) Overwrites visits and steps."""
    last, n = table.shape[1] + SUM, hits.shape[0]
    part = error / n
    for j in range(n):
        visits[j] = table[hits[j], last]
    for j in range(n):
        share = np.float32(1.0) / math.sqrt(np.float32(1.0 + visits[j]))
        steps[j] = min(w * max(LEAST_SHARE, share), 1.0) * part
    for j in range(n):
        table[hits[j], 0] += steps[j]
        table[hits[j], last] = visits[j] + min(w, 1.0)

"""Random binning: the sum over many tables, each with cells over a few features.

A. Rahimi, B. Recht. Random features for large-scale kernel machines. NIPS 2007 (random binning features).

    spec         here
    table j      uses 1 + BIN_DEPTH j / BIN_TABLES features. The slots b of all tables lie side by side in `slots`,
                 first the unused ones of tables that have no slot b
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
from ...examples.call import model_of, row_of
from .linear_models import mean_square
from .tables import BIN_DEPTH, BIN_TABLES, CELLS_PER_TABLE, columns_of, desk_of, room_of, state_at

COARSENESS = 4.0  # bins per 4 standard deviations
OUTERMOST = 3.0  # standard deviations: bins lie between minus this and this
BIN_RATE = 0.4 / math.sqrt(BIN_TABLES)
FORGETTING = 0.9995  # of the sums of squared errors
SOFTENING = 1e-2  # added to them under the root
SUM = -1  # the column of this sum in a row of cells
LEAST_SHARE = 0.05  # in regression, a step is at least this share of the error

# of each slot b, the first table that has it: tables have 1 to BIN_DEPTH slots, equally many of each number
FIRST_TABLES = tuple(-(-BIN_TABLES * b // BIN_DEPTH) for b in range(BIN_DEPTH))


@compiled
def join_bins(model, feature):
    """Draw a number of the feature for every slot; it gets a slot if its number is the smallest so far. So all features
    have the same chance, in whatever order they appear. Tables that use the feature are emptied."""
    room = room_of(model)
    features, draws, cells = room.slots.feature, room.slots.draw, room.bins
    key = room.keys[feature]
    for b in range(BIN_DEPTH):
        for j in range(BIN_TABLES):
            s = b * BIN_TABLES + j
            draw = numbered(key, s)
            if draw < draws[s]:
                draws[s] = draw
                features[s] = feature
                if j >= FIRST_TABLES[b]:
                    for i in range(CELLS_PER_TABLE * j, CELLS_PER_TABLE * (j + 1)):
                        cells[i][:] = 0.0


@compiled(called_from_python=True)
def rejoin(call):
    """Add all features that have varied to new bins, with the same result as when they began to vary."""
    model = model_of(call)
    for f in range(state_at(model.state).features):
        if room_of(model).moments.orientation[f] != 0.0:
            join_bins(model, f)
    return np.int64(0)


@compiled
def bin_scores(model, row, scores):
    """Write hits.cell, the rows of room.bins where the weights of this scaled row are;  scores[c] = sum_j TW[j, cell_j, c]"""
    found, slots, cells = desk_of(model).hits, room_of(model).slots, room_of(model).bins
    sums, values, hits, features = (found.cell, found.seen, as_u64(found.cell), slots.feature)
    for j in range(BIN_TABLES):
        sums[j] = 0.0
    for b in range(BIN_DEPTH):
        first, parts = b * BIN_TABLES + FIRST_TABLES[b], sums[FIRST_TABLES[b] :]
        last = (b + 1) * BIN_TABLES
        scales, shifts = slots.scale[first:last], slots.shift[first:last]
        turns = slots.turn[first:last]
        for j in range(parts.shape[0]):  # gathered first, so that the next loop is vector code
            values[j] = row[features[first + j]]
        for j in range(parts.shape[0]):
            value = min(max(values[j], -OUTERMOST), OUTERMOST)
            parts[j] += math.floor(value * scales[j] + shifts[j]) * turns[j]
    for j in range(BIN_TABLES):
        part = sums[j] - math.floor(sums[j])
        cell = min(np.int64(part * CELLS_PER_TABLE), CELLS_PER_TABLE - 1)
        hits[j] = j * CELLS_PER_TABLE + cell
    if scores.shape[0] == 1:
        first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for j in range(0, BIN_TABLES, 4):  # four sums, as each addition waits for the one before
            first += cells[hits[j], 0]
            second += cells[hits[j + 1], 0]
            third += cells[hits[j + 2], 0]
            fourth += cells[hits[j + 3], 0]
        scores[0] = (first + second) + (third + fourth)
        return
    for c in range(scores.shape[0]):
        scores[c] = 0.0
    for j in range(BIN_TABLES):
        cell = row_of(cells, np.int64(hits[j]))
        for c in range(scores.shape[0]):
            scores[c] += cell[c]


# Learning: a cell has a weight per column, and a sum in the last column. Numbers are gathered first, so that roots and
# divisions are vector code, in float32, which takes a third of the time.


@compiled
def learn_bins(model, errors):
    """An AdaGrad step along errors[c], the negative gradient, in the cells of this row. All classes have the same step
    length."""
    table, found, columns = room_of(model).bins, desk_of(model).hits, columns_of(model)
    hits, sums, steps, last = (as_u64(found.cell), found.seen, found.step, table.shape[1] + SUM)
    square = mean_square(errors, columns)
    for j in range(BIN_TABLES):
        sums[j] = table[hits[j], last]
    for j in range(BIN_TABLES):
        sums[j] = FORGETTING * sums[j] + square
    for j in range(BIN_TABLES):
        steps[j] = np.float32(BIN_RATE) / math.sqrt(np.float32(sums[j] + SOFTENING))
    for j in range(BIN_TABLES):
        cell, step = row_of(table, np.int64(hits[j])), steps[j]
        cell[last] = sums[j]
        for c in range(columns):
            cell[c] += step * errors[c]


@compiled
def learn_bin_means(model, error, w):
    """Add a share of the error to the cells of this row: all of it at the first visit of a cell, then less."""
    table, found, part = room_of(model).bins, desk_of(model).hits, error / BIN_TABLES
    hits, visits, steps = as_u64(found.cell), found.seen, found.step
    for j in range(BIN_TABLES):
        visits[j] = table[hits[j], 1]
    for j in range(BIN_TABLES):
        share = np.float32(1.0) / math.sqrt(np.float32(1.0 + visits[j]))
        steps[j] = min(w * max(LEAST_SHARE, share), 1.0) * part
    for j in range(BIN_TABLES):
        table[hits[j], 0] += steps[j]
        table[hits[j], 1] = visits[j] + min(w, 1.0)

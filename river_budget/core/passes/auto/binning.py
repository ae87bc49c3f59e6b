"""Random binning: many tables, each over few features, that learn together.

A. Rahimi, B. Recht. Random features for large-scale kernel machines. NIPS 2007 (random binning features).

    spec         here
    table j      looks at 1 + depth j / TABLES features: slot b of all tables lies in one row of slots, where those
                 that have none come first
    wid, off     SLOT_SCALE = 1 / wid, SLOT_SHIFT = off / wid
    cell_j       HIT_CELL; a sum of the bins, each times a number of its slot (SLOT_TURN), modulo 1: a hash that is
                 plain arithmetic
    TW[j, cell]  a row of CELL: a weight per column, and last a fading sum of the squares of errors, of all classes on
                 average (in regression the number of visits)
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
    CELL,
    CELLS_EACH,
    DEPTHS,
    HIT,
    HIT_CELL,
    HIT_NUMBER,
    HIT_STEP,
    KEY,
    ROW,
    SLOT,
    SLOT_DRAW,
    SLOT_FEATURE,
    SLOT_SCALE,
    SLOT_SHIFT,
    SLOT_TURN,
    TABLES,
    columns_of,
    kept,
    noted,
)

COARSENESS = (4.0, 8.0)  # of the experts: bins over 4 standard deviations
EDGE = 3.0  # bins go as far as this
STEP = 0.3 / math.sqrt(TABLES)
MEMORY = 0.9995  # of sums of squares
SOFTENING = 1e-2  # of their roots
SUM = -1  # its place in a row of cells
FLOOR = 0.05  # of the share of an error that a cell takes over, in regression


def first_table(depth, b):
    """The first table that has a slot b: of `depth` shares of the tables, the first has one slot."""
    return -(-TABLES * b // depth)


STARTS = tuple(first_table(depth, b) for depth in DEPTHS for b in range(depth))
ROWS = tuple(np.cumsum((0, *DEPTHS)).tolist())  # of slots: where those of an expert begin


@compiled
def join_bins(model, feature):
    """A feature draws a number for every slot and takes those where no other has drawn a smaller one. So all have
    the same chance, in whatever order they come. Tables that look at it begin anew."""
    slot, key = kept(model, SLOT), as_u64(kept(model, KEY)[0])[feature]
    features, draws = as_u64(slot[SLOT_FEATURE]), slot[SLOT_DRAW]
    for e in range(len(DEPTHS)):
        for b in range(ROWS[e], ROWS[e + 1]):
            for j in range(TABLES):
                s = b * TABLES + j
                draw = numbered(key, s)
                if draw < draws[s]:
                    draws[s] = draw
                    features[s] = feature
                    if j >= STARTS[b]:
                        empty(model, e * TABLES + j)


@compiled
def empty(model, j):
    """Table j forgets."""
    cells = kept(model, CELL)
    for i in range(CELLS_EACH * j, CELLS_EACH * (j + 1)):
        for c in range(cells.shape[1]):
            cells[i, c] = 0.0


@compiled
def hits_of(model, expert, row):
    """A row of HIT for the tables of an expert."""
    return row_of(noted(model, HIT), row)[expert * TABLES : (expert + 1) * TABLES]


@compiled
def find_cells(model, expert):
    """HIT of this expert's tables: the rows of CELL where the weights are."""
    hash_sum, seen = hits_of(model, expert, HIT_CELL), hits_of(model, expert, HIT_NUMBER)
    hits, row = as_u64(hash_sum), noted(model, ROW)[0][1:]
    for j in range(TABLES):
        hash_sum[j] = 0.0
    for b in range(ROWS[expert], ROWS[expert + 1]):
        features, scales = slots_of(model, SLOT_FEATURE, b), slots_of(model, SLOT_SCALE, b)
        shifts, turns = slots_of(model, SLOT_SHIFT, b), slots_of(model, SLOT_TURN, b)
        places, sums = as_u64(features), hash_sum[STARTS[b] :]
        for j in range(TABLES - STARTS[b]):  # fetched first, so that the rest is vector code
            seen[j] = row[places[j]]
        for j in range(TABLES - STARTS[b]):
            value = min(max(seen[j], -EDGE), EDGE)
            sums[j] += math.floor(value * scales[j] + shifts[j]) * turns[j]
    for j in range(TABLES):
        part = hash_sum[j] - math.floor(hash_sum[j])
        cell = min(np.int64(part * CELLS_EACH), CELLS_EACH - 1)
        hits[j] = (expert * TABLES + j) * CELLS_EACH + cell


@compiled
def slots_of(model, name, b):
    """A row of SLOT for the tables that have a slot b."""
    return row_of(kept(model, SLOT), name)[b * TABLES + STARTS[b] : (b + 1) * TABLES]


@compiled
def binned(model, expert, scores):
    """scores[c] = sum_j TW[j, cell_j, c]"""
    cells, hits = kept(model, CELL), as_u64(hits_of(model, expert, HIT_CELL))
    if scores.shape[0] == 1:
        first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for j in range(0, TABLES, 4):  # an addition waits for the one before it: four do not
            first += cells[hits[j], 0]
            second += cells[hits[j + 1], 0]
            third += cells[hits[j + 2], 0]
            fourth += cells[hits[j + 3], 0]
        scores[0] = (first + second) + (third + fourth)
    else:
        add_rows(cells, hits, TABLES, scores)


@compiled
def learn_bins(model, expert, errors):
    """AdaGrad against errors[c] in all cells that are hit; all classes of a cell share the length of its steps.
    (Numbers are fetched first, so that roots and divisions are vector code.)"""
    cells, hits = kept(model, CELL), as_u64(hits_of(model, expert, HIT_CELL))
    fetched, steps = hits_of(model, expert, HIT_NUMBER), hits_of(model, expert, HIT_STEP)
    columns = columns_of(model)
    square, last = mean_square(errors, columns), cells.shape[1] + SUM
    for j in range(TABLES):
        fetched[j] = cells[hits[j], last]
    for j in range(TABLES):
        fetched[j] = MEMORY * fetched[j] + square
    for j in range(TABLES):
        steps[j] = -STEP / math.sqrt(fetched[j] + SOFTENING)
    for j in range(TABLES):
        cells[hits[j], last] = fetched[j]
    if columns == 1:
        for j in range(TABLES):
            cells[hits[j], 0] += steps[j] * errors[0]
    else:
        add_to_rows(cells, hits, TABLES, steps, errors[:columns])


@compiled
def learn_bin_means(model, expert, error, w):
    """Cells take over a share of an error: the first time all of it, then less."""
    cells, hits = kept(model, CELL), as_u64(hits_of(model, expert, HIT_CELL))
    last = cells.shape[1] + SUM
    for j in range(TABLES):
        cell = cells[hits[j]]
        share = min(w * max(FLOOR, 1.0 / math.sqrt(1.0 + cell[last])), 1.0)
        cell[0] += share * error / TABLES
        cell[last] += min(w, 1.0)

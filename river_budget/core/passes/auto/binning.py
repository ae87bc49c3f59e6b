"""Random binning: the sum over many tables, each with cells over a few features
(examples/auto_kernel.md, Random binning).

A. Rahimi, B. Recht. Random features for large-scale kernel machines. NIPS 2007 (random binning
features).

    table j      uses 1 + BIN_DEPTH j / BIN_TABLES features. The slots b of all tables lie side by
                 side in `slots`, first the unused ones of tables that have no slot b
    wid, off     slots[SCALE] = 1 / wid, slots[SHIFT] = off / wid
    cell_j       hits[CELL]: the sum of the bins, each times a number of its slot (slots[TURN]),
                 modulo 1: a hash in plain arithmetic
    TW[j, cell]  a row of `cells`: a weight per column, and last a decaying sum of squared errors,
                 the mean over classes (in regression the number of visits)
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling import inner, passes
from ...numerics import clamp
from ...random_numbers import numbered
from .linear_models import mean_square
from .tables import (
    BIN_DEPTH,
    BIN_SLOTS,
    BIN_TABLES,
    CELL,
    CELLS_PER_TABLE,
    DRAW,
    FEATURE,
    OLD,
    ORIENTATION,
    SCALE,
    SHIFT,
    STEP,
    TURN,
)

COARSENESS = 4.0  # bins per 4 standard deviations
OUTERMOST = 3.0  # standard deviations: bins lie between minus this and this
BIN_RATE = 0.4 / math.sqrt(BIN_TABLES)
FORGETTING = 0.9995  # of the sums of squared errors
SOFTENING = 1e-2  # added to them under the root
SUM = -1  # the column of this sum in a row of cells
LEAST_SHARE = 0.05  # in regression, a step is at least this share of the error

# the first table that has a slot b is number b FIRST: tables have 1 to BIN_DEPTH slots, equally
# many of each number
FIRST = BIN_TABLES // BIN_DEPTH


@inner
def join_bins(slots, cells, feature, key):
    """Draw a number of the feature for every slot; it gets a slot if its number is the smallest so
    far. So all features have the same chance, in whatever order they appear. Tables that use the
    feature are emptied.
    """
    for s in range(BIN_SLOTS):
        b, j, draw = s // BIN_TABLES, s % BIN_TABLES, numbered(key, s)
        if draw < slots[DRAW, s]:
            slots[DRAW, s], slots[FEATURE, s] = draw, feature
            if j >= b * FIRST:
                for i in range(CELLS_PER_TABLE * j, CELLS_PER_TABLE * (j + 1)):
                    for c in range(cells.shape[1]):
                        cells[i, c] = 0.0


@passes
def rejoin(states, room):
    """Add all features that have varied to new bins, with the same result as when they began to
    vary.
    """
    features, models = room.features, room.models
    for f in range(states[0].features):
        if features.moments[ORIENTATION, f] != 0.0:
            join_bins(models.slots, models.cells, f, features.keys[f])
    return 0


@inner
def find_cells(slots, row, hits):
    """Write the rows of the cells in which this scaled row lies to hits[CELL]. Overwrites the other
    hits.
    """
    cells, values = hits[CELL], hits[OLD]
    depth = slots.shape[1] // BIN_TABLES
    for j in range(BIN_TABLES):
        cells[j] = 0.0
    for b in range(depth):
        start = b * BIN_TABLES
        for j in range(b * FIRST, BIN_TABLES):  # gathered first, so that the next loop vectorises
            values[j] = row[np.int64(slots[FEATURE, start + j])]
        for j in range(b * FIRST, BIN_TABLES):
            value = clamp(values[j], OUTERMOST)
            found = np.floor(value * slots[SCALE, start + j] + slots[SHIFT, start + j])
            cells[j] += found * slots[TURN, start + j]
    for j in range(BIN_TABLES):
        part = cells[j] - np.floor(cells[j])
        cell = min(np.floor(part * CELLS_PER_TABLE), CELLS_PER_TABLE - 1.0)
        cells[j] = j * CELLS_PER_TABLE + cell


@inner
def bin_scores(cells, hits, scores):
    """scores[c] = sum_j TW[j, cell_j, c], of four tables at a time, as each addition waits for the
    one before.
    """
    for c in range(scores.shape[0]):
        scores[c] = 0.0
    for j in range(0, BIN_TABLES, 4):
        p, q = cells[np.int64(hits[j])], cells[np.int64(hits[j + 1])]
        r, s = cells[np.int64(hits[j + 2])], cells[np.int64(hits[j + 3])]
        for c in range(scores.shape[0]):
            scores[c] += (p[c] + q[c]) + (r[c] + s[c])


# Learning: a cell has a weight per column, and a sum in the last column. Numbers are gathered
# first, so that roots and divisions vectorise, in float32, which takes a third of the time.


@inner
def learn_bins(cells, hits, errors):
    """An AdaGrad step along errors[c], the negative gradient, in the cells of this row. All classes
    have the same step length.
    """
    rows, sums, steps, square = hits[CELL], hits[OLD], hits[STEP], mean_square(errors)
    last = cells.shape[1] + SUM
    for j in range(BIN_TABLES):
        sums[j] = cells[np.int64(rows[j]), last]
    for j in range(BIN_TABLES):
        sums[j] = FORGETTING * sums[j] + square
        steps[j] = np.float32(BIN_RATE) / math.sqrt(np.float32(sums[j] + SOFTENING))
    for j in range(BIN_TABLES):
        cell, step = cells[np.int64(rows[j])], steps[j]
        cell[last] = sums[j]
        for c in range(errors.shape[0]):
            cell[c] += step * errors[c]


@inner
def learn_bin_means(cells, hits, error, w):
    """Add a share of the error to the cells of this row: all of it at the first visit of a cell,
    then less.
    """
    rows, visits, steps, part = hits[CELL], hits[OLD], hits[STEP], error / BIN_TABLES
    for j in range(BIN_TABLES):
        visits[j] = cells[np.int64(rows[j]), 1]
    for j in range(BIN_TABLES):
        share = np.float32(1.0) / math.sqrt(np.float32(1.0 + visits[j]))
        steps[j] = min(w * max(LEAST_SHARE, share), 1.0) * part
    for j in range(BIN_TABLES):
        cell = cells[np.int64(rows[j])]
        cell[0] += steps[j]
        cell[1] = visits[j] + min(w, 1.0)

"""What the automatic kernel learner keeps, and where.

The specification of the learner has no paper; its symbols in these files:

    spec     here
    W1, W2   the first places of the memory are of recent rows, the others of rows that were hard
    s_if     model.vectors[f, i], scaled; alpha_qi,c  model.coefficients[3 (c - first) + q, i]
    y_i      model.per_vector[TARGET, i]; whether it was hard, its weight, its arrival, its squared error beside it
    t        state.rounds: rows learned, which is also the version of the model
    m        exp(state.log_distance)
    v        state.residual: the temperature of the linear model of least squares
    my, sy   state.average, the root of state.variance: of the targets, in regression
    C        classes; C' = columns: one for two classes, whose other scores are its negatives

A feature takes part from the moment it varies: before that it is 0 in all scaled rows, whether it was known or not.

Tables of fixed shapes lie in the room at the end of the block, and those of a moment on the desk at the end of
the scratch space. The room begins with their directory: where each one starts, its rows, its columns.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...compiling.array_views import carver, f64_matrix, i64
from ...compiling.jit import compiled
from ...simd.registers import LANES

_COUNTS = ("rounds", "features", "second_order", "recent_place", "hard_place")
_NUMBERS = (
    "log_distance residual average variance fast last squared_error absolute_error "
    "lowest highest stretch latest_error"
)
STATE = np.dtype(
    (
        np.record,
        [(name, "i8") for name in _COUNTS] + [(name, "f8") for name in _NUMBERS.split()],
    )
)
state_at = carver(STATE, 0)

EXPERTS = 11  # of them the last is the linear model of least squares, where there is one
STRIDE = 16  # of tables with a column per expert
MOST_SQUARED = 64  # features of that model: its cost is quadratic
WIDTHS = 3  # of kernels
TABLES, CELLS_EACH = 120, 128  # of random binning: tables per expert, cells per table
DEPTHS = (5, 2)  # its experts: the largest number of features that a table looks at
SLOTS = TABLES * sum(DEPTHS)
NEIGHBOURS, ROUNDED_NEIGHBOURS = 20, 24  # the second in whole vectors of eight
KNOTS = 11  # of the calibration
TAIL_KNOTS = 15  # of features with heavy tails

# rows of model.per_vector
TARGET, HARD, WEIGHT, ARRIVAL, SQUARED_ERROR = range(5)
# tables of the room, and rows of some
MOMENTS, METRIC, KEY, PRIOR, MIXER, CALIBRATION = np.arange(6)
LINEAR, LINEAR_SUMS, LEAST_SQUARES, COVARIANCE, TAIL, SLOT, CELL = np.arange(6, 13)
MEAN, VARIANCE, ORIENTATION = range(3)  # of MOMENTS
METRIC_WEIGHT, METRIC_LOG, METRIC_SQUARES = range(3)  # of METRIC
MIXER_WEIGHT, MIXER_LOSS, MIXER_CURVATURE = range(3)  # of MIXER; the curvature takes the rest
MASS, EXCESS = range(2)  # of CALIBRATION
BENT, TIES, LAST, KNOT = range(4)  # of TAIL; behind them the other knots
SLOT_FEATURE, SLOT_DRAW, SLOT_SCALE, SLOT_SHIFT, SLOT_TURN = np.arange(5)  # of SLOT
# tables of the desk, and rows of some
RAW, ROW, NEW_MOMENTS, SHARES, LOGS = np.arange(13, 18)
MIXTURE, HIT, NEAR, SOLVER, GAIN, SLOPE, SCORES = np.arange(18, 25)
HIT_CELL, HIT_NUMBER, HIT_STEP = np.arange(3)  # of HIT
NEAR_PLACE, NEAR_DISTANCE, NEAR_SHARE = range(3)  # of NEAR
DIRECTORY = 3 * 25  # numbers
ONLY = np.int64(0)  # the column where there is but one


def whole(n):
    """Rounded up to whole vectors."""
    return (n + LANES - 1) // LANES * LANES


def room_shapes(width: int, columns: int) -> Any:
    """The shapes of the tables in the room; the compiled passes see rows of the last axis. Rows of linear models are
    filled up with zeros to whole vectors."""
    squared = whole(min(width, MOST_SQUARED) + 1)
    return {
        MOMENTS: (3, width),
        METRIC: (3, width),
        KEY: (1, width),  # bits from which the random numbers of a feature follow
        PRIOR: (1, max(columns, 2)),
        MIXER: (2 + STRIDE, STRIDE),
        CALIBRATION: (2, 16),
        LINEAR: (2 * columns, whole(width + 1)),  # two rates
        LINEAR_SUMS: (2, whole(width + 1)),
        LEAST_SQUARES: (columns, squared),
        COVARIANCE: (squared, squared),
        TAIL: (KNOT + TAIL_KNOTS, width),
        SLOT: (5, SLOTS),
        CELL: (len(DEPTHS) * TABLES, CELLS_EACH, columns + 1),  # weights, and a sum or visits
    }


def desk_shapes(width: int, columns: int) -> Any:
    classes, squared = max(columns, 2), whole(min(width, MOST_SQUARED) + 1)
    return {
        RAW: (1, width),
        ROW: (1, whole(max(width, 1) + 1)),  # slots that look at no feature yet look at the first
        NEW_MOMENTS: (3, width),
        SCORES: (STRIDE, columns),
        SHARES: (STRIDE, classes),
        LOGS: (STRIDE, classes),
        MIXTURE: (3, classes),
        HIT: (3, len(DEPTHS) * TABLES),
        NEAR: (3, ROUNDED_NEIGHBOURS),
        SOLVER: (STRIDE + 4, STRIDE),
        GAIN: (2, squared),
        SLOPE: (1, whole(width + 1)),
    }


def places(shapes: Any, start: int) -> Any:
    """(directory entries, the end): tables one behind the other, each on a cache line."""
    found, end = {}, start
    for name, shape in shapes.items():
        found[name] = (end, math.prod(shape[:-1]), shape[-1])
        end += -(-math.prod(shape) // 8) * 8
    return found, end


@functools.lru_cache(64)
def directory(width: int, columns: int) -> Any:
    """(the directory as an array, numbers in the room, numbers on the desk)"""
    inside, room = places(room_shapes(width, columns), DIRECTORY)
    beside, desk = places(desk_shapes(width, columns), 0)
    entries = np.zeros((DIRECTORY // 3, 3), np.int64)
    for name, entry in (inside | beside).items():
        entries[name] = entry
    entries.setflags(write=False)  # as it is kept
    return entries, room, desk


@compiled
def kept(model, name):
    """A table of the room."""
    entries = i64(model.room, DIRECTORY)
    return f64_matrix(
        model.room + 8 * entries[3 * name], entries[3 * name + 1], entries[3 * name + 2]
    )


@compiled
def noted(model, name):
    """A table of the desk."""
    entries = i64(model.room, DIRECTORY)
    return f64_matrix(
        model.heap + 8 * entries[3 * name], entries[3 * name + 1], entries[3 * name + 2]
    )


@compiled
def whole_row(state):
    """How many numbers x+ has, with the zeros behind it."""
    return (state.features + LANES) // LANES * LANES


@compiled
def columns_of(model):
    """C': how many columns of coefficients there are for each width, and of weights for each feature."""
    return kept(model, LEAST_SQUARES).shape[0]

"""The tables of AutoKernel by name: their shapes, and how compiled code reads them.

There is no paper about this learner. Its symbols, and what they are in these files:

    x      room.moments are means, variances and signs; desk.scaled is x in standard deviations, clipped to 4, and
           desk.wide is 1 and then the same, clipped to 40
    d      the number of features that have ever varied: before that a feature is 0 in all scaled rows
    a_f    room.metric.weight, the weight of a feature in distances; their sum is d
    D_i    model.row: sum_f a_f (x_f - s_if)^2, the distance of the row from stored row i, model.vectors[f, i]
    K, N   NEIGHBOURS; the nearest of the memory are desk.near, those of memory and archive desk.far, by distance
    pi_i   near.share, far.share: of a neighbour in the vote
    alpha  model.coefficients[c, i]: of stored row i in the kernel
    C, C'  classes; columns of weights: one for two classes, whose other scores are its negatives
    p, l   desk.shares, desk.logs: a row per expert, of what it says; f  desk.scores in regression
    e      desk.errors: what each expert lacks
    w_k    room.mixer.weight; A  room.mixer.curvature; g  desk.solver.slope
    P      desk.mixture.share, of the mixture of all experts
    t      state.rounds: rows learned, which is also the version of the model
    v      state.residual: the temperature of the linear model of least squares
    my, sy state.average, the root of state.variance: of the targets, in regression
    r_i^2  memory.squared_error: of the mixture when row i came

The experts are the rows of one table, in this order. An expert that is absent (least squares of many features, or
one that `river-budget auto --without` switches off) has room.mixer.start 0: then the mixer leaves it out.

Everything that a model has learned is in the room, at the end of its block: `room_of(model).mixer.weight[k]`. Results
for the present row are on the desk, at the end of the scratch space: `desk_of(model).logs[k, c]`. The room begins with
the directory of both: where each table starts, its rows, its columns. Compiled code reads the directory wherever
a table is named, so name tables before a loop and not in it; rows of a table are found without it.
"""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from statistics import NormalDist
from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import lower_getattr
from numba.np import arrayobj

from ...compiling.array_views import (
    address_of,
    carve,
    carver,
    compiled_as,
    f32_matrix,
    f64,
    f64_matrix,
    i32_matrix,
    i64,
    record,
    struct,
)
from ...compiling.jit import compiled
from ...compiling.model_type import MODEL, Rows, Tables, rows_at, rows_type, view
from ...compiling.named_rows import NamedTables, named_rows
from ...simd.vector_ops import LANES

# recent_place, hard_place: where the memory writes next; archived: places that the archive has written, or passed over;
# held: names that a model of words has learned.
STATE = record(
    "i8 rounds features second_order recent_place hard_place archived words held",
    "f8 residual average variance last squared_error absolute_error "
    "lowest highest stretch latest_error length",
)
# What the latest prediction has found beside the tables of the desk, in model.note: the version of the model, plus one
# as 0 is none; the numbers of near and far neighbours; in regression the prediction, its spread, and its place in units of
# sy; in classification the place among the knots of the calibration, the most probable class, its corrected probability.
FOUND = record("f8 version forecast spread level place corrected", "i8 near far top")
state_at, _found_at = carver(STATE, 0), carver(FOUND, 0)
u64 = carver(np.uint64)

EXPERTS = 8
# OWN has no features: the prior, or the last target. QUICK and SLOW are linear models of two rates, side by side.
OWN, QUICK, SLOW, SQUARES, BINS, NEAR, KERNEL, FAR = np.arange(EXPERTS)
MOST_SQUARED = 64  # features of the model of least squares: its cost is quadratic
BIN_TABLES, CELLS_PER_TABLE = 120, 128  # of random binning
BIN_DEPTH = 5  # the largest number of features that a table looks at
BIN_SLOTS = BIN_TABLES * BIN_DEPTH
NEIGHBOURS, ROUNDED_NEIGHBOURS = 20, 24  # the second in whole vectors of eight
ARCHIVED_TIMES = 12  # the budget: rows of the archive
LINKED = 8  # rows to which a row of the archive leads, and as many that lead to it
LINKS, FOLLOWED = 2 * LINKED, 2  # rows whose links a step of the search follows
CALIBRATION_KNOTS = 11
# Of errors in regression the quantiles that are learned, and where those of a normal distribution lie
LEVELS = np.array((0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.995))
NORMAL_QUANTILES = np.array([NormalDist().inv_cdf(level) for level in LEVELS])

# In the row of a name, in a model of words (words/learners.py)
G, S, SEEN, WEIGHTS = np.arange(4)

# words: 1 in a model of words, else 0
Sizes = namedtuple("Sizes", "width columns classes squared archived words")


def whole(n):
    """Rounded up to whole vectors: rows of linear models are filled up with zeros."""
    return (n + LANES - 1) // LANES * LANES


def numbers_of_name(columns: int) -> int:
    """The length of the row of a name: sums, weights of two models, counts."""
    return int(whole(WEIGHTS + 2 * columns + max(columns, 2)))


# Every table: what compiled code sees, and its shape. A table of one row is seen as this row. Others have rows with
# names, each with its kind; the last one may be a matrix, which is all rows from there on.
_MOMENTS = {"mean": f64, "variance": f64, "orientation": f64}
ROOM_TABLES: dict[str, Any] = {
    "moments": (_MOMENTS, lambda s: (3, s.width)),
    "metric": ({"weight": f64, "log": f64, "square": f64}, lambda s: (3, s.width)),
    "keys": (u64, lambda s: (1, s.width)),  # from which the random numbers of a feature follow
    "prior": (f64, lambda s: (1, s.classes)),
    # the weight that an expert begins with and leaks to, 0 of one that is absent; its present weight and loss
    "mixer": (
        {"start": f64, "weight": f64, "loss": f64, "curvature": f64_matrix},
        lambda s: (3 + EXPERTS, EXPERTS),
    ),
    "calibration": ({"mass": f64, "excess": f64}, lambda s: (2, 16)),
    "linear_weights": (f64_matrix, lambda s: (2 * s.columns, whole(s.width + 1))),  # two rates
    "linear_sums": (f64_matrix, lambda s: (2, whole(s.width + 1))),
    "least_squares": (f64_matrix, lambda s: (s.columns, s.squared)),
    "covariance": (f64_matrix, lambda s: (s.squared, s.squared)),
    "slots": (
        {"feature": u64, "draw": f64, "scale": f64, "shift": f64, "turn": f64},
        lambda s: (5, BIN_SLOTS),
    ),
    # a weight per column, and a sum of squares or of visits
    "bins": (f64_matrix, lambda s: (BIN_TABLES * CELLS_PER_TABLE, s.columns + 1)),
    "quantiles": (f64, lambda s: (1, len(LEVELS))),  # of errors in units of their spread
    "unseen": (f64, lambda s: (1, s.classes)),  # 1 for a class of which no example was learned
    # four bytes a number, as these two are large: a search waits until its rows are in the cache
    "archive": (f32_matrix, lambda s: (s.archived, whole(s.width))),
    "links": (i32_matrix, lambda s: (s.archived, LINKS)),
    "archived": ({"target": f64, "weight": f64}, lambda s: (2, s.archived)),
    "held": (u64, lambda s: (1, whole(-(-s.archived // 64)))),  # bits of the rows in the memory
    # of a model of words: a row as that of a name, and counts of all names
    "word_bias": (f64, lambda s: (1, s.words * numbers_of_name(s.columns))),
    "word_totals": (f64, lambda s: (1, s.words * s.classes)),
}
OF_WORDS = ("word_bias", "word_totals")
OF_ROWS = ("slots", "bins")  # no model of words has them
# row: the number in the archive
_NEIGHBOURS = dict.fromkeys(("distance", "share", "target", "weight"), f64)
_NEIGHBOURS |= {"place": u64, "row": u64}
DESK_TABLES: dict[str, Any] = {
    "raw": (f64, lambda s: (1, s.width)),
    # (slots of bins that look at no feature yet look at the first)
    "scaled": (f64, lambda s: (1, whole(max(s.width, 1)))),
    "wide": (f64, lambda s: (1, whole(s.width + 1))),
    "new_moments": (_MOMENTS, lambda s: (3, s.width)),
    "scores": (f64_matrix, lambda s: (EXPERTS, s.columns)),
    "squares": (f64, lambda s: (1, s.columns)),  # scores of least squares, before their temperature
    "errors": (f64_matrix, lambda s: (EXPERTS, s.columns)),
    "shares": (f64_matrix, lambda s: (EXPERTS, s.classes)),
    "logs": (f64_matrix, lambda s: (EXPERTS, s.classes)),
    "levels": (f64, lambda s: (1, EXPERTS)),  # in regression: opinions in units of sy
    "mixture": ({"share": f64, "score": f64, "margin": f64}, lambda s: (3, s.classes)),
    "hits": ({"cell": f64, "seen": f64, "step": f64}, lambda s: (3, BIN_TABLES)),
    "near": (_NEIGHBOURS, lambda s: (6, ROUNDED_NEIGHBOURS)),  # place: of the memory
    "far": (_NEIGHBOURS, lambda s: (6, ROUNDED_NEIGHBOURS)),  # place: as in archive.py
    "compared": ({"distance": f64, "place": u64}, lambda s: (2, LINKS * FOLLOWED)),
    "seen": (u64, lambda s: (1, whole(-(-s.archived // 64)))),
    "solver": ({"slope": f64, "triangle": f64_matrix}, lambda s: (1 + EXPERTS, EXPERTS)),
    "gain": (f64, lambda s: (1, s.squared)),
    "steps": (f64, lambda s: (1, whole(s.width + 1))),  # of linear models
    "slope": (f64, lambda s: (1, whole(s.width))),  # of the metric
    "word_logs": (f64, lambda s: (1, whole(2 * s.classes))),
}
MEMORY_ROWS = dict.fromkeys(("row", "hard", "arrival", "squared_error"), f64)
_ALL_TABLES = ROOM_TABLES | DESK_TABLES
_NUMBER_OF = {name: k for k, name in enumerate(_ALL_TABLES)}
TYPES = {name: getattr(kind, "dtype", f64.dtype) for name, (kind, _) in _ALL_TABLES.items()}
DIRECTORY = whole(3 * len(_NUMBER_OF))  # numbers


def shapes_of(
    tables: dict[str, Any], width: int, columns: int, budget: int, words: int
) -> dict[str, tuple[int, int]]:
    """(rows, columns) of each of these tables, in a model of this width."""
    width = 1 if words else width
    squared = whole(min(width, MOST_SQUARED) + 1)
    archived = 0 if words else ARCHIVED_TIMES * budget
    sizes = Sizes(width, columns, max(columns, 2), squared, archived, words)
    shapes = {name: shape(sizes) for name, (_, shape) in tables.items()}
    return shapes | {name: (shapes[name][0], 0) for name in OF_ROWS if words and name in shapes}


def _places(shapes: dict[str, tuple[int, int]], start: int) -> Any:
    """(directory entries, the end): tables one behind the other, each on a cache line."""
    found, end = {}, start
    for name, shape in shapes.items():
        found[name] = (end, *shape)
        end += whole(math.prod(shape) * TYPES[name].itemsize // 8)
    return found, end


@functools.lru_cache(64)
def directory(width: int, columns: int, budget: int, words: int) -> Any:
    """(the directory as an array, numbers in the room, numbers on the desk)"""
    inside, room = _places(shapes_of(ROOM_TABLES, width, columns, budget, words), DIRECTORY)
    beside, desk = _places(shapes_of(DESK_TABLES, width, columns, budget, words), 0)
    entries = np.zeros(DIRECTORY, np.int64)
    for name, entry in (inside | beside).items():
        entries[3 * _NUMBER_OF[name] :][:3] = entry
    entries.setflags(write=False)  # as it is kept
    return entries, room, desk


# Tables for Python


def table_in(room: Any, name: str) -> Any:
    """All numbers of a table in the room of a block, which they keep alive."""
    start, rows, columns = room[:DIRECTORY].view(np.int64)[3 * _NUMBER_OF[name] :][:3]
    return room[start:].view(TYPES[name])[: rows * columns].reshape(rows, columns)


def _tables_at(tables: Any, address: int, entries: int) -> Any:
    def matrix_of(name: str) -> Any:
        start, rows, columns = i64(entries, DIRECTORY)[3 * _NUMBER_OF[name] :][:3]
        numbers = f64(address + 8 * start, rows * columns * TYPES[name].itemsize // 8)
        return numbers.view(TYPES[name]).reshape(rows, columns)

    return NamedTables(tables, matrix_of)


def room_of(model: Any) -> Any:
    """The tables of the room: everything that the model has learned."""
    return _tables_at(ROOM_TABLES, model.room, model.room)


def desk_of(model: Any) -> Any:
    """The tables of the desk: results for the present row."""
    return _tables_at(DESK_TABLES, model.heap, model.room)


def memory_of(model: Any) -> Any:
    """Of the stored rows, their numbers in the archive, and what only the memory needs."""
    return named_rows(MEMORY_ROWS, model.per_vector)


def found_of(model: Any) -> Any:
    """Further results of the latest prediction, outside the tables of the desk."""
    return _found_at(address_of(model.note))


# The same for compiled code


def _tables_type(name: str, tables: dict[str, Any]) -> Any:
    """The type of the room or of the desk, for which compiled code is told how to find the tables."""
    parts: dict[str, Any] = {}
    made: dict[Any, Any] = {}
    for table, (kind, _) in tables.items():
        if isinstance(kind, dict):  # tables with the same rows have the same type
            rows = tuple(kind.items())
            made[rows] = made.get(rows) or rows_type(f"{name}.{table}", kind)
            parts[table] = made[rows]
        else:
            parts[table] = kind.kind
    found = Tables(name, parts)

    def give(table: str) -> None:
        @lower_getattr(found, table)
        def generate(context, builder, kind, value):
            word = context.get_value_type(types.intp)
            first, entries = (builder.extract_value(value, i) for i in range(2))
            entries = builder.inttoptr(entries, word.as_pointer())
            start, rows, columns = (
                builder.load(builder.gep(entries, [word(3 * _NUMBER_OF[table] + k)]))
                for k in range(3)
            )
            address = builder.add(first, builder.mul(start, word(8)))
            part = kind.parts[table]
            if isinstance(part, Rows):
                return rows_at(context, builder, part, address, rows, columns)
            return view(context, builder, part, (address, rows, columns), 0)

    for table in tables:
        give(table)
    return found


def _attribute(context: Any, builder: Any, model: Any, name: str) -> Any:
    """model.name"""
    return context.get_getattr(MODEL, name)(context, builder, MODEL, model, name)


def _compiled_tables(function: Any, kind: Any, start: str) -> None:
    """Register the compiled forms of `room_of` and `desk_of`."""

    @compiled_as(function, kind, MODEL)
    def generate(context, builder, signature, args):
        address = _attribute(context, builder, args[0], start)
        entries = _attribute(context, builder, args[0], "room") if start != "room" else address
        return struct(context, builder, kind, {"address": address, "entries": entries})


_compiled_tables(room_of, _tables_type("room", ROOM_TABLES), "room")
_compiled_tables(desk_of, _tables_type("desk", DESK_TABLES), "heap")
_MEMORY = rows_type("memory", MEMORY_ROWS)


def _array_of(context: Any, builder: Any, kind: Any, model: Any, name: str) -> Any:
    """(the address of an array of the model, its shape)"""
    array = arrayobj.make_array(kind)(context, builder, _attribute(context, builder, model, name))
    address = builder.ptrtoint(array.data, context.get_value_type(types.intp))
    return address, cgutils.unpack_tuple(builder, array.shape)


@compiled_as(memory_of, _MEMORY, MODEL)
def _memory_of(context, builder, signature, args):
    address, shape = _array_of(context, builder, f64_matrix.kind, args[0], "per_vector")
    return rows_at(context, builder, _MEMORY, address, *shape)


@compiled_as(found_of, _found_at.kind, MODEL)
def _found_of(context, builder, signature, args):
    address, _ = _array_of(context, builder, f64.kind, args[0], "note")
    return carve(context, builder, _found_at.kind, address, ())


@compiled
def columns_of(model):
    """C': how many columns of weights there are."""
    return room_of(model).least_squares.shape[0]

"""What the passes of AutoKernel take as `room`, everything learned, and as `desk`, results for the
present row.

examples/auto_kernel.md is the specification of this learner. Its symbols, and where these files
have them:

    x      desk.row[SCALED], in standard deviations, clipped to 4; [WIDE] is 1 and then the same,
           clipped to 40
    d      the number of features that have ever varied: before that a feature is 0 in all scaled
           rows
    a_f    metric[IMPORTANCE], the weight of a feature in distances; their sum is d
    D_i    search.distances: sum_f a_f (x_f - s_if)^2, the distance of the row from stored row i,
           memory.vectors[f, i]
    K, N   NEIGHBOURS; the nearest of the memory are in search.near, those of memory and archive in
           search.far
    pi_i   near[SHARE], far[SHARE]: of a neighbour in the vote
    alpha  memory.coefficients[c, i]: of stored row i in the kernel
    C, C'  classes; columns of weights: one for two classes, whose other scores are its negatives
    p, l   opinions.shares, opinions.logs: a row per expert, of what it says; f  opinions.scores in regression
    e      opinions.errors: what each expert lacks
    w_k    mixer[WEIGHT]; A  mixer[CURVATURE:]; g  solver[SLOPE]
    P      shares[MIXTURE]
    t      state.rounds: rows learned, which is also the version of the model
    v      state.residual: the temperature of the linear model of least squares
    my, sy state.average, the root of state.variance: of the targets, in regression
    r_i^2  memory.facts[SQUARED_ERROR]: of the mixture when row i came

Experts are rows of the same tables, in one order. One that is absent (least squares of many
features, or an expert that `river-budget auto --without` switches off) has the first weight 0, and
the mixer leaves it out.

What is learned lies in the block, in the table `room`. The sizes of its parts follow from the width
of the model, its columns, its budget, and whether it is a model of words.
"""  # noqa: E501

from __future__ import annotations

import functools
import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ...codes import Task
from ...memory import HEAD, LANES, head_of, record, state_of, table, views

# recent_place, hard_place: where the memory writes next; archived: places that the archive has
# written, or passed over; held: names that a model of words has learned; means: columns of target
# means, before those of features; watches: KEEPS while a regressor keeps its first rows, DECIDED if
# no feature got such a column, else 0
STATE = record(
    "i8 rounds features second_order recent_place hard_place archived words held means watches",
    "f8 residual average variance last squared_error absolute_error "
    "lowest highest stretch latest_error length products apart blend_error",
)
# What a prediction has found beside the tables of the desk. version: of the model, plus one, as 0
# is none. near, far: the numbers of neighbours. Regression: the prediction, its spread, and its
# level in units of sy; what the mixture and least squares say (linear_models.py); contrast: the
# logarithm of the local variance over the latest. Classification:
# the place among the knots of the calibration, the most probable class, its corrected probability
FOUND = record(
    "f8 version forecast spread contrast level place corrected mixture straight", "i8 near far top"
)

EXPERTS = 8
# OWN has no features: the prior, or the last target. QUICK and SLOW are linear models of two rates
OWN, QUICK, SLOW, SQUARES, BINS, NEAR, KERNEL, FAR = range(EXPERTS)
# further rows of the desk: the mixture of all; least squares before their temperature
MIXTURE, PLAIN = EXPERTS, EXPERTS + 1
MOST_SQUARED = 64  # features of the model of least squares: its cost is quadratic
BIN_TABLES, CELLS_PER_TABLE = 120, 128  # of random binning
BIN_DEPTH = 5  # the largest number of features that a table looks at
BIN_SLOTS = BIN_TABLES * BIN_DEPTH
NEIGHBOURS, ROUNDED_NEIGHBOURS = 20, 24  # the second in whole vectors of eight
ARCHIVED_TIMES = 12  # the budget: rows of the archive
LINKED = 8  # rows to which a row of the archive leads, and as many that lead to it
LINKS, FOLLOWED = 2 * LINKED, 2  # rows whose links a step of the search follows
CALIBRATION_KNOTS = 11
FIRST_ROWS = 200  # after which a regressor decides which features are names of categories
MOST_MEANS, MOST_VALUES = 16, 256  # of these features, and places for values of each
DECIDED, KEEPS = 1, 2
TEXTS = -1
# Of errors in regression the quantiles that are learned, and where those of a normal distribution
# lie
LEVELS = np.array((0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.995))
NORMAL_QUANTILES = np.array([NormalDist().inv_cdf(level) for level in LEVELS])

# Rows of tables, by name
MEAN, VARIANCE, ORIENTATION = range(
    3
)  # of moments, and of desk.row, which includes the present row
RAW, SCALED, WIDE, WORK, REFERRED = range(3, 8)  # further rows of desk.row
IMPORTANCE, LOG, SQUARE = range(3)  # of the metric
# of the mixer: the weight that an expert begins with and leaks to, its present weight, its loss;
# the curvature is a matrix
START, WEIGHT, LOSS, CURVATURE = range(4)
MASS, EXCESS = range(2)  # of the calibration
FEATURE, DRAW, SCALE, SHIFT, TURN = range(5)  # of the slots of bins
TARGET, W = range(2)  # of rows in the archive, and of neighbours
DISTANCE, SHARE, PLACE, ROW = range(
    2, 6
)  # further ones of neighbours; ROW: the number in the archive
IN_ARCHIVE, HARD, ARRIVAL, SQUARED_ERROR = range(4)  # of memory.facts; IN_ARCHIVE: the number there
CELL, OLD, STEP = range(3)  # of desk.hits
SLOPE, CURVE, TRIANGLE = range(3)  # of the solver; the triangle is a matrix
CENTRE, UNIT = range(2)  # of the reference of features
COLUMN, TOTAL, NUMBER = range(3)  # of texts
G, S, SEEN, WEIGHTS = range(4)  # in the row of a name, in a model of words (words/learners.py)


class Features(NamedTuple):
    """What a model has learned of each feature."""

    moments: Any  # (3, width)
    metric: Any  # (3, width)
    keys: Any  # (width,), uint64: from which the random numbers of a feature follow


class Models(NamedTuple):
    """The experts that need no memory."""

    linear: Any  # (2 columns, whole(width + 1)), by AdaGrad: column c of rate u is row 2 c + u
    sums: Any  # (2, whole(width + 1)): of squared gradients
    squares: Any  # (columns, squared), by least squares
    covariance: Any  # (squared, squared)
    slots: Any  # (5, BIN_SLOTS)
    # (BIN_TABLES CELLS_PER_TABLE, columns + 1): a weight per column, and a sum of squares or of
    # visits
    cells: Any


class Archive(NamedTuple):
    """Rows of the archive. Rows and links have four bytes a number: a search waits until they are
    in the cache.
    """

    rows: Any  # (archived, whole(width)), float32
    links: Any  # (archived, LINKS), int32
    facts: Any  # (2, archived)
    held: Any  # (whole(archived / 64),), int64: a bit for each row that the memory holds


class Mixing(NamedTuple):
    """What makes one prediction of the opinions of experts."""

    mixer: Any  # (3 + EXPERTS, EXPERTS)
    prior: Any  # (classes,)
    unseen: Any  # (classes,): 1 for a class of which no example was learned
    calibration: Any  # (2, 16)
    quantiles: Any  # (levels,): of errors in units of their spread


class Means(NamedTuple):
    """What a regressor knows of targets at values of features (target_means.py)."""

    first_rows: Any  # (FIRST_ROWS, 2 + width): target, weight, features
    coded: Any  # (means,): the places of these features; TEXTS: those of a column of text
    values: Any  # (means, MOST_VALUES)
    sums: Any  # (means, MOST_VALUES): of targets
    counts: Any  # (means, MOST_VALUES): 0 where there is no value
    # (3, width): of a feature that stands for a text, 1 + its column of target means, and sum and
    # number of the targets
    texts: Any


class Memory(NamedTuple):
    """The rows of the memory: parts of the block."""

    head: Any  # one record HEAD
    vectors: Any  # (width, capacity)
    coefficients: Any  # (columns, capacity): in the kernel
    facts: Any  # (4, capacity)


class Room(NamedTuple):
    """What a model of rows has learned."""

    memory: Memory
    features: Features
    models: Models
    archive: Archive
    mixing: Mixing
    reference: Any  # (2, width): of features in least squares, in regression (linear_models.py)
    noise: Any  # (2, 1 + width): the log-linear model of the spread (noise.py)
    means: Means


class WordRoom(NamedTuple):
    """What a model of words has learned, beside the rows of names in m.vectors."""

    mixing: Mixing
    bias: Any  # (numbers_of_name,): as the row of a name
    totals: Any  # (classes,): counts of all names


class Opinions(NamedTuple):
    """What experts and mixture say of the present row."""

    found: Any  # one record FOUND
    scores: Any  # (EXPERTS + 2, columns)
    errors: Any  # (EXPERTS, columns)
    shares: Any  # (EXPERTS + 1, classes)
    logs: Any  # (EXPERTS + 1, classes)
    solver: Any  # (2 + EXPERTS, EXPERTS)


class Search(NamedTuple):
    """The neighbours of the present row."""

    near: Any  # (6, ROUNDED_NEIGHBOURS); PLACE: its column in the memory
    far: Any  # (6, ROUNDED_NEIGHBOURS); PLACE: as in archive.py
    compared: Any  # (6, LINKS FOLLOWED)
    seen: Any  # as held
    distances: Any  # (capacity,): of the rows of the memory
    kernels: Any  # (capacity,)
    places: Any  # (capacity,)


class Desk(NamedTuple):
    """Results for the present row, and scratch space."""

    opinions: Opinions
    search: Search
    row: Any  # (8, whole(width + 1))
    hits: Any  # (3, BIN_TABLES): rows of the cells
    gain: Any  # (squared,)


class Sizes(NamedTuple):
    """What tables measure."""

    width: int
    columns: int
    classes: int
    squared: int
    archived: int
    words: int  # 1 in a model of words, else 0
    numbers: int  # 1 in a regressor of rows, else 0
    means: int
    first: int  # rows that are kept


def whole(n: int) -> int:
    """Rounded up to whole vectors: rows of linear models are filled up with zeros."""
    return -(-n // LANES) * LANES


def numbers_of_name(columns: int) -> int:
    """The length of the row of a name: sums, weights of two models, counts."""
    return whole(WEIGHTS + 2 * columns + max(columns, 2))


def sizes_of(
    width: int, columns: int, budget: int, words: int, task: int, means: int, watches: int
) -> Sizes:
    """The sizes of a model of this width."""
    width, archived = (1, 0) if words else (width, ARCHIVED_TIMES * budget)
    squared = whole(min(width, MOST_SQUARED) + 1)
    kind = words, int(task == Task.REGRESSION and not words), means, FIRST_ROWS * min(watches, 1)
    return Sizes(width, columns, max(columns, 2), squared, archived, *kind)


def room_tables(s: Sizes) -> dict[str, tuple[Any, tuple[int, int]]]:
    """{name: (type, shape)} of the tables of the room, all of them matrices."""
    reals, bins = np.float64, 1 - s.words
    shapes: dict[str, tuple[int, int]] = {
        "moments": (3, s.width),
        "metric": (3, s.width),
        "keys": (1, s.width),
        "prior": (1, s.classes),
        "mixer": (3 + EXPERTS, EXPERTS),
        "calibration": (2, 16),
        "linear_weights": (2 * s.columns, whole(s.width + 1)),
        "linear_sums": (2, whole(s.width + 1)),
        "least_squares": (s.columns, s.squared),
        "covariance": (s.squared, s.squared),
        "slots": (5, BIN_SLOTS * bins),
        "bins": (BIN_TABLES * CELLS_PER_TABLE, (s.columns + 1) * bins),
        "quantiles": (1, len(LEVELS)),
        "unseen": (1, s.classes),
        "archive": (s.archived, whole(s.width)),
        "links": (s.archived, LINKS),
        "archived": (2, s.archived),
        "held": (1, whole(-(-s.archived // 64))),
        "reference": (2, s.width * s.numbers),
        "noise": (2, (1 + s.width) * s.numbers),
        "first_rows": (s.first, s.width + 2),
        "coded": (1, s.means),
        "values": (s.means, MOST_VALUES),
        "sums": (s.means, MOST_VALUES),
        "counts": (s.means, MOST_VALUES),
        "texts": (3, s.width * min(s.means, 1)),
        "word_bias": (1, s.words * numbers_of_name(s.columns)),
        "word_totals": (1, s.words * s.classes),
    }
    kinds = {"keys": np.uint64, "archive": np.float32, "links": np.int32, "held": np.int64}
    return {name: (kinds.get(name, reals), shape) for name, shape in shapes.items()}


@functools.lru_cache(64)
def layout_of(*sizes: int) -> tuple[dict[str, tuple[int, int, Any, tuple[int, int]]], int]:
    """({name: (its first number in the room, the last, type, shape)}, numbers of the room)"""
    found, start = {}, 0
    for name, (kind, shape) in room_tables(sizes_of(*sizes)).items():
        end = start + whole(-(-math.prod(shape) * np.dtype(kind).itemsize // 8))
        found[name] = (start, end, kind, shape)
        start = end
    return found, start


def room_size(*sizes: int) -> int:
    """How many numbers the room of such a model has."""
    return layout_of(*sizes)[1]


def _sizes_in(block: Any) -> tuple[int, ...]:
    head, state = head_of(block), state_of(block, STATE)[0]
    kind = int(state.words), head.task, int(state.means), int(state.watches)
    return head.width, head.outputs, head.budget, *kind


def tables_of(block: Any) -> dict[str, Any]:
    """The tables of the room of a block as matrices, which keep the block alive."""
    room, found = views(block).room, {}
    for name, (start, end, kind, shape) in layout_of(*_sizes_in(block))[0].items():
        found[name] = room[start:end].view(kind)[: math.prod(shape)].reshape(shape)
    return found


def room_of(block: Any) -> Any:
    """The room of a block, as passes take it."""
    t = tables_of(block)
    mixing = Mixing(t["mixer"], t["prior"][0], t["unseen"][0], t["calibration"], t["quantiles"][0])
    if t["word_bias"].size:
        return WordRoom(mixing, t["word_bias"][0], t["word_totals"][0])
    names = "linear_weights linear_sums least_squares covariance slots bins"
    v = views(block)
    return Room(
        Memory(block[: HEAD.itemsize].view(HEAD), v.vectors, v.coefficients, v.per_vector),
        Features(t["moments"], t["metric"], t["keys"][0]),
        Models(*map(t.get, names.split())),
        Archive(t["archive"], t["links"], t["archived"], t["held"][0]),
        mixing,
        t["reference"],
        t["noise"],
        Means(t["first_rows"], t["coded"][0], t["values"], t["sums"], t["counts"], t["texts"]),
    )


def desk_for(block: Any) -> Any:
    """A new desk for the passes over a block; of a model of words only the opinions."""
    s = sizes_of(*_sizes_in(block))
    opinions = Opinions(
        table(FOUND, (1,)),
        _scratch(EXPERTS + 2, s.columns),
        _scratch(EXPERTS, s.columns),
        _scratch(EXPERTS + 1, s.classes),
        _scratch(EXPERTS + 1, s.classes),
        _scratch(2 + EXPERTS, EXPERTS),
    )
    if s.words:
        return opinions
    near, far = _scratch(6, ROUNDED_NEIGHBOURS), _scratch(6, ROUNDED_NEIGHBOURS)
    seen = table(np.int64, (whole(-(-s.archived // 64)),))
    memory = (_scratch(head_of(block).capacity) for _ in range(3))
    search = Search(near, far, _scratch(6, LINKS * FOLLOWED), seen, *memory)
    row, hits = _scratch(8, whole(s.width + 1)), _scratch(3, BIN_TABLES)
    return Desk(opinions, search, row, hits, _scratch(s.squared))


def _scratch(*shape: int) -> Any:
    return table(np.float64, shape)

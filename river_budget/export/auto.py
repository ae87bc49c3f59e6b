"""The common part of AutoKernel's classifier and regressor as ONNX operators.

These are scaling, distances, memory, bins and trees, and the archive: a search along links, as the model does it.

The tables and their symbols are those of core/passes/auto/tables.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.block import blocks
from ..core.compiling.named_rows import named_rows
from ..core.passes.auto import scaling
from ..core.passes.auto import tables as core
from ..core.passes.auto.binning import EXPERT_SLOTS, FIRST_TABLES
from ..core.passes.auto.linear_models import N_RATES
from ..core.passes.auto.memory import LEAST_VOTE_DISTANCE, SHARPEST, SOFTEST
from ..core.passes.auto.metric import WIDEST
from ..core.passes.auto.trees import CHILD, FEATURE, THRESHOLD
from .graph import Columns, Graph, Tensor


class Learned:
    """Copies of the tables of a model, cut to the features and rows in use."""

    def __init__(self, model: Any):
        block = blocks.views(model.block)
        self.model, self.state, self.room = model, model.state_record(), model._room
        self.d, self.n = len(model.features), block.head.count
        if self.n == 0:
            raise ValueError(
                f"a {type(model).__name__} that has learned nothing cannot be exported"
            )
        self.vectors = block.vectors[: self.d, : self.n].copy()
        self.coefficients = block.coefficients[:, : self.n].copy()
        self.memory = named_rows(core.MEMORY_ROWS, block.per_vector[:, : self.n].copy())
        self.budget = block.head.budget
        self.experts = int(model._n_experts)
        self.weights = self.room.mixer.weight[: self.experts].copy()

    def opinions(self, targets: Any) -> Any:
        """What rows with these targets vote for: a class each, or their distance from the running mean."""
        if hasattr(self.model, "labels"):
            return (targets[:, None] == np.arange(len(self.room.prior))).astype(float)
        return targets[:, None] - float(self.state.average)


class Row:
    """The input of experts: tensors with a row for each example."""

    def __init__(self, graph: Graph, learned: Learned, columns: Columns):
        self.graph, self.learned = graph, learned
        self.scaled = scaled(graph, learned, _in_order(graph, learned, columns))
        self.distances = distances(graph, learned, self.scaled)
        k = np.array([min(core.NEIGHBOURS, learned.n)])
        self.nearest, self.places = graph.nodes_of(2, "TopK", self.distances, k, largest=0)
        first = graph.node("Gather", self.nearest, np.array([0]), axis=1)
        self.zeros = first * 0.0  # a column of zeros


def _in_order(graph: Graph, learned: Learned, columns: Columns) -> Tensor:
    """The features in the order of the model's places."""
    names = list(learned.model.features)
    places = {name: place for place, name in enumerate(columns.names)}
    if missing := [name for name in names if name not in places]:
        raise ValueError(
            f"feature {missing[0]!r} of {learned.model!r} does not come out of what stands before it"
        )
    order = np.array([places[name] for name in names])
    return graph.node("Gather", columns.tensor, order, axis=1)


# Scaling


def scaled(graph: Graph, learned: Learned, raw: Tensor) -> Tensor:
    """The features divided by their spread, in which the example counts; heavy-tailed ones as normal scores."""
    d, moments = learned.d, learned.room.moments
    mean, variance = moments.mean[:d].copy(), moments.variance[:d].copy()
    rate = max(1.0 / (float(learned.state.rounds) + 1.0), scaling.SLOWEST_MOMENTS)
    value = raw.between(-scaling.LARGEST_VALUE, scaling.LARGEST_VALUE)
    deviation = value - mean
    new_mean = mean + deviation * rate
    rest = value - new_mean
    new_variance = variance + (deviation * rest - variance) * rate
    spread = graph.node("Sqrt", graph.node("Max", new_variance, 0.0))
    varies = spread > graph.node("Abs", new_mean) * scaling.CONSTANT
    units = rest / graph.node("Where", varies, spread, 1.0)
    number = graph.node("Where", varies, units.between(-scaling.CLIP, scaling.CLIP), 0.0)
    orientation = moments.orientation[:d].copy()
    if not orientation.all():  # of features without variation so far: the sign of the deviation
        sign = graph.node("Where", rest >= 0.0, 1.0, -1.0)
        orientation = graph.node("Where", orientation != 0.0, orientation, sign)
    return graph.node("Mul", _bent(graph, learned, value, number), orientation)


def _bent(graph: Graph, learned: Learned, values: Tensor, numbers: Tensor) -> Tensor:
    """Replace the values of heavy-tailed features by their normal scores."""
    tails = learned.room.tails
    bent = np.flatnonzero(tails.bent[: learned.d])
    if not len(bent):
        return numbers
    tailed = graph.node("Gather", values, bent, axis=1)
    scores = _normal_scores(graph, tailed, tails.knot[:, bent].copy())
    scores = scores.between(-scaling.CLIP, scaling.CLIP)
    order = np.arange(learned.d)  # columns of numbers first, then those of scores
    order[bent] = learned.d + np.arange(len(bent))
    return graph.node("Gather", graph.node("Concat", numbers, scores, axis=1), order, axis=1)


def _normal_scores(graph: Graph, values: Tensor, knots: Any) -> Tensor:
    """Normal scores: linear between two knots, logarithmic beyond the outer ones."""
    scores, size = np.array(scaling.NORMAL_SCORES), core.TAIL_KNOTS
    lines = np.arange(knots.shape[1])
    below = (values.unsqueezed(2) >= knots.T[None]).whole().total(axis=2)
    place = below + (size + 1) * lines[None]  # in tables with a row per feature

    def part(table: Any) -> Tensor:
        return graph.node("Gather", np.ascontiguousarray(table).ravel(), place)

    origin = part(np.vstack([knots[0], knots]).T)  # where each linear part starts
    widths = np.maximum(np.diff(knots, axis=0), scaling.LEAST_WIDTH)
    width = part(np.vstack([widths[0], widths, widths[-1]]).T)
    first = part(np.tile(np.append(scores[0], scores), (len(lines), 1)))
    step = part(np.tile(np.concatenate([[0.0], np.diff(scores), [0.0]]), (len(lines), 1)))
    distance = (values - origin) / width
    line = first + distance * step
    far = graph.node("Min", graph.node("Abs", distance), scaling.LARGEST_VALUE)
    outside = graph.node("Log", far + 1.0) * scaling.OUTER_STEP
    left, right = graph.node("Equal", below, 0), graph.node("Equal", below, size)
    outer = graph.node("Where", right, first + outside, line)
    return graph.node("Where", left, first - outside, outer)


# The memory


def distances(graph: Graph, learned: Learned, rows: Tensor) -> Tensor:
    """Squared distances from all stored rows. (Not from inner products, which would cancel for near neighbours.)"""
    roots = np.sqrt(learned.room.metric.weight[: learned.d])
    stored = learned.vectors * roots[:, None]

    def of_row(row: Tensor) -> Tensor:
        apart: Tensor = row.unsqueezed(1) - stored
        return (apart * apart).total(axis=0)

    return graph.for_each_row(rows * roots, learned.d, of_row, learned.n)


def shares(
    graph: Graph, distances: Tensor, weights: Tensor, softness: float
) -> tuple[Tensor, Tensor]:
    """(the shares of the nearest rows in a vote, as how many of equal shares they count)"""
    axis = np.array([1])
    least = graph.node("Gather", distances, np.array([0]), axis=1)
    here = graph.node("Where", graph.node("Less", distances, NOT_HERE), distances, 0.0)
    most = graph.node("ReduceMax", here, axes=[1], keepdims=1)
    beyond = (least - distances) * softness / graph.node("Max", most, LEAST_VOTE_DISTANCE)
    parts = graph.node("Exp", beyond) * weights
    found = parts / graph.node("ReduceSum", parts, axis)
    return found, graph.node("Reciprocal", graph.node("ReduceSum", found * found, axis))


def votes(row: Row) -> Iterator[tuple[Tensor, Tensor]]:
    """The soft and the sharp vote of the nearest rows of the memory."""
    memory = row.learned.memory
    for softness in (SOFTEST, SHARPEST):
        yield vote(row, (row.nearest, row.places), (memory.weight, memory.target), softness)


def far_votes(row: Row, softness: float, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The vote of the nearest rows of memory and archive, after so many steps of the search."""
    graph, learned = row.graph, row.learned
    if learned.state.grows == core.ARCHIVES:
        tables = ArchiveTables(learned, steps)
        far = search(graph, tables, row)
        yield vote(row, far, (tables.weights, tables.targets), softness)


def vote(
    row: Row, found: tuple[Tensor, Tensor], known: tuple[Any, Any], softness: float
) -> tuple[Tensor, Tensor]:
    """(the mean of targets, by the shares of rows, as how many of equal shares they count), of rows that were found as
    (distances, places) and of which (weights, targets) are known"""
    graph, (distances, places), (weights, targets) = row.graph, found, known
    parts, number = shares(graph, distances, graph.node("Gather", weights, places), softness)
    near = graph.node("Gather", row.learned.opinions(targets), places, axis=0)
    return (near * parts.unsqueezed(2)).total(axis=1), number


def kernel_sums(row: Row) -> Iterator[Tensor]:
    """The sums of kernels for each width; each kernel is the fourth power of the one before."""
    graph, learned = row.graph, row.learned
    rate = WIDEST * float(np.exp(-learned.state.log_distance))
    kernels = graph.node("Exp", row.distances * -rate)
    for width in range(core.KERNEL_WIDTHS):
        if width:
            square = kernels * kernels
            kernels = square * square
        table = learned.coefficients[width :: core.KERNEL_WIDTHS]
        yield kernels @ np.ascontiguousarray(table.T)


# Models without a memory


def linear_sums(row: Row, rate: int) -> Tensor:
    """The scores of the linear model with this learning rate."""
    return line(row, row.learned.room.linear_weights[rate::N_RATES])


def line(row: Row, weights: Any) -> Tensor:
    """The scores of linear models with these weights, the first of which is the intercept."""
    known = np.zeros((len(weights), row.learned.d + 1))
    used = min(weights.shape[1], known.shape[1])
    known[:, :used] = weights[:, :used]
    return row.scaled @ np.ascontiguousarray(known[:, 1:].T) + known[:, 0].copy()


def bin_sums(row: Row, expert: int) -> Tensor:
    """The scores of one random binning expert: the weights of the example's cell, summed over its tables."""
    graph, room = row.graph, row.learned.room
    first, end = (core.BIN_TABLES * b for b in EXPERT_SLOTS[expert : expert + 2])
    names = ("feature", "scale", "shift", "turn")
    slots = {name: getattr(room.slots, name)[first:end].copy() for name in names}
    for b, table in enumerate(FIRST_TABLES[EXPERT_SLOTS[expert] : EXPERT_SLOTS[expert + 1]]):
        slots["turn"][core.BIN_TABLES * b :][:table] = 0.0  # these tables have no such slot
    seen = graph.node("Gather", row.scaled, slots["feature"].astype(np.int64), axis=1)
    bins = seen.between(-core.OUTERMOST, core.OUTERMOST) * slots["scale"] + slots["shift"]
    turned = graph.node("Floor", bins) * slots["turn"]
    parts = graph.node("Reshape", turned, np.array([-1, core.BIN_DEPTHS[expert], core.BIN_TABLES]))
    sums = parts.total(axis=1)
    sums = sums - graph.node("Floor", sums)
    cells = (sums * float(core.CELLS_PER_TABLE)).whole()
    cells = graph.node("Min", cells, np.array(core.CELLS_PER_TABLE - 1))
    tables = core.CELLS_PER_TABLE * np.arange(core.BIN_TABLES)
    n = core.BIN_TABLES * core.CELLS_PER_TABLE
    weights = room.bins[n * expert : n * (expert + 1), :-1].copy()
    return graph.node("Gather", weights, cells + tables, axis=0).total(axis=1)


def tree_sums(row: Row) -> Iterator[Tensor]:
    """The scores of the trees: the weights of the leaf that an example reaches in each, all trees in parallel."""
    if row.learned.state.grows == 0:
        return
    graph, room = row.graph, row.learned.room
    features, children = (room.nodes[:, c].astype(np.int64) for c in (FEATURE, CHILD))
    thresholds = room.nodes[:, THRESHOLD].copy()
    roots = core.NODES * np.arange(core.TREES)
    nodes = row.zeros.whole() + roots
    for _ in range(int(room.trees.depth.max())):
        feature = graph.node("Gather", features, nodes)
        seen = graph.node("GatherElements", row.scaled, feature, axis=1)
        right = seen > graph.node("Gather", thresholds, nodes)
        nodes = graph.node("Gather", children, nodes) + right.whole()
    yield graph.node("Gather", room.leaves[:, :-1].copy(), nodes, axis=0).total(axis=1)


# The archive. All rows are numbered: first those of the memory, then those of the archive, and last one that is nobody.
# The search is one body for each example, as it marks what it has seen among all of these rows.


NOT_HERE = 1e300  # the distance of nobody


class ArchiveTables:
    """The tables of the search, for all numbered rows, and its number of steps."""

    def __init__(self, learned: Learned, steps: int):
        room, state, n = learned.room, learned.state, learned.n
        size = len(room.archive)
        kept, following = min(int(state.archived), size), int(state.archived) % size
        self.first, self.nobody = n, n + kept
        age = int(state.rounds) - learned.memory.arrival.astype(np.int64)
        known = (age > 0) & (age <= kept)
        self.alias = np.where(known, n + (following - age) % size, np.arange(n))
        ages = (following - np.arange(kept) - 1) % size + 1
        recent = int(learned.budget) - int(learned.budget) // 2
        self.left_out = np.ones(n + kept + 1)  # 1: they are never new
        self.left_out[n : n + kept] = ages <= recent
        self.links = np.full((n + kept + 1, core.LINKS), self.nobody)
        self.links[n : n + kept] = n + room.links[:kept].astype(np.int64)
        d = learned.d
        self.rows = np.vstack([learned.vectors.T, room.archive[:kept, :d], np.zeros((1, d))])
        self.targets = self._all(learned.memory.target, room.archived.target[:kept])
        self.weights = self._all(learned.memory.weight, room.archived.weight[:kept])
        self.steps = steps if kept else 0

    @staticmethod
    def _all(of_memory: Any, of_archive: Any) -> Any:
        return np.concatenate([of_memory, of_archive, [0.0]])


def search(graph: Graph, tables: ArchiveTables, row: Row) -> tuple[Tensor, Tensor]:
    """(distances, rows) of the nearest of memory and archive, from those near in the memory."""
    learned = row.learned
    d, k = learned.d, min(core.NEIGHBOURS, learned.n)
    roots = np.sqrt(learned.room.metric.weight[:d])
    rows = tables.rows * roots
    begin = graph.node("Gather", tables.alias, row.places).real()
    together = graph.node("Concat", row.scaled * roots, row.nearest, begin, axis=1)
    more = core.FOLLOWED * core.LINKS if tables.steps else 0
    kept = min(core.NEIGHBOURS, k + more)

    def of_row(row: Tensor) -> Tensor:
        x, distances, numbers = graph.nodes_of(3, "Split", row, np.array([d, k, k]), axis=0)
        found = numbers.whole()
        opened = found >= np.array(tables.first)
        seen = graph.node("ScatterElements", tables.left_out, found, np.ones(k), axis=0)
        for _ in range(tables.steps):
            new, opened = _followed(graph, tables, found, opened)
            fresh, seen = _fresh(graph, new, seen)
            apart = graph.node("Gather", rows, new, axis=0) - x
            far = graph.node("Where", fresh, (apart * apart).total(axis=1), NOT_HERE)
            every = graph.node("Concat", distances, far, axis=0)
            distances, best = graph.nodes_of(2, "TopK", every, np.array([kept]), largest=0, axis=0)
            found = graph.node("Gather", graph.node("Concat", found, new, axis=0), best)
            opened = graph.node("Gather", graph.node("Concat", opened, fresh, axis=0), best)
        return graph.node("Concat", distances, found.real(), axis=0)

    size = kept if tables.steps else k
    result = graph.for_each_row(together, d + 2 * k, of_row, 2 * size)
    distances, found = graph.nodes_of(2, "Split", result, np.array([size, size]), axis=1)
    return distances, found.whole()


def _followed(
    graph: Graph, tables: ArchiveTables, found: Tensor, opened: Tensor
) -> tuple[Tensor, Tensor]:
    """(the rows to which the nearest that are open lead, which are open after that)"""
    nobody = np.array(tables.nobody)
    before = graph.node("CumSum", opened.whole(), np.array(0))
    first = graph.node("LessOrEqual", before, np.array(core.FOLLOWED))
    chosen = graph.node("And", opened, first)
    rest = graph.node("And", opened, graph.node("Not", first))
    order = graph.node("Where", chosen, before, np.array(core.NEIGHBOURS + 1))
    count = np.array([min(core.FOLLOWED, core.NEIGHBOURS)])
    padded = graph.node("Concat", order, np.full(core.FOLLOWED, core.NEIGHBOURS + 1), axis=0)
    ranks, places = graph.nodes_of(2, "TopK", padded, count, largest=0, axis=0)
    everybody = graph.node("Concat", found, np.full(core.FOLLOWED, tables.nobody), axis=0)
    rows = graph.node("Gather", everybody, places)
    taken = graph.node("LessOrEqual", ranks, np.array(core.NEIGHBOURS))
    rows = graph.node("Where", taken, rows, nobody)
    links = graph.node("Gather", tables.links, rows, axis=0)
    return graph.node("Reshape", links, np.array([-1])), rest


def _fresh(graph: Graph, new: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
    """(which rows have not been seen, not even further ahead; what has been seen after that)"""
    n = core.FOLLOWED * core.LINKS
    known = graph.node("Gather", seen, new) > 0.0
    same = graph.node("Equal", new.unsqueezed(1), new.unsqueezed(0))
    same = graph.node("And", same, np.tril(np.ones((n, n), bool), -1))
    again = graph.node("ReduceMax", same.real(), axes=[1], keepdims=0)
    known = graph.node("Or", known, again > 0.0)
    after = graph.node("ScatterElements", seen, new, np.ones(n), axis=0)
    return graph.node("Not", known), after

"""AutoKernel's archive as operators: the nearest rows of memory and archive, found along links as the model does.

All rows are numbered: first those of the memory, then those of the archive, and last one that is nobody. The search is
one body for each example, as it marks what it has seen among all of these rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.passes.auto import tables as core
from ..core.passes.auto.archive import MANY_COLUMNS, MORE_STEPS, STEPS
from .graph import Graph, Tensor

NOT_HERE = 1e300  # the distance of nobody


class ArchiveTables:
    """The tables of the search, for all numbered rows."""

    def __init__(self, learned: Any):
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
        many = len(room.least_squares) >= MANY_COLUMNS
        self.steps = (MORE_STEPS if many else STEPS) if kept else 0

    @staticmethod
    def _all(of_memory: Any, of_archive: Any) -> Any:
        return np.concatenate([of_memory, of_archive, [0.0]])


def search(
    graph: Graph, learned: Any, scaled: Tensor, nearest: Tensor, places: Tensor
) -> tuple[Tensor, Tensor]:
    """(distances, rows) of the nearest of memory and archive, from those near in the memory."""
    tables, d, k = ArchiveTables(learned), learned.d, min(core.NEIGHBOURS, learned.n)
    roots = np.sqrt(learned.room.metric.weight[:d])
    rows = tables.rows * roots
    begin = graph.node("Gather", tables.alias, places).real()
    together = graph.node("Concat", scaled * roots, nearest, begin, axis=1)
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

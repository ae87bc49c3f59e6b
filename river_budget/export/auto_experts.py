"""AutoKernel as operators: each expert is a function of the row, and a mixture of all of them.

The outputs of experts are in the order of the mixer: probabilities of all labels for a classifier, differences from
the running mean for a regressor. A further expert is a further function in the list of its task.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.passes.auto import classify, mixer, regress
from ..core.passes.auto.memory import SHARPEST
from ..core.passes.auto.tables import BIN_DEPTHS, CALIBRATION_KNOTS
from .auto import (
    Learned,
    Row,
    bin_sums,
    far_votes,
    kernel_sums,
    line,
    linear_sums,
    tree_sums,
    votes,
)
from .graph import Columns, Graph

Expert = Callable[[Row], Iterator[str]]


def opinions(row: Row, experts: tuple[Expert, ...]) -> list[str]:
    """The outputs of all experts, in the order of the mixer."""
    return [opinion for expert in experts for opinion in expert(row)]


# Experts of a classifier


def _prior(row: Row) -> Iterator[str]:
    yield row.graph.node("Add", row.zeros, row.learned.room.prior.copy())


def _linear(row: Row) -> Iterator[str]:
    for rate in range(2):
        yield linked(row, linear_sums(row, rate))


def _bins(row: Row) -> Iterator[str]:
    for expert in range(len(BIN_DEPTHS)):
        yield linked(row, bin_sums(row, expert))


def _votes(row: Row) -> Iterator[str]:
    yield from with_prior(row, votes(row))


def _far_votes(row: Row) -> Iterator[str]:
    yield from with_prior(row, far_votes(row, SHARPEST))


def with_prior(row: Row, found: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Votes, as so many neighbours, and a few neighbours of the prior."""
    graph, prior = row.graph, row.learned.room.prior.copy()
    for vote, number in found:
        counted = graph.node("Mul", vote, number)
        counted = graph.node("Add", counted, classify.PRIOR_VOTES * prior)
        yield graph.node("Div", counted, graph.node("Add", number, classify.PRIOR_VOTES))


def _kernels(row: Row) -> Iterator[str]:
    for sums in kernel_sums(row):
        yield linked(row, sums)


def _least_squares(row: Row) -> Iterator[str]:
    room, state = row.learned.room, row.learned.state
    if state.second_order >= 0:
        weights = room.least_squares[:, : int(state.second_order) + 1].copy()
        weights[:, 0] -= 0.5 if len(weights) == 1 else 0.0  # one column stands for both classes
        residual = max(float(state.residual), classify.LEAST_RESIDUAL)
        yield linked(row, line(row, weights / residual))


def _trees(row: Row) -> Iterator[str]:
    for sums in tree_sums(row):
        yield linked(row, sums)


CLASSIFYING: tuple[Expert, ...] = (
    *(_prior, _linear, _bins, _votes),
    *(_kernels, _least_squares, _trees, _far_votes),
)


def linked(row: Row, scores: str) -> str:
    """Probabilities from scores. With two classes there is one score: that of the other class is its negative."""
    if len(row.learned.room.least_squares) == 1:
        scores = row.graph.node("Concat", row.graph.node("Neg", scores), scores, axis=1)
    return row.graph.node("Softmax", scores, axis=1)


# Probabilities


def class_scores(graph: Graph, model: Any, columns: Columns) -> str:
    """The log-odds of two classes, or the logarithms of all probabilities, which are 0 of classes never seen."""
    row = Row(graph, Learned(model), columns)
    scores, unseen = _calibrated(row), row.learned.room.unseen != 0.0
    if unseen.all() or not unseen.any():
        return scores
    if len(unseen) > 2:
        return graph.node("Where", unseen[None], classify.NEVER, scores)
    odds = -classify.NEVER if unseen[0] else classify.NEVER
    return graph.node("Add", graph.node("Mul", scores, 0.0), odds)


def _calibrated(row: Row) -> str:
    """The same of all classes, after calibration."""
    graph = row.graph
    mixed, n = _mixture(row), len(row.learned.room.prior)
    shares = graph.node("Softmax", mixed, axis=1)
    # if two classes are equal, the second one is predicted
    best = graph.node("ArgMax", shares, axis=1, keepdims=1, select_last_index=int(n == 2))
    is_best = graph.node("Equal", best, np.arange(n)[None])
    highest = graph.node("ReduceMax", shares, axes=[1], keepdims=1)
    others = graph.node("Where", is_best, 0.0, shares)
    second = graph.node("ReduceMax", others, axes=[1], keepdims=1)
    for_best, for_others = _corrections(graph, highest, _corrected(row, highest, second))
    if n > 2:
        logs = graph.node("Sub", mixed, graph.node("ReduceLogSumExp", mixed, axes=[1]))
        return graph.node("Add", logs, graph.node("Where", is_best, for_best, for_others))
    first, last = (graph.node("Gather", mixed, np.array([c]), axis=1) for c in range(2))
    more = graph.node("Sub", for_best, for_others)
    more = graph.node("Where", graph.node("Equal", best, 1), more, graph.node("Neg", more))
    return graph.node("Add", graph.node("Sub", last, first), more)


def _mixture(row: Row) -> str:
    """sum_k w_k log((1 - eps) p_k + eps / C)"""
    graph, n = row.graph, len(row.learned.room.prior)
    axis, weights = np.array([1]), row.learned.weights
    probabilities = [graph.node("Unsqueeze", p, axis) for p in opinions(row, CLASSIFYING)]
    together = graph.node("Concat", *probabilities, axis=1)
    mixed = graph.node("Mul", together, 1.0 - classify.UNIFORM_SHARE)
    logs = graph.node("Log", graph.node("Add", mixed, classify.UNIFORM_SHARE / n))
    return graph.node("ReduceSum", graph.node("Mul", logs, weights[:, None]), axis, keepdims=0)


def _corrected(row: Row, highest: str, second: str) -> str:
    """The corrected probability of the most probable class, linear between the knots."""
    graph, calibration = row.graph, row.learned.room.calibration
    n, last = len(row.learned.room.prior), CALIBRATION_KNOTS - 1
    knots = (calibration.excess / (calibration.mass + mixer.DOUBT))[: last + 1]
    above = graph.node("Sub", graph.node("Mul", highest, float(n)), 1.0)
    place = graph.node("Div", above, n - 1.0)
    place = graph.node("Mul", graph.node("Min", graph.node("Max", place, 0.0), 1.0), float(last))
    left = graph.node("Min", graph.node("Cast", place, to=7), np.array(last - 1))
    share = graph.node("Sub", place, graph.node("Cast", left, to=11))
    low, slope = graph.node("Gather", knots, left), graph.node("Gather", np.diff(knots), left)
    right = graph.node("Add", graph.node("Add", highest, low), graph.node("Mul", share, slope))
    rest = graph.node("Sub", graph.node("Add", second, 1.0), highest)
    # (onnxruntime leaves out factors that are 1 in float32)
    ahead = graph.node("Mul", second, mixer.AHEAD_OF_SECOND - 1.0)
    least = graph.node("Div", graph.node("Add", second, ahead), rest)
    return graph.node("Max", graph.node("Min", right, mixer.CERTAIN), least)


def _corrections(graph: Graph, highest: str, corrected: str) -> tuple[str, str]:
    """What to add to the logarithm of the highest probability, and to those of the others."""
    certain = graph.node("GreaterOrEqual", highest, mixer.CERTAIN)
    for_best = graph.node("Log", graph.node("Div", corrected, highest))
    left, right = graph.node("Sub", 1.0, corrected), graph.node("Sub", 1.0, highest)
    right = graph.node("Where", certain, 1.0, right)
    for_others = graph.node("Log", graph.node("Div", graph.node("Max", left, 0.0), right))
    nothing = (graph.node("Where", certain, 0.0, each) for each in (for_best, for_others))
    return next(nothing), next(nothing)


# Regression


def _targets(row: Row) -> Iterator[str]:
    state = row.learned.state
    for value in (state.fast, state.last):
        yield row.graph.node("Add", row.zeros, float(value - state.average))


def _linear_of_numbers(row: Row) -> Iterator[str]:
    yield linear_sums(row, int(regress.ONLY))


def _bins_of_numbers(row: Row) -> Iterator[str]:
    for expert in range(len(BIN_DEPTHS)):
        yield bin_sums(row, expert)


def _votes_of_numbers(row: Row) -> Iterator[str]:
    for vote, _ in votes(row):
        yield vote


def _far_votes_of_numbers(row: Row) -> Iterator[str]:
    for vote, _ in far_votes(row, regress.FAR_SOFTNESS):
        yield vote


def _squares_of_numbers(row: Row) -> Iterator[str]:
    n = int(row.learned.state.second_order)
    if n >= 0:
        yield line(row, row.learned.room.least_squares[:, : n + 1])


PREDICTING: tuple[Expert, ...] = (
    _targets,
    _linear_of_numbers,
    _bins_of_numbers,
    _votes_of_numbers,
    kernel_sums,
    _squares_of_numbers,
    tree_sums,
    _far_votes_of_numbers,
)


def prediction(graph: Graph, model: Any, columns: Columns) -> str:
    """my + sy sum_k w_k f_k / sy, near the range of the targets"""
    learned = Learned(model)
    row, state = Row(graph, learned, columns), learned.state
    low, high, average = (float(state[name]) for name in ("lowest", "highest", "average"))
    levels = row.zeros
    if state.variance > regress.CONSTANT_TARGETS * average * average:
        size, bound = math.sqrt(state.variance), regress.HIGHEST_LEVEL
        together = graph.node("Concat", *opinions(row, PREDICTING), axis=1)
        units = graph.node("Div", together, size)
        bounded = graph.node("Min", graph.node("Max", units, -bound), bound)
        levels = graph.node("MatMul", bounded, size * learned.weights[:, None])
    margin = regress.RANGE_MARGIN * (high - low)
    found = graph.node("Add", levels, average)
    return graph.node("Min", graph.node("Max", found, low - margin), high + margin)

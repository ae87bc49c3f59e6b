"""AutoKernel as operators: its experts, which are functions of the row, and a mixture of all of them.

The outputs of experts are in the order of the mixer: probabilities of all labels for a classifier, differences from
the running mean for a regressor. A further expert is a further output of its task.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
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
from .graph import Columns, Graph, Tensor

# Experts of a classifier


def _classifying(row: Row) -> Iterator[Tensor]:
    """The probabilities of all experts."""
    yield row.zeros + row.learned.room.prior.copy()
    for rate in range(2):
        yield linked(row, linear_sums(row, rate))
    for expert in range(len(BIN_DEPTHS)):
        yield linked(row, bin_sums(row, expert))
    yield from _with_prior(row, votes(row))
    for sums in kernel_sums(row):
        yield linked(row, sums)
    yield from _least_squares(row)
    for sums in tree_sums(row):
        yield linked(row, sums)
    many = len(row.learned.room.least_squares) >= classify.MANY_COLUMNS
    steps = classify.MORE_FAR_STEPS if many else classify.FAR_STEPS
    yield from _with_prior(row, far_votes(row, SHARPEST, steps))


def _with_prior(row: Row, found: Iterator[tuple[Tensor, Tensor]]) -> Iterator[Tensor]:
    """Votes, as so many neighbours, and a few neighbours of the prior."""
    prior = row.learned.room.prior.copy()
    for vote, number in found:
        yield (vote * number + classify.PRIOR_VOTES * prior) / (number + classify.PRIOR_VOTES)


def _least_squares(row: Row) -> Iterator[Tensor]:
    room, state = row.learned.room, row.learned.state
    if state.second_order >= 0:
        weights = room.least_squares[:, : int(state.second_order) + 1].copy()
        weights[:, 0] -= 0.5 if len(weights) == 1 else 0.0  # one column stands for both classes
        residual = max(float(state.residual), classify.LEAST_RESIDUAL)
        yield linked(row, line(row, weights / residual))


def linked(row: Row, scores: Tensor) -> Tensor:
    """Probabilities from scores. With two classes there is one score: that of the other class is its negative."""
    if len(row.learned.room.least_squares) == 1:
        scores = row.graph.node("Concat", -scores, scores, axis=1)
    return row.graph.node("Softmax", scores, axis=1)


# Probabilities


def class_scores(graph: Graph, model: Any, columns: Columns) -> Tensor:
    """The log-odds of two classes, or the logarithms of all probabilities, which are 0 of classes never seen."""
    row = Row(graph, Learned(model), columns)
    scores, unseen = _calibrated(row), row.learned.room.unseen != 0.0
    if unseen.all() or not unseen.any():
        return scores
    if len(unseen) > 2:
        return graph.node("Where", unseen[None], classify.NEVER, scores)
    return scores * 0.0 + (-classify.NEVER if unseen[0] else classify.NEVER)


def _calibrated(row: Row) -> Tensor:
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
        logs = mixed - graph.node("ReduceLogSumExp", mixed, axes=[1])
        return logs + graph.node("Where", is_best, for_best, for_others)
    first, last = (graph.node("Gather", mixed, np.array([c]), axis=1) for c in range(2))
    more = for_best - for_others
    more = graph.node("Where", graph.node("Equal", best, 1), more, -more)
    return last - first + more


def _mixture(row: Row) -> Tensor:
    """sum_k w_k log((1 - eps) p_k + eps / C)"""
    graph, n = row.graph, len(row.learned.room.prior)
    probabilities = [opinion.unsqueezed(1) for opinion in list(_classifying(row))]
    together = graph.node("Concat", *probabilities, axis=1)
    mixed = together * (1.0 - classify.UNIFORM_SHARE) + classify.UNIFORM_SHARE / n
    weighted: Tensor = graph.node("Log", mixed) * row.learned.weights[:, None]
    return weighted.total(axis=1)


def _corrected(row: Row, highest: Tensor, second: Tensor) -> Tensor:
    """The corrected probability of the most probable class, linear between the knots."""
    graph, calibration = row.graph, row.learned.room.calibration
    n, last = len(row.learned.room.prior), CALIBRATION_KNOTS - 1
    knots = (calibration.excess / (calibration.mass + mixer.DOUBT))[: last + 1]
    place = ((highest * float(n) - 1.0) / (n - 1.0)).between(0.0, 1.0) * float(last)
    left = graph.node("Min", place.whole(), np.array(last - 1))
    share = place - left.real()
    low, slope = graph.node("Gather", knots, left), graph.node("Gather", np.diff(knots), left)
    right = highest + low + share * slope
    rest = second + 1.0 - highest
    # (onnxruntime leaves out factors that are 1 in float32)
    least = (second + second * (mixer.AHEAD_OF_SECOND - 1.0)) / rest
    return graph.node("Max", graph.node("Min", right, mixer.CERTAIN), least)


def _corrections(graph: Graph, highest: Tensor, corrected: Tensor) -> tuple[Tensor, Tensor]:
    """What to add to the logarithm of the highest probability, and to those of the others."""
    certain = highest >= mixer.CERTAIN
    for_best = graph.node("Log", corrected / highest)
    left, right = 1.0 - corrected, 1.0 - highest
    right = graph.node("Where", certain, 1.0, right)
    for_others = graph.node("Log", graph.node("Max", left, 0.0) / right)
    nothing = (graph.node("Where", certain, 0.0, each) for each in (for_best, for_others))
    return next(nothing), next(nothing)


# Regression


def _predicting(row: Row) -> Iterator[Tensor]:
    """The predictions of all experts."""
    learned = row.learned
    for value in (learned.state.fast, learned.state.last):
        yield row.zeros + float(value - learned.state.average)
    yield linear_sums(row, int(regress.ONLY))
    for expert in range(len(BIN_DEPTHS)):
        yield bin_sums(row, expert)
    for vote, _ in votes(row):
        yield vote
    yield from kernel_sums(row)
    if (n := int(learned.state.second_order)) >= 0:
        yield line(row, learned.room.least_squares[:, : n + 1])
    yield from tree_sums(row)
    for vote, _ in far_votes(row, regress.FAR_SOFTNESS, int(regress.FAR_STEPS)):
        yield vote


def prediction(graph: Graph, model: Any, columns: Columns) -> Tensor:
    """my + sy sum_k w_k f_k / sy, near the range of the targets"""
    learned = Learned(model)
    row, state = Row(graph, learned, columns), learned.state
    low, high, average = (float(state[name]) for name in ("lowest", "highest", "average"))
    levels = row.zeros
    if state.variance > regress.CONSTANT_TARGETS * average * average:
        size, bound = math.sqrt(state.variance), regress.HIGHEST_LEVEL
        together = graph.node("Concat", *_predicting(row), axis=1)
        levels = (together / size).between(-bound, bound) @ (size * learned.weights[:, None])
    margin = regress.RANGE_MARGIN * (high - low)
    return (levels + average).between(low - margin, high + margin)

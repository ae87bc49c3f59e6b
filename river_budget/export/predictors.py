"""The model at the end of a pipeline, as operators: scores, probabilities, labels, predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from river import compose

from ..algorithms.auto.tables import AutoTables
from ..algorithms.features.fogd import _FOGD
from ..algorithms.gradient.one_class import KernelOneClassSVM
from ..algorithms.scaling.targets import TargetStandardScaler
from ..algorithms.window.sbp import SBPClassifier
from ..core.block import blocks
from ..model.expansions.expansion import AveragingExpansion, BudgetModel
from ..model.inputs.targets import Labels
from .auto_experts import class_scores, prediction
from .errors import not_exported
from .expansions import expansion, waves
from .graph import Columns, Graph
from .transformers import present, transformed


@dataclass
class Found:
    """The outputs of a model: matrices with one row per example."""

    scores: str | None  # raw scores: one column, or from three labels on one for each
    labels: list[Any] | None = None  # the labels of a classifier
    probabilities: str = ""  # a column for each label
    chosen: str = ""  # the index of the predicted label, one number per example


def predicted(graph: Graph, model: Any, columns: Columns) -> Found:
    """The outputs of the model for these columns."""
    from river import (  # imported here: they take longer to load than this package
        linear_model,
        multiclass,
    )

    kind = type(model)
    if kind is compose.Pipeline:
        *steps, last = model.steps.values()
        for step in steps:
            columns = transformed(graph, step, columns)
        return predicted(graph, last, columns)
    if isinstance(model, compose.TargetTransformRegressor):
        return _in_units(graph, model, columns)
    if kind is multiclass.OneVsRestClassifier:
        return _one_against_the_rest(graph, model, columns)
    columns = present(graph, columns)
    if kind in (linear_model.LinearRegression, linear_model.LogisticRegression):
        return _linear(graph, model, columns, kind is linear_model.LogisticRegression)
    if kind is linear_model.SoftmaxRegression:
        table = [_weights(weights, columns) for weights in model.weights.values()]
        scores = graph.node("MatMul", columns.tensor, np.array(table).T)
        return _best(graph, list(model.weights), scores, graph.node("Softmax", scores, axis=1))
    if issubclass(kind, (BudgetModel, _FOGD, AutoTables)):
        return _ours(graph, model, columns)
    raise not_exported(kind.__name__)


def _ours(graph: Graph, model: Any, columns: Columns) -> Found:
    if model.block is None:
        raise ValueError(f"a {type(model).__name__} that has learned nothing cannot be exported")
    scores = _scores(graph, model, columns)
    if not hasattr(model, "labels"):
        return Found(scores)
    labels: Labels = model.labels
    if len(labels.known) < 2:
        raise ValueError(
            f"a {type(model).__name__} that knows one class only, {labels.known}, cannot be exported"
        )
    slope, lead = model._link()
    if len(labels.known) == 2:
        return _two(graph, labels.known, scores, graph.node("Mul", scores, float(slope)))
    logits = _with_lead(graph, scores, len(labels.known), slope, lead)
    return _best(graph, labels.known, scores, graph.node("Softmax", logits, axis=1))


def _scores(graph: Graph, model: Any, columns: Columns) -> str:
    if isinstance(model, AutoTables):
        return (class_scores if hasattr(model, "labels") else prediction)(graph, model, columns)
    block = blocks.views(model.block)
    n, state = int(block.head.count), model.state_record()
    if isinstance(model, _FOGD):
        rows = model._rows_of_output
        first = 0 if rows == 1 else 2
        sines = block.per_vector[first::rows, :n]
        cosines = block.coefficients[:, :n] if rows == 1 else block.per_vector[1::rows, :n]
        weights = np.concatenate([cosines, sines], axis=1).T
        return graph.node("MatMul", waves(graph, model, columns), np.ascontiguousarray(weights))
    mean = isinstance(model, AveragingExpansion) and model.average
    coefficients = model.mean_rows()[:, :n] if mean else model.coefficient_columns()
    scores = expansion(graph, model, columns, coefficients)
    if isinstance(model, SBPClassifier):
        return graph.node("Add", scores, float(state.bias))
    if isinstance(model, KernelOneClassSVM):
        return graph.node("Sub", float(state.level), scores)
    return scores


def _two(graph: Graph, labels: list[Any], scores: str, logits: str, strict: bool = False) -> Found:
    """Two classes, of which the second one is positive. `strict`: a score of 0 is negative."""
    positive = graph.node("Sigmoid", logits)
    shares = graph.node("Concat", graph.node("Sub", 1.0, positive), positive, axis=1)
    above = graph.node("Greater" if strict else "GreaterOrEqual", scores, 0.0)
    chosen = graph.node("Squeeze", graph.node("Cast", above, to=7), np.array([1]))
    return Found(scores, labels, shares, chosen)


def _best(graph: Graph, labels: list[Any], scores: str, shares: str) -> Found:
    """The class with the highest score."""
    return Found(scores, labels, shares, graph.node("ArgMax", scores, axis=1, keepdims=0))


def _with_lead(graph: Graph, scores: str, n: int, slope: float, lead: float) -> str:
    """Logits: slope times scores, plus the lead for the highest one, unless all are equal."""
    highest = graph.node("ReduceMax", scores, axes=[1], keepdims=1)
    behind = graph.node("Sub", scores, highest)
    logits = graph.node("Mul", behind, float(slope))
    if lead == 0.0:
        return logits
    lowest = graph.node("ReduceMin", behind, axes=[1], keepdims=1)
    first = graph.node("ArgMax", scores, axis=1, keepdims=1)
    others = graph.node("Not", graph.node("Equal", first, np.arange(n)[None]))
    chased = graph.node("And", others, graph.node("Less", lowest, 0.0))
    return graph.node("Sub", logits, graph.node("Where", chased, float(lead), 0.0))


def _weights(weights: Any, columns: Columns) -> list[float]:
    return [float(weights.get(name, 0.0)) for name in columns.names]


def _linear(graph: Graph, model: Any, columns: Columns, classifier: bool) -> Found:
    """A linear model of River."""
    from river import optim

    usual = optim.losses.Log if classifier else optim.losses.Squared
    if not isinstance(model.loss, usual):
        raise not_exported(f"a {type(model).__name__} with another loss than its usual one")
    weights = np.array(_weights(model.weights, columns))[:, None]
    scores = graph.node("Gemm", columns.tensor, weights, np.array([float(model.intercept)]))
    return _two(graph, [False, True], scores, scores, strict=True) if classifier else Found(scores)


def _in_units(graph: Graph, model: Any, columns: Columns) -> Found:
    """The regressor inside a TargetStandardScaler, in the units of the targets."""
    from river import preprocessing

    if type(model) not in (preprocessing.TargetStandardScaler, TargetStandardScaler):
        raise not_exported(type(model).__name__)
    inside = predicted(graph, model.regressor, columns)
    spread, mean = float(model.var.get()) ** 0.5, float(model.var.mean.get())
    return Found(graph.node("Add", graph.node("Mul", inside.scores, spread), mean))


def _one_against_the_rest(graph: Graph, model: Any, columns: Columns) -> Found:
    shares = []
    for one in model.classifiers.values():
        found = predicted(graph, one, columns)
        if found.labels is None or True not in found.labels:
            raise not_exported(f"{type(one).__name__} in a {type(model).__name__}")
        place = np.array([found.labels.index(True)])
        shares.append(graph.node("Gather", found.probabilities, place, axis=1))
    if not shares:
        raise ValueError("a OneVsRestClassifier that has learned nothing cannot be exported")
    votes = graph.node("Concat", *shares, axis=1)
    total = graph.node("ReduceSum", votes, np.array([1]), keepdims=1)
    there = graph.node("Greater", total, 0.0)
    even = 1.0 / len(shares)
    probabilities = graph.node("Where", there, graph.node("Div", votes, total), even)
    labels = list(model.classifiers)
    return Found(None, labels, probabilities, graph.node("ArgMax", votes, axis=1, keepdims=0))

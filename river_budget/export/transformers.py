"""What may stand in front of a model, as operators."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from river import compose

from ..algorithms.features.fourier import RandomFourier
from ..algorithms.features.nystroem import Nystroem
from ..algorithms.features.sketch import PolynomialCountSketch
from ..algorithms.scaling.scalers import MinMaxScaler, StandardScaler
from ..core.block import blocks
from ..guard import BadRows, Guard
from ..model.base.base import StreamModel
from .errors import not_exported
from .expansions import expansion, sketch, waves
from .graph import Columns, Graph


def features_of(model: Any) -> list[Any]:
    """The features of the first step that knows any."""
    if type(model) is compose.Pipeline:
        for step in model.steps.values():
            if found := features_of(step):
                return found
        return []
    for inner in ("regressor", "classifier"):  # of a wrapper
        if hasattr(model, inner):
            several = getattr(model, "classifiers", None) or {None: getattr(model, inner)}
            return features_of(next(iter(several.values())))
    for name in ("counts", "min", "weights"):  # of a scaler, of a linear model
        if hasattr(model, name):
            return list(getattr(model, name))
    return list(model.features) if issubclass(type(model), StreamModel) else []


def transformed(graph: Graph, step: Any, columns: Columns) -> Columns:
    """What comes out of a step of a pipeline."""
    if issubclass(type(step), RandomFourier):
        size = step.scale / math.sqrt(step.n_components)
        tensor = graph.node("Mul", waves(graph, step, present(graph, columns)), size)
        return Columns(tensor, step._feature_names())
    if type(step) is PolynomialCountSketch:
        return Columns(sketch(graph, step, present(graph, columns)), step._feature_names())
    for kind, translate in _translations().items():
        if type(step) is kind:
            return translate(graph, step, columns)
    raise not_exported(type(step).__name__)


Translation = Callable[[Graph, Any, Columns], Columns]


def _translations() -> dict[Any, Translation]:
    from river import anomaly, preprocessing  # here, as they take longer to load than this package

    return {
        preprocessing.StandardScaler: _standard_scaler,
        preprocessing.MinMaxScaler: _min_max_scaler,
        StandardScaler: lambda graph, step, columns: _standard_scaler(
            graph, step.as_river(), columns
        ),
        MinMaxScaler: lambda graph, step, columns: _min_max_scaler(graph, step.as_river(), columns),
        anomaly.ThresholdFilter: _filter,
        Guard: _guard,
        Nystroem: _nystroem,
    }


def present(graph: Graph, columns: Columns) -> Columns:
    """What is missing, as NaN, counts as absent."""
    missing = graph.node("IsNaN", columns.tensor)
    return Columns(graph.node("Where", missing, 0.0, columns.tensor), columns.names)


def _value(statistic: Any) -> float:
    """Of a number, or of a statistic over a window."""
    return float(statistic.get() if hasattr(statistic, "get") else statistic)


def _standard_scaler(graph: Graph, step: Any, columns: Columns) -> Columns:
    known = [name in step.counts for name in columns.names]
    pairs = list(zip(columns.names, known, strict=True))
    means = np.array([_value(step.means[name]) if here else 0.0 for name, here in pairs])
    tensor = graph.node("Sub", columns.tensor, means)
    if step.with_std:
        variances = [_value(step.vars[name]) if here else 0.0 for name, here in pairs]
        tensor = _divided(graph, tensor, np.sqrt(variances))
    return Columns(tensor, columns.names)


def _min_max_scaler(graph: Graph, step: Any, columns: Columns) -> Columns:
    pairs = [
        (_value(step.min[name]), _value(step.max[name])) if name in step.min else (0.0, 0.0)
        for name in columns.names
    ]
    low, high = np.array(pairs).T
    tensor = _divided(graph, graph.node("Sub", columns.tensor, low), high - low)
    return Columns(tensor, columns.names)


def _divided(graph: Graph, tensor: str, spread: Any) -> str:
    """Divided by the spread; 0 where there is none."""
    return graph.node("Div", tensor, np.where(spread > 0.0, spread, math.inf))


def _filter(graph: Graph, step: Any, columns: Columns) -> Columns:
    """The part of a guard that leaves out examples when it learns."""
    if type(step.anomaly_detector) is not BadRows:
        raise not_exported(type(step).__name__)
    return columns


def _guard(graph: Graph, step: Guard, columns: Columns) -> Columns:
    """A missing value becomes the last good one, where that is what the guard does, and else stays missing."""
    last = np.array([float(step._last.get(name, math.nan)) for name in columns.names])
    if step.on_bad != "last" or np.isnan(last).all():
        return columns
    missing = graph.node("IsNaN", columns.tensor)
    return Columns(graph.node("Where", missing, last, columns.tensor), columns.names)


def _nystroem(graph: Graph, step: Nystroem, columns: Columns) -> Columns:
    if not step.n_outputs:
        raise ValueError("a Nystroem map without features cannot be exported: it has no landmarks")
    n = int(blocks.views(step.block).head.count)
    basis = blocks.views(step.block).per_vector[: step.n_outputs, :n]
    tensor = expansion(graph, step, present(graph, columns), step.scale * basis)
    return Columns(tensor, step._feature_names())

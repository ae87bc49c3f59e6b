"""Transformers in front of a model, as ONNX operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
from river import compose

from ..algorithms.features.fourier import RandomFourier
from ..algorithms.features.nystroem import Nystroem
from ..algorithms.features.sketch import PolynomialCountSketch
from ..algorithms.scaling.scalers import MinMaxScaler, StandardScaler
from ..core import memory
from ..guard.guard import Guard
from ..model.base import StreamModel
from .expansions import expansion, sketch, waves
from .graph import TEXTS, Graph, NamedMatrix, Tensor, check_texts, not_exported

LARGEST_WHOLE = 2**53  # every whole number up to it is a float


def features_of(model: Any, behind: Collection[Any] = ()) -> list[Any]:
    """The input features that a step knows; if it does not know them, those that later steps
    know.
    """
    kind = type(model)
    if isinstance(model, compose.Pipeline):
        for step in reversed(model.steps.values()):
            behind = features_of(step, behind)
        return list(behind)
    if kind is compose.TransformerUnion:
        made = {name for part in model.transformers.values() for name in _made_by(part)}
        passed = [name for name in behind if name not in made]
        parts = [features_of(part, passed) for part in model.transformers.values()]
        return list(dict.fromkeys(name for names in parts for name in names))
    if is_encoder(model):
        return list(model.values) or list(behind)
    if kind in SELECTING:
        return [name for name in behind if SELECTING[kind](name, model.keys)]
    for inner in ("regressor", "classifier"):  # the model inside a wrapper
        if hasattr(model, inner):
            several = getattr(model, "classifiers", None) or {None: getattr(model, inner)}
            return features_of(next(iter(several.values())))
    for name in ("counts", "min", "weights"):  # attributes of scalers and linear models
        if hasattr(model, name):
            return list(getattr(model, name)) or list(behind)
    own = list(model._features) if issubclass(kind, StreamModel) else []
    return own or list(behind)


def _made_by(step: Any) -> Collection[Any]:
    """Features that are no inputs: a step of a union makes them."""
    if isinstance(step, compose.Pipeline):
        step = list(step.steps.values())[-1]
    if is_encoder(step):
        values = step.values.items()
        return [f"{name}_{value}" for name, found in values for value in found]
    return step._feature_names() if hasattr(step, "_feature_names") else ()


def is_encoder(step: Any) -> bool:
    from river import preprocessing  # imported here, as it takes longer to load than this package

    return type(step) is preprocessing.OneHotEncoder


def _encoders(model: Any) -> Iterator[Any]:
    if is_encoder(model):
        yield model
    parts: list[Any] = []
    if isinstance(model, compose.Pipeline):
        parts += model.steps.values()
    elif type(model) is compose.TransformerUnion:
        parts += model.transformers.values()
    parts += [getattr(model, name) for name in ("regressor", "classifier") if hasattr(model, name)]
    for part in parts:
        yield from _encoders(part)


def texts_of(model: Any) -> set[Any]:
    """The features for which an encoder has learned texts as values."""
    return {
        name
        for encoder in _encoders(model)
        for name, values in encoder.values.items()
        if values and all(isinstance(value, str) for value in values)
    }


SELECTING: dict[Any, Callable[[Any, set[Any]], bool]] = {  # {class: whether a feature passes}
    compose.Select: lambda name, keys: name in keys,
    compose.Discard: lambda name, keys: name not in keys,
}


def transformed(graph: Graph, step: Any, columns: NamedMatrix) -> NamedMatrix:
    """The columns that a step of a pipeline returns."""
    if isinstance(step, compose.Pipeline):
        for part in step.steps.values():
            columns = transformed(graph, part, columns)
        return columns
    if issubclass(type(step), RandomFourier):
        size = step.scale / math.sqrt(step.n_components)
        return NamedMatrix(
            waves(graph, step, present(graph, columns)) * size, step._feature_names()
        )
    if type(step) is PolynomialCountSketch:
        return NamedMatrix(sketch(graph, step, present(graph, columns)), step._feature_names())
    for kind, translate in _translations().items():
        if type(step) is kind:
            return translate(graph, step, columns)
    raise not_exported(type(step).__name__)


Translation = Callable[[Graph, Any, NamedMatrix], NamedMatrix]


def _translations() -> dict[Any, Translation]:
    from river import preprocessing  # here: they load slowly

    return {
        preprocessing.StandardScaler: _standard_scaler,
        preprocessing.MinMaxScaler: _min_max_scaler,
        preprocessing.OneHotEncoder: _one_hot,
        compose.TransformerUnion: _union,
        compose.Select: _selected,
        compose.Discard: _selected,
        StandardScaler: _as_rivers(_standard_scaler),
        MinMaxScaler: _as_rivers(_min_max_scaler),
        Guard: _guard,
        Nystroem: _nystroem,
    }


def _as_rivers(translation: Translation) -> Translation:
    """The translation of one of our scalers, by that of River's scaler with the same statistics."""
    return lambda graph, scaler, columns: translation(graph, scaler.as_river(), columns)


def _selected(graph: Graph, step: Any, columns: NamedMatrix) -> NamedMatrix:
    goes = SELECTING[type(step)]
    texts = {name: text for name, text in columns.texts.items() if goes(name, step.keys)}
    names = [name for name in columns.names if goes(name, step.keys)]
    return NamedMatrix(_of_names(graph, columns, names), names, texts)


def _of_names(graph: Graph, columns: NamedMatrix, names: list[Any]) -> Tensor:
    """The columns with these names."""
    if names == columns.names or not names:
        return columns.tensor if names else graph.nothing
    places = {name: place for place, name in enumerate(columns.names)}
    order = np.array([places[name] for name in names])
    return graph.node("Gather", columns.tensor, order, axis=1)


def _union(graph: Graph, step: Any, columns: NamedMatrix) -> NamedMatrix:
    """The columns of all steps; of columns with the same name, the first."""
    tensors: list[Tensor] = []
    names: list[Any] = []
    texts: dict[Any, Tensor] = {}
    for part in step.transformers.values():
        found = transformed(graph, part, columns)
        texts = found.texts | texts
        if new := [name for name in found.names if name not in names]:
            tensors.append(_of_names(graph, found, new))
            names += new
    tensor = graph.node("Concat", *tensors, axis=1) if tensors else graph.nothing
    return NamedMatrix(tensor, names, texts)


def present(graph: Graph, columns: NamedMatrix) -> NamedMatrix:
    """The columns, with 0 instead of NaN: missing values count as absent."""
    missing = graph.node("IsNaN", columns.tensor)
    return NamedMatrix(graph.node("Where", missing, 0.0, columns.tensor), columns.names)


def _value(statistic: Any) -> float:
    """The value of a number, or of a statistic over a window."""
    return float(statistic.get() if hasattr(statistic, "get") else statistic)


def _standard_scaler(graph: Graph, step: Any, columns: NamedMatrix) -> NamedMatrix:
    known = [name in step.counts for name in columns.names]
    pairs = list(zip(columns.names, known, strict=True))
    means = np.array([_value(step.means[name]) if here else 0.0 for name, here in pairs])
    tensor = columns.tensor - means
    if step.with_std:
        variances = [_value(step.vars[name]) if here else 0.0 for name, here in pairs]
        tensor = _divided(tensor, np.sqrt(variances))
    return NamedMatrix(tensor, columns.names)


def _min_max_scaler(graph: Graph, step: Any, columns: NamedMatrix) -> NamedMatrix:
    pairs = [
        (_value(step.min[name]), _value(step.max[name])) if name in step.min else (0.0, 0.0)
        for name in columns.names
    ]
    low, high = np.array(pairs).T
    return NamedMatrix(_divided(columns.tensor - low, high - low), columns.names)


def _divided(tensor: Tensor, spread: Any) -> Tensor:
    """A tensor divided by the spread; 0 where the spread is 0."""
    return tensor / np.where(spread > 0.0, spread, math.inf)


def _guard(graph: Graph, step: Guard, columns: NamedMatrix) -> NamedMatrix:
    """Without texts; the last valid values instead of those that are no finite numbers, if the
    guard keeps them.
    """
    if not columns.names:
        return NamedMatrix(graph.nothing, [])
    last = np.array([float(step._last.get(name, math.nan)) for name in columns.names])
    tensor = columns.tensor
    bad = graph.node("Or", graph.node("IsNaN", tensor), graph.node("IsInf", tensor))
    return NamedMatrix(graph.node("Where", bad, last, tensor), columns.names)


def _nystroem(graph: Graph, step: Nystroem, columns: NamedMatrix) -> NamedMatrix:
    if not step._n_outputs:
        raise ValueError("a Nystroem map without features cannot be exported: it has no landmarks")
    n = memory.views(step._block).head.count
    basis = memory.views(step._block).per_vector[: step._n_outputs, :n]
    tensor = expansion(graph, step, present(graph, columns), step.scale * basis)
    return NamedMatrix(tensor, step._feature_names())


# River's OneHotEncoder


def _one_hot(graph: Graph, step: Any, columns: NamedMatrix) -> NamedMatrix:
    """A column for each value that the encoder has learned."""
    if step.drop_zeros and (step.drop_first or step.categories is None):
        raise not_exported("OneHotEncoder(drop_zeros=True), which keeps no list of its values,")
    tensors, names = [], []
    for name, found in step.values.items():
        values = sorted(found, key=str)
        if values:
            is_value = _is_value(graph, columns, name, values)
            tensors.append(graph.node("Where", is_value, 1.0, math.nan if step.drop_zeros else 0.0))
            names += [f"{name}_{value}" for value in values]
    if not names:
        return NamedMatrix(graph.nothing, [])
    tensor = graph.node("Concat", *tensors, axis=1)
    if step.drop_first:  # later values may have made another one the first
        first = np.array([name == min(names) for name in names])
        tensor = graph.node("Where", first, math.nan, tensor)
    return NamedMatrix(tensor, names)


def _is_value(graph: Graph, columns: NamedMatrix, name: Any, values: list[Any]) -> Tensor:
    """Which of these values a feature has."""
    check_texts(values)
    if "" in values:
        raise not_exported(
            f"OneHotEncoder with an empty text, which stands for a missing one, of {name!r}"
        )
    if name in columns.texts:
        places: Any = {"keys_strings": values, "values_int64s": list(range(len(values)))}
        place = graph.node(
            "LabelEncoder", columns.texts[name], domain=TEXTS, default_int64=-1, **places
        )
        return graph.node("Equal", place, np.arange(len(values))[None])
    if not all(isinstance(value, (int, float)) for value in values):
        raise not_exported(f"OneHotEncoder with values of {name!r} that are texts and others")
    if not all(abs(value) <= LARGEST_WHOLE for value in values if isinstance(value, int)):
        raise not_exported(
            f"OneHotEncoder with whole numbers of {name!r} that no float is equal to"
        )
    column = graph.node("Gather", columns.tensor, np.array([columns.names.index(name)]), axis=1)
    return graph.node("Equal", column, np.array([[float(value) for value in values]]))

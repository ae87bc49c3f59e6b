"""River's OneHotEncoder as operators, and features that are texts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import compose

from .errors import not_exported
from .graph import TEXTS, Columns, Graph


def is_encoder(step: Any) -> bool:
    from river import preprocessing  # imported here, as it takes longer to load than this package

    return type(step) is preprocessing.OneHotEncoder


def _encoders(model: Any) -> Iterator[Any]:
    if is_encoder(model):
        yield model
    parts: list[Any] = []
    if type(model) is compose.Pipeline:
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


def names_of_values(step: Any) -> list[str]:
    """The names of the features that an encoder returns."""
    return [f"{name}_{value}" for name, found in step.values.items() for value in _in_order(found)]


def _in_order(values: set[Any]) -> list[Any]:
    return sorted(values, key=str)


def one_hot(graph: Graph, step: Any, columns: Columns) -> Columns:
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
        return Columns("", [])
    tensor = graph.node("Concat", *tensors, axis=1)
    if step.drop_first:  # later values may have made another one the first
        first = np.array([name == min(names) for name in names])
        tensor = graph.node("Where", first, math.nan, tensor)
    return Columns(tensor, names)


def _is_value(graph: Graph, columns: Columns, name: Any, values: list[Any]) -> str:
    """Which of these values a feature has."""
    if name in columns.texts:
        places: Any = {"keys_strings": values, "values_int64s": list(range(len(values)))}
        place = graph.node(
            "LabelEncoder", columns.texts[name], domain=TEXTS, default_int64=-1, **places
        )
        return graph.node("Equal", place, np.arange(len(values))[None])
    if not all(isinstance(value, (int, float)) for value in values):
        raise not_exported(f"OneHotEncoder with values of {name!r} that are texts and others")
    column = graph.node("Gather", columns.tensor, np.array([columns.names.index(name)]), axis=1)
    return graph.node("Equal", column, np.array([[float(value) for value in values]]))

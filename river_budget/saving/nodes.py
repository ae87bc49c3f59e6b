"""Encode and decode models as nodes: JSON objects with the class, the parameters and the state.

our models     class, parameters, features, labels, numbers and arrays (states.py)
pipelines      {"class": "Pipeline", "steps": [[name, node], ...]}
River's own    see rivers.py

Models that only predict have "predict_only": true.
"""

from __future__ import annotations

import json
from typing import Any

from river import compose

from .. import algorithms
from ..guard import with_steps
from ..model.base.base import StreamModel
from . import frozen, plain, rivers, states, trust
from .container import Source
from .errors import SavedModelError, damaged

Node = dict[str, Any]
DEEPEST_PIPELINE = 10  # the depth up to which pipelines may be nested
_registered: dict[str, Any] = {}


def register(kind: Any) -> Any:
    """Decorator of a model class outside this package: register it for `save` and `load`.

    Import the module of the class before you load such a file.
    """
    if not _is_in_block(kind):
        raise TypeError(f"{kind!r} is no model in a block: it does not derive from StreamModel")
    if kind.__name__ in algorithms.PLACES:
        raise ValueError(f"{kind.__name__} is the name of a model of river_budget")
    trust.check_declared(kind())
    _registered[kind.__name__] = kind
    return kind


def class_named(name: Any) -> Any:
    """The class of models in files that has this name; None if there is none."""
    kind = algorithms.find(name) if name in algorithms.PLACES else _registered.get(name)
    return kind if _is_in_block(kind) else None


def _is_in_block(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, StreamModel)


# to the file


def encoded(model: Any, arrays: list[Any], depth: int = 0) -> Node:
    """The node of a model, whose arrays are appended to `arrays`."""
    node = _node(model, arrays, depth)
    if frozen.is_frozen(model):
        node["predict_only"] = True
    return node


def _node(model: Any, arrays: list[Any], depth: int) -> Node:
    if depth > DEEPEST_PIPELINE:
        raise SavedModelError(
            f"more than {DEEPEST_PIPELINE} pipelines within each other cannot be saved"
        )
    if isinstance(model, compose.Pipeline):
        steps = [
            [_step_name(name), encoded(step, arrays, depth + 1)]
            for name, step in model.steps.items()
        ]
        return {"class": "Pipeline", "steps": steps}
    if class_named(type(model).__name__) is type(model):
        return states.encoded(model, arrays)
    return rivers.encoded(model, lambda inner: encoded(inner, arrays, depth + 1))


def _step_name(name: Any) -> str:
    if not isinstance(name, str):
        raise SavedModelError(
            f"the step {name!r} of a pipeline cannot be saved: its name is no text"
        )
    return name


SETTINGS = ("class", "parameters", "rate", "intercept_rate", "predict_only")


def settings(node: Any) -> str:
    """What models have in common that were cloned from one: classes, parameters and steps, as text.

    (Text, as in Python 1 equals True, and as parameters they may differ.)
    """
    return json.dumps(_settings(node), sort_keys=True)


def _settings(node: Any) -> Any:
    if not isinstance(node, dict):
        return None
    found = {name: node[name] for name in SETTINGS if name in node}
    if isinstance(node.get("steps"), list):
        found["steps"] = [
            [name, _settings(step)] for name, step in rivers.rows_of(node["steps"], 2)
        ]
    for name in ("regressor", "classifier"):
        if name in node:
            found[name] = _settings(node[name])
    for _, one in node.get("classifiers", []):
        if _settings(one) != found["classifier"]:
            raise damaged("a OneVsRestClassifier has classifiers of several kinds")
    return found


# from the file


def decoded(node: Any, source: Source, depth: int = 0) -> Any:
    """The model of a node."""
    try:
        if not isinstance(node, dict) or depth > DEEPEST_PIPELINE:
            raise damaged("a model is missing in it")
        only_predicts = source.predict_only or node.get("predict_only") is True
        model = _model(node, source, only_predicts, depth)
    except (OverflowError, MemoryError) as error:  # sizes beyond any memory
        raise damaged(f"it cannot be held in memory: {error}") from None
    return frozen.freeze(model) if only_predicts else model


def _model(node: Node, source: Source, only_predicts: bool, depth: int) -> Any:
    kind = node.get("class")
    if kind == "Pipeline":
        return _pipeline(node, source, depth)
    if isinstance(kind, str) and class_named(kind) is not None:
        return states.decoded(class_named(kind), node, source, only_predicts)
    if isinstance(kind, str) and kind in rivers.KINDS:
        return rivers.decoded(kind, node, lambda inner: decoded(inner, source, depth + 1))
    raise SavedModelError(f"the file holds a {plain.short(kind)}, which this version does not know")


def _pipeline(node: Node, source: Source, depth: int) -> compose.Pipeline:
    steps = rivers.rows_of(node.get("steps"), 2)
    if not all(isinstance(name, str) for name, _ in steps):
        raise damaged("a step of a pipeline has no name")
    if len({name for name, _ in steps}) < len(steps):
        raise damaged("two steps of a pipeline have one name")
    made = [(name, decoded(step, source, depth + 1)) for name, step in steps]
    try:
        return with_steps(made)
    except (TypeError, ValueError, AttributeError) as error:
        raise damaged(f"a pipeline: {error}") from None

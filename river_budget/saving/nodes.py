"""Encode and decode models as nodes: JSON objects with the class, the parameters and the state.

our models     class, parameters, features, labels, numbers and arrays (states.py)
pipelines, River's own and our wrappers: objects/encoding.py

Models that only predict have "predict_only": true. What is loaded is what would be saved again, and
what is saved is what would be loaded: `saved` and `loaded` compare.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from river import compose

from .. import algorithms
from ..model.base import StreamModel
from . import frozen, plain, states, trust
from .archive import Arrays, Source, text_of
from .errors import SavedModelError, damaged
from .objects import encoding, steps
from .objects.kinds import Reading

Node = dict[str, Any]
DEEPEST_PIPELINE = 10  # the depth up to which pipelines may be nested
MODEL_BYTES = 4096  # more than a model takes without its tables and names
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


# whole files


def saved(model: Any, predict_only: bool = False) -> tuple[Node, Arrays]:
    """The node and the arrays of a model, after the check that they would load as they are."""
    node, arrays = encoded(model)
    try:
        if predict_only:
            node, arrays = encoded(decoded(node, Source(arrays, predict_only=True)))
        loaded(node, Source(arrays))
    except SavedModelError as error:
        raise SavedModelError(f"the model cannot be saved, it would not load: {error}") from None
    return node, arrays


def loaded(node: Any, source: Source) -> Any:
    """The model of a node, after the check that it would be saved as it is."""
    model = decoded(node, source)
    source.reserve(2 * sum(array.nbytes for array in source.arrays.values()))
    again, arrays = encoded(model)
    if source.predict_only or (
        text_of(again) == text_of(node)
        and arrays.keys() == source.arrays.keys()
        and all(_same_bits(array, source.arrays[name]) for name, array in arrays.items())
    ):
        return model
    raise damaged("it would be saved in another way")


def _same_bits(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and np.array_equal(a.view(np.int64), b.view(np.int64))


# to the file


def encoded(model: Any) -> tuple[Node, Arrays]:
    """The node and the arrays of a model."""
    arrays: Arrays = {}
    return _encoded(model, arrays), arrays


def _encoded(model: Any, arrays: Arrays, depth: int = 0) -> Node:
    if depth > DEEPEST_PIPELINE:
        raise SavedModelError(
            f"more than {DEEPEST_PIPELINE} pipelines within each other cannot be saved"
        )

    node: Node
    if class_named(type(model).__name__) is type(model):
        node = states.encoded(model, arrays)
    elif _is_in_block(type(model)):
        raise SavedModelError(
            f"{type(model).__name__} is not registered: decorate the class with "
            "river_budget.saving.register"
        )
    else:
        # a guarded pipeline is one whose steps have a guard
        key = "compose.Pipeline" if isinstance(model, compose.Pipeline) else None
        inner = functools.partial(_encoded, arrays=arrays, depth=depth + 1)
        node = encoding.encoded(model, inner, key)
    if frozen.is_frozen(model):
        node["predict_only"] = True
    return node


SETTINGS = ("class", "parameters", "predict_only")


def settings(node: Any) -> str:
    """What models have in common that were cloned from one: classes and parameters, as text.

    (Text, as in Python 1 equals True, and as parameters they may differ.)
    """
    return text_of(_settings(node))


def _settings(node: Any) -> Any:
    if isinstance(node, list):
        return [_settings(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {name: _settings(each) for name, each in node.items()}
    if "class" not in node:
        return found
    for _, one in node.get("state", {}).get("classifiers", []):
        if _settings(one) != found["parameters"]["classifier"]:
            raise damaged("a OneVsRestClassifier has classifiers of several kinds")
    return {name: found[name] for name in SETTINGS if name in found}


# from the file


def decoded(node: Any, source: Source, depth: int = 0) -> Any:
    """The model of a node."""
    source.reserve(MODEL_BYTES)
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
    if isinstance(kind, str) and class_named(kind) is not None:
        return states.decoded(class_named(kind), node, source, only_predicts)
    if isinstance(kind, str) and kind in steps.MODELS:
        inner = functools.partial(decoded, source=source, depth=depth + 1)
        return encoding.decoded(node, Reading(inner, source.reserve))
    raise SavedModelError(
        f"the file holds a {plain.short(kind)}, which this version does not know: if it is a model "
        "of your own, import the "
        "module that registers it first"
    )

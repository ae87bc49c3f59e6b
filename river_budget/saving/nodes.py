"""What the header says about a model: an object with its class, parameters and state.

Ours           class, parameters, features, labels, numbers and arrays (states.py)
pipelines      {"class": "Pipeline", "steps": [[name, node], ...]}
scalers        {"class": "StandardScaler", "parameters": ..., "table": [[feature, count, mean, var], ...]}
               {"class": "MinMaxScaler", "parameters": ..., "table": [[feature, min, max], ...]}

Models that only predict have "predict_only": true.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import Any

from river import compose

from ..model.base import StreamModel
from . import frozen, plain, states, trust
from .errors import SavedModelError
from .source import Source

Node = dict[str, Any]
PACKAGE = "river_budget.algorithms."
DEEPEST = 10  # pipelines within pipelines
MOST = 2**53  # examples that a scaler may have seen


_registered: dict[str, Any] = {}


def register(kind: Any) -> Any:
    """Let `save` and `load` know a model that stands outside this package: a decorator for its class.

    Whoever loads a file imports the module of the class before.
    """
    if not (isinstance(kind, type) and issubclass(kind, StreamModel)):
        raise TypeError(f"{kind!r} is no model in a block: it does not derive from StreamModel")
    if _own_classes().get(kind.__name__, kind) is not kind:
        raise ValueError(f"{kind.__name__} is the name of a model of river_budget")
    trust.check_declared(kind())
    _registered[kind.__name__] = kind
    return kind


def classes() -> dict[str, Any]:
    """All models that files may hold, by name."""
    return _own_classes() | _registered


@functools.cache
def _own_classes() -> dict[str, Any]:
    """Our models by name: what their modules call public."""
    found = {}
    for kind in _kinds_of(StreamModel):
        inside = kind.__module__.startswith(PACKAGE)
        if inside and kind.__name__ in sys.modules[kind.__module__].__all__:
            found[kind.__name__] = kind
    return found


def _kinds_of(kind: Any) -> Iterator[Any]:
    for special in kind.__subclasses__():
        yield special
        yield from _kinds_of(special)


# to the file


def encoded(model: Any, arrays: list[Any], depth: int = 0) -> Node:
    """The node of a model, whose arrays are appended to `arrays`."""
    node = _node(model, arrays, depth)
    if frozen.is_frozen(model):
        node["predict_only"] = True
    return node


def _node(model: Any, arrays: list[Any], depth: int) -> Node:
    if depth > DEEPEST:
        raise SavedModelError(f"more than {DEEPEST} pipelines within each other cannot be saved")
    if type(model) is compose.Pipeline:
        steps = [
            [_step_name(name), encoded(step, arrays, depth + 1)]
            for name, step in model.steps.items()
        ]
        return {"class": "Pipeline", "steps": steps}
    if classes().get(type(model).__name__) is type(model):
        return states.encoded(model, arrays)
    preprocessing = _scalers()
    if type(model) is preprocessing.StandardScaler and model.window_size is None:
        table = [[name, n, model.means[name], model.vars[name]] for name, n in model.counts.items()]
        return _scaler(model, table, {"with_std": model.with_std})
    if type(model) is preprocessing.MinMaxScaler and model.window_size is None:
        table = [[name, low.get(), model.max[name].get()] for name, low in model.min.items()]
        return _scaler(model, table, {})
    raise SavedModelError(
        f"{type(model).__name__} cannot be saved: the models of river_budget can, and River's pipelines of "
        "them with its StandardScaler and MinMaxScaler (without window_size)"
    )


def _step_name(name: Any) -> str:
    if not isinstance(name, str):
        raise SavedModelError(
            f"the step {name!r} of a pipeline cannot be saved: its name is no text"
        )
    return name


def _scaler(model: Any, table: list[list[Any]], parameters: dict[str, Any]) -> Node:
    rows = [[plain.encoded(row[0]), *map(plain.number, row[1:])] for row in table]
    return {"class": type(model).__name__, "parameters": parameters, "table": rows}


# from the file


def decoded(node: Any, source: Source, depth: int = 0) -> Any:
    """The model of a node."""
    try:
        if not isinstance(node, dict) or depth > DEEPEST:
            raise SavedModelError("the file is damaged: a model is missing in it")
        only_predicts = source.predict_only or node.get("predict_only") is True
        model = _model(node, source, only_predicts, depth)
    except (OverflowError, MemoryError) as error:  # sizes beyond all measure
        raise SavedModelError(
            f"the file is damaged: it cannot be held in memory: {error}"
        ) from None
    return frozen.freeze(model) if only_predicts else model


def _model(node: Node, source: Source, only_predicts: bool, depth: int) -> Any:
    kind = node.get("class")
    if kind == "Pipeline":
        return _pipeline(node, source, depth)
    if kind == "StandardScaler":
        return _standard_scaler(node)
    if kind == "MinMaxScaler":
        return _min_max_scaler(node)
    if isinstance(kind, str) and kind in classes():
        return states.decoded(classes()[kind], node, source, only_predicts)
    raise SavedModelError(f"the file holds a {plain.short(kind)}, which this version does not know")


def _pipeline(node: Node, source: Source, depth: int) -> compose.Pipeline:
    steps = node.get("steps")
    if not isinstance(steps, list) or not all(map(_is_step, steps)):
        raise SavedModelError("the file is damaged: a pipeline has no steps")
    if len({name for name, _ in steps}) < len(steps):
        raise SavedModelError("the file is damaged: two steps of a pipeline have one name")
    made = [(name, decoded(step, source, depth + 1)) for name, step in steps]
    try:
        return compose.Pipeline(*made)  # type: ignore[no-untyped-call]
    except (TypeError, ValueError, AttributeError) as error:
        raise SavedModelError(f"the file is damaged: a pipeline: {error}") from None


def _is_step(step: Any) -> bool:
    return isinstance(step, list) and len(step) == 2 and isinstance(step[0], str)


def _table(node: Node, kinds: tuple[type, ...]) -> list[list[Any]]:
    """The rows of a scaler: a feature, then numbers of these kinds."""
    table = node.get("table")
    if not isinstance(table, list):
        raise SavedModelError("the file is damaged: a scaler has no table")
    rows = []
    for row in table:
        if not isinstance(row, list) or len(row) != 1 + len(kinds):
            raise SavedModelError("the file is damaged: a scaler has a row of another length")
        values = [plain.decoded(value) for value in row]
        for value, kind in zip(values[1:], kinds, strict=True):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            count = isinstance(value, int) and 0 <= value < MOST
            if not number or (kind is int and not count) or (kind is float and _too_large(value)):
                raise SavedModelError(f"the file is damaged: {plain.short(value)} in a scaler")
        rows.append(values)
    return rows


def _too_large(value: Any) -> bool:
    """Whole numbers come from scalers that have seen no others; beyond these no float follows."""
    return isinstance(value, int) and abs(value) > 2**1000


def _scalers() -> Any:
    """River's preprocessing, when it is needed: it takes longer to load than all of this package."""
    from river import preprocessing

    return preprocessing


def _standard_scaler(node: Node) -> Any:
    parameters = node.get("parameters")
    scaler = plain.built(_scalers().StandardScaler, parameters)
    if type(scaler.with_std) is not bool or scaler.window_size is not None:
        raise SavedModelError("the file is damaged: a StandardScaler with other parameters")
    for name, count, mean, var in _table(node, (int, float, float)):
        scaler.counts[name], scaler.means[name], scaler.vars[name] = count, mean, var
    return scaler


def _min_max_scaler(node: Node) -> Any:
    scaler = _scalers().MinMaxScaler()
    for name, low, high in _table(node, (float, float)):
        scaler.min[name].min, scaler.max[name].max = low, high
    return scaler

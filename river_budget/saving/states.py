"""Encode and decode the state of one of our models: parameters, features, labels, numbers and
arrays.

A file does not contain the block as it lies in memory: the layout of blocks may change, the names
of their parts may not. The model itself computes everything that follows from its parameters, so
that no file determines how memory is laid out. All other values, above all sizes, are checked
(trust.py).

    numbers   of the header of a block, as in trust.NUMBERS
    own       the algorithm's own numbers, None for NaN
    places    those of the features, where there are gaps between them
    names     what else a model knows of its features (Columns.of_names)
    arrays    the folder of its arrays in the file: features or support vectors, coefficients and so
              on, only the columns in use; and tables of the algorithm's own
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import memory, own_tables
from ..model.algorithm import value_of, values_of
from ..model.expansion import BudgetModel
from ..model.stored import LARGEST_USUAL_TABLE
from ..parameters import WHOLE
from . import plain, trust
from .archive import Arrays, Source
from .errors import damaged

Node = dict[str, Any]
TABLES = ("vectors", "coefficients", "norms", "arrivals", "per_vector", "factor")
TABLES_OF_VECTORS = ("norms", "arrivals")  # of expansions only, not of random features
NAME_BYTES = 512  # more than a name or a label takes in its indexes
PLACE_BYTES = 64  # more than a vacant place takes
SPARE_PLACES = 64  # of a small table


def is_window(model: Any) -> bool:
    """Whether vectors are a window of the stream: then `factor` is a table that the model can
    compute.
    """
    return isinstance(model, BudgetModel) and bool(model.algorithm.columns.marks)


# to the file


def encoded(model: Any, arrays: Arrays) -> Node:
    """A model as a node of the file; its arrays are added to `arrays`."""
    model = model._snapshot()  # so that no thread that learns waits for it
    parameters = {name: plain.encoded(getattr(model, name)) for name in model._parameters()}
    node: Node = {"class": type(model).__name__, "parameters": parameters}
    node |= {"entropy": str(model._entropy), "target_name": plain.encoded(model._target_name)}
    names, places = model._features.in_rows, model._features.places
    node["features"] = [plain.encoded(name) for name in names]
    if model._features.vacant:
        node["places"] = [places[name] for name in names]
    if found := model.algorithm.columns.of_names(model):
        node["names"] = found
    if hasattr(model, "_labels"):
        node["labels"] = [plain.encoded(label) for label in model._labels.known]
    if model._block is None:
        return node
    head, record = memory.views(model._block).head, model._state_record()
    node["numbers"] = {name: _number(getattr(head, name)) for name in trust.NUMBERS}
    node["own"] = {name: _number(record[name]) for name in record.dtype.names}
    node["arrays"] = int(next(reversed(arrays)).partition("/")[0]) + 1 if arrays else 0
    tables = _tables(model)
    if "factor" in tables and not _keeps_whole_factor(model):
        tables["factor"] = np.tril(tables["factor"])  # its upper half is unused
    for name, table in tables.items():
        arrays[f"{node['arrays']}/{name}"] = np.array(table, f"<{table.dtype.kind}8", order="C")
    return node


def _keeps_whole_factor(model: Any) -> bool:
    """Whether `factor` has numbers above its diagonal, which an algorithm's own may have."""
    whole = model.algorithm.files.whole_factor
    return bool("factored" in model.algorithm.header if whole is None else value_of(whole, model))


def _tables(model: Any) -> dict[str, Any]:
    """The used parts of the tables of a block, and the algorithm's own; of vectors the rest is
    0.
    """
    block, width = memory.views(model._block), model.algorithm.columns.width(model)
    n = block.head.count
    rows, _ = own_tables.rows_and_squares(
        model.algorithm.columns.own
    )  # they have names of their own
    parts = {"vectors": (slice(width), slice(n)), "factor": (slice(n), slice(n))}
    parts["per_vector"] = (slice(rows, None), slice(n))
    found: dict[str, Any] = {
        name: getattr(block, name)[parts.get(name, (..., slice(n)))]
        for name in TABLES
        if getattr(block, name).size
        and (name != "per_vector" or block.head.per_vector > rows)
        and (isinstance(model, BudgetModel) or name not in TABLES_OF_VECTORS)
    }
    found |= model.algorithm.columns.tables(model)
    return found


def _number(value: Any) -> Any:
    plain_value = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain_value, float):
        return None if math.isnan(plain_value) else {"float": repr(plain_value)}
    return str(plain_value)


# from the file


def decoded(kind: Any, node: Node, source: Source, only_predicts: bool) -> Any:
    model = plain.built(kind, node.get("parameters"))
    trust.check_parameters(model)
    model._entropy = trust.number(node.get("entropy"), "entropy", *trust.RANDOM)
    model._target_name = plain.name(node.get("target_name"))
    _restore_features(model, node, source)
    facts = node.get("names", {})
    if not isinstance(facts, dict):
        raise damaged("what it knows of its names is missing")
    try:
        model.algorithm.columns.restore_names(model, facts)
    except (TypeError, ValueError) as error:
        raise damaged(str(error)) from None
    if hasattr(model, "_labels"):
        _restore_labels(model, _names(node.get("labels"), "labels", source))
    if "numbers" in node:
        _restore_block(model, node, source, only_predicts)
    else:
        if len(model._features):
            raise damaged("it knows features, and no more about them")
        source.reserve(2 * trust.size_of(model._header_fields(1)))
    return model


def _restore_features(model: Any, node: Node, source: Source) -> None:
    names = _names(node.get("features"), "features", source)
    model._features = model._index_of(names)
    places = node.get("places")
    if places is None:
        return
    whole = isinstance(places, list) and places and all(type(place) is int for place in places)
    if not whole or len(places) != len(names) or places != sorted(set(places)) or min(places) < 0:
        raise damaged("its places do not fit its features")
    if places[-1] >= trust.MOST_PLACES or places == list(range(len(names))):
        raise damaged("its places are out of range")
    source.reserve(PLACE_BYTES * places[-1])
    model._features.move_to(places)


def _names(values: Any, what: str, source: Source) -> list[Any]:
    if not isinstance(values, list):
        raise damaged(f"there are no {what}")
    source.reserve(NAME_BYTES * len(values))
    names = [plain.name(value) for value in values]
    if len(set(names)) < len(names):
        raise damaged(f"{what} are not different from each other")
    return names


def _restore_labels(model: Any, names: list[Any]) -> None:
    labels = model._labels
    try:
        labels.check(names)
    except ValueError as error:
        raise damaged(str(error)) from None
    if labels.closed and names != labels.known:
        raise damaged("its labels do not fit its classes")
    model._labels = labels.with_known(names)


def _restore_block(model: Any, node: Node, source: Source, only_predicts: bool) -> None:
    numbers, own, folder = trust.numbers(node.get("numbers")), node.get("own"), node.get("arrays")
    if not (isinstance(own, dict) and type(folder) is int):
        raise damaged("a part of its state is missing")
    count, columns = numbers["count"], model.algorithm.columns
    try:
        # sizes of its tables, and whether it may have vacant places, may follow from the record
        columns.restore(model, own)
    except ValueError as error:
        raise damaged(str(error)) from None
    width = columns.width(model)
    most = 2 * width + SPARE_PLACES
    if isinstance(model, BudgetModel):  # names that were forgotten leave places
        most = max(most, LARGEST_USUAL_TABLE // (8 * (count + 1)))
    if not width <= numbers["width"] <= most or (model._features.vacant and not model._takes_lists):
        raise damaged("its width does not fit its features")
    fields = _fields(model, numbers, only_predicts)
    if is_window(model) and not only_predicts:
        fields["factored"] = int(f"{folder}/factor" in source.arrays)
    source.reserve(2 * trust.size_of(fields))  # it is copied to be compared
    model._block = memory.allocate(stamp=model._stamp(), **fields)
    columns.init_tables(model)
    _restore_own(model, own)
    block = memory.views(model._block)
    for name, table in _tables(model).items():
        table[...] = trust.table(source, folder, name, table.shape, table.dtype)
    if isinstance(model, BudgetModel) and block.vectors[model._features.vacant].any():
        raise damaged("its vectors have numbers at vacant places")
    trust.check_state(model, count)
    if only_predicts and is_window(model):
        _drop_idle_vectors(model)


def _drop_idle_vectors(model: Any) -> None:
    """Drop the vectors whose coefficients are 0, for a model that only predicts."""
    block = memory.views(model._block)
    used = np.flatnonzero(block.coefficients[:, : block.head.count].any(axis=0))
    model._keep_vectors(used)
    model._resize_block(capacity=memory.columns_for(len(used)))


def _fields(model: Any, numbers: dict[str, Any], only_predicts: bool) -> dict[str, Any]:
    """The header fields of the new block: those of a new model, and the numbers of the file."""
    fields: dict[str, Any] = model._header_fields(max(numbers["width"], 1))
    fields |= {name: numbers[name] for name in trust.NUMBERS if name not in ("count", "gamma")}
    count = numbers["count"]
    if "gamma" in fields:
        fields["gamma"] = numbers["gamma"]
        if not numbers["gamma"] > 0.0:
            raise damaged("gamma is out of range")
    if "count" in fields:  # in random features `count` is the number of frequencies, a parameter
        if count != fields["count"]:
            raise damaged("its size does not fit its parameters")
    else:
        limit = model._budget_in_use
        if limit is not None and count > limit:
            raise damaged(f"it holds {count} vectors, more than {limit}")
        room = memory.columns_for(count) if only_predicts else model._capacity_for(count)
        fields |= {"count": count, "capacity": room}
    if only_predicts:
        fields["factored"] = 0
        if not (model.algorithm.files.scored_rows or getattr(model, "average", False)):
            fields["per_vector"] = fields["squares"] = 0  # scoring does not read them
    return fields


def _restore_own(model: Any, numbers: dict[str, Any]) -> None:
    """Restore the algorithm's own record; integers that `start` sets must be equal to those in the
    file.
    """
    record, start = model._state_record(), values_of(model.algorithm.start, model)
    if numbers.keys() != set(record.dtype.names):
        raise damaged("its own numbers are others")
    for name, value in numbers.items():
        if record.dtype[name].kind == "i":
            record[name] = trust.number(value, name, *WHOLE)
            if name in start and record[name] != start[name]:
                raise damaged(f"{name} does not fit its parameters")
        else:
            record[name] = math.nan if value is None else trust.number(value, name, -math.inf)
    model._write_parameters()

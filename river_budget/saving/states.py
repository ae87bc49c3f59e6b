"""Encode and decode the state of one of our models: parameters, features, labels, numbers and arrays.

A file does not contain the block as it lies in memory: the layout of blocks may change, the names of their parts
may not. The model itself computes everything that follows from its parameters, so that no file determines how
memory is laid out. All other values, above all sizes, are checked.

    numbers   of the header of a block: count, width, arrived, random, repairs (not in the first files), gamma,
              scale; the calibration: judged, slope, lead and their curvatures (not in the first files)
    own       the algorithm's own numbers, None for NaN
    arrays    indexes of its arrays in the file, by name: features or support vectors, coefficients and so on, only
              the columns in use; and tables of the algorithm's own. Vectors stored as lists are starts, places and
              numbers, and only the names in use are in the file
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.block import blocks
from ..core.expansion.support import HUGE_SCALE, TINY_SCALE
from ..core.rounds.calibration import LONGEST_LEAD, STEEPEST
from ..model.expansions.expansion import BudgetModel
from ..model.inputs.sparse_examples import Lists, by_key, set_vectors, slots_of, vectors_of
from . import plain, trust
from .container import Source
from .errors import damaged

Node = dict[str, Any]
LINK = ("slope", "lead", "slope_curvature", "lead_curvature", "cross_curvature")
NUMBERS_OF_BLOCKS = ("count", "width", "arrived", "random", "repairs", "gamma", "scale", "judged")
NUMBERS = (*NUMBERS_OF_BLOCKS, *LINK)
ARRAYS = {  # name in the file: table of the block
    "vectors": "vectors",
    "coefficients": "coefficients",
    "norms": "norms",
    "arrivals": "arrivals",
    "extras": "per_vector",
    "factor": "factor",
}
LISTS = ("starts", "places", "numbers")  # the arrays of vectors stored as sparse lists
TABLES_OF_VECTORS = ("norms", "arrivals")  # tables of expansions only, not of random features
LARGEST_CURVATURE = 1e15  # the largest curvature allowed in a file; real ones are far smaller
INTEGER_LIMIT = 2**62  # integers in a file must be smaller


def is_expansion(model: Any) -> bool:
    return isinstance(model, BudgetModel)


# to the file


def encoded(model: Any, arrays: list[Any]) -> Node:
    """A model as a node of the file, and its arrays, appended to `arrays`."""
    model = model.snapshot()  # so that no thread that learns waits for it
    parameters = {name: plain.encoded(getattr(model, name)) for name in model.parameters()}
    node: Node = {"class": type(model).__name__, "parameters": parameters}
    node |= {"entropy": str(model.entropy), "target_name": plain.encoded(model.target_name)}
    node["features"] = [plain.encoded(name) for name in _saved_names(model)]
    if hasattr(model, "labels"):
        node["labels"] = [plain.encoded(label) for label in model.labels.known]
    if model.block is not None:
        node |= _encoded_block(model, arrays)
    return node


def _saved_names(model: Any) -> list[Any]:
    """The names to save: all, or those in use in models that add and forget names."""
    if not model.features.loose or model.block is None:
        return list(model.features)
    return model.names_in_use() if is_expansion(model) else []  # frequencies follow from names


def _encoded_block(model: Any, arrays: list[Any]) -> Node:
    block, record = blocks.views(model.block), model.state_record()
    n, width = block.head.count, len(_saved_names(model))
    places = {}
    for name, attribute in ARRAYS.items():
        table = getattr(block, attribute)
        if table.size == 0 or (name in TABLES_OF_VECTORS and not is_expansion(model)):
            continue
        if name == "vectors" and model.features.loose and not width:
            continue  # the model that is loaded has this table without rows, like a twin that is saved again
        used = table[:n, :n] if name == "factor" else table[..., :n]
        if name == "factor" and not model.factor_is_table:
            used = np.tril(used)  # the rest is never read
        elif name == "vectors":  # in the order of the names that are saved
            used = used[[model.features.places[each] for each in _saved_names(model)]]
        places[name] = _appended(arrays, used)
    if block.head.slots:
        lists = model.lists_in_use()
        for name, array in zip(LISTS, (lists.starts, lists.places, lists.values), strict=True):
            places[name] = _appended(arrays, array)
    for name, table in model.own_tables().items():
        places[name] = _appended(arrays, table)
    numbers = {name: _number(getattr(block.head, name)) for name in NUMBERS}
    if model.features.loose:
        numbers["width"] = str(width)
    own = {name: _number(record[name]) for name in record.dtype.names}
    return {"numbers": numbers, "own": own, "arrays": places}


def _appended(arrays: list[Any], table: Any) -> int:
    """Append a copy of a table to the arrays, in numbers of eight bytes, and return its index."""
    arrays.append(np.array(table, f"<{table.dtype.kind}8", order="C"))
    return len(arrays) - 1


def _number(value: Any) -> Any:
    plain_value = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain_value, float):
        return None if math.isnan(plain_value) else {"float": repr(plain_value)}
    return str(plain_value)  # many JSON readers cannot represent integers of 64 bits


# from the file


def decoded(kind: Any, node: Node, source: Source, only_predicts: bool) -> Any:
    parameters = node.get("parameters")
    if isinstance(
        parameters, dict
    ):  # with what older files lack, so that the model behaves as it did
        older = {name: plain.encoded(value) for name, value in kind.file_defaults.items()}
        parameters = older | parameters
    model = plain.built(kind, parameters)
    trust.check_parameters(model)
    model.entropy = _whole(node.get("entropy"), "entropy", 2**64)
    model.target_name = plain.decoded(node.get("target_name"))
    model.features = model.index_of(_names(node.get("features"), "features"))
    if hasattr(model, "labels"):
        _restore_labels(model, node.get("labels"))
    if "numbers" in node:
        _restore_block(model, node, source, only_predicts)
    else:
        if len(model.features):
            raise damaged("it knows features, and no more about them")
        source.reserve(trust.size_of(model.header_fields(1) | {"width": 1}))
    return model


def _whole(text: Any, what: str, limit: int = INTEGER_LIMIT) -> int:
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 21):
        raise damaged(f"{what} is no whole number")
    if int(text) >= limit:
        raise damaged(f"{what} is too large")
    return int(text)


def _signed(text: Any, what: str) -> int:
    if isinstance(text, str) and text.startswith("-"):
        return -_whole(text[1:], what)
    return _whole(text, what)


def _real(value: Any, what: str) -> float:
    number = plain.decoded(value)
    if not isinstance(number, float):
        raise damaged(f"{what} is no number")
    return number


def _names(values: Any, what: str) -> list[Any]:
    if not isinstance(values, list):
        raise damaged(f"there are no {what}")
    names = [plain.decoded(value) for value in values]
    try:
        different = len(set(names)) == len(names)
    except TypeError:
        different = False
    if not different:
        raise damaged(f"{what} are not different from each other")
    return names


def _restore_labels(model: Any, values: Any) -> None:
    labels, names = model.labels, _names(values, "labels")
    try:
        for name in names:
            labels.check(name)
    except ValueError as error:
        raise damaged(str(error)) from None
    if (labels.closed and names != labels.known) or (labels.binary and len(names) > 2):
        raise damaged("its labels do not fit its classes")
    model.labels = labels.with_known(names)


def _restore_block(model: Any, node: Node, source: Source, only_predicts: bool) -> None:
    numbers, own, places = (node.get(part) for part in ("numbers", "own", "arrays"))
    if not (isinstance(numbers, dict) and isinstance(own, dict) and isinstance(places, dict)):
        raise damaged("a part of its state is missing")
    count, width = _whole(numbers.get("count"), "count"), _whole(numbers.get("width"), "width")
    lists = _lists(model, count, source, places) if LISTS[0] in places else None
    if lists is not None:
        width = max(len(model.features), 1)
    elif not len(model.features) <= width <= 2 * len(model.features) + 1:
        raise damaged("its width does not fit its features")
    try:
        model.prepare_restored(own)  # sizes of its tables may follow from the record
    except ValueError as error:
        raise damaged(str(error)) from None
    fields = _fields(model, numbers, count, width, only_predicts)
    if lists is not None:
        fields["slots"] = slots_of(lists)
    if model.factor_is_table and not only_predicts:
        fields["factored"] = int("factor" in places)
    source.reserve(trust.size_of(fields))
    model.block = blocks.allocate(stamp=model.stamp(), **fields)
    model.furnish()
    _restore_own(model, own)
    block = blocks.views(model.block)
    for name, attribute in ARRAYS.items():
        table = getattr(block, attribute)
        if table.size and (is_expansion(model) or name not in TABLES_OF_VECTORS):
            _restore_array(model, name, table, count, source, places.get(name))
    _restore_order(model, lists)
    older = [name for name in model.older_tables if name in places]
    missing = model.younger_tables.union(*(model.older_tables[name] for name in older))
    for name, table in model.own_tables().items():
        if name in places or name not in missing:
            with np.errstate(
                over="ignore"
            ):  # too large for float32 becomes inf, which check_state refuses
                table[...] = _finite(source, places, name, table.shape, table.dtype.kind)
    for name in older:
        model.take_older(name, _finite(source, places, name, model.older_shape(name), "f"))
    trust.check_state(model, count)
    if only_predicts and is_expansion(model) and model.drops_idle_vectors:
        _drop_idle_vectors(model)


def _finite(
    source: Source, places: dict[str, Any], name: str, shape: tuple[int, ...], kind: str
) -> Any:
    array = source.array(places.get(name), shape, kind, name)
    if not np.isfinite(array).all():
        raise damaged(f"its {name} are not finite")
    return array


def _drop_idle_vectors(model: Any) -> None:
    """Drop the vectors whose coefficients are 0, for a model that only predicts."""
    block = blocks.views(model.block)
    n = block.head.count
    used = np.flatnonzero(block.coefficients[:, :n].any(axis=0))
    set_vectors(model.block, vectors_of(model.block).copies_of(used))
    for table in (block.coefficients, block.norms, block.arrivals):
        table[..., : len(used)] = table[..., used]
        table[..., len(used) : n] = 0
    block.head.count = len(used)
    model.resize_block(capacity=blocks.columns_for(len(used)))


def _fields(
    model: Any, numbers: dict[str, Any], count: int, width: int, only_predicts: bool
) -> dict[str, Any]:
    """The header fields of the new block: those of a new model, and a few numbers from the file."""
    fields: dict[str, Any] = model.header_fields(max(width, 1)) | {"width": width}
    fields["arrived"] = _whole(numbers.get("arrived"), "arrived")
    fields["random"] = _whole(numbers.get("random"), "random", 2**64)
    fields["repairs"] = _whole(numbers.get("repairs", "0"), "repairs")
    fields["scale"] = _real(numbers.get("scale"), "scale")
    if not TINY_SCALE <= fields["scale"] <= HUGE_SCALE:
        raise damaged("scale is out of range")
    if "gamma" in fields:
        fields["gamma"] = _real(numbers.get("gamma"), "gamma")
        if not 0.0 < fields["gamma"] < math.inf:
            raise damaged("gamma is out of range")
    fields["judged"] = _whole(numbers.get("judged", "0"), "judged")
    fields |= _link(numbers)
    if "count" in fields:  # in random features `count` is the number of frequencies, a parameter
        if count != fields["count"]:
            raise damaged("its size does not fit its parameters")
    else:
        limit = model.budget_in_use
        if limit is not None and count > limit:
            raise damaged(f"it holds {count} vectors, more than {limit}")
        room = blocks.columns_for(count) if only_predicts else model.capacity_for(count)
        fields |= {"count": count, "capacity": room}
    if only_predicts:
        fields["factored"] = 0
        fields["per_vector"] = fields.get("per_vector", 0) if model.scores_with_per_vector else 0
    return fields


def _link(numbers: dict[str, Any]) -> dict[str, float]:
    """The numbers of the calibration, checked."""
    link = {name: _real(numbers[name], name) for name in LINK if name in numbers}
    for name, value in link.items():
        least = -LARGEST_CURVATURE if name == "cross_curvature" else 0.0
        most = {"slope": STEEPEST, "lead": LONGEST_LEAD}.get(name, LARGEST_CURVATURE)
        if not least <= value <= most:
            raise damaged(f"{name} is out of range")
    if link.get("slope", 0.0) > 0.0 and not link.get("slope_curvature", 0.0) > 0.0:
        raise damaged("slope_curvature is out of range")
    return link


def _restore_own(model: Any, numbers: dict[str, Any]) -> None:
    """Restore the algorithm's own record; integers that initial_state sets must be equal to those in the file."""
    record, start = model.state_record(), model.initial_state()
    for name, value in start.items():
        record[name] = value
    for name in record.dtype.names:
        if name not in numbers:
            continue
        if record.dtype[name].kind == "i":
            number = _signed(numbers[name], name)
            if number != start.get(name, number):
                raise damaged(f"{name} does not fit its parameters")
            record[name] = number
        else:
            record[name] = math.nan if numbers[name] is None else _real(numbers[name], name)
    model.write_parameters()


def _restore_array(
    model: Any, name: str, table: Any, count: int, source: Source, place: Any
) -> None:
    shape = (count, count) if name == "factor" else (*table.shape[:-1], count)
    if name == "vectors":
        shape = (len(model.features), count)
    array = source.array(place, shape, table.dtype.kind, name)
    # all numbers must be finite, except squared lengths, which may overflow
    if np.isnan(array).any() or (name != "norms" and np.isinf(array).any()):
        raise damaged(f"its {name} are not finite")
    table[tuple(slice(n) for n in shape)] = array


def _lists(model: Any, count: int, source: Source, places: dict[str, Any]) -> Lists:
    """The vectors of a file that stores them as sparse lists, checked."""
    if not (is_expansion(model) and model.takes_lists):
        raise damaged("it has lists, and cannot keep any")
    names = list(model.features)
    starts = source.array(places.get(LISTS[0]), (count + 1,), "i", LISTS[0]).astype(np.int64)
    if starts[0] != 0 or (np.diff(starts) < 0).any():
        raise damaged("its lists do not follow each other")
    total = (int(starts[-1]),)
    found = source.array(places.get(LISTS[1]), total, "i", LISTS[1]).astype(np.int64)
    numbers = source.array(places.get(LISTS[2]), total, "f", LISTS[2]).astype(np.float64)
    first = np.zeros(total, bool)
    first[starts[:-1][np.diff(starts) > 0]] = True
    if total[0]:
        ascending = first[1:] | (np.diff(found) > 0)
        if found.min() < 0 or found.max() >= len(names) or not ascending.all():
            raise damaged("its lists do not fit its features")
    if not np.isfinite(numbers).all():
        raise damaged("its numbers are not finite")
    # sort again: earlier versions ordered names with equal keys in another way
    model.features.rename(by_key(names))
    ordered = np.array([model.features.places[name] for name in names], np.int64)
    return Lists(starts, ordered[found] if total[0] else found, numbers).by_place()


def _restore_order(model: Any, lists: Lists | None) -> None:
    """Store lists in the block; sort a table of an older file, which is not in the order of summation."""
    if lists is not None:
        model.features.loosen(blocks.width_in(model.block))
        blocks.views(model.block).head.fresh = 1
        set_vectors(model.block, lists)
    elif is_expansion(model) and model.takes_lists:
        names, table = by_key(model.features), blocks.views(model.block).vectors
        places = [model.features.places[name] for name in names]
        table[: len(names)] = table[places]
        model.features.rename(names)
    model.write_keys(model.features.places)

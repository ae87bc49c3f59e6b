"""Examples, and vectors, as lists of what is present: a name has a place, and only what is not 0 is written down."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from ..core import layout as blocks
from ..parameters import as_float

WHOLE = 2**53  # up to which whole numbers are floats as they are
FEW = 32  # names: such are looked at one by one


def key_of(name: Any) -> float:
    """Where a feature stands in the order of summation: a number in its own place, other names anywhere.

    It depends on nothing but the name. That two names may meet is of no importance.
    """
    if type(name) is str:
        try:
            return zlib.crc32(name.encode())
        except UnicodeEncodeError:
            return zlib.crc32(name.encode("utf-8", "surrogatepass"))
    if type(name) is int and -WHOLE < name < WHOLE:  # as columns mostly are
        return float(name)
    try:
        value = as_float(name)  # 1, 1.0 and True are one key of a dict
    except ValueError:  # a whole number of more digits than Python writes down
        value = None
    if value is not None:
        return value
    try:
        text = name if isinstance(name, str) else repr(name)
    except ValueError:
        return 0.0
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def write_keys(keys: Any, places: Iterable[int], names: Collection[Any]) -> None:
    """The keys of names into their places, in an array or in memory."""
    if len(names) > FEW:
        np.asarray(keys)[np.fromiter(places, np.int64, len(names))] = _keys_of(names)
        return
    for place, name in zip(places, names, strict=True):
        keys[place] = key_of(name)


def _keys_of(names: Collection[Any]) -> Any:
    """The keys of many names, which mostly are texts, or the numbers of columns."""
    kinds, n = set(map(type, names)), len(names)
    try:
        if kinds == {str}:
            return np.fromiter(map(zlib.crc32, map(str.encode, names)), np.float64, n)
        if kinds == {int}:
            keys = np.fromiter(names, np.float64, n)
            if (np.abs(keys) < WHOLE).all():
                return keys
    except (UnicodeEncodeError, OverflowError):
        pass  # half of a character, or a number beyond all floats
    return np.fromiter(map(key_of, names), np.float64, n)


def by_key(names: Iterable[Any]) -> list[Any]:
    """Names in the order of summation."""
    names = list(names)
    keys = np.empty(len(names))
    write_keys(keys, range(len(names)), names)
    if len(set(keys.tolist())) == len(keys):
        return [names[i] for i in keys.argsort().tolist()]
    return sorted(names, key=lambda name: (key_of(name), hash_of(name)))


def hash_of(name: Any) -> str:
    """To tell names apart whose keys are equal."""
    try:
        return f"{type(name).__name__} {name!r}"
    except ValueError:
        return ""


class Lists:
    """Examples as lists: what is present in example t stands from starts[t] to starts[t + 1].

    A place below 0 is that of a name that is not known, whose key says where it belongs.
    """

    __slots__ = ("keys", "places", "starts", "values")

    def __init__(self, starts: Any, places: Any, values: Any, keys: Any = None):
        self.starts, self.places, self.values = starts, places, values
        self.keys = values if keys is None else keys  # of equal length, and not read

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, some: slice) -> Lists:
        start, stop, _ = some.indices(len(self))
        starts = self.starts[start : max(start, stop) + 1]
        return Lists(starts, self.places, self.values, self.keys)

    @property
    def longest(self) -> int:
        return int(np.diff(self.starts).max(initial=0))

    def copies_of(self, kept: Any) -> Lists:
        """Some of the lists, in this order."""
        lengths = np.diff(self.starts)[kept]
        starts = _starts(lengths)
        picked = np.repeat(self.starts[kept] - starts[:-1], lengths) + np.arange(starts[-1])
        return Lists(starts, self.places[picked], self.values[picked])

    def table(self, width: int) -> Any:
        """As a matrix."""
        rows = np.zeros((len(self), width))
        first, last = self.starts[0], self.starts[-1]
        owners = np.repeat(np.arange(len(self)), np.diff(self.starts))
        rows[owners, self.places[first:last]] = self.values[first:last]
        return rows

    @classmethod
    def of_table(cls, rows: Any) -> Lists:
        """What is not 0 in a matrix."""
        owners, places = np.nonzero(rows)
        starts = _starts(np.bincount(owners, minlength=len(rows)))
        return cls(starts, places.astype(np.int64), rows[owners, places])


def joined(parts: list[Lists]) -> Lists:
    """All lists, one after the other."""
    lengths = [np.diff(part.starts) for part in parts]
    places = [part.places for part in parts]
    values = [part.values for part in parts]
    nothing = np.zeros(0, np.int64)
    return Lists(
        _starts(np.concatenate([nothing, *lengths])),
        np.concatenate([nothing, *places]),
        np.concatenate([np.zeros(0), *values]),
    )


def _starts(lengths: Any) -> Any:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


# The vectors of a block


def vectors_of(block: Any) -> Lists:
    """The vectors of a block, in the order of its columns."""
    lists, model = stored_in(block), blocks.views(block)
    if model.head.heavy:
        multipliers = model.multipliers[: len(lists)]
        lists.values = lists.values * np.repeat(multipliers, np.diff(lists.starts))
    return lists


def stored_in(block: Any) -> Lists:
    """The same without what each vector is multiplied by (core/heavy.py)."""
    model = blocks.views(block)
    head = model.head
    count = int(head.count)
    if not head.slots:
        return Lists.of_table(np.ascontiguousarray(model.vectors[:, :count].T))
    nodes = model.nodes[: int(head.fresh)]
    used = np.flatnonzero(nodes["feature"] >= 0)[1:]  # the first node is none
    vectors, features = nodes["vector"][used], nodes["feature"][used].astype(np.int64)
    order = np.lexsort((features, model.keys[features], vectors))
    starts = _starts(np.bincount(vectors, minlength=count))
    return Lists(starts, features[order], nodes["value"][used][order])


def set_vectors(block: Any, lists: Lists) -> None:
    """The inverse of this, for a block of that many vectors; the numbers of each are in the order of their keys."""
    model = blocks.views(block)
    n = len(lists)
    model.unsorted[:], model.brief[:] = 0, 0
    if not model.head.slots:
        model.vectors[:] = 0.0
        owners = np.repeat(np.arange(n), np.diff(lists.starts))
        model.vectors[lists.places, owners] = lists.values
        return
    total = len(lists.places)
    model.firsts[:], model.columns[:] = 0, 0
    # by features, as kernel rows are what is asked for most
    order = _order_of(lists.places)
    numbers = np.empty(total + 2, np.int64)
    numbers[order] = np.arange(1, total + 1)
    nodes = model.nodes
    nodes[:] = np.zeros(1, blocks.NODE)
    used, numbers = nodes[1 : total + 1], numbers[:total]
    used["value"], used["feature"] = lists.values[order], lists.places[order]
    used["vector"] = np.repeat(np.arange(n), np.diff(lists.starts))[order]
    filled = np.flatnonzero(np.diff(lists.starts))
    after = np.append(numbers[1:], 0)
    after[lists.starts[filled + 1] - 1] = 0
    used["after"] = after[order]
    model.firsts[filled] = numbers[lists.starts[filled]]
    same = np.flatnonzero(used["feature"][1:] == used["feature"][:-1])
    used["below"][same], used["above"][same + 1] = same + 2, same + 1
    begins = np.flatnonzero(used["above"] == 0)
    model.columns[used["feature"][begins]] = begins + 1
    model.head.fresh, model.head.freed, model.head.free_node = total + 1, 0, 0


def gather_columns(block: Any) -> None:
    """The nodes of each feature one behind the other, as kernel rows go through them: in lists that have grown node by
    node, each would be somewhere else in memory."""
    model = blocks.views(block)
    nodes = model.nodes[: int(model.head.fresh)]
    order = np.append(0, _order_of(nodes["feature"][1:]) + 1)  # the free ones first
    numbers = np.empty(len(nodes), np.int32)
    numbers[order] = np.arange(len(nodes))
    # as rows of whole numbers, which are copied sooner than records
    words = nodes.view(np.int64).reshape(len(nodes), -1)
    words[:] = words.take(order, axis=0)
    for link in ("after", "below", "above"):
        nodes[link] = numbers.take(nodes[link])
    for table in (model.firsts, model.columns):
        table[:] = numbers.take(table)
    model.head.free_node = numbers[model.head.free_node]


def _order_of(places: Any) -> Any:
    """np.argsort(places, kind="stable") several times as fast: with its number behind it, each place is another key,
    so that any method of sorting will do."""
    keys = places.astype(np.int64) << 32
    keys |= np.arange(len(keys))
    keys.sort()
    return keys & (2**32 - 1)


def slots_for(numbers: int) -> int:
    """Nodes for so many numbers: one is none."""
    return numbers + 1

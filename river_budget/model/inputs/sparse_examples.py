"""Sparse lists: examples and support vectors as (place, value) pairs, in the order of sort keys."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from ...core.block import blocks, layout
from ...parameters import as_float

EXACT_INTEGERS = 2**53  # floats represent all integers up to it exactly
FEW_NAMES = 32  # more names than this are handled as arrays

# The order of summation: features are sorted by key, and those with equal keys by tie. Both depend on the
# name alone. The key of a str is its CRC-32: with a probability of 69 %, two of 100,000 words have the same
# key. The tie is a second, independent number of 32 bits: the octets as one integer, modulo a prime; for
# a number its hash, made negative. Compiled code computes the same (core/examples/dict_reader.py). Names
# with equal keys and ties are sorted by place.
ALL_BITS = 2**32 - 1
key_mask = ALL_BITS  # the bits of keys in use; tests keep fewer, so that many names have equal keys
TEXT_MODULUS, NUMBER_MODULUS = 1973272913, 2**31 - 1
TEXT, TUPLE, OTHER = b"\1", b"\2", b"\3"  # first octet of a tie: the kind of name


def key_and_tie(name: Any) -> tuple[float, int]:
    """(sort key, tie) of a name, which determine its place in the order of summation."""
    if type(name) is str:
        return _of_octets(_octets(name), TEXT)
    if type(name) is int and -EXACT_INTEGERS < name < EXACT_INTEGERS:  # numbers of columns
        return _number_key(float(name), name), _hash_tie(name)
    try:
        value = as_float(name)  # 1, 1.0 and True are the same key of a dict
    except Exception:  # an int with more digits than Python prints, or a user's object
        value = None
    if value is not None:
        return _number_key(value, name), _hash_tie(name)
    try:
        if isinstance(name, str):
            return _of_octets(_octets(name), TEXT)
        kind = TUPLE if type(name) is tuple else OTHER + type(name).__name__.encode()
        return _of_octets(_octets(repr(name)), kind)
    except Exception:  # an object whose repr fails
        return 0.0, _hash_tie(name)


def _octets(text: str) -> bytes:
    try:
        return str.encode(text)
    except UnicodeEncodeError:
        return str.encode(text, "utf-8", "surrogatepass")


def _of_octets(octets: bytes, kind: bytes) -> tuple[float, int]:
    return float(zlib.crc32(octets) & key_mask), int.from_bytes(kind + octets) % TEXT_MODULUS


def _number_key(value: float, name: Any) -> float:
    return value if key_mask == ALL_BITS else float(hash(name) & key_mask)


def _hash_tie(name: Any) -> int:
    """The tie of a number: distinguishes numbers that are equal as floats, such as 2**53 and 2**53 + 1."""
    return -1 - hash(name) % NUMBER_MODULUS


def write_order(keys: Any, ties: Any, places: Iterable[int], names: Collection[Any]) -> None:
    """Write the sort keys and ties of names at their places.

    Modifies `keys` and `ties`, arrays or memoryviews.
    """
    if len(names) > FEW_NAMES:
        found = np.fromiter(places, np.int64, len(names))
        np.asarray(keys)[found], np.asarray(ties)[found] = order_of(names)
        return
    for place, name in zip(places, names, strict=True):
        keys[place], ties[place] = key_and_tie(name)


def order_of(names: Collection[Any]) -> tuple[Any, Any]:
    """(sort keys, ties) of many names, as arrays."""
    n, kinds = len(names), set(map(type, names))
    try:
        if kinds == {int} and key_mask == ALL_BITS:  # the numbers of columns
            keys = np.fromiter(names, np.float64, n)
            if (np.abs(keys) < EXACT_INTEGERS).all():
                hashes = np.fromiter(map(hash, names), np.int64, n)
                return keys, -1 - hashes % NUMBER_MODULUS
        if kinds == {str}:
            octets = list(map(str.encode, names))
            sums = np.fromiter(map(zlib.crc32, octets), np.int64, n) & key_mask
            ties = (int.from_bytes(TEXT + text) % TEXT_MODULUS for text in octets)
            return sums.astype(float), np.fromiter(ties, np.int64, n)
    except (UnicodeEncodeError, OverflowError):
        pass  # a lone surrogate, or an int too large for a float
    found = list(map(key_and_tie, names))
    keys = np.fromiter((key for key, _ in found), np.float64, n)
    return keys, np.fromiter((tie for _, tie in found), np.int64, n)


def by_key(names: Iterable[Any]) -> list[Any]:
    """Names in the order of summation."""
    names = list(names)
    keys, ties = order_of(names)
    return [names[i] for i in np.lexsort((ties, keys)).tolist()]


def is_in_order(keys: Any, ties: Any) -> bool:
    """Whether these are sorted by key, and among equal keys by tie."""
    later, tied = keys[1:] < keys[:-1], keys[1:] == keys[:-1]
    return not (later.any() or (tied.any() and (ties[1:] < ties[:-1])[tied].any()))


class Lists:
    """Examples as sparse lists: the entries of example t are those from starts[t] to starts[t + 1].

    A place below 0 stands for an unknown name, whose key and tie give its position in the order of
    summation.
    """

    __slots__ = ("keys", "places", "starts", "ties", "values")

    def __init__(self, starts: Any, places: Any, values: Any, keys: Any = None, ties: Any = None):
        self.starts, self.places, self.values = starts, places, values
        self.keys = values if keys is None else keys  # an array of this length that is never read
        self.ties = places if ties is None else ties  # never read, either

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, some: slice) -> Lists:
        start, stop, _ = some.indices(len(self))
        starts = self.starts[start : max(start, stop) + 1]
        return Lists(starts, self.places, self.values, self.keys, self.ties)

    @property
    def longest(self) -> int:
        return int(np.diff(self.starts).max(initial=0))

    def copies_of(self, kept: Any) -> Lists:
        """A copy of some of the lists, in this order."""
        lengths = np.diff(self.starts)[kept]
        starts = _starts(lengths)
        picked = np.repeat(self.starts[kept] - starts[:-1], lengths) + np.arange(starts[-1])
        return Lists(starts, self.places[picked], self.values[picked])

    def by_place(self) -> Lists:
        """These lists, each sorted by place, for models whose places are in the order of summation."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.starts))
        if (np.diff(owners << 32 | self.places) > 0).all():
            return self
        order = np.lexsort((self.places, owners))
        return Lists(self.starts, self.places[order], self.values[order])

    def table(self, width: int) -> Any:
        """The lists as the rows of a matrix."""
        rows = np.zeros((len(self), width))
        first, last = self.starts[0], self.starts[-1]
        owners = np.repeat(np.arange(len(self)), np.diff(self.starts))
        rows[owners, self.places[first:last]] = self.values[first:last]
        return rows

    @classmethod
    def of_table(cls, rows: Any) -> Lists:
        """The entries of a matrix that are not 0, as lists."""
        owners, places = np.nonzero(rows)
        starts = _starts(np.bincount(owners, minlength=len(rows)))
        return cls(starts, places.astype(np.int64), rows[owners, places])


def joined(parts: list[Lists]) -> Lists:
    """Concatenate lists."""
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
    """The support vectors of a block as lists, in the order of its columns."""
    model = blocks.views(block)
    count = model.head.count
    if not blocks.has_lists(model):
        return Lists.of_table(np.ascontiguousarray(model.vectors[:, :count].T))
    used, filled, lengths = _used_nodes(model)
    nodes = model.nodes
    vectors, features = nodes["vector"][used], np.repeat(filled, lengths)
    order = np.lexsort((features, model.ties[features], model.keys[features], vectors))
    starts = _starts(np.bincount(vectors, minlength=count))
    return Lists(starts, features[order], nodes["value"][used][order])


def set_vectors(block: Any, lists: Lists) -> None:
    """Overwrite the vectors of a block with as many lists.

    Each list must be in the order of summation.
    """
    model = blocks.views(block)
    n = len(lists)
    if not blocks.has_lists(model):
        table = model.vectors
        table[:] = 0.0
        owners = np.repeat(np.arange(n), np.diff(lists.starts))
        table[lists.places, owners] = lists.values
        return
    total, order = len(lists.places), _order_of(lists.places)
    filled, lengths = _counted(lists.places)
    numbers = np.empty(total + 1, np.int64)
    numbers[order] = _lay_out(model, filled, lengths)
    numbers = numbers[:total]
    nodes, model.firsts[:] = model.nodes, 0
    nodes["value"][numbers], nodes["feature"][numbers] = lists.values, lists.places
    nodes["vector"][numbers] = np.repeat(np.arange(n), np.diff(lists.starts))
    held = np.flatnonzero(np.diff(lists.starts))
    after, before = np.append(numbers[1:], 0), np.append(0, numbers[:-1])[:total]
    after[lists.starts[held + 1] - 1] = before[lists.starts[held]] = 0
    nodes["after"][numbers], nodes["before"][numbers] = after[:total], before
    model.firsts[held] = numbers[lists.starts[held]]


def rearranged(block: Any) -> Any:
    """A copy of a block with its nodes rearranged: each column in the smallest possible piece, no gaps."""
    new_block = blocks.aligned(block)
    model, new = blocks.views(block), blocks.views(new_block)
    used, filled, lengths = _used_nodes(model)
    found = _lay_out(new, filled, lengths)
    numbers = np.zeros(model.head.fresh, np.int32)
    numbers[used] = found
    # nodes as rows of integers, which numpy copies faster than records
    rows, new_rows = _as_rows(model.nodes), _as_rows(new.nodes)
    new_rows[found] = rows.take(used, axis=0)
    for link in ("after", "before"):
        new.nodes[link][found] = numbers.take(model.nodes[link].take(used))
    new.firsts[:] = numbers.take(model.firsts)
    return new_block


def _counted(places: Any) -> tuple[Any, Any]:
    """(the places that occur, how often each)"""
    counts = np.bincount(places)
    filled = np.flatnonzero(counts)
    return filled, counts[filled]


def _as_rows(nodes: Any) -> Any:
    return nodes.view(np.int64).reshape(len(nodes), -1)


def _used_nodes(model: Any) -> tuple[Any, Any, Any]:
    """(the indexes of the nodes in use, by feature; the features that have any; how many each has)"""
    columns = model.columns
    filled = np.flatnonzero(columns["count"])
    lengths = columns["count"][filled].astype(np.int64)
    return _in_turn(columns["first"][filled], lengths), filled, lengths


def _in_turn(firsts: Any, lengths: Any) -> Any:
    """The concatenated ranges first .. first + length - 1."""
    total = int(lengths.sum())
    return np.repeat(firsts - (np.cumsum(lengths) - lengths), lengths) + np.arange(total)


def _lay_out(model: Any, filled: Any, lengths: Any) -> Any:
    """Lay out columns of these lengths for these features, and none for others. Returns the indexes of their nodes.

    Overwrites the columns, the free pieces and the node counts of the block.
    """
    kinds, rooms = _pieces_for(lengths)
    firsts = 1 + np.cumsum(rooms) - rooms
    columns, total = model.columns, int(rooms.sum())
    columns[:] = np.zeros(1, layout.COLUMN)
    for name, numbers in (("first", firsts), ("count", lengths), ("kind", kinds)):
        columns[name][filled] = numbers
    model.pieces[:] = 0
    model.head.fresh, model.head.freed = 1 + total, total - int(lengths.sum())
    return _in_turn(firsts, lengths)


def _pieces_for(lengths: Any) -> tuple[Any, Any]:
    """(kinds of the smallest pieces for columns of these lengths, the number of nodes in each piece)"""
    kinds = np.frexp(np.asarray(lengths) - 1.0)[1] + 1
    return kinds, np.int64(1) << (kinds.astype(np.int64) - 1)


def _order_of(places: Any) -> Any:
    """np.argsort(places, kind="stable"), several times as fast.

    Puts the index into the low bits of each key: then keys are unique, and any sorting method is stable.
    """
    keys = places.astype(np.int64) << 32
    keys |= np.arange(len(keys))
    keys.sort()
    return keys & (2**32 - 1)


def slots_of(lists: Lists, spare: float = 1.0) -> int:
    """The nodes needed for these vectors, times `spare`, and node 0, which means none."""
    _, lengths = _counted(lists.places)
    return 1 + int(spare * _pieces_for(lengths)[1].sum())


def slots_in_use(block: Any) -> int:
    """The least number of nodes for the vectors of a block."""
    counts = blocks.views(block).columns["count"]
    return 1 + int(_pieces_for(counts[counts > 0])[1].sum())

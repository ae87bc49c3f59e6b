"""What an attribute of an object in a file may be, as a value, and how it is encoded and
decoded.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import plain
from ..archive import text_of
from ..errors import SavedModelError, damaged

Node = dict[str, Any]
Writing = Callable[[Any], Node]  # encodes a model within another
ROW_BYTES = 1024  # more than a row of a table takes
LARGEST_WHOLE = 2**1000  # of a size that arithmetic with floats can take


class Reading(NamedTuple):
    """What decoding an object needs: models within it, and memory, which is counted."""

    model: Callable[[Any], Any]
    reserve: Callable[[int], None]


class Codec:
    """What an attribute may be."""

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        """The node of this attribute."""
        return self.encoded(getattr(owner, name), write)

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        """Set this attribute."""
        setattr(owner, name, self.decoded(node, getattr(owner, name, None), read))

    def encoded(self, value: Any, write: Writing) -> Any:
        raise NotImplementedError

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        """The value of a node. `old` is that of an object which was just made: containers are
        filled in place.
        """
        raise NotImplementedError


class Value(Codec):
    """Text, a number, a boolean, None or a tuple of these, of which `allowed` is true."""

    def __init__(self, allowed: Callable[[Any], bool], what: str):
        self.allowed, self.what = allowed, what

    def encoded(self, value: Any, write: Writing) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if not self.allowed(value):
            raise SavedModelError(f"{plain.short(value)} cannot be saved: it must be {self.what}")
        is_nan = type(value) is float and value != value
        return {"float": "nan"} if is_nan else plain.encoded(value)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        found = plain.decoded(node)
        if not self.allowed(found):
            raise damaged(f"{plain.short(found)} is not {self.what}")
        return found


class Optional(Codec):
    """None, or another kind."""

    def __init__(self, kind: Codec):
        self.kind = kind

    def encoded(self, value: Any, write: Writing) -> Any:
        return None if value is None else self.kind.encoded(value, write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        return None if node is None else self.kind.decoded(node, old, read)


class ListOf(Codec):
    """A set, a list, a tuple or a deque of values."""

    def __init__(self, kind: Codec, make: Callable[[Any], Any]):
        self.kind, self.make = kind, make

    def encoded(self, value: Any, write: Writing) -> Any:
        found = [self.kind.encoded(each, write) for each in value]
        return sorted(found, key=text_of) if isinstance(value, set) else found

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        found = self.make(self.kind.decoded(each, None, read) for each in list_of(node, read))
        if not isinstance(old, collections.deque):
            return found
        old.extend(found)
        return old


class Table(Codec):
    """A dict. Values are of one kind; keys are names, or what `key` says."""

    def __init__(self, kind: Codec, key: Codec | None = None):
        self.kind, self.key = kind, key or NAME

    def encoded(self, value: Any, write: Writing) -> Any:
        return [
            [self.key.encoded(key, write), self.kind.encoded(each, write)]
            for key, each in value.items()
        ]

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        found: Any = {} if old is None else old
        new = getattr(found, "default_factory", None) or (lambda: None)
        found.clear()
        for key, each in map(pair, list_of(node, read)):
            name = self.key.decoded(key, None, read)
            if name in found:
                raise damaged(f"{plain.short(name)} is in a table twice")
            found[name] = self.kind.decoded(each, new(), read)
        return found


class TupleOf(Codec):
    """A list of values, each of its own kind."""

    def __init__(self, *kinds: Codec):
        self.kinds = kinds

    def encoded(self, value: Any, write: Writing) -> Any:
        return [kind.encoded(each, write) for kind, each in zip(self.kinds, value, strict=True)]

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        if not isinstance(node, list) or len(node) != len(self.kinds):
            raise damaged("a table has a row of another length")
        return [kind.decoded(each, None, read) for kind, each in zip(self.kinds, node, strict=True)]


def list_of(node: Any, read: Reading) -> list[Any]:
    """The rows of a table, whose memory is counted."""
    if not isinstance(node, list):
        raise damaged("a table is missing")
    read.reserve(ROW_BYTES * len(node))
    return node


def pair(row: Any) -> list[Any]:
    if not isinstance(row, list) or len(row) != 2:
        raise damaged("a table has a row of another length")
    return row


# kinds of values


def is_number(value: Any) -> bool:
    """Any float or boolean, or an integer that arithmetic with floats can take."""
    return type(value) in (float, bool) or (type(value) is int and abs(value) <= LARGEST_WHOLE)


def whole(least: int, most: int) -> Value:
    within = f"a whole number from {least} to {most}"
    return Value(lambda value: type(value) is int and least <= value <= most, within)


def real(least: float, most: float = math.inf) -> Value:
    """A number within a range; most numbers of River are no floats if users give integers."""
    within = f"a number from {least} to {most}"
    return Value(lambda value: is_number(value) and least <= value <= most, within)


NUMBER = Value(is_number, "a number")
COUNT = whole(0, 2**53)
BOOLEAN = Value(lambda value: type(value) is bool, "True or False")
TEXT = Value(lambda value: type(value) is str, "text")
NAME = Value(plain.is_name, "text, a number, a boolean, None or a tuple of these")
ANY = Value(lambda value: plain.is_name(value) or value != value, NAME.what)
POSITIVE = whole(1, 2**53)
FRACTION = real(0.0, 1.0)
WEIGHT = real(-1e300, 1e300)

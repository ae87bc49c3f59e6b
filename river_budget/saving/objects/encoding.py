"""Encode objects by a table of their classes (steps.py, statistics.py): which attributes they have,
and of which kind.

    {"class": ..., "parameters": {name: ...}, "state": {attribute: ...}}

An object in a file is made by its class from its parameters, and then gets its state. So what
follows from the parameters is in no file, above all functions and the factories of default dicts.
What an attribute may be is checked in both directions; nothing else of a class is read or set.
"""

from __future__ import annotations

import functools
import importlib
import numbers
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import plain
from ..errors import SavedModelError, damaged
from .kinds import NUMBER, ROW_BYTES, Codec, Node, Reading, Writing, list_of


def always(found: Any) -> bool:
    return True


@dataclass(frozen=True)
class ClassSpec:
    """A class: its parameters (one that begins with `*` takes all arguments by position), and its
    state.
    """

    parameters: Mapping[str, Codec] = field(default_factory=dict)
    state: Mapping[str, Codec] = field(default_factory=dict)
    make: Callable[..., Any] | None = None  # instead of the class
    fits: Callable[[Any], bool] = always  # whether the parts of an object fit together


OWN_ROOMS = ("mixing",)  # of this package, with classes that have no public name
# {place of a class in River or in such a room, or name of one of ours: what is known of it}
TABLE: dict[str, ClassSpec] = {}


@functools.cache
def class_of(key: str) -> Any:
    """The class at a place of the table; River's modules take longer to load than this whole
    package.
    """
    module, _, name = key.rpartition(".")
    own = __package__.partition(".")[0]
    home = own if not module else f"{own}.{module}" if module in OWN_ROOMS else f"river.{module}"
    return getattr(importlib.import_module(home), name)


def key_of(value: Any) -> str:
    """The place of an object's class in the table, or ""."""
    kind: Any = type(value)
    return _key_of(kind)


@functools.cache
def _key_of(kind: Any) -> str:
    name = kind.__name__
    keys = (key for key in TABLE if key.rpartition(".")[2] == name)
    return next((key for key in keys if class_of(key) is kind), "")


def _known(value: Any) -> ClassSpec:
    key = key_of(value)
    if not key:
        raise SavedModelError(
            f"{type(value).__name__} cannot be saved: the guide's page on saving lists what can. "
            "For all else there is "
            "pickle, between equal versions"
        )
    return TABLE[key]


def encoded(value: Any, write: Writing, key: str | None = None) -> Node:
    """The node of an object of a class in the table."""
    known = TABLE[key] if key else _known(value)
    parameters = _nodes(value, known.parameters, write)
    return {
        "class": key or key_of(value),
        "parameters": parameters,
        "state": _nodes(value, known.state, write),
    }


def _nodes(owner: Any, kinds: Mapping[str, Codec], write: Writing) -> Node:
    found = {}
    for name, kind in ((name.lstrip("*"), kind) for name, kind in kinds.items()):
        try:
            found[name] = kind.of(owner, name, write)
        except SavedModelError as error:
            raise SavedModelError(f"{type(owner).__name__}.{name}: {error}") from None
    return found


def decoded(node: Node, read: Reading) -> Any:
    """The object of a node whose class is in the table."""
    key = node["class"]
    known = TABLE[key]
    given = _fields(node.get("parameters"), known.parameters)
    arguments: Node = {}
    several: Any = ()
    for name, kind in known.parameters.items():
        value = kind.decoded(given[name.lstrip("*")], None, read)
        if name.startswith("*"):
            several = value
        else:
            arguments[name] = value
    try:
        made = (known.make or class_of(key))(*several, **arguments)
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise damaged(f"{key}: {error}") from None
    _set_state(made, known, node.get("state"), read)
    return made


def _set_state(owner: Any, known: ClassSpec, node: Any, read: Reading) -> None:
    given = _fields(node, known.state)
    for name, kind in known.state.items():
        kind.put(owner, name, given[name], read)
    if not known.fits(owner):
        raise damaged(f"the parts of a {type(owner).__name__} do not fit together")


def _fields(node: Any, kinds: Mapping[str, Codec]) -> Node:
    if not isinstance(node, dict) or node.keys() != {name.lstrip("*") for name in kinds}:
        raise damaged("an object has other attributes")
    return node


# attributes that are objects


class StateOf(Codec):
    """The state of an object that its owner has made, or a number where that is none."""

    def encoded(self, value: Any, write: Writing) -> Any:
        if isinstance(value, numbers.Number):
            return NUMBER.encoded(value, write)
        return _nodes(value, _known(value).state, write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        if isinstance(old, numbers.Number):
            return NUMBER.decoded(node, old, read)
        read.reserve(ROW_BYTES)
        _set_state(old, _known(old), node, read)
        return old


class Object(Codec):
    """An object of one of these classes."""

    def __init__(self, *keys: str):
        self.keys = keys

    def encoded(self, value: Any, write: Writing) -> Any:
        if key_of(value) not in self.keys:
            names = ", ".join(sorted({key.rpartition(".")[2] for key in self.keys}))
            raise SavedModelError(
                f"{type(value).__name__} cannot be saved; what can be here: {names}"
            )
        return encoded(value, write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        if not isinstance(node, dict) or node.get("class") not in list(self.keys):
            raise damaged(f"{plain.short(node)} is none of {', '.join(self.keys)}")
        return decoded(node, read)


class Model(Codec):
    """A model with this method."""

    def __init__(self, method: str):
        self.method = method

    def encoded(self, value: Any, write: Writing) -> Any:
        return write(value)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        model = read.model(node)
        if not hasattr(model, self.method):
            raise damaged(f"a {type(model).__name__} is where it cannot be")
        return model


class Compiled(Codec):
    """The state of an object of River in Rust, which is bytes, as numbers: `form` as in struct."""

    def __init__(self, form: str):
        self.form = struct.Struct(form)

    def encoded(self, value: Any, write: Writing) -> Any:
        state = value.__getstate__()
        if type(state) is not bytes or len(state) != self.form.size:
            raise SavedModelError(f"{value!r} of this version of River cannot be saved")
        return [NUMBER.encoded(each, write) for each in self.form.unpack(state)]

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        found = [NUMBER.decoded(each, None, read) for each in list_of(node, read)]
        kinds = list(map(type, self.form.unpack(bytes(self.form.size))))
        # NaN cannot be sorted, and there are five heights of a quantile
        if [*map(type, found)] != kinds or not all(
            0 <= each <= 5 if type(each) is int else each == each for each in found
        ):
            raise damaged("a statistic has other numbers")
        old.__setstate__(self.form.pack(*found))
        return old


PART = StateOf()

"""What a model does with an ordinary example: two functions of C, made for the model as it is (core/examples/one_example.py).

Any change of its block, its features or its labels makes them obsolete.
"""

from __future__ import annotations

import collections
import ctypes
import sys
import threading
import zlib
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from ...core.compiling import by_address
from ...core.compiling.needs import Need
from ...core.compiling.plain import PLAIN
from ...core.examples import one_example
from ...core.examples.dict_reader_state import ENTRY
from ..inputs import sparse_examples
from ..inputs.features import FeatureIndex
from .calls import PreparedList, PreparedRow, address_of, lasting_address_of

Score = Callable[[dict[Any, Any]], Any]
Learn = Callable[..., Any]  # of (x, target, weight), and of anything if the scores are wanted

LARGE = 2**19  # bytes of a block, from which on a pass takes longer than other threads should wait
CALL = (numba.int64[::1],)  # what passes take: addresses and sizes
ARGUMENTS = {"score": 2, "learn": 3}  # words that a function of C is given
_lock = (
    threading.Lock()
)  # around what is made once in a process: functions of Python point to it for ever


def nothing(*example: Any) -> None:
    """In the place of either, while there are none: the example goes the long way."""


class _Definition(ctypes.Structure):
    """A PyMethodDef of CPython."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


ONE, SEVERAL = 0x8, 0x80  # how a function takes its arguments: METH_O, METH_FASTCALL


def _addresses(kinds: Any) -> Any:
    return np.array([id(kind) for kind in kinds])


_DICTS = _addresses((dict, collections.Counter, collections.defaultdict, collections.OrderedDict))
_NUMBERS = _addresses(
    (
        float,
        int,
        bool,
        np.float64,
        np.float32,
        np.int64,
        np.int32,
        np.int16,
        np.int8,
        np.uint8,
        np.uint32,
        np.bool_,
    )
)


def _remainders() -> Any:
    """zlib's table, as it follows from what a single octet gives."""
    inverse = 0xFFFFFFFF
    return np.array(
        [zlib.crc32(bytes([i ^ 0xFF])) ^ inverse ^ (inverse >> 8) for i in range(256)], np.uint32
    )


_REMAINDERS = _remainders()


_definitions: list[Any] = []  # of the two functions, made once: nothing where there can be none


def definitions() -> list[Any]:
    """The two functions, as CPython wants them; none where compiled code cannot read dicts."""
    with _lock:
        if not _definitions:
            made = [_definition(name) for name in ARGUMENTS] if _may_read_dicts() else [None]
            _definitions.append([] if None in made else made)
    found: list[Any] = _definitions[0]
    return found


def _may_read_dicts() -> bool:
    """Not where numba is switched off, where Python has no lock, or where only public functions shall be used."""
    compiles = hasattr(one_example.score, "compile")
    return compiles and getattr(sys, "_is_gil_enabled", lambda: True)() and not PLAIN


def _definition(name: str) -> Any:
    """One of the two functions; None if it is not compiled."""
    function = getattr(one_example, name)
    kinds = (numba.intp,) * ARGUMENTS[name]
    function.compile(kinds)
    address, flags = _address_in_memory(function, kinds), ONE if name == "score" else SEVERAL
    return _Definition(name.encode(), address, flags, None) if address else None


def _address_in_memory(function: Any, kinds: Any) -> int:
    """Where a compiled function is, for C; 0 if it is not compiled. (These parts of numba are private.)"""
    try:
        found = function.overloads[kinds]
        known = found.signature.return_type == numba.intp
        name = found.fndesc.llvm_cfunc_wrapper_name
        return int(found.library.get_pointer_to_function(name)) if known else 0
    except (AttributeError, KeyError):
        return 0


_pass_addresses: dict[Any, int] = {}


def _address_of_pass(function: Any) -> int:
    address = _pass_addresses.get(function, 0)
    if not address:
        address = _pass_addresses[function] = _address_in_memory(function, CALL)
    return address


_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]


class AtOnce:
    """The two functions of a model. `score` returns the scores of an example; `learn` True, or with a fourth argument the
    scores before the example was learned. Both return None if it must go the long way, and then nothing has happened.

    A copy of a model begins without: theirs would change the original.
    """

    __slots__ = ("block", "entry", "features", "has_row", "kept", "learn", "list", "score")

    def __init__(self) -> None:
        self.score: Score = nothing
        self.learn: Learn = nothing
        self.entry: Any = None
        self.kept: list[Any] = []  # what must live as long as the functions
        self.block: Any = None
        self.features: FeatureIndex | None = None
        self.has_row = False
        self.list: PreparedList | None = None

    def __reduce__(self) -> Any:
        return AtOnce, ()

    @classmethod
    def of(cls, block: Any, features: FeatureIndex, draws: bool, thin: int, look: int) -> AtOnce:
        """Functions for this block and these features, which have no passes yet, nor calls to write examples into.

        `draws`: examples with new names go the long way. `thin`, `look`: and so do those with few of the names, once
        so many vectors have arrived, or any where names come and go.
        """
        made = cls()
        if not features.plain or not definitions():
            return made
        entry: Any = np.zeros(1, ENTRY)
        vacant, at = features.vacant, lasting_address_of(entry)
        fields = dict.fromkeys(ENTRY.names or (), 0) | {
            "nothing": id(None),
            "true": id(True),
            "given_back": lasting_address_of(features.given_back),
            "version": features.taken_back,
            "large": block.nbytes >= LARGE,
            "places": id(features.places),
            "known": len(features),
            "fixed": draws or not features.loose,
            "vacant": address_of(vacant.places),
            "left": address_of(vacant.left),
            "names_at": address_of(features.names_at),
            "new_names": not draws,
            "thin": thin,
            "look": look,
            "dicts": address_of(_DICTS),
            "numbers": address_of(_NUMBERS),
            "text": id(str),
            "whole": id(int),
            "several": id(tuple),
            "remainders": address_of(_REMAINDERS),
            "key_mask": sparse_examples.key_mask,
        }
        entry[0] = tuple(fields.values())
        made.block, made.features, made.entry = block, features, entry
        made.kept = [
            features.places,
            features,
            vacant.places,
            vacant.left,
            features.given_back,
            features.names_at,
            entry,
            block,
        ]
        made.score, made.learn = (
            _new_function(ctypes.addressof(definition), at, made.kept)
            for definition in definitions()
        )
        return made

    def call(self, scoring: Any, learning: Any) -> bool:
        """Call these passes from now on, those of them that are compiled. Whether one of them is new."""
        before = self.entry["scoring"] + self.entry["learning"]
        self.entry["scoring"] = _address_of_pass(scoring)
        self.entry["learning"] = _address_of_pass(learning)
        return bool(self.entry["scoring"] + self.entry["learning"] != before)

    def use(self, prepared: PreparedRow | PreparedList) -> bool:
        """Write examples into such a call from now on; False if there is one already."""
        if type(prepared) is PreparedRow:
            return not self.has_row and self._use_row(prepared)
        assert type(prepared) is PreparedList
        return self.list is None and self._use_list(prepared)

    def _use_row(self, row: PreparedRow) -> bool:
        names = list(self.features or ())
        numbers = np.array([*map(id, names), *map(id, names), *range(len(names))])
        first, size = lasting_address_of(numbers), 8 * len(names)
        self.kept.append(numbers)
        self.kept.append(row)
        entry, self.has_row = self.entry, True
        entry["row"] = address_of(row.addresses)
        entry["names"], entry["expected"], entry["expected_places"] = (
            first,
            first + size,
            first + 2 * size,
        )
        if self.features is not None:
            self.features.forget_packer()
        return True

    def _use_list(self, made: PreparedList) -> bool:
        by_address.make_ready(Need.NAMES)
        made.use_keys(ties=False)
        strangers = np.zeros(made.room, np.int64)
        self.kept += [made, strangers]
        entry, self.list = self.entry, made
        entry["strangers"] = address_of(strangers)
        entry["list"] = address_of(made.addresses)
        return True

    def look_at(self, vectors: int) -> None:
        """When so many vectors have arrived, it is looked at how they are stored."""
        if self.block is not None:
            self.entry["look"] = vectors

    def new_names(self) -> int:
        """How many there have been in examples that were learned, since this was asked last."""
        if self.block is None:
            return 0
        (met,) = self.entry["met"]
        self.entry["met"] = 0
        return int(met)

    def follow(self) -> None:
        """Names have lost their places: go on with those that are left. For whoever changes the model."""
        if self.features is None or not self.features.plain:
            return
        before, places = self.kept[0], self.features.places
        self.entry["places"] = id(places)
        self.kept[0] = places
        self.entry["version"] = self.features.taken_back
        del before

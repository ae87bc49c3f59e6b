"""The fast path for one example: two C functions, made for the present state of a model, that take a dict.

The functions are compiled from core/examples/one_example.py. A change of the model's block, features or labels
makes them obsolete.
"""

from __future__ import annotations

import collections
import ctypes
import itertools
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
from ...core.examples.dict_reader import ENTRY
from ..inputs import sparse_examples
from ..inputs.features import FeatureIndex
from .calls import PreparedList, PreparedRow, address_of, lasting_address_of

Score = Callable[[dict[Any, Any]], Any]
Learn = Callable[..., Any]  # of (x, target, weight); a fourth argument asks for scores

SLOW_BLOCK_BYTES = 2**19  # passes over larger blocks release the GIL, as they take long
CALL = (numba.int64[::1],)  # the argument types of a pass
WORDS_TAKEN = {"score": 2, "learn": 3}  # the number of words that each C function receives
_lock = threading.RLock()  # held while definitions are made: once, never to be freed


def no_fast_path(*example: Any) -> None:
    """Placeholder while the fast path is not built: returns None."""


class _Definition(ctypes.Structure):
    """A PyMethodDef of CPython."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


# CPython's flags: how a function takes its arguments
METH_O, METH_FASTCALL = 0x8, 0x80


def _addresses(kinds: Any) -> Any:
    """The addresses of types, which compiled code compares."""
    return np.array([id(kind) for kind in kinds])


_DICTS = _addresses((dict, collections.Counter, collections.defaultdict, collections.OrderedDict))
_INTEGERS = (np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint32)
_NUMBERS = _addresses((float, int, bool, np.float64, np.float32, *_INTEGERS, np.bool_))
# The table of CRC-32, from the checksums of single octets
_REMAINDERS = np.array(
    [zlib.crc32(bytes([i ^ 0xFF])) ^ 0xFFFFFFFF ^ 0xFFFFFF for i in range(256)], np.uint32
)


# Compiling the two functions takes a second, so that a process's first examples go through Python instead
EXAMPLES_BEFORE = 32
_examples = itertools.count()  # `next` is atomic
_c_functions: list[Any] = []  # their PyMethodDefs, made once; [] if none are possible


def c_functions() -> list[Any]:
    """The PyMethodDefs of the two functions; an empty list where compiled code cannot read dicts, or not yet."""
    if not _c_functions and next(_examples) < EXAMPLES_BEFORE:
        return []
    return definitions(
        _c_functions,
        (one_example.score, WORDS_TAKEN["score"], METH_O),
        (one_example.learn, WORDS_TAKEN["learn"], METH_FASTCALL),
    )


def definitions(kept: list[Any], *functions: tuple[Any, int, int]) -> list[Any]:
    """The PyMethodDefs of compiled functions, each given as (function, number of words it takes, flags).

    Makes them once, stores them in `kept`, and never frees them. An empty list if compiled code cannot read dicts.
    """
    if not kept:
        with _lock:  # a finalizer or signal handler that predicts may enter and add definitions
            made = [_definition(*each) for each in functions] if may_read_dicts() else [None]
            kept.append([] if None in made else made)
    return kept[0]  # type: ignore[no-any-return]


def may_read_dicts() -> bool:
    """Whether compiled code may read dicts: numba compiles, Python has a GIL, and PLAIN is off."""
    compiles = hasattr(one_example.score, "compile")
    return compiles and getattr(sys, "_is_gil_enabled", lambda: True)() and not PLAIN


def _definition(function: Any, words: int, flags: int) -> Any:
    """The PyMethodDef of a function that takes this number of words; None if it could not be compiled."""
    kinds = (numba.intp,) * words
    function.compile(kinds)
    address = _address_in_memory(function, kinds)
    return _Definition(function.__name__.encode(), address, flags, None) if address else None


def known_objects() -> dict[str, int]:
    """The fields of a record: the addresses of the objects that compiled code knows, and zeros."""
    return dict.fromkeys(ENTRY.names or (), 0) | {
        "nothing": id(None),
        "true": id(True),
        "dicts": address_of(_DICTS),
        "numbers": address_of(_NUMBERS),
        "text": id(str),
        "whole": id(int),
        "several": id(tuple),
    }


def _address_in_memory(function: Any, kinds: Any) -> int:
    """The address of a compiled function for C; 0 if it is not compiled.

    (These parts of numba are private.)
    """
    try:
        found = function.overloads[kinds]
        known = found.signature.return_type == numba.intp
        name = found.fndesc.llvm_cfunc_wrapper_name
        return int(found.library.get_pointer_to_function(name)) if known else 0
    except (AttributeError, KeyError):
        return 0


_pass_addresses: dict[Any, int] = {}


def _address_of_pass(function: Any) -> int:
    """The address of a compiled pass, cached; 0 if it is not compiled yet."""
    address = _pass_addresses.get(function, 0)
    if not address:
        address = _pass_addresses[function] = _address_in_memory(function, CALL)
    return address


new_function = ctypes.pythonapi.PyCFunction_NewEx
new_function.restype = ctypes.py_object
new_function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]


class FastPath:
    """The fast path of a model: `score` and `learn`, two C functions for its present state.

    `score` returns the scores of an example; `learn` returns True, or with a fourth argument the scores
    before the example was learned. Both return None, with the model unchanged, if Python has to convert
    the example. A copy of a model begins without a fast path: the original's would change the original.
    """

    __slots__ = ("block", "entry", "features", "has_row", "kept", "learn", "list", "score")

    def __init__(self) -> None:
        self.score: Score = no_fast_path
        self.learn: Learn = no_fast_path
        self.entry: Any = None
        self.kept: list[Any] = []  # objects whose addresses the functions use
        self.block: Any = None
        self.features: FeatureIndex | None = None
        self.has_row = False
        self.list: PreparedList | None = None

    def __reduce__(self) -> Any:
        return FastPath, ()

    @classmethod
    def of(cls, block: Any, features: FeatureIndex, draws: bool, thin: int, look: int) -> FastPath:
        """The fast path for this block and these features; `set_passes` and `set_call` complete it.

        draws: Python converts examples with new names. thin, look: it also converts examples with fewer than
        one in `thin` of the names (all examples, in models that add and forget names) once `look` vectors
        have arrived.
        """
        made = cls()
        if not features.plain or not c_functions():
            return made
        entry: Any = np.zeros(1, ENTRY)
        vacant, at = features.vacant, lasting_address_of(entry)
        fields = known_objects() | {
            "given_back": lasting_address_of(features.given_back),
            "version": features.taken_back,
            "large": block.nbytes >= SLOW_BLOCK_BYTES,
            "places": id(features.places),
            "known": len(features),
            "fixed": draws or not features.loose,
            "vacant": address_of(vacant.places),
            "left": address_of(vacant.left),
            "names_at": address_of(features.names_at),
            "new_names": 0 if draws else 1 + features.nameless,
            "thin": thin,
            "look": look,
            "remainders": address_of(_REMAINDERS),
            "key_mask": sparse_examples.key_mask,
        }
        entry[0] = tuple(fields.values())
        made.block, made.features, made.entry = block, features, entry
        arrays = vacant.places, vacant.left, features.given_back, features.names_at
        made.kept = [features.places, features, *arrays, entry, block]
        made.score, made.learn = (
            new_function(ctypes.addressof(definition), at, made.kept)
            for definition in c_functions()
        )
        return made

    def set_passes(self, scoring: Any, learning: Any) -> bool:
        """Set the passes to call, if they are compiled; returns whether one of them was not set before."""
        before = self.entry["scoring"] + self.entry["learning"]
        self.entry["scoring"] = _address_of_pass(scoring)
        self.entry["learning"] = _address_of_pass(learning)
        return bool(self.entry["scoring"] + self.entry["learning"] != before)

    def set_call(self, prepared: PreparedRow | PreparedList) -> bool:
        """Set the call for examples with all, or with some, of the features; False if it is set already."""
        if type(prepared) is PreparedRow:
            return not self.has_row and self._use_row(prepared)
        assert type(prepared) is PreparedList
        return self.list is None and self._use_list(prepared)

    def _use_row(self, row: PreparedRow) -> bool:
        """Set the call for examples with all known features."""
        names = list(self.features or ())
        numbers = np.array([*map(id, names), *map(id, names), *range(len(names))])
        first, size = lasting_address_of(numbers), 8 * len(names)
        self.kept += [numbers, row]
        entry, self.has_row = self.entry, True
        entry["row"] = address_of(row.addresses)
        entry["names"], entry["expected"] = first, first + size
        entry["expected_places"] = first + 2 * size
        if self.features is not None:
            self.features.forget_packer()
        return True

    def _use_list(self, made: PreparedList) -> bool:
        """Set the call for examples with some of the features, or with new ones."""
        by_address.make_ready(Need.NAMES)
        made.use_keys(ties=False)
        strangers = np.zeros(made.room, np.int64)
        self.kept += [made, strangers]
        entry, self.list = self.entry, made
        entry["strangers"] = address_of(strangers)
        entry["list"] = address_of(made.addresses)
        return True

    def set_review(self, vectors: int) -> None:
        """Set the number of arrivals from which Python reconsiders how vectors are stored."""
        if self.block is not None:
            self.entry["look"] = vectors

    def take_new_names(self) -> int:
        """The number of unknown names in examples learned since the last call; resets it to 0."""
        if self.block is None:
            return 0
        (met,) = self.entry["met"]
        self.entry["met"] = 0
        return int(met)

    def update_places(self) -> None:
        """Read the present places, after some names have lost theirs.

        Only for the thread with exclusive access.
        """
        if self.features is None or not self.features.plain:
            return
        before, places = self.kept[0], self.features.places
        self.entry["places"] = id(places)
        self.kept[0] = places
        self.entry["version"] = self.features.taken_back
        del before

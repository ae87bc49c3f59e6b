"""Prepare calls of compiled passes: the array of addresses that a pass takes, and the workspace it needs.

To unpack an array argument from Python takes numba as long as forty support vectors. So a pass takes one
array, with the addresses and sizes of all other arrays (core/examples/call.py). The caller keeps these alive.
"""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from collections.abc import Callable, Collection
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ..core.block import blocks, layout
from ..core.compiling import by_address
from ..core.examples import call as words
from ..core.expansion.custom_kernels import address_for
from ..inputs.features import EXACT, SUMS, FeatureIndex, packer_of
from ..inputs.lists import Lists

Block = NDArray[np.uint8]  # the memory of a model, see core/block/layout.py
Rows = NDArray[np.float64]  # two-dimensional: examples, scores, support vectors, coefficients
ADDRESSES: Any = (numba.int64[::1],)  # the signature of a pass
NO_NUMBERS: Any = np.empty(0)
NO_ROWS: Any = np.empty((0, 0))

# Addresses that advance with the rows
ADVANCING = (words.ROWS, words.TARGETS, words.WEIGHTS, words.SCORES, words.STARTS)
EXAMPLES_PER_CALL = 2**10  # a pass gathers at most so many: Python answers Ctrl-C between its calls
DESK_NUMBERS = 2**16  # numbers that are gathered at once, unless one example needs more
NOT_GATHERED = -1  # in DONE: the pass takes whole rows and gathers nothing

_SCRATCH_AT = layout.HEADER.fields["scratch"][1]  # type: ignore[index]
_three_at = struct.Struct("=qqq").unpack_from  # three header fields: scratch, function, needs
_FUNCTION_AT = slice(layout.WIPED_BYTES, layout.WIPED_BYTES + 8)  # in scratch space


class _Memory(ctypes.Structure):
    """A structure without fields, to get the address of any buffer by `from_buffer`."""


_memory_of, _address_of = _Memory.from_buffer, ctypes.addressof


def address_of(array: Any) -> int:
    """The address of a C-contiguous array. (`array.ctypes.data` takes six times as long.)"""
    try:
        return _address_of(_memory_of(array))
    except TypeError:  # the array is read-only
        address: int = array.ctypes.data
        return address


class Workspace:
    """Scratch space, which grows with what passes over a block need.

    A pass may store numbers for its next call with the same model; a call with another model erases them.
    """

    __slots__ = ("address", "block", "size", "space")

    def __init__(self) -> None:
        self.size, self.block = -1, None

    def scratch_for(self, block: Any) -> int:
        """The address of scratch space for a pass over this block.

        Compiles the shared functions that the pass needs.
        """
        needed, function, needs = _three_at(block, _SCRATCH_AT)
        if needs & ~by_address.ready:
            by_address.make_ready(needs)
        if needed > self.size:
            self.space = blocks.scratch_for(block)
            self.address, self.size = address_of(self.space), needed
        elif block is not self.block:
            self.space[: layout.WIPED_BYTES] = 0
        self.block = block
        if function:
            self.space[_FUNCTION_AT].view(np.int64)[0] = address_for(function)
        return self.address


_write_words = struct.Struct(f"={words.N_WORDS}q").pack_into


class Call:
    """One call of a pass, with arrays that are C-contiguous.

    `move` redirects a call to another block or to some of the rows, which takes less time than a new call.
    """

    __slots__ = ("addresses", "arrays", "desk", "firsts", "steps")

    def __init__(
        self,
        block: Any,
        rows: Any = NO_ROWS,
        targets: Any = NO_NUMBERS,
        weights: Any = NO_NUMBERS,
        scores: Any = NO_ROWS,
    ):
        workspace = Workspace()
        self.arrays = (block, workspace, rows, targets, weights, scores)
        n, outputs = len(rows), scores.shape[1]
        if type(rows) is Lists:
            lists = address_of(rows.starts), address_of(rows.places)
            first, width, longest = address_of(rows.values), 0, rows.longest
        else:
            lists, first, width = (0, 0), address_of(rows), rows.shape[1]
            longest = width
        self.desk, desk = _desk(longest + 1, n)
        self.firsts = (
            *(first, address_of(targets), address_of(weights), address_of(scores)),
            lists[0],
        )
        # how far each address advances per row, in bytes
        self.steps = (8 * width, 8, 8, 8 * outputs, 8 * (lists[0] > 0))
        self.addresses = _integers(words.N_WORDS)
        _write_words(
            *(self.addresses, 0, address_of(block), workspace.scratch_for(block)),
            *(*self.firsts[:4], n, width, outputs, *lists),
            *desk,
        )

    def model(self) -> Any:
        """The model of the call with its scratch space, for Python."""
        return layout.PlainModel(
            int(self.addresses[words.BLOCK]), int(self.addresses[words.SCRATCH])
        )

    def move(self, block: Any, start: int, stop: int) -> None:
        """Redirect the call to this block and to the rows from start to stop."""
        addresses = self.addresses
        addresses[words.BLOCK] = address_of(block)
        addresses[words.SCRATCH] = self.arrays[1].scratch_for(block)
        addresses[words.SIZE] = stop - start
        for place, first, step in zip(ADVANCING, self.firsts, self.steps, strict=True):
            addresses[place] = first + start * step

    def run(self, compiled: Any) -> int:
        """Call the compiled pass until all rows are processed or it stops; returns how many it processed."""
        addresses = self.addresses
        size, done = int(addresses[words.SIZE]), compiled(addresses)
        total: int = done
        while done == addresses[words.DONE] and total < size:  # the desk had room for no more
            for place, step in zip(ADVANCING, self.steps, strict=True):
                addresses[place] += done * step
            addresses[words.SIZE] = size - total
            done = compiled(addresses)
            total += done
        return total


def _desk(longest: int, n: int) -> tuple[Any, tuple[int, ...]]:
    """(memory in which a pass gathers the present features of examples, its addresses and sizes in a call)"""
    n = min(n, EXAMPLES_PER_CALL)
    room = min(n * words.LISTED * longest, max(words.LISTED * longest, DESK_NUMBERS))
    space = _integers(words.PARTS * n + room + longest)
    space[-longest:] = np.arange(longest)
    first = address_of(space)
    desk = first + 8 * words.PARTS * n
    end = desk + 8 * room
    return space, (first, n, desk, end, NOT_GATHERED, end, longest)


def _integers(n: int) -> Any:
    """An uninitialised array of n integers."""
    return np.empty(n, np.int64)


def _array_and_view(*shape: int) -> tuple[Any, Any]:
    """(array of zeros, memoryview of it as a sequence of numbers)"""
    array: Any = np.zeros(shape)
    return array, memoryview(array.reshape(-1))


@functools.cache
def class_of_passes(learn: Any, score: Any) -> Any:
    """A class that holds these passes: what a class refers to is not counted as the memory of a model."""
    passes = type("Passes", (), {})
    for name, compiled in (("learn", learn), ("score", score)):
        setattr(passes, name, staticmethod(functools.partial(_first_call, passes, name, compiled)))
    return passes


def _first_call(passes: Any, name: str, compiled: Any, addresses: Any) -> Any:
    """Call a pass, which compiles it, and let later calls go past numba's choice of a signature: half of a call's time."""
    done = compiled(addresses)
    if hasattr(compiled, "get_overload"):  # absent with NUMBA_DISABLE_JIT
        compiled = compiled.get_overload(ADDRESSES)
    setattr(passes, name, staticmethod(compiled))
    return done


class Prepared(Call):
    """A call for one example, made once and reused.

    Single numbers are read and written through memoryviews, which is twice as fast as through arrays.
    """

    __slots__ = (
        *("block", "passes", "values", "target", "weight", "scores", "arrived"),
        *("x", "total", "edition", "places", "new", "lent"),
    )
    x: dict[
        Any, float
    ]  # the example that is written in it, but for a row that was written by `takes`
    total: Any  # of its values as they came
    edition: Any  # of the model for which it was written
    places: list[int]  # of its names, where it is a list
    new: Collection[Any]  # those of its names that have no place
    lent: bool  # whether further ones have places only until the example is learned

    def __init__(self, passes: Any, block: Any, rows: Any, n_outputs: int):
        self.block, self.passes = block, passes
        self.x, self.total, self.edition, self.places, self.new, self.lent = (
            {},
            0.0,
            None,
            [],
            (),
            False,
        )
        self.arrived = memoryview(blocks.field_of(block, "arrived"))  # how many vectors so far
        targets, self.target = _array_and_view(1)
        weights, self.weight = _array_and_view(1)
        scores, self.scores = _array_and_view(1, n_outputs)
        super().__init__(block, rows, targets, weights, scores)


class Unwritten:
    """An example of a model that has no memory yet."""

    __slots__ = ("new", "x")
    block = edition = None

    def __init__(self, x: dict[Any, float]):
        self.x = self.new = x


class PreparedRow(Prepared):
    """A call for one example with all known features."""

    __slots__ = ("get", "length", "write")

    def __init__(self, passes: Any, block: Any, features: FeatureIndex, n_outputs: int):
        rows, self.values = _array_and_view(1, features.width)
        self.length, self.get = features.reader()
        self.write = functools.partial(packer_of(features.width), self.values, 0)
        super().__init__(passes, block, rows, n_outputs)

    def takes(self, x: dict[Any, Any]) -> bool:
        """Write an example, if it has exactly the known names, and numbers as values; returns whether it has."""
        # other kinds of dicts may invent values: a Counter has 0 for every name
        if type(x) is not dict or len(x) != self.length:
            return False
        try:
            total = sum(values := self.get(x), 0.0)
            if type(total) in SUMS and math.isfinite(total):
                self.write(*values)
                return True
        except Exception:  # other names or values, which are read one by one or refused there
            pass
        return False


@functools.lru_cache(4096)
def _packers_of(n: int) -> tuple[Callable[..., None], Callable[..., None]]:
    """Functions that pack n values, and start, end and n places, into memory."""
    return struct.Struct(f"{n}d").pack_into, struct.Struct(f"{n + 2}q").pack_into


class PreparedList(Prepared):
    """A call for one example with only some of the features; it takes time in proportion to these."""

    __slots__ = ("bounds", "room")

    def __init__(self, passes: Any, block: Any, room: int, n_outputs: int):
        self.room = room
        values, self.values = _array_and_view(room)
        whole: Any = _integers(room + 2)
        whole[:] = 0
        whole[1] = room
        self.bounds = memoryview(whole)  # start, end and places
        super().__init__(passes, block, Lists(whole[:2], whole[2:], values), n_outputs)

    def holds(self, x: dict[Any, Any]) -> bool:
        """Whether this example is written in the call, by a prediction.

        Also equal values may be others: they are, if they have another sum, or not all are numbers of a common type.
        """
        try:
            if type(x) is not dict or x != self.x:
                return False
            total = sum(values := x.values(), 0.0)
            plain = type(total) is float or EXACT.issuperset(map(type, values))
            return plain and bool(total == self.total)
        except Exception:  # a value that cannot be compared
            return False

    def write(self, values: Collection[float], places: list[int]) -> None:
        """Write the values of an example's features, and their places, into the call."""
        n = len(places)
        pack_values, pack_places = _packers_of(n)
        pack_values(self.values, 0, *values)
        pack_places(self.bounds, 0, 0, n, *places)

"""Calls of compiled passes.

Each array that numba receives from Python costs as much as forty support vectors. So a pass receives one array:
the addresses and sizes of all the others (core/calls.py). The caller keeps those arrays alive.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np

from ..core import layout as blocks
from ..core.calls import BLOCK, ROWS, SCORES, SCRATCH, SIZE, TARGETS, WEIGHTS
from ..core.custom import address_for

NONE: Any = np.empty(0)
NO_ROWS: Any = np.empty((0, 0))

_SCRATCH_AT = blocks.HEADER.fields["scratch"][1]  # type: ignore[index]
_two_at = struct.Struct("=qq").unpack_from  # of the header: scratch, function
_FUNCTION_AT = slice(blocks.NOTE_SIZE, blocks.NOTE_SIZE + 8)  # in scratch space


class _Memory(ctypes.Structure):
    """Any memory, of any size."""


_memory_of, _address_of = _Memory.from_buffer, ctypes.addressof


def address_of(array: Any) -> int:
    """Where a C-contiguous array is. (`array.ctypes.data` takes six times as long.)"""
    try:
        return _address_of(_memory_of(array))
    except TypeError:  # the array is read-only
        address: int = array.ctypes.data
        return address


class Scratch:
    """Scratch space for calls that follow each other. It grows with the models that are called.

    A pass may leave a note for its next call with the same model, and finds none of another's.
    """

    __slots__ = ("address", "block", "size", "space")

    def __init__(self) -> None:
        self.size, self.block = -1, None

    def address_for(self, block: Any) -> int:
        """Where the scratch space for a pass over this block is."""
        needed, function = _two_at(block, _SCRATCH_AT)
        if needed > self.size:
            self.space = blocks.scratch_for(block)
            self.address, self.size = address_of(self.space), needed
        elif block is not self.block:
            self.space[: blocks.NOTE_SIZE] = 0
        self.block = block
        if function:
            self.space[_FUNCTION_AT].view(np.int64)[0] = address_for(function)
        return self.address


class Call:
    """One call of a pass: the addresses of its arrays, which are C-contiguous.

    `move` makes it the call for another model or for some of the rows, which is cheaper than a new one.
    """

    __slots__ = ("addresses", "arrays", "firsts", "steps")

    def __init__(
        self,
        block: Any,
        rows: Any = NO_ROWS,
        targets: Any = NONE,
        weights: Any = NONE,
        scores: Any = NO_ROWS,
        *,
        scratch: Scratch | None = None,
    ):
        scratch = Scratch() if scratch is None else scratch
        self.arrays = (block, scratch, rows, targets, weights, scores)
        n, width = rows.shape
        outputs = scores.shape[1]
        self.firsts = tuple(map(address_of, (rows, targets, weights, scores)))
        self.steps = (8 * width, 8, 8, 8 * outputs)  # bytes of a row
        here = (address_of(block), scratch.address_for(block))
        self.addresses = np.array((*here, *self.firsts, n, width, outputs))

    def model(self) -> Any:
        """The model of the call with its scratch space, for Python."""
        return blocks.PlainModel(int(self.addresses[BLOCK]), int(self.addresses[SCRATCH]))

    def move(self, block: Any, start: int, stop: int) -> None:
        """Call the pass for this model, and for the rows from start to stop."""
        addresses = self.addresses
        addresses[BLOCK] = address_of(block)
        addresses[SCRATCH] = self.arrays[1].address_for(block)
        addresses[SIZE] = stop - start
        rows, targets, weights, scores = self.firsts
        row, target, weight, score = self.steps
        addresses[ROWS] = rows + start * row
        addresses[TARGETS] = targets + start * target
        addresses[WEIGHTS] = weights + start * weight
        addresses[SCORES] = scores + start * score

    def run(self, compiled: Any) -> int:
        """Make the call. Returns how many rows were learned."""
        done: int = compiled(self.addresses)
        return done


def _one(*shape: int) -> tuple[Any, Any]:
    """An array of float64, and a view of its memory as a sequence of numbers."""
    array: Any = np.zeros(shape)
    return array, memoryview(array.reshape(-1))


class PreparedRow(Call):
    """The call for one example: made once, used again.

    Single numbers go in and out through memoryviews, which is twice as fast as through arrays.
    """

    __slots__ = ("pass_holder", "scores", "target", "values", "weight")

    def __init__(self, pass_holder: Any, block: Any, n_features: int, n_outputs: int):
        self.pass_holder = pass_holder
        rows, self.values = _one(1, n_features)
        targets, self.target = _one(1)
        weights, self.weight = _one(1)
        scores, self.scores = _one(1, n_outputs)
        super().__init__(block, rows, targets, weights, scores)


class FreeRows(list[PreparedRow]):
    """Prepared rows that no thread is using. A copy of a model begins with none."""

    def __deepcopy__(self, memo: Any) -> FreeRows:
        return FreeRows()

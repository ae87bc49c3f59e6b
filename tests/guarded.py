"""Memory with an untouchable page beside it: whoever reads or writes outside an array ends the process.

With `guarded(behind=True)` all that compiled passes are given (block, scratch space, rows, targets, weights, scores)
ends where a page begins that may not be touched; with `behind=False` it begins where one ends. What is freed is
given back to the system at once, so a stale address is as fatal.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap

import numpy as np

from river_budget.core import blocks
from river_budget.model import calls
from river_budget.model.lists import Lists

PAGE = mmap.PAGESIZE
LINE = 64
CANARY = 0xA5
_protect = ctypes.CDLL(None, use_errno=True).mprotect
_protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
NOTHING = 0  # PROT_NONE


def no_idle_workspaces(monkeypatch):
    """Every call gets scratch space of its own, and no later one is given it."""
    monkeypatch.setattr(calls, "_idle", [])
    monkeypatch.setattr(calls, "MOST_IDLE", 0)


class Fence:
    """Arrays with such a page beside them."""

    def __init__(self, behind):
        self.behind = behind
        self.made = 0

    def octets(self, nbytes, aligned):
        """So many zero bytes, which begin at a multiple of `aligned`."""
        self.made += 1
        pages = -(-nbytes // PAGE) * PAGE
        memory = mmap.mmap(-1, pages + 2 * PAGE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for page in (address, address + PAGE + pages):
            if _protect(page, PAGE, NOTHING):
                raise OSError(ctypes.get_errno(), "mprotect")
        start = PAGE
        if self.behind:
            start += (pages - nbytes) // aligned * aligned
        return np.frombuffer(memory, np.uint8, nbytes, start)

    def zeros(self, nbytes):
        """For `blocks.zeros`: blocks and scratch space."""
        return self.octets(int(nbytes), LINE)

    def numbers(self, *shape):
        """Zeros of this shape."""
        size = int(np.prod(shape))
        return self.octets(8 * size, 8).view(np.float64).reshape(shape)

    def twin(self, array):
        """A copy of an array that passes are given, or the array itself if it is no such."""
        if isinstance(array, Lists):
            given = (array.starts, array.places, array.values)
            parts = [self.whole_numbers(part) for part in given[:2]] + [self.twin(given[2])]
            return Lists(*parts, None if array.keys is array.values else self.twin(array.keys))
        if array.dtype != np.float64:
            return array
        copy = self.numbers(*array.shape)
        copy[...] = array
        return copy

    def whole_numbers(self, array):
        """A copy of an array of int64."""
        copy = self.octets(array.nbytes, 8).view(np.int64)
        copy[...] = array
        return copy

    def memory(self, n):
        """For `calls._whole_numbers`."""
        return self.octets(8 * n, 8).view(np.int64)

    def one(self, *shape):
        """For `calls._one`."""
        array = self.numbers(*shape)
        return array, memoryview(array.reshape(-1))


@contextlib.contextmanager
def guarded(behind=True):
    """All that passes are given has an untouchable page behind it, or before it."""
    fence = Fence(behind)
    kind, old = (
        calls.Call,
        (
            blocks.zeros,
            calls._one,
            calls.Call.__init__,
            calls.Call.run,
            calls._whole_numbers,
            calls._idle,
            calls.MOST_IDLE,
        ),
    )

    def begin(self, block, *arrays, workspace=None, **named):
        if isinstance(self, calls.PreparedRow | calls.PreparedList):  # its arrays come from `one`
            old[2](self, block, *arrays, workspace=workspace, **named)
            return
        defaults = {
            "rows": calls.NO_ROWS,
            "targets": calls.NONE,
            "weights": calls.NONE,
            "scores": calls.NO_ROWS,
        }
        given = defaults | dict(zip(defaults, arrays, strict=False)) | named
        twins = {name: fence.twin(array) for name, array in given.items()}
        old[2](self, block, **twins, workspace=workspace)
        self.arrays += (list(given.values()),)

    def run(self, compiled):
        result = old[3](self, compiled)
        if not isinstance(self, calls.PreparedRow | calls.PreparedList):
            for original, twin in zip(self.arrays[6], self.arrays[2:6], strict=True):
                if not (original is twin or isinstance(twin, Lists)) and original.flags.writeable:
                    original[...] = twin  # some passes write what the targets were for
        return result

    blocks.zeros, calls._one, kind.__init__, kind.run = fence.zeros, fence.one, begin, run
    calls._whole_numbers = fence.memory
    calls._idle, calls.MOST_IDLE = [], 0
    try:
        yield fence
    finally:
        blocks.zeros, calls._one, kind.__init__, kind.run = old[:4]
        calls._whole_numbers, calls._idle, calls.MOST_IDLE = old[4:]

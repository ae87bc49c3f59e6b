"""Memory beside a protected page: a read or write outside an array ends the process.

With `guarded(behind=True)` every array that compiled code gets ends where a protected page begins; with
`behind=False` it begins where one ends. These arrays are blocks, their nodes and the memory reserved behind them,
scratch space, desks, rows, targets, weights, scores, and those of the fast path (places of names, vacant places, its
record). Freed memory returns to the system immediately, so that using an old address also ends the process.

On the side without a protected page, 64 bytes beside the array hold canaries. `Fence.check` checks them, as does
freeing an array: so writes are found on both sides. Not found are:

* reads on the side without a page, so run both;
* with pages behind, reads of at most 56 bytes behind scratch space whose heap is no multiple of 64 bytes, and of what is
  left of a page behind a block that has grown into its reserved room (as numbers these canaries are NaN, or too large for
  any index);
* between the tables of one block, or the rows of one scratch space (`NUMBA_BOUNDSCHECK=1` finds those); but
  `check_padding` finds writes to the padding between tables.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import weakref

import numpy as np
import pytest

from river_budget.core.block import blocks, layout
from river_budget.model.calls import calls, fast_path
from river_budget.model.inputs import features
from river_budget.model.inputs.sparse_examples import Lists

PAGE = mmap.PAGESIZE
LINE = 64
SHOWN = 5  # errors to show
CANARY = bytes.fromhex("a5a5a5a5a5a5f47f")  # NaN as a number; as an integer, no valid index
CANARIES = CANARY * (PAGE // len(CANARY) + 2)
NODES_IN_LINES = 8  # so many nodes fill whole cache lines
HAS_FENCES = hasattr(mmap, "MAP_PRIVATE")  # not Windows
needs_fences = pytest.mark.skipif(not HAS_FENCES, reason="no page can be made untouchable here")
PRIVATE = HAS_FENCES and mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # forked processes have copies
NOTHING, READ_AND_WRITE = 0, 3  # PROT_NONE, PROT_READ | PROT_WRITE
if HAS_FENCES:
    _protect = ctypes.CDLL(None, use_errno=True).mprotect
    _protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

MODULES = (features, fast_path, calls)  # modules whose arrays compiled code gets
MAKERS = [
    "zeros",
    "empty",
    "ones",
    "full",
    "array",
    "arange",
    "fromiter",
    "concatenate",
    "flatnonzero",
]
TABLES = ("_DICTS", "_NUMBERS", "_REMAINDERS")  # constants of at_once


class Overrun(AssertionError):
    """Code has written beside an array."""


def no_idle_workspaces(monkeypatch):
    """Every call gets its own scratch space, which no later call reuses."""
    monkeypatch.setattr(calls, "_idle", [])
    monkeypatch.setattr(calls, "IDLE_WORKSPACES", 0)


def protect(address, nbytes, how):
    """Allow or forbid access to pages."""
    if nbytes and _protect(address, nbytes, how):
        raise OSError(ctypes.get_errno(), "mprotect")


def canaries(first, last):
    """The canaries at these offsets of a mapping, which depend only on the offset."""
    shift = first % len(CANARY)
    return CANARIES[shift : shift + last - first]


class Region:
    """Pages for one array, with a protected page before and behind them."""

    __slots__ = ("__weakref__", "address", "kept", "memory", "name", "start", "stop")

    def __init__(self, nbytes, aligned, behind):
        pages = -(-nbytes // PAGE) * PAGE
        self.memory = mmap.mmap(-1, pages + 2 * PAGE, PRIVATE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.stop = PAGE + pages  # protected from here on
        self.start = PAGE + (pages - nbytes) // aligned * aligned * behind
        protect(self.address, PAGE, NOTHING)
        protect(self.address + self.stop, PAGE, NOTHING)
        self.kept = []
        self.name = f"an array of {nbytes} bytes"
        self.watch(nbytes)

    def watch(self, nbytes):
        """Write canaries on both sides of an array of this many bytes."""
        before = max(PAGE, self.start - LINE), self.start
        last = self.start + nbytes
        behind = last, min(self.stop, max(last + LINE, -(-last // LINE) * LINE))
        self.kept = [place for place in (before, behind) if place[0] < place[1]]
        for first, end in self.kept:
            self.memory[first:end] = canaries(first, end)

    def faults(self):
        """The canaries that have changed, in words."""
        for first, last in self.kept:
            found = self.memory[first:last]
            if found != canaries(first, last):
                pairs = enumerate(zip(found, canaries(first, last), strict=True))
                changed = [first + i - self.start for i, (a, b) in pairs if a != b]
                yield f"{self.name}: byte {changed[0]} of it was written, and {len(changed) - 1} more"


class Fence:
    """Makes arrays with protected pages beside them, and checks them."""

    def __init__(self, behind):
        self.behind = behind
        self.made = 0
        self.found = []  # errors of arrays that were freed
        self.others = None  # another fence to check as well
        # by addresses; each lives as long as its array
        self.regions = weakref.WeakValueDictionary()

    # looking

    def check(self):
        """Raise if code has written beside an array."""
        others = self.others.regions if self.others else {}
        for region in [*self.regions.values(), *others.values()]:
            self.found += region.faults()
        if self.found:
            found, self.found = self.found, []
            raise Overrun("; ".join(found[:SHOWN]))

    def _last_look(self, region):
        self.found += region.faults()

    # making

    def octets(self, nbytes, aligned):
        """This many zero bytes at a multiple of `aligned`."""
        self.made += 1
        region = Region(nbytes, aligned, self.behind)
        array = np.frombuffer(region.memory, np.uint8, nbytes, region.start)
        weakref.finalize(array, self._last_look, region).atexit = False
        self.regions[region.address] = region
        return array

    def zeros(self, nbytes):
        """For `blocks.zeros`: blocks and scratch space."""
        return self.octets(int(nbytes), LINE)

    def like(self, array):
        """A copy, of any type and shape."""
        array = np.ascontiguousarray(array)
        octets = self.octets(array.nbytes, max(min(array.itemsize & -array.itemsize, 8), 1))
        copy = octets.view(array.dtype).reshape(array.shape)
        copy[...] = array
        return copy

    def twin(self, array):
        """A copy of an argument of passes if it is an array, else the argument itself."""
        if isinstance(array, Lists):
            return self.lists_like(array)
        return self.like(array) if array.dtype == np.float64 else array

    def lists_like(self, lists):
        """A copy of lists; parts that share an array share one copy."""
        copy, copies = object.__new__(Lists), {}
        for name in Lists.__slots__:
            part = getattr(lists, name)
            if id(part) not in copies:
                copies[id(part)] = self.like(part)
            setattr(copy, name, copies[id(part)])
        return copy

    def memory(self, n):
        """For `calls._integers`."""
        return self.octets(8 * n, 8).view(np.int64)

    def one(self, *shape):
        """For `calls._array_and_view`."""
        array = self.like(np.zeros(shape))
        return array, memoryview(array.reshape(-1))


class Numpy:
    """The module numpy, whose new arrays have pages beside them."""

    def __init__(self, fence):
        self._fence = fence

    def __getattr__(self, name):
        found = getattr(np, name)
        if name not in MAKERS:
            return found

        def made(*arguments, **named):
            array = found(*arguments, **named)
            return array if array.dtype.hasobject else self._fence.like(array)

        return made


def slots_in_lines(original, **fields):
    """For `blocks.allocate`: nodes that end with the block, next to the page."""
    slots = int(fields.get("slots", 0))
    return original(
        **fields | ({"slots": -(-slots // NODES_IN_LINES) * NODES_IN_LINES} if slots else {})
    )


def check_padding(block):
    """Raise if code has written between two tables of a block, or behind the last one."""
    h = layout.read_header(block.ctypes.data)
    places, end, _ = blocks._layout_of(h)
    firsts = sorted([*places.values(), end])
    for name, (kind, shape) in layout.BLOCK_TABLES.items():
        last = places[name] + kind.dtype.itemsize * int(np.prod(shape(h)))
        following = next(first for first in firsts if first >= last)
        if following - last < LINE and block[last:following].any():
            raise Overrun(f"behind the table of {name}: byte {last} of a block was written")


# Constants live for ever, as models keep their addresses.
_lasting = {}


def _lasting_for(behind):
    """A fence, and copies of constants in its pages, for the life of the process."""
    if behind not in _lasting:
        fence = Fence(behind)
        changes = {(fast_path, name): fence.like(getattr(fast_path, name)) for name in TABLES}
        _lasting[behind] = fence, changes
    return _lasting[behind]


def _twins_of(fence):
    """Replacements of `Call.__init__` and `Call.run`, which give passes copies beside protected pages."""
    begin_plainly, run_plainly = calls.Call.__init__, calls.Call.run

    def begin(self, block, *arrays, workspace=None, **named):
        if isinstance(self, calls.PreparedRow | calls.PreparedList):  # its arrays come from `one`
            begin_plainly(self, block, *arrays, workspace=workspace, **named)
            return
        defaults = dict.fromkeys(("rows", "targets", "weights", "scores"), calls.NO_NUMBERS)
        defaults |= {"rows": calls.NO_ROWS, "scores": calls.NO_ROWS}
        given = defaults | dict(zip(defaults, arrays, strict=False)) | named
        twins = {name: fence.twin(array) for name, array in given.items()}
        begin_plainly(self, block, **twins, workspace=workspace)
        self.arrays += (list(given.values()),)

    def run(self, compiled):
        result = run_plainly(self, compiled)
        if not isinstance(self, calls.PreparedRow | calls.PreparedList):
            for original, twin in zip(self.arrays[6], self.arrays[2:6], strict=True):
                if not (original is twin or isinstance(twin, Lists)) and original.flags.writeable:
                    original[...] = twin  # some passes write to targets
        return result

    return begin, run


@contextlib.contextmanager
def guarded(behind=True):
    """A context in which every argument of passes has a protected page behind it, or before it."""
    fence, (lasting, for_ever) = Fence(behind), _lasting_for(behind)
    fence.others = lasting
    begin, run = _twins_of(fence)
    allocate = blocks.allocate
    changes = {
        (blocks, "zeros"): fence.zeros,
        (blocks, "allocate"): lambda **fields: slots_in_lines(allocate, **fields),
        (calls, "_array_and_view"): fence.one,
        (calls, "_integers"): fence.memory,
        (calls, "_idle"): [],
        (calls, "IDLE_WORKSPACES"): 0,
        (calls.Call, "__init__"): begin,
        (calls.Call, "run"): run,
        **for_ever,
        **{(module, "np"): Numpy(fence) for module in MODULES},
    }
    before = {place: getattr(*place) for place in changes}
    try:
        for place, change in changes.items():
            setattr(*place, change)
        yield fence
        fence.check()
    finally:
        lasting.regions.update(fence.regions)
        for place, old in before.items():
            setattr(*place, old)

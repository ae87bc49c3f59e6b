"""The block: one array of bytes that is the whole state of a model. Here it is made and grown.

The columns beyond `count` hold coefficients 0 and otherwise anything finite.
Rows and tables start at multiples of 64 bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .model import ARRAYS, HEADER, OWN, PlainModel

FREE_ROWS = 12  # rows of scratch space: three of the model's own, the others for a merger
UNLIMITED = 2**62  # the budget of a model without one
SIZES = ("capacity", "width", "outputs", "extras", "factored")  # in the header
_TABLES = ("vectors", "coefficients", "norms", "arrivals", "extras", "factor")


def views(block: Any) -> Any:
    """The views of a block for Python: alive as long as the block."""
    return PlainModel(block.ctypes.data, 0)


def own(block: Any, state: Any) -> Any:
    """The algorithm's own numbers, a record of this type: alive as long as the block."""
    return block[OWN : OWN + state.itemsize].view(state)[0]


def zeros(nbytes: int) -> Any:
    """A block of zero bytes that starts at a multiple of 64."""
    raw = np.zeros(nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + nbytes]


def columns_for(vectors: int) -> int:
    """The capacity for so many vectors: an odd number of cache lines, as strides of a power of two
    make the rows of a matrix compete for the same places in the cache."""
    return 8 * (-(-vectors // 8) | 1)


def rows_of(capacity: int, width: int, outputs: int, extras: int, factored: int) -> tuple[int, ...]:
    """How many rows of `capacity` numbers each table has."""
    return width, outputs, 1, 1, extras, capacity * factored


def scratch_size(capacity: int, width: int, outputs: int, arity: int) -> int:
    """How many numbers a pass may need beside the block."""
    merging = arity * (arity + outputs + width + 8) + 2 * outputs
    return FREE_ROWS * capacity + 2 * width + 1 + merging


def allocate(**fields: Any) -> Any:
    """A new block with these header fields; `capacity`, `width`, `outputs` set its size, and `room`."""
    head = np.zeros(1, HEADER)
    for name, value in fields.items():
        head[name] = value
    sizes = {name: int(head[name][0]) for name in SIZES}
    end = ARRAYS
    for table, n in zip(_TABLES, rows_of(**sizes), strict=True):
        if table != "vectors":
            head[f"at_{table}"] = end
        end += 8 * n * sizes["capacity"]
    head["at_room"] = end
    block = zeros(end + 8 * int(head["room"][0]))
    block[: HEADER.itemsize] = head.view(np.uint8)
    return block


def resized(block: Any, **sizes: int) -> Any:
    """A copy with another `capacity`, `width` or `outputs`; what is new holds zeros, and so does its room."""
    old = views(block)
    new_block = allocate(**{name: old.head[name] for name in HEADER.names or ()} | sizes)
    new = views(new_block)
    new_block[OWN:ARRAYS] = block[OWN:ARRAYS]
    for table in _TABLES:
        source, target = getattr(old, table), getattr(new, table)
        corner = tuple(slice(min(a, b)) for a, b in zip(source.shape, target.shape, strict=True))
        target[corner] = source[corner]
    return new_block


def aligned(block: Any) -> Any:
    """A copy of a block that starts at a multiple of 64 bytes."""
    copy = zeros(len(block))
    copy[:] = block
    return copy


def scratch_for(block: Any) -> Any:
    """Scratch space of the size that a pass over this block may need.

    It begins with a cache line, as the block does: vector code that reads across two lines takes longer.
    """
    head = views(block).head
    numbers = scratch_size(*(int(head[n]) for n in ("capacity", "width", "outputs", "arity")))
    numbers += int(head.desk)  # scratch space that an algorithm asks for besides
    return zeros(8 * numbers + 64)

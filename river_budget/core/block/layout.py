"""The memory layout of a model's block, and of the scratch space that a pass uses beside it.

A block is one array of bytes: the header, the algorithm's own record, and the tables of BLOCK_TABLES.
Scratch space holds the rows of SCRATCH_ROWS, and behind them the heap: temporary memory that a function
uses within one call. All sizes, offsets and the attributes that compiled functions read (`model.vectors`,
`model.row`) follow from these two dicts.

Columns from `count` on are padding: their coefficients are 0, and other tables have arbitrary finite numbers
there. Block, scratch space and every table start at multiples of 64 bytes.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections import namedtuple
from typing import Any

from ..compiling.array_views import (
    carver,
    f64,
    f64_matrix,
    i64,
    intp,
    record,
)
from ..compiling.model_type import register_attributes, register_constructor
from ..simd.vector_ops import LANES

# These fields set table sizes
_SIZES = "capacity width outputs per_vector factored room desk"
_INTEGERS = (
    f"stamp scratch function needs {_SIZES} count budget arrived task kernel custom bounded degree normalised "
    "maintenance arity method objective choice repairs vanished judged alarm said equal "
    "at_coefficients at_norms at_arrivals at_per_vector at_factor at_room"
)
_REALS = (
    "gamma coef0 scale cost slope lead slope_curvature lead_curvature cross_curvature first_target "
    "target_size error_size"
)
HEADER = record(f"i8 {_INTEGERS}", "u8 random", f"f8 {_REALS}")
SIZES = tuple(_SIZES.split())
# The header as Python numbers: one struct.unpack reads all fields.
Header: Any = namedtuple("Header", HEADER.names or ())  # type: ignore[misc]
header_format = struct.Struct(f"={len(_INTEGERS.split())}qQ{len(_REALS.split())}d")
_C_TYPES: dict[str, Any] = {"i": ctypes.c_int64, "u": ctypes.c_uint64, "f": ctypes.c_double}
STATE_AT = -(-HEADER.itemsize // 64) * 64  # the algorithm's own record follows the header
STATE_SIZE = 192  # bytes reserved for this record
TABLES_AT = STATE_AT + STATE_SIZE
UNLIMITED = 2**62  # the budget of a model without one

SEARCH_ROWS = 9  # heap rows that a search for merge partners needs, the largest user of the heap

header_at = carver(HEADER, 0)

# Bytes of the first scratch row, which is set to 0 before another model uses the scratch space
WIPED_BYTES = 64

# {table: (its type, its shape from the header)}. The first one begins right behind the record.
BLOCK_TABLES: dict[str, Any] = {
    # the support vectors: a row per place (core/vectors/table.py)
    "vectors": (f64_matrix, lambda h: (h.width, h.capacity)),
    "coefficients": (f64_matrix, lambda h: (h.outputs, h.capacity)),  # without head.scale
    "norms": (f64, lambda h: (h.capacity,)),  # norm_of each (core/expansion/kernel_rows.py)
    "arrivals": (i64, lambda h: (h.capacity,)),  # the arrival number of each: its age
    "per_vector": (f64_matrix, lambda h: (h.per_vector, h.capacity)),  # the algorithm's own rows
    "factor": (f64_matrix, lambda h: (h.factored * h.capacity, h.capacity)),  # of K^-1
    "room": (f64, lambda h: (h.room,)),  # memory in which the algorithm keeps tables of its own
}
SCRATCH_ROWS: dict[str, Any] = {
    "note": (f64, lambda h: (8,)),  # what a pass keeps for the model's next call
    "function_at": (i64, lambda h: (8,)),  # [0]: the address of a user's kernel function
    "row": (f64, lambda h: (h.capacity,)),  # kernel values of an example with all vectors
    "logs": (f64, lambda h: (h.capacity,)),  # their logarithms, for the RBF kernel
    "buffer": (f64, lambda h: (h.capacity,)),  # a temporary row
    "last": (f64, lambda h: (h.outputs,)),  # the scores of the last iterate, where a mean predicts
    "nonzero": (i64, lambda h: (h.width + 1,)),  # features of a vector read from the support
    "x": (f64, lambda h: (h.width + 1,)),  # the values of these features
    "whole": (f64, lambda h: (h.width + 1,)),  # an example with its zeros, for distances
    "other": (f64, lambda h: (h.custom * h.width,)),  # a second one, for a user's function
}
# Attributes that are raw addresses: the caller chooses type and shape of the array
ADDRESSES = ("state", "room", "heap")


def heap_numbers(h: Any) -> Any:
    """The size of the heap in numbers: rows of a partner search, members of a merge, desk of AutoKernel."""
    search = SEARCH_ROWS * (h.capacity + LANES)  # + LANES: rows of float32 are padded to sixteen
    merging = h.arity * (h.arity + h.outputs + h.width + 10) + 2 * h.outputs
    return search + merging + h.desk


def place_of(name: str, block: Any, memory: Any, h: Any) -> tuple[Any, ...]:
    """(address, *shape) of an attribute of the model with this block, scratch space and header."""
    if name == "head":
        return (block,)
    if name == "state":
        return (block + STATE_AT,)
    if name in BLOCK_TABLES:
        at = TABLES_AT if name == "vectors" else getattr(h, f"at_{name}")
        return (block + at, *BLOCK_TABLES[name][1](h))
    before: Any = 0  # numbers
    for other, (_, shape) in SCRATCH_ROWS.items():
        if other == name:
            return (memory + 8 * before, *shape(h))
        before = before + math.prod(shape(h))
    return ((memory + 8 * before + 63) & -64,)  # the heap


register_attributes(
    HEADER,
    {"head": header_at.kind}
    | {name: kind.kind for name, (kind, _) in (BLOCK_TABLES | SCRATCH_ROWS).items()}
    | dict.fromkeys(ADDRESSES, intp),
    place_of,
)


class HeaderView(ctypes.Structure):
    """The header of a block for Python: attributes that read and write its fields as Python numbers.

    A numpy record takes fifty times as long for a field.
    """

    _fields_ = [(name, _C_TYPES[HEADER[name].kind]) for name in HEADER.names or ()]


class BlockView:
    """A block for Python: the header, and the tables as arrays. The view and each of them keep the block alive."""

    __slots__ = ("block",)

    def __init__(self, block: Any):
        self.block = block

    @property
    def head(self) -> Any:
        return HeaderView.from_buffer(self.block)

    def __getattr__(self, name: str) -> Any:
        if name not in BLOCK_TABLES:
            raise AttributeError(f"a block has no table {name!r}")
        at, *shape = place_of(name, 0, 0, self.head)
        return BLOCK_TABLES[name][0].of_array(self.block, at, shape)


class PlainModel:
    """A model for Python, with the same attributes as in compiled code. The caller keeps its memory alive."""

    __slots__ = ("block", "memory")

    def __init__(self, block: int, memory: int):
        self.block, self.memory = block, memory

    def __getattr__(self, name: str) -> Any:
        if name == "head":
            return header_at(self.block)
        return attribute(name, self.block, self.memory, read_header(self.block))


def read_header(block: int) -> Any:
    """The header of the block at an address, as a tuple of Python numbers."""
    return Header(*header_format.unpack(ctypes.string_at(int(block), HEADER.itemsize)))


def attribute(name: str, block: int, memory: int, h: Any) -> Any:
    """The attribute `model.name` for Python, where h is the header."""
    place = place_of(name, block, memory, h)
    if name in ADDRESSES:
        return place[0]
    kind = BLOCK_TABLES[name][0] if name in BLOCK_TABLES else SCRATCH_ROWS[name][0]
    return kind(*place)


def model_at(block, memory):
    """The model whose block is at one address and whose scratch space is at another."""
    return PlainModel(block, memory)


register_constructor(model_at)

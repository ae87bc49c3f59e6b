"""Where everything is: the block that is a model, and the scratch space that a pass needs beside it.

A block is one array of bytes: the header, the algorithm's own record, and the tables of BLOCK_TABLES. Scratch
space holds the rows of SCRATCH_ROWS, and behind them the heap, for a moment's use. All sizes, places and the
attributes that compiled functions see (`model.vectors`, `model.row`) follow from these two tables.

Columns from `count` on are padding: their coefficients are 0, all other tables may hold any finite number
there. Block, scratch space and every table start at multiples of 64 bytes.
"""

from __future__ import annotations

import ctypes
import struct
from collections import namedtuple
from typing import Any

import numpy as np

from ..compiling.array_views import carver, f32_matrix, f64, f64_matrix, i32, i64, i64_matrix, intp
from ..compiling.model_type import give_attributes, give_constructor
from ..simd.registers import LANES

_SIZES = "capacity width slots outputs per_vector factored heavy room desk narrow"  # of tables
_DERIVED = "dense linked heads pieces jotted"  # sizes that follow from these
_INTEGERS = (
    f"stamp scratch function needs {_SIZES} {_DERIVED} count budget arrived task kernel custom bounded degree normalised "
    "maintenance arity method objective choice repairs vanished judged alarm said equal shuffled fresh freed "
    "wanted outgrown noted at_coefficients at_norms at_arrivals at_per_vector at_factor at_keys at_ties at_columns at_firsts "
    "at_pieces at_nodes at_multipliers at_lengths at_strains at_unsorted at_brief at_distances at_room at_narrow_vectors"
)
_REALS = (
    "gamma coef0 scale cost slope lead slope_curvature lead_curvature cross_curvature first_target "
    "target_size error_size"
)
HEADER = np.dtype(
    (
        np.record,
        [(name, "i8") for name in _INTEGERS.split()]
        + [("random", "u8")]
        + [(name, "f8") for name in _REALS.split()],
    )
)
SIZES, DERIVED = tuple(_SIZES.split()), tuple(_DERIVED.split())
# The same as numbers of Python, which are read at once.
Header: Any = namedtuple("Header", HEADER.names or ())  # type: ignore[misc]
header_format = struct.Struct(f"={len(_INTEGERS.split())}qQ{len(_REALS.split())}d")
STATE_AT = -(-HEADER.itemsize // 64) * 64  # behind the header comes the algorithm's own record
STATE_SIZE = 192
TABLES_AT = STATE_AT + STATE_SIZE
BRIEF = 31  # numbers of a vector whose places in a table are noted, in a model with heavy ones
UNLIMITED = 2**62  # the budget of a model without one

TOGETHER = 4  # examples whose products with a vector are computed when it is loaded
CHANGES = 16  # of vectors, that are noted for examples to come
SEARCH_ROWS = 9  # rows of heap that a search for merge partners needs; nothing else needs as many

header_at = carver(HEADER, 0)

# A number of a vector that is kept with its place, in the list of its vector and in the column of its feature
# (core/vectors/sparse_nodes.py). Number 0 is none.
NODE = np.dtype(
    (
        np.record,
        [
            ("value", "f8"),
            ("vector", "u4"),  # an index, whose sign nobody needs to ask for
            ("feature", "i4"),
            ("after", "i4"),  # the next of the vector
            ("before", "i4"),  # the one before it
        ],
    )
)
# The nodes of a feature: `count` of them from `first` on, in a piece of 2^(kind - 1)
COLUMN = np.dtype((np.record, [("first", "i4"), ("count", "i4"), ("kind", "i4")]))
NODE_SIZE, COLUMN_SIZE = np.int64(NODE.itemsize), np.int64(COLUMN.itemsize)
PIECES = 32  # kinds of pieces
nodes_at, columns_at = carver(NODE), carver(COLUMN)
WIPED = 128  # bytes of the first rows of scratch space: they hold 0 before another model uses it

# Every table: its kind, and its shape from the header. The first one has its place right behind the record.
BLOCK_TABLES: dict[str, Any] = {
    # A row per feature; or, in a model with slots, lists of the numbers that are not 0 (core/vectors/stored.py).
    "vectors": (f64_matrix, lambda h: (h.dense, h.capacity)),
    # The same in float32 (core/vectors/table32.py), of a model that is narrow: then the table above is empty.
    "narrow_vectors": (f32_matrix, lambda h: (h.narrow * h.width, h.capacity)),
    "coefficients": (f64_matrix, lambda h: (h.outputs, h.capacity)),  # times head.scale
    "norms": (f64, lambda h: (h.capacity,)),  # what norm_of (rows.py) says of each
    "arrivals": (i64, lambda h: (h.capacity,)),  # the order in which vectors came
    "per_vector": (f64_matrix, lambda h: (h.per_vector, h.capacity)),  # the algorithm's own rows
    "factor": (f64_matrix, lambda h: (h.factored * h.capacity, h.capacity)),  # of K^-1
    "keys": (f64, lambda h: (h.width,)),  # the order in which features are summed up
    "ties": (i32, lambda h: (h.width,)),  # and that of features whose keys are equal
    "columns": (columns_at, lambda h: (h.linked,)),  # the nodes of every feature
    "firsts": (i64, lambda h: (h.heads,)),  # the first node of every vector
    "pieces": (i64_matrix, lambda h: (2, h.pieces)),  # of nodes, that nobody has
    # Of a model with heavy vectors (core/budget/long_vectors.py).
    "multipliers": (f64, lambda h: (h.heavy * h.capacity,)),  # of what is stored of each vector
    "lengths": (i64, lambda h: (h.heavy * h.capacity,)),  # how many numbers that is
    "strains": (f64, lambda h: (h.heavy * h.capacity,)),  # of errors in what is kept of it
    "unsorted": (i64, lambda h: (h.heavy * h.capacity,)),  # so many nodes at the head of its list
    "brief": (i64_matrix, lambda h: (h.heavy * h.capacity, BRIEF + 1)),  # columns of a table
    "distances": (f64_matrix, lambda h: (h.heavy * h.capacity, h.capacity)),
    "room": (f64, lambda h: (h.room,)),  # numbers that the algorithm carves for itself
    "nodes": (nodes_at, lambda h: (h.slots,)),  # behind all others, so that more can follow
}
SCRATCH_ROWS: dict[str, Any] = {
    "note": (f64, lambda h: (8,)),  # what a pass notes for the next call with the same model
    "n_emptied": (i64, lambda h: (8,)),  # first: how many features `emptied` holds
    "function_at": (i64, lambda h: (8,)),  # first: the address of a kernel function
    # Of examples to come (core/expansion/products_ahead.py): which they are; groups of eight vectors of which one was written; norms.
    "coming": (i64, lambda h: (8,)),
    "changes": (i64, lambda h: (CHANGES,)),
    "norms_ahead": (f64, lambda h: (2 * TOGETHER,)),
    "ahead": (f64_matrix, lambda h: (TOGETHER, h.capacity)),  # products of theirs with all vectors
    "row": (f64, lambda h: (h.capacity,)),  # kernel values of an example with all vectors
    "logs": (f64, lambda h: (h.capacity,)),  # their logarithms, for the RBF kernel
    "buffer": (f64, lambda h: (h.capacity,)),
    "nonzero": (i64, lambda h: (h.width + 1,)),  # of a vector that was taken out: where it is not 0
    "x": (f64, lambda h: (h.width + 1,)),  # and what stands there
    "whole": (f64, lambda h: (h.width + 1,)),  # an example with its zeros, where distances are
    "other": (f64, lambda h: (h.custom * h.width,)),  # another, for a kernel function
    # in float32, what examples hold whose products are computed together
    "narrow_values": (f64, lambda h: (h.jotted,)),
    "emptied": (i64, lambda h: (h.linked,)),  # features without numbers, as far as there is room
    "needs": (i64, lambda h: (h.pieces,)),  # how many pieces of nodes an example asks for
}
ADDRESSES = (
    "state",
    "room",
    "heap",
)  # attributes that are raw addresses: the caller chooses type and shape


def heap_numbers(h: Any) -> Any:
    """How many numbers the heap holds: rows for a search, the members of a merging, and the desk, which is what an
    algorithm asks for besides."""
    search = SEARCH_ROWS * (h.capacity + LANES)  # which is filled up to whole vectors of float32
    merging = h.arity * (h.arity + h.outputs + h.width + 10) + 2 * h.outputs + h.width + 1
    return search + merging + h.desk


def _volume(shape: tuple[Any, ...]) -> Any:
    first, *others = shape
    for size in others:
        first = first * size
    return first


def place_of(name: str, block: Any, memory: Any, h: Any) -> tuple[Any, ...]:
    """(address, *shape) of an attribute of the model with this block, scratch space and header."""
    if name == "head":
        return (block,)
    if name == "state":
        return (block + STATE_AT,)
    if name in BLOCK_TABLES:
        at = TABLES_AT if name == "vectors" else getattr(h, f"at_{name}")
        return (block + at, *BLOCK_TABLES[name][1](h))
    place = memory
    for other, (_, shape) in SCRATCH_ROWS.items():
        if other == name:
            return (place, *shape(h))
        place = place + 8 * _volume(shape(h))
    return ((place + 63) & -64,)  # the heap


give_attributes(
    HEADER,
    {"head": header_at.kind}
    | {name: kind.kind for name, (kind, _) in (BLOCK_TABLES | SCRATCH_ROWS).items()}
    | dict.fromkeys(ADDRESSES, intp),
    place_of,
)


class PlainModel:
    """A model for Python: the same attributes as in compiled code. `held`: the array in which the block is, if what is
    looked at must not vanish; without it the memory belongs to the caller."""

    __slots__ = ("block", "held", "memory")

    def __init__(self, block: int, memory: int, held: Any = None):
        self.block, self.memory, self.held = block, memory, held

    def __getattr__(self, name: str) -> Any:
        if name == "head":
            return (
                header_at(self.block) if self.held is None else np.ndarray(1, HEADER, self.held)[0]
            )
        if self.held is not None and name not in ADDRESSES:
            return table_in(self.held, name)
        return attribute(name, self.block, self.memory, read_header(self.block))


def read_header(block: int) -> Any:
    """What stands in the header of the block at an address."""
    return Header(*header_format.unpack(ctypes.string_at(int(block), HEADER.itemsize)))


def attribute(name: str, block: int, memory: int, h: Any) -> Any:
    """What `model.name` is for Python, where h is the header."""
    place = place_of(name, block, memory, h)
    if name in ADDRESSES:
        return place[0]
    kind = BLOCK_TABLES[name][0] if name in BLOCK_TABLES else SCRATCH_ROWS[name][0]
    return kind(*place)


def table_in(block: Any, name: str) -> Any:
    """A table of a block, which holds the block."""
    at, *shape = place_of(name, 0, 0, read_header(block.ctypes.data))
    return BLOCK_TABLES[name][0].of_array(block, int(at), shape)


def model_at(block, memory):
    """The model in the block at one address, with scratch space at another."""
    return PlainModel(block, memory)


give_constructor(model_at)

"""Allocate, resize and read blocks from Python (core/block/layout.py says what a block contains)."""

from __future__ import annotations

import functools
import hashlib
import math
import operator
import struct
from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..compiling.needs import Need
from . import layout
from .codes import Kernel


def views(block: Any) -> Any:
    """The tables of a block as attributes, without scratch space.

    The result and each of its tables keep the block alive: another thread may replace the model's block
    meanwhile.
    """
    return layout.BlockView(block)


def state_of(block: Any, record: Any) -> Any:
    """The algorithm's own record, a view of the block; the block lives as long as this view."""
    return block[layout.STATE_AT : layout.STATE_AT + record.itemsize].view(record)[0]


def zeros(nbytes: int) -> Any:
    """An array of zero bytes that starts at a multiple of 64.

    Loading a SIMD vector that crosses two cache lines takes longer.
    """
    raw = np.zeros(nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + nbytes]


def columns_for(vectors: int) -> int:
    """The capacity for so many vectors: whole cache lines per row, so that every row is aligned."""
    return 8 * max(1, -(-vectors // 8))


# Plain integers, as `|` of enumeration members takes ten times as long
_KERNEL, _OTHER_KERNELS = int(Need.KERNEL), int(Need.OTHER_KERNELS)
_NOTHING = dict.fromkeys(layout.HEADER.names or (), 0)


def _header(fields: Mapping[str, Any]) -> Any:
    """The header of a block with these fields; all others are 0."""
    return layout.Header(**{**_NOTHING, **fields, "needs": _needs(fields)})


def _needs(fields: Mapping[str, Any]) -> int:
    """The shared functions that passes over such a block may need (core/compiling/by_address.py)."""
    needs = int(fields.get("needs", 0)) & ~_OTHER_KERNELS
    others = needs & _KERNEL and fields.get("kernel", 0) != Kernel.RBF
    return needs | _OTHER_KERNELS if others else needs


_SIZE_FIELDS = (*layout.SIZES, "custom", "arity")  # these fields determine the layout
_Sizes: Any = namedtuple("_Sizes", _SIZE_FIELDS)  # type: ignore[misc]
_sizes_in: Any = operator.attrgetter(*_SIZE_FIELDS)


def _layout_of(h: Any) -> tuple[dict[str, int], int, int]:
    """({table: its offset}, the size of the block, bytes of scratch space) for a block with this header."""
    return _layout_for(_Sizes(*map(int, _sizes_in(h))))  # int: 8 and np.int64(8) give one cache key


@functools.lru_cache(256)  # many models have the same sizes
def _layout_for(h: Any) -> tuple[dict[str, int], int, int]:
    """`_layout_of`, cached by the fields that determine the layout."""
    end, places = layout.TABLES_AT, {}
    for name, (kind, shape) in layout.BLOCK_TABLES.items():
        places[name] = end
        end += -(-kind.dtype.itemsize * math.prod(shape(h)) // 64) * 64
    rows = layout.place_of("heap", 0, 0, h)[0]
    return places, end, int(rows + 8 * layout.heap_numbers(h))


def block_size(fields: Mapping[str, Any]) -> int:
    """Bytes of a block with these header fields."""
    return _layout_of(_header(fields))[1]


def scratch_size(fields: Mapping[str, Any]) -> int:
    """Bytes of the scratch space that a pass over such a block may need."""
    return _layout_of(_header(fields))[2]


@functools.cache
def stamp_of(record: Any) -> int:
    """A hash of the layout of blocks whose algorithm has this record.

    A pass over a block of another layout would read the wrong numbers, so models compare this hash first.
    """
    if np.dtype(record).itemsize > layout.STATE_SIZE:  # the record would overlap the tables
        raise TypeError(
            f"the state of an algorithm may take {layout.STATE_SIZE} bytes, not {np.dtype(record).itemsize}"
        )
    sizes = _header({size: 101 + place for place, size in enumerate(layout.SIZES)})
    shapes = [(name, shape(sizes)) for name, (_, shape) in layout.BLOCK_TABLES.items()]
    own = np.dtype(record).descr
    described = repr((layout.HEADER.descr, layout.STATE_AT, layout.STATE_SIZE, shapes, own))
    return int.from_bytes(hashlib.sha256(described.encode()).digest()[:7], "little")


def allocate(**fields: Any) -> Any:
    """A new block with these header fields; all tables are 0. The fields of SIZES determine its size."""
    h = _header(fields)
    places, end, scratch = _layout_of(h)
    found = {f"at_{name}": place for name, place in places.items() if name != "vectors"}
    block = zeros(end)
    layout.header_format.pack_into(block, 0, *h._replace(scratch=scratch, **found))
    return block


def resized(block: Any, **sizes: int) -> Any:
    """A copy of a block with other sizes in its header; new rows and columns of its tables are 0.

    The table `room` is all 0: the algorithm, which alone knows its layout, fills it again.
    """
    old_at = block.ctypes.data
    old = layout.read_header(old_at)
    new_block = allocate(**old._asdict() | sizes)
    new_at = new_block.ctypes.data
    new = layout.read_header(new_at)
    new_block[layout.STATE_AT : layout.TABLES_AT] = block[layout.STATE_AT : layout.TABLES_AT]
    for name, (kind, shape) in layout.BLOCK_TABLES.items():
        corner = tuple(map(min, shape(old), shape(new)))
        if name == "room" or not all(corner):
            continue
        if len(corner) == 1:  # as bytes: numpy copies records field by field
            source, target = getattr(old, f"at_{name}"), getattr(new, f"at_{name}")
            nbytes = kind.dtype.itemsize * corner[0]
            new_block[target : target + nbytes] = block[source : source + nbytes]
        else:
            part = tuple(map(slice, corner))
            layout.attribute(name, new_at, 0, new)[part] = layout.attribute(name, old_at, 0, old)[
                part
            ]
    return new_block


def aligned(block: Any) -> Any:
    """A copy of a block that starts at a multiple of 64 bytes."""
    copy = zeros(len(block))
    copy[:] = block
    return copy


_integer_at, _real_at = struct.Struct("=q").unpack_from, struct.Struct("=d").unpack_from
_AT = {name: place[1] for name, place in (layout.HEADER.fields or {}).items()}


def _integer(block: Any, field: str) -> int:
    """An integer field of the header. Every call reads some, so this does not unpack the others."""
    found: int = _integer_at(block, _AT[field])[0]
    return found


def reals(block: Any, *fields: str) -> list[float]:
    """Floating-point fields of the header, without unpacking the others."""
    return [_real_at(block, _AT[field])[0] for field in fields]


def real_of_state(block: Any, kind: Any, field: str) -> float:
    """A floating-point field of the algorithm's own record."""
    found: float = _real_at(block, layout.STATE_AT + kind.fields[field][1])[0]
    return found


def field_of(block: Any, field: str) -> Any:
    """An integer field of the header as an array of length 1: writing to it changes the block."""
    return block[_AT[field] : _AT[field] + 8].view(np.int64)


def stamp_in(block: Any) -> int:
    """The stamp of the layout in which a block was made (`stamp_of`)."""
    return _integer(block, "stamp") if len(block) >= layout.TABLES_AT else 0


def width_in(block: Any) -> int:
    """The number of features that a block has room for."""
    return _integer(block, "width")


def scratch_for(block: Any) -> Any:
    """Scratch space for passes over this block."""
    return zeros(_integer(block, "scratch"))

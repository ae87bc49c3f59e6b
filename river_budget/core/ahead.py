"""Memory that will be read soon, asked for now.

Where names come without end, each one of an example stands in another place of several large tables, and a processor
that learns of the next place only from the one before waits for each. Here it is told of the places of all names at
once. Nothing follows from what is found on the way: what is read, is read later, by those whose business it is.
"""

from __future__ import annotations

import ctypes
import functools
import sys

import numpy as np
from llvmlite import ir
from numba.core import types

from .cpython import hash_of, type_of
from .jit import compiled
from .layout import COLUMN_SIZE, NODE_SIZE
from .numba_types import address_of, carver, compiled_as, i64

# CPython's dict: behind its head, how many names it has, and a tag, the address of a table. That has a number of
# references, the logarithms to base 2 of its size and of the bytes of its indices, and its kind; the indices, by hash;
# and the entries: hash, name and value, or in a table of texts name and value only.
VERSIONS = ((3, 11), (3, 15))  # from, and before: those in which it is like this
TABLE_AT = object.__basicsize__ + 16
SIZES_AT, INDICES_AT, OF_TEXTS = 8, 32, 1
WIDER = 16  # logarithm of the size from which on indices have four bytes instead of two
MANY = 14  # logarithm of a size below which all of a table is near
ENTRY_OF_TEXT, HASH = 16, 8
LINE = 64  # bytes that come at once
SOME = 32  # nodes of a column, after which the processor has seen what is wanted

u8, i16, i32 = carver(np.uint8), carver(np.int16), carver(np.int32)


@functools.cache
def is_laid_out() -> bool:
    """Whether dicts are laid out like this here: a look at one of a few hundred names."""
    first, end = VERSIONS
    plain = object.__basicsize__ == 2 * ctypes.sizeof(ctypes.c_void_p)  # with Python's lock
    if sys.implementation.name != "cpython" or not (first <= sys.version_info < end and plain):
        return False
    names = [f"name {i}" for i in range(300)]
    places = dict.fromkeys(names)
    table = ctypes.c_size_t.from_address(id(places) + TABLE_AT).value
    size, octets, kind = (ctypes.c_uint8 * 3).from_address(table + SIZES_AT)
    if (size, octets, kind) != (9, 10, OF_TEXTS):
        return False
    indices = (ctypes.c_int16 * 2**size).from_address(table + INDICES_AT)
    entries = table + INDICES_AT + 2**octets
    found = 0
    for i, name in enumerate(names):
        if indices[hash(name) % 2**size] == i:
            stored = ctypes.c_size_t.from_address(entries + i * ENTRY_OF_TEXT)
            found += stored.value == id(name)
    return 2 * found > len(names)  # some stand elsewhere, as others came first


def ask_for(address):
    """Let the memory there come near."""


@compiled_as(ask_for, types.none, types.Integer)
def _ask_for(context, builder, signature, args):
    octets, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [octets, number, number, number])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [octets], kind)
    to_be_read, often, data = number(0), number(3), number(1)
    place = builder.inttoptr(args[0], octets)
    builder.call(prefetch, [place, to_be_read, often, data])
    return context.get_dummy_value()


@compiled(always_inlined=True)
def are_many(places):
    """Whether a dict has so many names that finding one means waiting."""
    return u8(i64(places + TABLE_AT, 1)[0] + SIZES_AT, 1)[0] >= MANY


@compiled
def ask_for_names(places, names, found, text):
    """The same for all that a dict will look at to find these names, if they are texts. `found` is for notes."""
    table = i64(places + TABLE_AT, 1)[0]
    size, octets, kind = u8(table + SIZES_AT, 3)
    mask, indices = (np.int64(1) << np.int64(size)) - 1, table + INDICES_AT
    of_texts, wide = kind == OF_TEXTS, size >= WIDER
    step = ENTRY_OF_TEXT if of_texts else ENTRY_OF_TEXT + HASH
    entries = indices + (np.int64(1) << np.int64(octets)) + (0 if of_texts else HASH)
    for i in range(names.shape[0]):
        found[i] = 0
        if type_of(names[i]) == text:
            slot = hash_of(names[i]) & mask
            found[i] = indices + (4 * slot if wide else 2 * slot)
            ask_for(found[i])
    for i in range(names.shape[0]):
        if found[i] != 0:
            number = np.int64(i32(found[i], 1)[0] if wide else i16(found[i], 1)[0])
            found[i] = entries + step * number if number >= 0 else 0
            ask_for(found[i])
    for i in range(names.shape[0]):
        if found[i] != 0:
            name, place = i64(found[i], 2)
            ask_for(name + 16)
            ask_for(name + 47)  # most texts reach into the next line
            ask_for(place + 16)


@compiled(always_inlined=True)
def ask_for_columns(model, places):
    """The same for where columns begin, and the keys of their features."""
    columns, keys = address_of(model.columns), address_of(model.keys)
    for i in range(places.shape[0]):
        ask_for(keys + 8 * places[i])
        ask_for(columns + COLUMN_SIZE * places[i])


@compiled(always_inlined=True)
def ask_for_nodes(model, places):
    """The same for the first nodes of columns."""
    nodes, columns = address_of(model.nodes), model.columns
    for i in range(places.shape[0]):
        at = nodes + NODE_SIZE * columns[places[i]].first
        end = at + NODE_SIZE * min(columns[places[i]].count, SOME)
        while at < end:
            ask_for(at)
            at += LINE

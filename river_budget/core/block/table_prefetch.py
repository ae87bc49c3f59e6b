"""Prefetching: tell the processor early which cache lines of the sparse tables a lookup will need.

In models with very many features the rows of an example's features are scattered over several large tables,
and without prefetching the processor waits for one cache miss after the other.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types

from ..compiling.array_views import address_of, compiled_as
from ..compiling.jit import compiled
from .layout import COLUMN_SIZE, NODE_SIZE

CACHE_LINE_BYTES = 64  # on most processors
# Nodes of a column that are prefetched; the following ones the processor prefetches itself
PREFETCHED_NODES = 32


def prefetch(address):
    """Prefetch the cache line at this address."""


@compiled_as(prefetch, types.none, types.Integer)
def _prefetch(context, builder, signature, args):
    octets, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [octets, number, number, number])
    intrinsic = builder.module.declare_intrinsic("llvm.prefetch", [octets], kind)
    to_be_read, often, data = number(0), number(3), number(1)
    place = builder.inttoptr(args[0], octets)
    builder.call(intrinsic, [place, to_be_read, often, data])
    return context.get_dummy_value()


@compiled(always_inlined=True)
def prefetch_columns(model, places):
    """Prefetch the entries of `columns` and `keys` for these features, in a model that has columns."""
    if model.head.slots == 0:
        return
    columns, keys = address_of(model.columns), address_of(model.keys)
    for i in range(places.shape[0]):
        prefetch(keys + 8 * places[i])
        prefetch(columns + COLUMN_SIZE * places[i])


@compiled(always_inlined=True)
def prefetch_nodes(model, places):
    """Prefetch the first nodes of the columns of these features."""
    nodes, columns = address_of(model.nodes), model.columns
    for i in range(places.shape[0]):
        at = nodes + NODE_SIZE * columns[places[i]].first
        end = at + NODE_SIZE * min(columns[places[i]].count, PREFETCHED_NODES)
        while at < end:
            prefetch(at)
            at += CACHE_LINE_BYTES

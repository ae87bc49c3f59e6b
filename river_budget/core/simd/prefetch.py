"""Prefetching: tell the processor early which cache line a lookup will need."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types

from ..compiling.array_views import compiled_as


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

"""The bits of a float64 as a whole number, and back. (numba compiles its own `view` of a number again for every use.)"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types

from ..compiling.array_views import compiled_as


def bits_of(number):
    """The bits of a float64."""
    return np.float64(number).view(np.int64)


def from_bits(bits):
    """The float64 that has these bits."""
    return np.int64(bits).view(np.float64)


@compiled_as(bits_of, types.int64, types.float64)
def _bits_of(context, builder, signature, args):
    return builder.bitcast(args[0], ir.IntType(64))


@compiled_as(from_bits, types.float64, types.int64)
def _from_bits(context, builder, signature, args):
    return builder.bitcast(args[0], ir.DoubleType())

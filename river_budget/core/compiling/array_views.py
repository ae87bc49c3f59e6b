"""Arrays at a memory address that do not own their memory: functions that make them.

Every function here has two forms: Python code, and beside it a generator of LLVM instructions, which numba
uses in compiled code. (numba would compile an `overload` again for every use.)
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable
from numba.np import arrayobj

from .jit import compiled

POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def compiled_as(function: Any, result: Any, *arguments: Any) -> Any:
    """Decorator: register the decorated generator of instructions as the compiled form of `function`.

    `result` is the type of the result, or a function from the types of the arguments to this type or to a signature.
    """

    def find(*kinds: Any) -> Any:
        return result if isinstance(result, types.Type) else result(*kinds)

    places = [inspect.Parameter(f"_{i}", POSITIONAL) for i in range(len(arguments))]
    find.__signature__ = inspect.Signature(places)  # type: ignore[attr-defined]

    def decorate(generate: Any) -> Any:
        type_callable(function)(lambda context: find)
        lower_builtin(function, *arguments)(generate)
        return generate

    return decorate


# Arrays at an address


def struct(context: Any, builder: Any, kind: Any, fields: Any) -> Any:
    """Generate a struct with these fields: hundreds are needed, and numba's own helpers generate them more slowly."""
    model = context.data_model_manager[kind]
    value = ir.Constant(model.get_value_type(), ir.Undefined)
    for name, field in fields.items():
        value = builder.insert_value(value, field, model.get_field_position(name))
    return value


def carve(context: Any, builder: Any, kind: Any, address: Any, shape: Any) -> Any:
    """Generate a view of this type and shape at an address; without a shape, a reference to the record there.

    The caller keeps the memory alive for the whole call.
    """
    if not shape:
        return builder.inttoptr(address, context.get_value_type(kind))
    size = context.get_constant(
        types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype))
    )
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    model = context.data_model_manager[kind]
    data, *owners = (
        context.get_value_type(model.get_member_fe_type(name))
        for name in ("data", "meminfo", "parent")
    )
    fields = {
        "meminfo": owners[0](None),
        "parent": owners[1](None),
        "nitems": functools.reduce(builder.mul, shape),
        "itemsize": size,
        "data": builder.inttoptr(address, data),
        "shape": cgutils.pack_array(builder, shape),
        "strides": cgutils.pack_array(builder, strides),
    }
    return struct(context, builder, kind, fields)


def record(*fields: str) -> Any:
    """The type of a record: each argument names a type, as "f8", and the fields that have it, in their order."""
    pairs = [(name, kind) for kind, *names in map(str.split, fields) for name in names]
    return np.dtype((np.record, pairs))


def carver(dtype: Any, ndim: int = 1) -> Any:
    """Make a function of (address, *shape) that returns a view of the memory at this address.

    The caller keeps the memory alive. With ndim = 0 it returns a single record.
    Called from Python it returns a numpy array.
    """
    dtype = np.dtype(dtype)
    element = numba.from_dtype(dtype)

    def carver(address, *shape):
        nbytes = int(math.prod(shape) * dtype.itemsize)
        array = np.ndarray(shape or 1, dtype, (ctypes.c_ubyte * nbytes).from_address(int(address)))
        return array if ndim else array[0]

    def of_array(array, offset, shape):
        """A view of a part of an array of bytes, which the view keeps alive."""
        return np.ndarray(shape, dtype, array, offset)

    carver.of_array = of_array  # type: ignore[attr-defined]
    carver.dtype = dtype  # type: ignore[attr-defined]
    carver.kind = types.Array(element, ndim, "C") if ndim else element  # type: ignore[attr-defined]

    @compiled_as(carver, carver.kind, *[types.Integer] * (1 + ndim))  # type: ignore[attr-defined]
    def generate(context, builder, signature, args):
        words = [
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(args, signature.args, strict=True)
        ]
        return carve(context, builder, signature.return_type, words[0], words[1:])

    return carver


f64, i64 = carver(np.float64), carver(np.int64)
f32, u64 = carver(np.float32), carver(np.uint64)
f64_matrix, f32_matrix = carver(np.float64, 2), carver(np.float32, 2)
i32_matrix = carver(np.int32, 2)
intp = types.intp


def address_of(array):
    """The address of the first number of an array."""
    return array.ctypes.data


@compiled_as(address_of, types.intp, types.Array)
def _address_of(context, builder, signature, args):
    data = arrayobj.make_array(signature.args[0])(context, builder, args[0]).data
    return builder.ptrtoint(data, context.get_value_type(types.intp))


@compiled(always_inlined=True)
def as_u64(array):
    """Whole numbers as unsigned ones, for indexes: numba checks whether a signed one counts from the end."""
    return u64(address_of(array), array.shape[0])

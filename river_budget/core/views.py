"""Views that carry no reference count.

numba counts the references of every array that a function receives, also inside a tuple of views: for a
dozen views these counts cost more than a kernel row. The block and the scratch space belong to the
caller for the whole call, so views of them need no counting: they have a type of their own, an array in
everything but that.

What is defined here has two forms: the function for Python, and below it the instructions that numba emits
in its place. (An `overload` would be compiled once more for every use.)
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, datamodel, types
from numba.extending import lower_builtin, register_model, type_callable
from numba.np import arrayobj


class View(types.Array):
    """The type of an array that somebody else keeps alive. Its rows and slices are views too."""

    def __init__(self, dtype: Any, ndim: int, layout: Any, readonly: bool = False, **options: Any):
        super().__init__(dtype, ndim, layout, readonly=readonly, **options)
        self.name = f"View({self.name})"

    def copy(
        self, dtype: Any = None, ndim: Any = None, layout: Any = None, readonly: Any = None
    ) -> Any:
        return View(
            self.dtype if dtype is None else dtype,
            self.ndim if ndim is None else ndim,
            self.layout if layout is None else layout,
            not self.mutable if readonly is None else readonly,
            aligned=self.aligned,
        )


@register_model(View)
class ViewModel(datamodel.models.ArrayModel):  # type: ignore[misc]
    """Laid out as an array, without anything to count."""

    def traverse(self, builder: Any) -> list[Any]:
        return []

    def traverse_models(self) -> list[Any]:
        return []

    def traverse_types(self) -> list[Any]:
        return [self._fe_type]


def compiled_as(function: Any, result: Any, *arguments: Any) -> Any:
    """Say what compiled code does for a Python function of up to three arguments: the type of its result,
    or a function that finds it from theirs, and how the instructions are generated."""
    find = (lambda *kinds: result) if isinstance(result, types.Type) else result
    typers = (lambda a: find(a), lambda a, b: find(a, b), lambda a, b, c: find(a, b, c))

    def decorate(generate: Any) -> Any:
        type_callable(function)(lambda context: typers[len(arguments) - 1])
        lower_builtin(function, *arguments)(generate)
        return generate

    return decorate


def carve(context: Any, builder: Any, kind: Any, address: Any, shape: Any) -> Any:
    """A value of this type at an address: a view, or without a shape the record there."""
    if not shape:
        return builder.inttoptr(address, context.get_value_type(kind))
    result = arrayobj.make_array(kind)(context, builder)
    itemsize = context.get_constant(
        types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype))
    )
    strides = [itemsize]
    for size in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    arrayobj.populate_array(
        result,
        data=builder.inttoptr(address, result.data.type),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=itemsize,
        meminfo=None,
        parent=None,
    )
    return result._getvalue()


def carver(dtype: Any, ndim: int = 1) -> Any:
    """A function of (address, *shape): a view of the memory there, which somebody keeps alive.

    With ndim = 0 it is a single record. Called by Python it makes a numpy array, called by compiled code a
    `View`.
    """
    element = numba.from_dtype(np.dtype(dtype))

    def carver(address, *shape):
        nbytes = math.prod(shape) * np.dtype(dtype).itemsize
        octets = (ctypes.c_ubyte * int(nbytes)).from_address(int(address))
        array = np.frombuffer(octets, dtype, math.prod(shape)).reshape(shape)
        return array if ndim else array.reshape(1)[0]

    carver.kind = View(element, ndim, "C") if ndim else element  # type: ignore[attr-defined]

    @compiled_as(carver, carver.kind, *[types.Integer] * (1 + ndim))  # type: ignore[attr-defined]
    def generate(context, builder, signature, args):
        words = [
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(args, signature.args, strict=True)
        ]
        return carve(context, builder, signature.return_type, words[0], words[1:])

    return carver


numbers, integers, roughs = carver(np.float64), carver(np.int64), carver(np.float32)
table = carver(np.float64, 2)


def address_of(array):
    """Where the memory of an array begins."""
    return array.ctypes.data


@compiled_as(address_of, types.intp, types.Array)
def _address_of(context, builder, signature, args):
    data = arrayobj.make_array(signature.args[0])(context, builder, args[0]).data
    return builder.ptrtoint(data, context.get_value_type(types.intp))

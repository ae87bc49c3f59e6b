"""Views that carry no reference count.

numba counts the references of every array that a function receives, also inside a tuple of views: for a
dozen views these counts cost more than a kernel row. The block and the scratch space belong to the
caller for the whole call, so views of them need no counting: they have a type of their own, an array in
everything but that.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, datamodel, types
from numba.extending import intrinsic, overload, register_model
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


def carve(context: Any, builder: Any, view: Any, address: Any, shape: Any) -> Any:
    """The struct of a `view` of this shape at an address."""
    result = arrayobj.make_array(view)(context, builder)
    itemsize = context.get_constant(
        types.intp, context.get_abi_sizeof(context.get_data_type(view.dtype))
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


def _compiled_carver(dtype: Any, ndim: int) -> Any:
    element = numba.from_dtype(np.dtype(dtype))
    view = View(element, ndim, "C", aligned=not isinstance(element, types.Record))

    def generate(context, builder, signature, args):
        return carve(context, builder, view, args[0], list(args[1:]))

    if ndim == 1:

        @intrinsic
        def sequence(typingctx, address, size):
            return view(types.intp, types.intp), generate

        make: Any = sequence
        return lambda address, size: lambda address, size: make(address, size)

    @intrinsic
    def matrix(typingctx, address, rows, columns):
        return view(types.intp, types.intp, types.intp), generate

    make = matrix
    return lambda address, rows, columns: lambda address, rows, columns: make(
        address, rows, columns
    )


def carver(dtype: Any, ndim: int = 1) -> Any:
    """A function of (address, *shape): a view of the memory there, which somebody keeps alive.

    Called by Python it makes a numpy array, called by compiled code a `View`.
    """

    def carver(address, *shape):
        nbytes = math.prod(shape) * np.dtype(dtype).itemsize
        octets = (ctypes.c_ubyte * int(nbytes)).from_address(int(address))
        return np.frombuffer(octets, dtype, math.prod(shape)).reshape(shape)

    overload(carver)(_compiled_carver(dtype, ndim))
    return carver


numbers, integers, roughs = carver(np.float64), carver(np.int64), carver(np.float32)
table = carver(np.float64, 2)


@intrinsic
def _address_of(typingctx, array):
    def generate(context, builder, signature, args):
        data = arrayobj.make_array(array)(context, builder, args[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.intp))

    return types.intp(array), generate


def address_of(array):
    """Where the memory of an array begins."""
    return array.ctypes.data


@overload(address_of)
def _compiled_address_of(array):
    return lambda array: _address_of(array)  # type: ignore[call-arg]

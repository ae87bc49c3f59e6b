"""Views that carry no reference count.

numba counts the references of every array that a function receives, also inside a tuple of views: for a
dozen views these counts cost more than a kernel row. The block and the scratch space belong to the
caller for the whole call, so views of them need no counting: they have a type of their own, an array in
everything but that.
"""

from __future__ import annotations

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


def carve(
    context: Any, builder: Any, view: Any, array: Any, source: Any, start: Any, shape: Any
) -> Any:
    """The struct of a `view` of this shape, from byte `start` of an array of type `source`."""
    owner = arrayobj.make_array(source)(context, builder, array)
    result = arrayobj.make_array(view)(context, builder)
    itemsize = context.get_constant(
        types.intp, context.get_abi_sizeof(context.get_data_type(view.dtype))
    )
    strides = [itemsize]
    for size in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    data = builder.gep(builder.bitcast(owner.data, cgutils.voidptr_t), [start])
    arrayobj.populate_array(
        result,
        data=builder.bitcast(data, result.data.type),
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
        return carve(context, builder, view, args[0], signature.args[0], args[1], list(args[2:]))

    if ndim == 1:

        @intrinsic
        def sequence(typingctx, array, start, size):
            return view(array, types.intp, types.intp), generate

        make: Any = sequence
        return lambda array, start, size: lambda array, start, size: make(array, start, size)

    @intrinsic
    def matrix(typingctx, array, start, rows, columns):
        return view(array, types.intp, types.intp, types.intp), generate

    make = matrix
    return lambda array, start, rows, columns: (
        lambda array, start, rows, columns: make(array, start, rows, columns)
    )


def carver(dtype: Any, ndim: int = 1) -> Any:
    """A function of (array, start, *shape): a view of the memory of an array, from byte `start` on.

    Called by Python it makes an ordinary numpy view, called by compiled code a `View`.
    """

    def carver(array, start, *shape):
        nbytes = math.prod(shape) * np.dtype(dtype).itemsize
        octets = array.reshape(-1).view(np.uint8)[start : start + nbytes]
        return octets.view(dtype).reshape(shape)

    overload(carver)(_compiled_carver(dtype, ndim))
    return carver


numbers, integers, roughs = carver(np.float64), carver(np.int64), carver(np.float32)
octets, table = carver(np.uint8), carver(np.float64, 2)

"""What compiled functions see of a model: a block and scratch space, with the views as attributes.

A view is carved where it is used, so passing a model on passes two arrays. Passing a tuple of all views
was measured at 40 ns a call, more than a tenth of a whole prediction.

    head       the header: model.head[0].count and so on
    own        room for the algorithm's own numbers; its pass names them with a record of its own
    vectors    width x capacity: one row per feature, one column per support vector
    coefficients  outputs x capacity, to be multiplied by head.scale
    norms      per vector: |x|^2, or |x|_1 for the Laplacian kernel
    arrivals   per vector: its place in the order in which vectors came into the model
    extras     further rows of numbers per vector, for algorithms that keep some
    factor     capacity x capacity inverse Cholesky factor of the Gram matrix, for those that project
and scratch space: row, scratch (capacity), chosen, x (width), and `free` for a moment's use.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import (
    intrinsic,
    make_attribute_wrapper,
    models,
    overload,
    overload_attribute,
    register_model,
)

from .views import View, carve, carver, integers, numbers, octets, table

_INTEGERS = (
    "capacity width outputs extras factored count budget arrived task kernel degree maintenance arity "
    "method objective at_coefficients at_norms at_arrivals at_extras at_factor"
)
HEADER = np.dtype(
    (
        np.record,
        [(name, "i8") for name in _INTEGERS.split()]
        + [("random", "u8"), ("gamma", "f8"), ("coef0", "f8"), ("scale", "f8")],
    )
)
OWN = 256  # the header is padded to this; then 128 bytes for the algorithm
ARRAYS = OWN + 128

headers = carver(HEADER)

# How to carve each attribute.
FIELDS = {
    "head": lambda m: headers(m.block, 0, 1),
    "own": lambda m: octets(m.block, OWN, ARRAYS - OWN),
    "vectors": lambda m: table(m.block, ARRAYS, m.head[0].width, m.head[0].capacity),
    "coefficients": lambda m: table(
        m.block, m.head[0].at_coefficients, m.head[0].outputs, m.head[0].capacity
    ),
    "norms": lambda m: numbers(m.block, m.head[0].at_norms, m.head[0].capacity),
    "arrivals": lambda m: integers(m.block, m.head[0].at_arrivals, m.head[0].capacity),
    "extras": lambda m: table(m.block, m.head[0].at_extras, m.head[0].extras, m.head[0].capacity),
    "factor": lambda m: table(
        m.block, m.head[0].at_factor, m.head[0].capacity * m.head[0].factored, m.head[0].capacity
    ),
    "row": lambda m: numbers(m.memory, 0, m.head[0].capacity),
    "scratch": lambda m: numbers(m.memory, 8 * m.head[0].capacity, m.head[0].capacity),
    "chosen": lambda m: integers(m.memory, 16 * m.head[0].capacity, m.head[0].width + 1),
    "x": lambda m: numbers(
        m.memory, 16 * m.head[0].capacity + 8 * m.head[0].width + 8, m.head[0].width
    ),
    "free": lambda m: numbers(
        m.memory,
        16 * (m.head[0].capacity + m.head[0].width) + 8,
        m.memory.shape[0] - 2 * (m.head[0].capacity + m.head[0].width) - 1,
    ),
}


class PlainModel:
    """The same attributes for Python."""

    def __init__(self, block: Any, memory: Any):
        self.block, self.memory = block, memory

    def __getattr__(self, name: str) -> Any:
        return FIELDS[name](self)


class ModelType(types.Type):
    """numba's type of a model."""

    def __init__(self) -> None:
        super().__init__(name="Model")


MODEL = ModelType()
_PARTS = [("block", View(types.uint8, 1, "C")), ("memory", View(types.float64, 1, "C"))]


@register_model(ModelType)
class _Layout(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _PARTS)


for _name, _ in _PARTS:
    make_attribute_wrapper(ModelType, _name, _name)


@intrinsic
def _join(typingctx, block, scratch):
    def generate(context, builder, signature, args):
        result = cgutils.create_struct_proxy(MODEL)(context, builder)
        for (name, view), array, source in zip(_PARTS, args, signature.args, strict=True):
            size = context.make_array(source)(context, builder, array).nitems
            start = context.get_constant(types.intp, 0)
            setattr(result, name, carve(context, builder, view, array, source, start, [size]))
        return result._getvalue()

    return MODEL(block, scratch), generate


def unpack(block, scratch):
    """The model in a block, with scratch space that belongs to this call alone."""
    return PlainModel(block, scratch)


@overload(unpack)
def _compiled_unpack(block, scratch):
    return lambda block, scratch: _join(block, scratch)


def _attribute(name: str) -> None:
    @overload_attribute(ModelType, name)
    def attribute(m):
        return FIELDS[name]


for _name in FIELDS:
    _attribute(_name)

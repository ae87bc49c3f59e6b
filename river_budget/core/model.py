"""What compiled functions see of a model: a block and scratch space, with the views as attributes.

A model is two addresses, and a view is carved where it is used. Passing a tuple of all views was measured
at 40 ns a call, more than a tenth of a whole prediction.

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

from .jit import compiled
from .views import carver, integers, numbers, table

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

# How to carve each attribute; `own` and `free` are the addresses themselves.
FIELDS = {
    "head": lambda m: headers(m.block, 1),
    "own": lambda m: m.block + OWN,
    "vectors": lambda m: table(m.block + ARRAYS, m.head[0].width, m.head[0].capacity),
    "coefficients": lambda m: table(
        m.block + m.head[0].at_coefficients, m.head[0].outputs, m.head[0].capacity
    ),
    "norms": lambda m: numbers(m.block + m.head[0].at_norms, m.head[0].capacity),
    "arrivals": lambda m: integers(m.block + m.head[0].at_arrivals, m.head[0].capacity),
    "extras": lambda m: table(
        m.block + m.head[0].at_extras, m.head[0].extras, m.head[0].capacity
    ),
    "factor": lambda m: table(
        m.block + m.head[0].at_factor,
        m.head[0].capacity * m.head[0].factored,
        m.head[0].capacity,
    ),
    "row": lambda m: numbers(m.memory, m.head[0].capacity),
    "scratch": lambda m: numbers(m.memory + 8 * m.head[0].capacity, m.head[0].capacity),
    "chosen": lambda m: integers(m.memory + 16 * m.head[0].capacity, m.head[0].width + 1),
    "x": lambda m: numbers(
        m.memory + 16 * m.head[0].capacity + 8 * m.head[0].width + 8, m.head[0].width
    ),
    "free": lambda m: m.memory + 16 * (m.head[0].capacity + m.head[0].width) + 8,
}


class PlainModel:
    """The same attributes for Python."""

    def __init__(self, block: int, memory: int):
        self.block, self.memory = block, memory

    def __getattr__(self, name: str) -> Any:
        return FIELDS[name](self)


class ModelType(types.Type):
    """numba's type of a model."""

    def __init__(self) -> None:
        super().__init__(name="Model")


MODEL = ModelType()
_PARTS = [("block", types.intp), ("memory", types.intp)]


@register_model(ModelType)
class _Layout(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _PARTS)


for _name, _ in _PARTS:
    make_attribute_wrapper(ModelType, _name, _name)


@intrinsic
def _join(typingctx, block, memory):
    def generate(context, builder, signature, args):
        result = cgutils.create_struct_proxy(MODEL)(context, builder)
        result.block, result.memory = args
        return result._getvalue()

    return MODEL(types.intp, types.intp), generate


def _model(block, memory):
    return PlainModel(block, memory)


@overload(_model)
def _compiled_model(block, memory):
    return lambda block, memory: _join(block, memory)


def _attribute(name: str) -> None:
    @overload_attribute(ModelType, name)
    def attribute(m):
        return FIELDS[name]


for _name in FIELDS:
    _attribute(_name)


# A call: where everything is that one call of a pass needs, as one array of addresses and sizes.
CALL = ("block", "scratch", "rows", "targets", "weights", "scores", "size", "width", "outputs")


@compiled(hot=True)
def unpack(call):
    """The model that is called, with scratch space that belongs to this call alone."""
    return _model(call[0], call[1])


@compiled(hot=True)
def examples(call):
    """(rows, targets, weights, scores)"""
    n = call[6]
    rows, scores = table(call[2], n, call[7]), table(call[5], n, call[8])
    return rows, numbers(call[3], n), numbers(call[4], n), scores

"""What compiled functions see of a model: a block and scratch space, with the views as attributes.

A model is two addresses, and a view is carved where it is used. Passing a tuple of all views was measured
at 40 ns a call, more than a tenth of a whole prediction.

    head       the header: model.head.count and so on
    own        room for the algorithm's own numbers; its pass names them with a record of its own
    vectors    width x capacity: one row per feature, one column per support vector
    coefficients  outputs x capacity, to be multiplied by head.scale
    norms      per vector: |x|^2, or |x|_1 for the Laplacian kernel
    arrivals   per vector: its place in the order in which vectors came into the model
    extras     further rows of numbers per vector, for algorithms that keep some
    factor     capacity x capacity inverse Cholesky factor of the Gram matrix, for those that project
    room       the address of `head.room` further numbers, which their algorithm divides among tables of its own
and scratch space: row, logs, scratch (capacity), chosen, x (width), and `free` for a moment's use.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.core.imputils import lower_getattr
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, models, register_model

from .jit import compiled
from .views import carve, carver, compiled_as, integers, numbers, table

_INTEGERS = (
    "capacity width outputs extras factored count budget arrived task kernel degree normalised "
    "maintenance arity method objective repairs at_coefficients at_norms at_arrivals at_extras at_factor "
    "room desk at_room"
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

header = carver(HEADER, 0)

# Every attribute: how to carve it, and from where. b and m are the addresses of block and scratch space
# and h is the header, so this serves Python as well as the compiler.
VIEWS: dict[str, Any] = {
    "head": (header, lambda b, m, h: [b]),
    "vectors": (table, lambda b, m, h: [b + ARRAYS, h.width, h.capacity]),
    "coefficients": (table, lambda b, m, h: [b + h.at_coefficients, h.outputs, h.capacity]),
    "norms": (numbers, lambda b, m, h: [b + h.at_norms, h.capacity]),
    "arrivals": (integers, lambda b, m, h: [b + h.at_arrivals, h.capacity]),
    "extras": (table, lambda b, m, h: [b + h.at_extras, h.extras, h.capacity]),
    "factor": (table, lambda b, m, h: [b + h.at_factor, h.capacity * h.factored, h.capacity]),
    "row": (numbers, lambda b, m, h: [m, h.capacity]),
    "logs": (numbers, lambda b, m, h: [m + h.capacity * 8, h.capacity]),
    "scratch": (numbers, lambda b, m, h: [m + h.capacity * 16, h.capacity]),
    "chosen": (integers, lambda b, m, h: [m + h.capacity * 24, h.width + 1]),
    "x": (numbers, lambda b, m, h: [m + h.capacity * 24 + h.width * 8 + 8, h.width]),
}
# Attributes that are addresses, for whoever knows what to carve from there.
ADDRESSES: dict[str, Any] = {
    "own": lambda b, m, h: b + OWN,
    "room": lambda b, m, h: b + h.at_room,
    "free": lambda b, m, h: (m + h.capacity * 24 + h.width * 16 + 8 + 63) & -64,
}


class PlainModel:
    """A model for Python."""

    def __init__(self, block: int, memory: int):
        self.block, self.memory = block, memory

    def __getattr__(self, name: str) -> Any:
        at = (self.block, self.memory, header(self.block))
        if name in VIEWS:
            kind, place = VIEWS[name]
            return kind(*place(*at))
        return ADDRESSES[name](*at)


class ModelType(types.Type):
    """numba's type of a model."""

    def __init__(self) -> None:
        super().__init__(name="Model")


MODEL = ModelType()


@register_model(ModelType)
class _Layout(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("block", types.intp), ("memory", types.intp)])


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = ModelType

    def generic_resolve(self, model, name):
        if name in VIEWS:
            return VIEWS[name][0].kind
        return types.intp if name in ADDRESSES else None


class _Word:
    """A machine word in generated code, with the arithmetic that places need."""

    def __init__(self, builder: Any, value: Any):
        self.builder, self.value = builder, value

    def _value(self, other: Any) -> Any:
        return other.value if isinstance(other, _Word) else self.value.type(other)

    def __add__(self, other: Any) -> _Word:
        return _Word(self.builder, self.builder.add(self.value, self._value(other)))

    def __mul__(self, other: Any) -> _Word:
        return _Word(self.builder, self.builder.mul(self.value, self._value(other)))

    def __and__(self, other: Any) -> _Word:
        return _Word(self.builder, self.builder.and_(self.value, self._value(other)))


class _Header:
    """Its fields as words, loaded where they are asked for."""

    def __init__(self, context: Any, builder: Any, block: Any):
        self.context, self.builder, self.block = context, builder, block

    def __getattr__(self, name: str) -> _Word:
        word = self.context.get_value_type(types.intp)
        place = self.block + int(HEADER.fields[name][1])  # type: ignore[index]
        return _Word(
            self.builder, self.builder.load(self.builder.inttoptr(place.value, word.as_pointer()))
        )


def _attribute(name: str) -> None:
    @lower_getattr(ModelType, name)
    def generate(context, builder, kind, value):
        model = cgutils.create_struct_proxy(MODEL)(context, builder, value=value)
        block, memory = _Word(builder, model.block), _Word(builder, model.memory)
        at = (block, memory, _Header(context, builder, block))
        if name in ADDRESSES:
            return ADDRESSES[name](*at).value
        carver, place = VIEWS[name]
        address, *shape = (word.value for word in place(*at))
        return carve(context, builder, carver.kind, address, shape)


for _name in [*VIEWS, *ADDRESSES]:
    _attribute(_name)


def model_at(block, memory):
    """The model in the block at one address, with scratch space at another."""
    return PlainModel(block, memory)


@compiled_as(model_at, MODEL, types.Integer, types.Integer)
def _model_at(context, builder, signature, args):
    model = cgutils.create_struct_proxy(MODEL)(context, builder)
    model.block, model.memory = args
    return model._getvalue()


# A call: where everything is that one call of a pass needs, as one array of addresses and sizes.
BLOCK, SCRATCH, ROWS, TARGETS, WEIGHTS, SCORES, SIZE, WIDTH, OUTPUTS = range(9)


@compiled(hot=True)
def unpack(call):
    """The model that is called, with scratch space that belongs to this call alone."""
    return model_at(call[BLOCK], call[SCRATCH])


@compiled(hot=True)
def examples(call):
    """(rows, targets, weights, scores)"""
    n = call[SIZE]
    rows, scores = table(call[ROWS], n, call[WIDTH]), table(call[SCORES], n, call[OUTPUTS])
    return rows, numbers(call[TARGETS], n), numbers(call[WEIGHTS], n), scores

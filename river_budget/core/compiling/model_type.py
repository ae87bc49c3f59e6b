"""numba's types of a model (the addresses of its block and of scratch space, with arrays as attributes) and of tables.

core/block/layout.py says where in the block each array begins.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr, models, register_model

from .array_views import carve, compiled_as, f64, f64_matrix, struct


class ModelType(types.Type):
    """numba's type of a model."""

    def __init__(self) -> None:
        super().__init__(name="Model")


MODEL = ModelType()


# Types for the signatures of shared functions (core/compiling/by_address.py)
NOTHING, WHOLE, REAL = types.none, types.int64, types.float64
NUMBERS, MATRIX = f64.kind, f64_matrix.kind
EXAMPLE = types.Tuple((WHOLE, WHOLE, WHOLE, REAL))  # core/examples/present_features.py
CALL = types.Array(WHOLE, 1, "C")  # core/examples/call.py


@register_model(ModelType)
class _Layout(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("block", types.intp), ("memory", types.intp)])


class _Word:
    """A machine word in generated code; its operators emit instructions, so formulas look like Python."""

    def __init__(self, builder: Any, value: Any):
        self.builder, self.value = builder, value

    def _value(self, other: Any) -> Any:
        return other.value if isinstance(other, _Word) else self.value.type(other)

    def __add__(self, other: Any) -> _Word:
        if isinstance(other, int) and other == 0:
            return self
        return _Word(self.builder, self.builder.add(self.value, self._value(other)))

    def __mul__(self, other: Any) -> _Word:
        if isinstance(other, int) and other == 1:
            return self
        return _Word(self.builder, self.builder.mul(self.value, self._value(other)))

    def __and__(self, other: Any) -> _Word:
        return _Word(self.builder, self.builder.and_(self.value, self._value(other)))

    __radd__, __rmul__ = __add__, __mul__


class _Header:
    """The header of a block in generated code: reading a field as an attribute emits the load, once."""

    def __init__(self, builder: Any, dtype: Any, block: _Word):
        self.builder, self.dtype, self.block = builder, dtype, block

    def __getattr__(self, name: str) -> _Word:
        word = self.block.value.type
        place = self.block + int(self.dtype.fields[name][1])
        pointer = self.builder.inttoptr(place.value, word.as_pointer())
        field = _Word(self.builder, self.builder.load(pointer))
        setattr(self, name, field)
        return field


def register_attributes(header: Any, kinds: dict[str, Any], place_of: Any) -> None:
    """Register the attributes that compiled code may read as `model.name`.

    `place_of(name, block, memory, header)` returns (address, *shape). Python calls this function with numbers.
    Here its arguments are machine words (`_Word`), so that the same formulas generate instructions.
    """

    @infer_getattr
    class Attributes(AttributeTemplate):  # type: ignore[misc]
        key = ModelType

        def generic_resolve(self, model, name):
            return kinds.get(name)

    def give(name: str, kind: Any) -> None:
        @lower_getattr(ModelType, name)
        def generate(context, builder, model_type, value):
            block, memory = (_Word(builder, builder.extract_value(value, i)) for i in range(2))
            found = place_of(name, block, memory, _Header(builder, header, block))
            address, *shape = (
                w.value if isinstance(w, _Word) else context.get_constant(types.intp, w)
                for w in found
            )
            if kind == types.intp:
                return address
            return carve(context, builder, kind, address, shape)

    for name, kind in kinds.items():
        give(name, kind)


def register_constructor(function: Any) -> None:
    """Register function(block, memory), which gives compiled code the model at these two addresses."""

    @compiled_as(function, MODEL, types.Integer, types.Integer)
    def generate(context, builder, signature, args):
        block, memory = args
        return struct(context, builder, MODEL, {"block": block, "memory": memory})


# tables of AutoKernel whose rows, or parts, have names (passes/auto/tables.py)


class Named(types.Type):
    """numba's type of something whose parts have names."""

    def __init__(self, name: str, parts: dict[str, Any]):
        super().__init__(name=f"AutoKernel's {name}")
        self.parts = parts


class Rows(Named):
    """A table whose rows have names: its address and shape."""


class Tables(Named):
    """The room or the desk: the address of its first table, and that of the directory."""


@infer_getattr
class _Parts(AttributeTemplate):  # type: ignore[misc]
    key = Named

    def generic_resolve(self, named, name):
        return named.parts.get(name)


def _register(kind: Any, *words: str) -> None:
    """Tell numba that values of this type consist of these machine words."""

    @register_model(kind)
    class Words(models.StructModel):  # type: ignore[misc]
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, [(word, types.intp) for word in words])


_register(Rows, "address", "rows", "columns")
_register(Tables, "address", "entries")


def rows_at(context: Any, builder: Any, kind: Any, address: Any, rows: Any, columns: Any) -> Any:
    """A value of type Rows: the table at an address."""
    return struct(context, builder, kind, {"address": address, "rows": rows, "columns": columns})


def view(context: Any, builder: Any, kind: Any, table: Any, row: int) -> Any:
    """An array view of one row of a table; for a kind with two dimensions, of this row and all behind it."""
    address, rows, columns = table
    if row > 0:
        size = columns.type(row * kind.dtype.bitwidth // 8)
        address = builder.add(address, builder.mul(columns, size))
        rows = builder.sub(rows, rows.type(row))
    return carve(context, builder, kind, address, [rows, columns][2 - kind.ndim :])


def rows_type(name: str, rows: dict[str, Any]) -> Any:
    """The type of a table whose rows have names; registers how compiled code finds each row by its name."""
    found = Rows(name, {row: kind.kind for row, kind in rows.items()})

    def give(row: str, k: int) -> None:
        @lower_getattr(found, row)
        def generate(context, builder, kind, value):
            place = [builder.extract_value(value, i) for i in range(3)]
            return view(context, builder, kind.parts[row], place, k)

    for k, row in enumerate(rows):
        give(row, k)
    return found

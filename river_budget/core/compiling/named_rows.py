"""Tables whose rows, or parts, have names, as passes/auto/tables.py defines them: for Python, and their numba types."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr, models, register_model

# For Python


def named_rows(rows: dict[str, Any], matrix: Any) -> Any:
    """The rows of a table as attributes, and all of it as `whole`."""
    found = SimpleNamespace(whole=matrix)
    for k, (name, kind) in enumerate(rows.items()):
        setattr(found, name, _part(kind, matrix, k))
    return found


def _part(kind: Any, matrix: Any, row: int) -> Any:
    """A row of a table, or all from there on."""
    shape = (matrix.shape[0] - row, matrix.shape[1])[2 - kind.kind.ndim :]
    return kind.of_array(matrix, 8 * row * matrix.shape[1], shape)


class NamedTables:
    """Tables as attributes, each looked up when it is first named. `matrix_of` finds all numbers of one by its name."""

    def __init__(self, tables: dict[str, Any], matrix_of: Any) -> None:
        self._tables, self._matrix_of = tables, matrix_of

    def __getattr__(self, name: str) -> Any:
        if name not in self._tables:
            raise AttributeError(name)
        (kind, _), matrix = self._tables[name], self._matrix_of(name)
        part = named_rows(kind, matrix) if isinstance(kind, dict) else _part(kind, matrix, 0)
        setattr(self, name, part)
        return part


def named_tables(tables: dict[str, Any], matrix_of: Any) -> NamedTables:
    """The same, all looked up now."""
    found = NamedTables(tables, matrix_of)
    for name in tables:
        getattr(found, name)
    return found


# For compiled code


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


def struct(context: Any, builder: Any, kind: Any, fields: Any) -> Any:
    """Generate a struct with these fields: hundreds are needed, and numba's own helpers generate them more slowly."""
    model = context.data_model_manager[kind]
    value = ir.Constant(model.get_value_type(), ir.Undefined)
    for name, field in fields.items():
        value = builder.insert_value(value, field, model.get_field_position(name))
    return value


def rows_at(context: Any, builder: Any, kind: Any, address: Any, rows: Any, columns: Any) -> Any:
    """A value of type Rows: the table at an address."""
    return struct(context, builder, kind, {"address": address, "rows": rows, "columns": columns})


def view(context: Any, builder: Any, kind: Any, table: Any, row: int) -> Any:
    """An array view of one row of a table; for a kind with two dimensions, of this row and all behind it."""
    address, rows, columns = table
    size, matrix = columns.type(kind.dtype.bitwidth // 8), kind.ndim == 2
    line = builder.mul(columns, size)
    if row > 0:
        address = builder.add(address, builder.mul(line, line.type(row)))
        rows = builder.sub(rows, rows.type(row))
    model = context.data_model_manager[kind]
    data, *owners = (
        context.get_value_type(model.get_member_fe_type(name))
        for name in ("data", "meminfo", "parent")
    )
    fields = {
        "meminfo": owners[0](None),
        "parent": owners[1](None),
        "nitems": builder.mul(rows, columns) if matrix else columns,
        "itemsize": size,
        "data": builder.inttoptr(address, data),
        "shape": cgutils.pack_array(builder, [rows, columns] if matrix else [columns]),
        "strides": cgutils.pack_array(builder, [line, size] if matrix else [size]),
    }
    return struct(context, builder, kind, fields)


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

"""Tables whose rows, or parts, have names, as passes/auto/tables.py defines them, for Python. model_type.py has their
compiled form."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def named_rows(rows: dict[str, Any], matrix: Any) -> Any:
    """The rows of a table as attributes, and all of it as `whole`."""
    found = SimpleNamespace(whole=matrix)
    for k, (name, kind) in enumerate(rows.items()):
        setattr(found, name, _part(kind, matrix, k))
    return found


def _part(kind: Any, matrix: Any, row: int) -> Any:
    """A row of a table, or all from there on."""
    shape = (matrix.shape[0] - row, matrix.shape[1])[2 - kind.kind.ndim :]
    return kind.of_array(matrix, matrix.itemsize * row * matrix.shape[1], shape)


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

"""The base class of the scalers."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

from river import base

from ...core.passes.scaling import learn, scale
from .columns import Columns, Example, copied


class Scaler(base.Transformer):
    """A transformer that keeps three numbers of every feature: its count, and two that depend on the class."""

    initial: ClassVar[tuple[float, float, float]]  # the numbers of a feature before its first value
    scaling: int  # what compiled code does (core/passes/scaling.py)

    def __init__(self) -> None:
        self._columns = Columns(self.initial)

    def as_river(self) -> Any:
        """River's scaler with the same statistics."""
        raise NotImplementedError

    def take_from(self, theirs: Any) -> None:
        """Take over the statistics of River's scaler."""
        raise NotImplementedError

    def learn_one(self, x: Example) -> None:
        """Update the statistics by the values of an example."""
        row = self._columns.run(learn, x, self.scaling)
        row.pool.append(row)

    def transform_one(self, x: Example) -> dict[Any, float]:
        """The example with its values scaled."""
        found = x.copy() if type(x) is dict else copied(x)
        row = self._columns.run(scale, found, self.scaling)
        found.update(zip(row.names, row.values.tolist()))  # noqa: B905  # `strict` takes a fifth of the time
        row.pool.append(row)
        return found

    def table(self) -> list[list[Any]]:
        """[name, count, two other numbers] for every feature."""
        return self._columns.learned()

    def set_table(self, rows: list[list[Any]]) -> None:
        """The inverse of `table`: replaces all statistics."""
        self._columns = Columns(self.initial, rows)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_columns": copy.copy(self._columns)}

"""Attributes of single classes, that are encoded in a way of their own."""

from __future__ import annotations

import math
import numbers
from typing import Any

from ..archive import text_of
from ..errors import SavedModelError, damaged
from .encoding import class_of
from .kinds import (
    ANY,
    COUNT,
    NAME,
    NUMBER,
    WEIGHT,
    Codec,
    ListOf,
    Reading,
    Table,
    TupleOf,
    Writing,
    real,
)

TYPES = {"bool": bool, "float": float, "int": int, "str": str, "numbers.Number": numbers.Number}


class Type(Codec):
    """A type of values, by its name."""

    def encoded(self, value: Any, write: Writing) -> Any:
        for name, kind in TYPES.items():
            if kind is value:
                return name
        raise SavedModelError(f"{value!r} cannot be saved: it must be one of {', '.join(TYPES)}")

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        if not isinstance(node, str) or node not in TYPES:
            raise damaged("it names no type")
        return TYPES[node]


class Categories(Codec):
    """What a OneHotEncoder has seen, (feature, value) in the order of its columns; they are learned
    again.
    """

    rows = ListOf(TupleOf(NAME, NAME), list)

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        if owner.categories is not None:
            return []
        places = {column: place for place, column in enumerate(owner._zero_dict)}
        seen = [(feature, value) for feature, values in owner.values.items() for value in values]
        if missing := [pair for pair in seen if f"{pair[0]}_{pair[1]}" not in places]:
            raise SavedModelError(f"it has no column for {missing[0]!r}")
        rows = self.rows.encoded(seen, write)
        order = [
            (places[f"{feature}_{value}"], text_of(row), row)
            for (feature, value), row in zip(seen, rows, strict=True)
        ]
        return [row for _, _, row in sorted(order)]

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        for feature, value in self.rows.decoded(node, None, read):
            owner.learn_one({feature: value})


class Imputer(Codec):
    """What replaces a missing value: [a constant], or a statistic."""

    def __init__(self, statistic: Codec):
        self.statistic = statistic

    def encoded(self, value: Any, write: Writing) -> Any:
        if type(value).__name__ == "Constant":
            return [ANY.encoded(value.value, write)]
        return self.statistic.encoded(value, write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        if isinstance(node, list):
            return TupleOf(ANY).decoded(node, None, read)[0]
        return self.statistic.decoded(node, None, read)


class Imputers(Table):
    """The features of a StatImputer, each with a statistic that has learned or a constant."""

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        return self.encoded(owner.stats, write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        return super().decoded(node, None, read).items()


class Weights(Table):
    """The weights of a linear model, which River keeps in a dict of its own."""

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        weights = self.decoded(node, None, read)
        setattr(owner, name, class_of("utils.VectorDict")(weights, owner.initializer))


class SortedWindow(Codec):
    """A window that River keeps in order: its numbers as they came."""

    rows = ListOf(real(-math.inf), list)

    def encoded(self, value: Any, write: Writing) -> Any:
        return self.rows.encoded(value.unsorted_window, write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        for number in self.rows.decoded(node, None, read):
            old.append(number)
        return old


class Window(Codec):
    """What a statistic over a window has learned and will forget: one number each."""

    rows = ListOf(NUMBER, list)

    def encoded(self, value: Any, write: Writing) -> Any:
        if any(len(given) != 1 or named for given, named in value):
            raise SavedModelError("windows of more than one number at a time cannot be saved")
        return self.rows.encoded([number for (number,), _ in value], write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        old.extend(((number,), {}) for number in self.rows.decoded(node, None, read))
        return old


class ScalerTable(Codec):
    """The table of one of our scalers."""

    rows = ListOf(TupleOf(NAME, real(0.0, 2.0**53), NUMBER, NUMBER), list)

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        return self.rows.encoded(owner.table(), write)

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        owner.set_table(self.rows.decoded(node, None, read))


class Kept(Codec):
    """The names of a FeatureBudget, in order of arrival."""

    rows = ListOf(TupleOf(NAME, WEIGHT, COUNT), list)

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        return self.rows.encoded(owner.kept(), write)

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        rows = self.rows.decoded(node, None, read)
        arrivals = [arrival for _, _, arrival in rows]
        if len(rows) > owner.max_features or len(set(arrivals)) < len(rows):
            raise damaged("it keeps more names than it may")
        owner.restore(rows, owner._weight)

"""Tables of an algorithm's own by name: rows of `per_vector` and `squares` of a block, which follow
its vectors.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from .memory import Model, views


def rows_and_squares(own: Mapping[str, Any]) -> tuple[int, int]:
    """How many rows of `per_vector` tables of these shapes take, and how many `squares`; "B" stands
    for the capacity.
    """
    rows = squares = 0
    for name, shape in own.items():
        match shape:
            case ("B", "B"):
                squares += 1
            case ("B",):
                rows += 1
            case (int(k), "B") if k > 0:
                rows += k
            case _:
                raise ValueError(
                    f'an own table has the shape ("B",), (k, "B") or ("B", "B"), not {shape!r} of {name!r}'  # noqa: E501
                )
        if "__" in name or name in Model._fields:
            raise ValueError(f"an own table cannot have the name {name!r}")
    return rows, squares


def own_tables(block: Any, own: Mapping[str, Any]) -> Any:
    """The tables of these names and shapes, as a named tuple of arrays: the first rows of
    `per_vector`, and `squares`.

    A block that only predicts may have none: then they are empty.
    """
    tables, found, row, square = views(block), [], 0, 0
    for shape in own.values():
        if not (tables.head.per_vector or tables.head.squares):
            found.append(np.zeros([0] * len(shape)))
        elif shape == ("B", "B"):
            found.append(tables.squares[square])
            square += 1
        elif len(shape) == 1:
            found.append(tables.per_vector[row])
            row += 1
        else:
            found.append(tables.per_vector[row : row + shape[0]])
            row += shape[0]
    return _tuple_of(tuple(own))(*found)


_OWN = "Own__"


@functools.cache
def _tuple_of(names: tuple[str, ...]) -> Any:
    """The class of a named tuple."""
    return collections.namedtuple(_OWN + "__".join(names), names, module=__name__)


def __getattr__(name: str) -> Any:
    """Such a class by its name: numba's cache finds it so in another process."""
    if name.startswith(_OWN):
        return _tuple_of(tuple(name.removeprefix(_OWN).split("__")))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

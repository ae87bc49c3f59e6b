"""Bad cells, which hold no finite number: find them in one example, and leave them out of many or
fill them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from river.utils import dataframe

from ..inputs.batches import Batch
from ..parameters import as_float, is_missing

USUAL_KINDS = frozenset({float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool_})


def are_usual(values: Any) -> bool:
    """Whether these are finite numbers of the usual types; also False if that takes longer to
    know.
    """
    try:
        return USUAL_KINDS.issuperset(map(type, values)) and math.isfinite(math.fsum(values))
    except (OverflowError, ValueError):  # of a large integer or sum, or of two infinities
        return False


def first_bad(x: Any) -> tuple[Any, Any] | None:
    """(feature, value) of the first value that is no finite number, or None."""
    if are_usual(x.values()):
        return None
    return next(((name, value) for name, value in x.items() if as_float(value) is None), None)


def reason_of(value: Any) -> str:
    """What is wrong with a value, in words."""
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, (float, np.floating)) and math.isinf(value):
        return "infinite"
    if is_missing(value):
        return "missing"
    if isinstance(value, (complex, np.complexfloating)):
        return "complex"
    if isinstance(value, int):
        return "too large"
    return "an array" if getattr(value, "ndim", 0) else "no number"


def good_ones(batch: Batch, kept: Any = None) -> Any:
    """These good examples, or all, which are then good, in the user's kind of container, with
    numbers only.
    """
    if kept is None:
        if batch.sparse is not None or (batch.all_numbers and batch.frame is not None):
            return batch.given
        kept = np.arange(len(batch))
    if batch.sparse is not None:
        return chosen(batch.sparse if batch.frame is None else batch.given, kept)
    if batch.frame is None:
        return batch.rows[kept]
    rows = chosen(batch.given, kept)
    if batch.all_numbers:
        return rows
    columns = dict(zip(batch.names, batch.rows[kept].T, strict=True))
    return dataframe.to_native_frame(columns, like=dataframe.into_frame(rows))


def repaired(batch: Batch, known: dict[Any, float]) -> Any:
    """All examples with known values, or NaN, in place of bad ones."""
    numbers = batch.numbers.copy()
    for cell in map(tuple, np.argwhere(~np.isfinite(numbers))):
        column = batch.rows.places[cell] if batch.listed else cell[1]
        numbers[cell] = known.get(batch.names[column], np.nan)
    if not batch.listed:
        columns = dict(zip(batch.names, numbers.T, strict=True))
        return numbers if batch.frame is None else batch.table(columns)
    matrix = batch.sparse
    found = type(matrix)((numbers, matrix.indices, matrix.indptr), shape=matrix.shape)
    if batch.frame is None:
        return found
    return type(batch.given).sparse.from_spmatrix(found, batch.given.index, batch.given.columns)


def chosen(given: Any, kept: Any) -> Any:
    """The rows of a frame or matrix, or the values of a column, at these places."""
    if isinstance(given, (list, tuple)):
        return [given[t] for t in kept.tolist()]
    if hasattr(given, "take") and not isinstance(given, np.ndarray):  # pandas and pyarrow
        return given.take(kept)
    return given[kept]

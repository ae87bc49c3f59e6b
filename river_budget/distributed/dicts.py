"""Examples as River has them: dicts one by one, and as a batch where all have the same features."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from ..inputs.batches import Batch
from ..parameters import NUMBER_KINDS, is_missing, number


def learn_example(model: Any, x: Any, y: Any, *further: Any) -> None:
    """Learn an example of a stream, which may end with a dict of further arguments."""
    targets = (y,) if model._supervised else ()
    model.learn_one(x, *targets, **dict(*further))


def batch_of_dicts(examples: list[dict[Any, Any]], predicted: bool = False) -> Batch | None:
    """A checked batch, in which missing values count as 0 if it is only `predicted`. None if the features differ."""
    if not examples or any(x.keys() != examples[0].keys() for x in examples):
        return None
    names = list(examples[0])
    values: Any = [[x[name] for name in names] for x in examples]
    with contextlib.suppress(ValueError):  # lists of several lengths among the values
        rows = np.array(values)
        if rows.ndim == 2 and rows.dtype.kind in NUMBER_KINDS and np.isfinite(rows).all():
            return Batch.of(names, np.require(rows, np.float64, ["C", "A", "W"]))
    read = _number_or_zero if predicted else number
    values = np.array([list(map(read, names, row)) for row in values], float)
    return Batch.of(names, values)


def _number_or_zero(name: Any, value: Any) -> float:
    return 0.0 if is_missing(value) else number(name, value)

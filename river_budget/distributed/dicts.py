"""Examples as River has them: dicts one by one, and as a batch where all have the same features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.inputs.batches import Batch
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
    values = _matrix(examples)
    if values is None:
        read = _number_or_zero if predicted else number
        values = np.array([[read(name, x[name]) for name in names] for x in examples])
    rows = np.require(values, np.float64, ["C", "A", "W"])
    return Batch.of(names, rows.reshape(len(examples), len(names)))


def _matrix(examples: list[dict[Any, Any]]) -> Any:
    """The values of examples with the same features; None if one of them is no finite number."""
    try:
        values = np.array([[x[name] for name in examples[0]] for x in examples])
    except ValueError:  # lists of several lengths among the values
        return None
    numbers = values.ndim == 2 and values.dtype.kind in NUMBER_KINDS
    return values if numbers and np.isfinite(values).all() else None


def _number_or_zero(name: Any, value: Any) -> float:
    return 0.0 if is_missing(value) else number(name, value)

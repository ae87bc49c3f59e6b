"""Examples as River has them: dicts one by one, and as a batch where all have the same features."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..inputs.batches import Batch
from ..parameters import NUMBER_KINDS


def learn_example(model: Any, x: Any, y: Any, *further: Any) -> None:
    """Learn an example of a stream, which may end with a dict of further arguments."""
    targets = (y,) if model._supervised else ()
    model.learn_one(x, *targets, **dict(*further))


def batch_of_dicts(examples: list[dict[Any, Any]], predicted: bool = False) -> Batch | None:
    """A checked batch, in which missing values count as 0 if it is only `predicted`. None if the
    features differ.
    """
    if not examples or any(x.keys() != examples[0].keys() for x in examples):
        return None
    names = list(examples[0])
    rows = [[x[name] for name in names] for x in examples]
    try:
        cells = np.array(rows)
    except ValueError:  # lists of several lengths among the values
        cells = np.array(None)
    if cells.ndim != 2 or cells.dtype.kind not in NUMBER_KINDS:
        cells = np.fromiter(itertools.chain.from_iterable(rows), object)
    batch = Batch(cells.reshape(len(rows), len(names)))
    batch.names = names
    return batch.checked(predicted)

"""What one call of a compiled pass needs, in one place.

Each array that numba receives from Python costs as much as forty support vectors. So a pass receives one:
addresses and sizes of all the others (core/model.py). Whoever calls keeps them alive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import layout as blocks

NONE: Any = np.empty(0)
NO_ROWS: Any = np.empty((0, 0))


class Call:
    """The arrays of one call, which are C-contiguous, and where they are."""

    __slots__ = ("addresses", "arrays")

    def __init__(
        self,
        block: Any,
        rows: Any = NO_ROWS,
        targets: Any = NONE,
        weights: Any = NONE,
        scores: Any = NO_ROWS,
    ):
        scratch = blocks.scratch_for(block)
        self.arrays = (block, scratch, rows, targets, weights, scores)
        sizes = (len(rows), rows.shape[1], scores.shape[1])
        self.addresses = np.array([*(array.ctypes.data for array in self.arrays), *sizes])

    def run(self, compiled: Any) -> int:
        """Make the call. The arrays are alive until it is over."""
        done: int = compiled(self.addresses)
        return done


def _one(*shape: int) -> tuple[Any, Any]:
    """An array of float64, and a view of its memory as a sequence of numbers."""
    array: Any = np.zeros(shape)
    return array, memoryview(array.reshape(-1))


class PreparedRow(Call):
    """The call for one example: made once, used again.

    Single numbers go in and out through memoryviews, which is twice as fast as through arrays.
    """

    __slots__ = ("pass_holder", "scores", "target", "values", "weight")

    def __init__(self, pass_holder: Any, block: Any, n_features: int, n_outputs: int):
        self.pass_holder = pass_holder
        rows, self.values = _one(1, n_features)
        targets, self.target = _one(1)
        weights, self.weight = _one(1)
        scores, self.scores = _one(1, n_outputs)
        super().__init__(block, rows, targets, weights, scores)


class FreeRows(list[PreparedRow]):
    """The seats that are free. A copy of a model makes its own."""

    def __deepcopy__(self, memo: Any) -> FreeRows:
        return FreeRows()

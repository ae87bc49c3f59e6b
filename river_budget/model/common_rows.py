"""Calls for one example that small models have in common.

A model that learns one by one needs a call of its passes: a row, scratch space and places for what comes and goes, five
times as much memory as a small model itself has. The short way (core/single.py) holds Python's lock from beginning to
end, so models of about the same size take turns with one such call, and none holds one of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import blocks
from ..core.calls import BLOCK
from .calls import Desk, address_of, addresses_of_call, scratch_and_function

LARGE = 2**19  # bytes of a block, from which on a pass takes longer than other threads should wait
# There is one for every power of two, and it stays: so they are small.
MOST_FEATURES, MOST_OUTPUTS, MOST_SCRATCH = 2**12, 16, 2**19


class CommonRow:
    """A call of a pass for one example. Which model it is for is written into it each time (core/single.py)."""

    __slots__ = ("addresses", "arrays", "busy", "desk")

    def __init__(self, features: int, outputs: int, scratch: int):
        self.desk = Desk(features + 1, 1)
        row, target, weight, scores = (np.zeros(n) for n in (features, 1, 1, outputs))
        space = blocks.zeros(scratch)
        self.arrays = (space, row, target, weight, scores)
        self.addresses = addresses_of_call(
            *(0, *map(address_of, self.arrays), 1, features, outputs, 0, 0, 0),
            *self.desk.addresses,
        )
        self.busy: Any = np.zeros(1, np.int64)  # a model is about to use it

    def forget(self) -> None:
        """The next call is for another model, even if it has the same place in memory."""
        self.addresses[BLOCK] = 0


_rows: dict[tuple[int, int, int], CommonRow] = {}


def common_row(block: Any, features: int, outputs: int) -> CommonRow | None:
    """The one for such a model; None if it needs its own."""
    scratch, function = scratch_and_function(block)
    if function or len(block) >= LARGE:  # others go on while it learns
        return None
    if features > MOST_FEATURES or outputs > MOST_OUTPUTS or scratch > MOST_SCRATCH:
        return None
    size = _room_for(features), outputs, _room_for(scratch)
    found = _rows.get(size)
    if found is None:
        found = _rows.setdefault(size, CommonRow(*size))
    found.forget()
    return found


def _room_for(n: int) -> int:
    """A power of two."""
    return 1 << max(n - 1, 7).bit_length()

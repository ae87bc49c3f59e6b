"""Argmin over merge partners: a number holds its own index in its lowest bits."""

from __future__ import annotations

import numpy as np

from ..compiling.array_views import as_i64
from ..compiling.jit import compiled

LAST_ARRIVAL = 2**63 - 1  # larger than every tag


@compiled
def tag_with_index(losses, n):
    """Write the index of each of n numbers >= 0 into its lowest bits: then a minimum over integers gives the argmin.

    Modifies `losses` in place. Costs log2(n) of 52 bits of precision (`python tests/support/tricks.py tags`).
    """
    bits, places = as_i64(losses), index_mask(n)
    for j in range(n):
        bits[j] = (bits[j] & ~places) | j


@compiled
def least_tagged(losses, n):
    """The index of the least of n numbers tagged by `tag_with_index`."""
    bits, least = as_i64(losses), LAST_ARRIVAL
    for j in range(n):
        least = min(least, bits[j])
    return least & index_mask(n)


@compiled(always_inlined=True)
def index_mask(n):
    """A mask of the low bits that an index below n takes."""
    places = np.int64(1)
    while places < n:
        places *= 2
    return places - 1

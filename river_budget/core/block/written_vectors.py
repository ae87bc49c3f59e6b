"""Record which vectors were written since products with the next examples were computed.

core/expansion/scoring.py computes the products of these vectors again.
"""

from __future__ import annotations

from ..compiling.jit import compiled
from ..simd.vector_ops import LANES
from .layout import CHANGES

# Fields of `model.coming`. Products are known for the examples from FIRST to UNTIL; the features of
# examples are gathered up to LISTED_UNTIL; before example NOT_BEFORE no products are computed ahead;
# N_CHANGES vectors were written.
FIRST, UNTIL, LISTED_UNTIL, NOT_BEFORE, N_CHANGES = range(5)


@compiled(always_inlined=True)
def begin_call(model, n):
    """Begin a call with n examples, for which no products are known yet. Overwrites model.coming."""
    coming = model.coming
    coming[UNTIL], coming[LISTED_UNTIL], coming[NOT_BEFORE], coming[N_CHANGES] = 0, n, 0, 0


@compiled(always_inlined=True)
def record_write(model, j):
    """Record that vector j was written; its group of eight goes to the ring buffer model.changes.

    If the counter exceeds CHANGES, entries of the buffer were overwritten: all products are computed again.
    """
    changed = model.coming[N_CHANGES]
    model.changes[changed & (CHANGES - 1)] = j // LANES
    model.coming[N_CHANGES] = changed + 1

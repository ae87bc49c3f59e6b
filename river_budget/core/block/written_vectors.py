"""Which vectors have been written since products with examples to come were computed (core/expansion/products_ahead.py)."""

from __future__ import annotations

from ..compiling.jit import compiled
from ..simd.registers import LANES
from .layout import CHANGES

# What `model.coming` holds: the first of the examples whose products are known, and the one behind the last; the one
# behind the last that is listed; the first that may be next; how many changes are noted.
FIRST, UNTIL, LISTED_UNTIL, NOT_BEFORE, N_CHANGES = range(5)


@compiled(always_inlined=True)
def begin(model, n):
    """A call with n examples begins: no products are known."""
    coming = model.coming
    coming[UNTIL], coming[LISTED_UNTIL], coming[NOT_BEFORE], coming[N_CHANGES] = 0, n, 0, 0


@compiled(always_inlined=True)
def note_change(model, j):
    """Vector j is written. What finds no room is counted."""
    changed = model.coming[N_CHANGES]
    model.changes[changed & (CHANGES - 1)] = j // LANES
    model.coming[N_CHANGES] = changed + 1

"""The newcomer: the example that a round has just added, as strategies see it. One value: (place, is_written, x).

place        its slot, the last one; NO_VECTOR where there is no newcomer, as when a budget is made smaller
is_written   whether its vector is stored in that slot already. A removal or a merger may not need it there
x            the example itself

While there is one, model.row holds its kernel values with all other vectors, and model.logs, for a Gaussian kernel, their
logarithms: nobody has overwritten them since the pass computed them.
"""

from __future__ import annotations

import numpy as np

from ..compiling.jit import compiled
from ..examples.present_features import NO_VECTOR, empty_example
from ..expansion.kernel_rows import row_of_vector, self_kernel
from ..expansion.support import remove, write_into_freed_slot
from ..vectors.stored import write_vector

YES, NO = np.int64(1), np.int64(0)


@compiled(always_inlined=True)
def no_newcomer(model):
    """No newcomer: all vectors have been stored in earlier rounds."""
    return NO_VECTOR, YES, empty_example(model)


@compiled(always_inlined=True)
def unwritten_place(newcomer):
    """The slot that waits for its vector, or NO_VECTOR."""
    return newcomer[0] if newcomer[1] == NO else NO_VECTOR


@compiled
def row_of_newest(model, newcomer):
    """The kernel values of the newest vector with all vectors, itself included, in model.row. Returns its place.

    For strategies that compare it with the others. Overwrites model.row and model.logs only if there is no newcomer.
    """
    newest = newcomer[0]
    if newest == NO_VECTOR:
        newest = np.int64(0)
        for j in range(1, model.head.count):
            newest = j if model.arrivals[j] > model.arrivals[newest] else newest
        row_of_vector(model, newest)
    model.row[newest] = self_kernel(model, model.norms[newest])
    return newest


@compiled(always_inlined=True)
def remove_with_newcomer(model, p, unwritten, x):
    """Remove vector p: the last one moves into its slot, or x is written there if `unwritten` is a slot that waits for it."""
    if unwritten != NO_VECTOR:
        write_into_freed_slot(model, x, p)
    else:
        remove(model, p)


@compiled(always_inlined=True)
def write_newcomer(model, newcomer):
    """Write its vector into its slot, if that waits for it."""
    if newcomer[1] == NO:
        write_vector(model, newcomer[0], newcomer[2])

"""The newcomer: the example that a round has just added, as one tuple (slot, is_written, x).

slot         its slot, the last one; NO_VECTOR if there is no newcomer, as when a user makes the budget smaller
is_written   whether its vector is already stored in that slot; a removal and a merge of two do not need this
x            the example itself

If there is one, model.row holds its kernel values with all other vectors and model.logs, for a Gaussian kernel,
their logarithms, as the pass has computed them.
"""

from __future__ import annotations

import numpy as np

from ..compiling.jit import compiled
from ..examples.present_features import NO_VECTOR, ZERO, present
from ..expansion.kernel_rows import row_of_vector, self_kernel
from ..expansion.support import remove, write_into_freed_slot

YES, NO = np.int64(1), np.int64(0)


@compiled(always_inlined=True)
def no_newcomer(model):
    """The tuple for no newcomer: all vectors are from earlier rounds."""
    return NO_VECTOR, YES, present(model.nonzero, model.x, ZERO)


@compiled(always_inlined=True)
def unwritten_place(newcomer):
    """The newcomer's slot if its vector is not written yet, else NO_VECTOR."""
    slot, is_written, _ = newcomer
    return slot if is_written == NO else NO_VECTOR


@compiled
def row_of_newest(model, newcomer):
    """Write the kernel values of the newest vector with all vectors, itself included, to model.row. Returns its slot.

    For strategies that compare the newest vector with the others. Overwrites model.logs only if there is no newcomer.
    """
    newest, _, _ = newcomer
    if newest == NO_VECTOR:
        newest = np.int64(0)
        for j in range(1, model.head.count):
            newest = j if model.arrivals[j] > model.arrivals[newest] else newest
        row_of_vector(model, newest)
    model.row[newest] = self_kernel(model, model.norms[newest])
    return newest


@compiled(always_inlined=True)
def remove_with_newcomer(model, p, newcomer):
    """Remove vector p. Its slot takes the last vector, or the newcomer if that is not written yet."""
    _, is_written, x = newcomer
    if is_written == NO:
        write_into_freed_slot(model, x, p)
    else:
        remove(model, p)

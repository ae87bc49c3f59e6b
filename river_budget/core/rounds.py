"""What every round begins with."""

from __future__ import annotations

from .jit import compiled
from .rows import HUGE, is_finite, norm_of, score
from .support import has_room

REFUSED = -1.0


@compiled(hot=True)
def observe(model, x, f):
    """The kernel row of x in model.row and its scores in f.

    Returns the norm of x, or REFUSED: then x is not finite, or a model without a budget needs a larger
    block before it can learn x.
    """
    norm = norm_of(model, x)
    if not ((norm < HUGE or is_finite(x)) and has_room(model)):
        return REFUSED
    score(model, x, norm, f)
    return norm

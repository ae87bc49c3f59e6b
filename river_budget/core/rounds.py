"""What every round begins with."""

from __future__ import annotations

from .calls import example
from .jit import compiled
from .rows import norm_of, score, usable
from .support import has_room

REFUSED = -1.0


@compiled(always_inlined=True)
def observe(model, stream, t):
    """(x, f, y, w, norm): example t with its target and its weight. Its kernel row goes to model.row, and
    its scores to f.

    norm is REFUSED where x is not finite, or where a model without a budget needs a larger block before it
    can learn x. Then the pass returns t.
    """
    x, f, y, w = example(stream, t)
    norm = norm_of(model, x)
    if not (usable(x, norm) and has_room(model)):
        return x, f, y, w, REFUSED
    score(model, x, norm, f)
    return x, f, y, w, norm

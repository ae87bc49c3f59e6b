"""From products with many vectors to Gaussian kernel values, in one sweep over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from .exponential import exp_of_eight
from .lanes import array_of, eight, in_all, in_turns, put_eight, same
from .numba_types import compiled_as
from .registers import LANES, WORD

TURNS = 2  # an exponential has to wait for itself, and lets another one go on


def gaussians(
    products: Any, row: Any, logs: Any, norms: Any, norm: float, gamma: float, n: int
) -> None:
    """row[j] = exp(logs[j]), logs[j] = -gamma |vector j - x|^2, from the products <vector j, x>, which may be in the row,
    for j < n, a multiple of LANES. A rounding error below 0 counts as 0, and what has overflowed is infinitely far."""
    distances = norms[:n] + norm - 2.0 * products[:n]
    logs[:n] = -gamma * np.where(distances < 0.0, 0.0, distances)
    row[:n] = np.exp(np.where(np.isnan(logs[:n]), -np.inf, logs[:n]))


@compiled_as(
    gaussians,
    types.none,
    types.Array,
    types.Array,
    types.Array,
    types.Array,
    types.Float,
    types.Float,
    types.Integer,
)
def _gaussians(context, builder, signature, args):
    (products, _), (row, _), (logs, _), (norms, _) = (
        array_of(context, builder, signature, args, i) for i in range(4)
    )
    norm, factor = in_all(builder, args[4]), in_all(builder, builder.fneg(args[5]))
    n = context.cast(builder, args[6], signature.args[6], types.intp)

    def write(_: int, start: Any) -> None:
        product = eight(builder, products, start)
        both = builder.fadd(eight(builder, norms, start), norm)
        distance = builder.fsub(both, builder.fadd(product, product))
        below = builder.fcmp_ordered("<", distance, same(0.0))
        log = builder.fmul(builder.select(below, same(0.0), distance), factor)
        put_eight(builder, log, logs, start)
        put_eight(builder, exp_of_eight(builder, log), row, start)

    in_turns(builder, builder.sdiv(n, ir.Constant(WORD, LANES)), TURNS, write)
    return context.get_dummy_value()

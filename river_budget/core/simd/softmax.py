"""Softmax, eight classes at a time, with the same order of summation on every processor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import cgutils, types

from ..compiling.array_views import compiled_as
from .exponential import exp_of_eight
from .vector_ops import (
    VECTOR,
    array_of,
    for_eights,
    in_all,
    lanes_of,
    load_eight,
    same,
    store_eight,
    sum_of,
)

NO_SHARE = same(-np.inf)


def softmax(scores: Any, shares: Any) -> None:
    """shares[c] = exp(scores[c]) / sum_k exp(scores[k]). Modifies `shares` in place."""
    powers = np.exp(scores - scores.max())
    shares[:] = powers / powers.sum()


@compiled_as(softmax, types.none, types.Array, types.Array)
def _softmax(context, builder, signature, args):
    (scores, n), (shares, _) = (array_of(context, builder, signature, args, i) for i in (0, 1))
    highest, total = cgutils.alloca_once(builder, VECTOR), cgutils.alloca_once(builder, VECTOR)
    builder.store(NO_SHARE, highest)
    builder.store(same(0.0), total)

    def raise_highest(start: Any, mask: Any) -> None:
        found, before = _load_masked(builder, scores, start, mask), builder.load(highest)
        larger = builder.fcmp_ordered(">", found, before)
        builder.store(builder.select(larger, found, before), highest)

    for_eights(builder, n, raise_highest)
    top = in_all(builder, _largest(builder, builder.load(highest)))

    def write_powers(start: Any, mask: Any) -> None:
        power = exp_of_eight(builder, builder.fsub(_load_masked(builder, scores, start, mask), top))
        store_eight(builder, power, shares, start, mask)
        builder.store(builder.fadd(builder.load(total), power), total)

    for_eights(builder, n, write_powers)
    whole = in_all(builder, sum_of(builder, builder.load(total)))

    def divide(start: Any, mask: Any) -> None:
        share = builder.fdiv(load_eight(builder, shares, start, mask), whole)
        store_eight(builder, share, shares, start, mask)

    for_eights(builder, n, divide)
    return context.get_dummy_value()


def _load_masked(builder: Any, numbers: Any, start: Any, mask: Any) -> Any:
    """Load eight numbers, with -inf, whose exponential is 0, in the masked lanes."""
    found = load_eight(builder, numbers, start, mask)
    return found if mask is None else builder.select(mask, found, NO_SHARE)


def _largest(builder: Any, vector: Any) -> Any:
    """The largest of the lanes."""
    first, *others = lanes_of(builder, vector)
    for other in others:
        first = builder.select(builder.fcmp_ordered(">", other, first), other, first)
    return first

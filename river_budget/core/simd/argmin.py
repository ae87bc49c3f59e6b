"""Argmin over support vectors, eight at a time: find the oldest one, or the oldest of those with the least weight.

LLVM does not vectorise a plain loop for an argmin, and its scalar tail is slow. Here eight entries are
compared per instruction. Arrays are padded to whole groups of eight; a mask excludes the entries behind the
first n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from ..compiling.array_views import as_i64
from ..compiling.jit import compiled
from .vector_ops import (
    LANES,
    PLACES,
    WORD,
    generated,
    in_all,
    integer_in_all,
    load_eight,
    load_eight_integers,
    mask_of_first,
    same,
    with_accumulators,
)

ACCUMULATORS = 2
LAST_ARRIVAL = 2**63 - 1  # larger than every arrival number


def oldest_of(arrivals: Any, n: int) -> int:
    """The index of the smallest of the first n arrival numbers."""
    return int(np.argmin(arrivals[:n]))


@generated(oldest_of, types.int64, types.Array, types.Integer)
def _oldest_of(builder, arrivals, n):
    return _index_of_oldest(builder, arrivals[0], n, lambda start: _in_range(builder, start, n))


def oldest_of_least(values: Any, n: int, tie: float, arrivals: Any) -> int:
    """The index of the oldest of the first n vectors whose value is at most `tie` times the least; ignores NaN."""
    limit = tie * np.fmin.reduce(values[:n], initial=math.inf)
    return int(np.argmin(np.where(values[:n] <= limit, arrivals[:n], LAST_ARRIVAL)))


@generated(oldest_of_least, types.int64, types.Array, types.Integer, types.Float, types.Array)
def _oldest_of_least(builder, values, n, tie, arrivals):
    (values, _), (arrivals, _) = values, arrivals
    limit = builder.fmul(in_all(builder, tie), _least(builder, values, n))

    def are_light(start: Any) -> Any:
        light = builder.fcmp_ordered("<=", load_eight(builder, values, start), limit)
        return builder.and_(light, _in_range(builder, start, n))

    return _index_of_oldest(builder, arrivals, n, are_light)


def _least(builder: Any, values: Any, n: Any) -> Any:
    """The least of n numbers, in every lane; infinity if there is none."""
    accumulators = [cgutils.alloca_once_value(builder, same(math.inf)) for _ in range(ACCUMULATORS)]

    def lesser(some: Any, others: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", some, others), some, others)

    def update(accumulator: int, start: Any) -> None:
        there = _in_range(builder, start, n)
        some = builder.select(there, load_eight(builder, values, start), same(math.inf))
        builder.store(
            lesser(some, builder.load(accumulators[accumulator])), accumulators[accumulator]
        )

    with_accumulators(builder, _groups(builder, n), ACCUMULATORS, update)
    least = lesser(*map(builder.load, accumulators))
    for lanes in (4, 2, 1):
        least = lesser(_rotated(builder, least, lanes), least)
    return least


def _index_of_oldest(builder: Any, arrivals: Any, n: Any, flags: Callable[[Any], Any]) -> Any:
    """The index of the least arrival number among the first n entries that flags(start), a mask of eight, allows."""
    firsts = [
        cgutils.alloca_once_value(builder, integer_in_all(builder, LAST_ARRIVAL))
        for _ in range(ACCUMULATORS)
    ]
    places = [
        cgutils.alloca_once_value(builder, integer_in_all(builder, 0)) for _ in range(ACCUMULATORS)
    ]

    def earlier(one: Any, other: Any, chosen: Any = None) -> tuple[Any, Any]:
        """In each lane, the pair (arrival, index) with the smaller arrival; `one` only where chosen."""
        before = builder.icmp_signed("<", one[0], other[0])
        before = before if chosen is None else builder.and_(before, chosen)
        return builder.select(before, one[0], other[0]), builder.select(before, one[1], other[1])

    def update(accumulator: int, start: Any) -> None:
        eight = builder.add(integer_in_all(builder, start), ir.Constant(PLACES, list(range(LANES))))
        found = load_eight_integers(builder, arrivals, start), eight
        known = builder.load(firsts[accumulator]), builder.load(places[accumulator])
        first, place = earlier(found, known, flags(start))
        builder.store(first, firsts[accumulator])
        builder.store(place, places[accumulator])

    with_accumulators(builder, _groups(builder, n), ACCUMULATORS, update)
    accumulators = zip(map(builder.load, firsts), map(builder.load, places), strict=True)
    best = earlier(*accumulators)
    for lanes in (4, 2, 1):
        best = earlier(tuple(_rotated(builder, part, lanes) for part in best), best)
    return builder.extract_element(best[1], ir.Constant(WORD, 0))


def _rotated(builder: Any, vector: Any, lanes: int) -> Any:
    """Rotate the lanes."""
    order = [(i + lanes) % LANES for i in range(LANES)]
    chosen = ir.Constant(ir.VectorType(ir.IntType(32), LANES), order)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), chosen)


def _groups(builder: Any, n: Any) -> Any:
    """The number of groups of eight for n entries; the last group may be partial."""
    return builder.sdiv(builder.add(n, ir.Constant(WORD, LANES - 1)), ir.Constant(WORD, LANES))


def _in_range(builder: Any, start: Any, n: Any) -> Any:
    """For eight consecutive indexes, the mask of those below n."""
    return mask_of_first(builder, builder.sub(n, start))


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

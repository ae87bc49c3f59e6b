"""Many rows at once: what models of many classes spend most of their time on.

`add_rows` and `add_to_rows` are for tables with a column per class, which may have more behind them. Eight columns at a
time are kept in registers while the rows pass by; the last ones, fewer than eight, are read and written alone. `dots`
is for tables with a row per class. What is added to what, and in which order, is the same on every processor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from .jit import compiled
from .lanes import (
    LANES,
    VECTOR,
    WORD,
    ZEROS,
    dot,
    eight,
    first_lanes,
    fused,
    in_all,
    put_eight,
    sum_of,
)
from .numba_types import compiled_as

TOGETHER = 4  # rows
BLOCK = 4  # vectors of columns


def add_rows(table: Any, places: Any, n: int, sums: Any) -> None:
    """sums[c] = sum_j table[places[j], c] for j < n"""
    sums[:] = table[places[:n], : len(sums)].sum(axis=0)


@compiled_as(add_rows, types.none, types.Array, types.Array, types.Integer, types.Array)
def _add_rows(context, builder, signature, args):
    (table, width), (places, _), (sums, columns) = (
        _array(context, builder, signature, args, i) for i in (0, 1, 3)
    )
    n = context.cast(builder, args[2], signature.args[2], types.intp)

    def add(starts: Any, masks: Any) -> None:
        totals = [cgutils.alloca_once(builder, VECTOR) for _ in starts]
        for total in totals:
            builder.store(ZEROS, total)
        with cgutils.for_range(builder, n) as loop:
            row = _place(builder, places, loop.index, width)
            for total, start, mask in zip(totals, starts, masks, strict=True):
                some = eight(builder, table, builder.add(row, start), mask)
                builder.store(builder.fadd(builder.load(total), some), total)
        for total, start, mask in zip(totals, starts, masks, strict=True):
            put_eight(builder, builder.load(total), sums, start, mask)

    _for_blocks(builder, columns, add)
    return context.get_dummy_value()


def add_to_rows(table: Any, places: Any, n: int, factors: Any, numbers: Any) -> None:
    """table[places[j], c] += factors[j] numbers[c] for j < n, where all places differ"""
    table[places[:n], : len(numbers)] += factors[:n, None] * numbers


@compiled_as(
    add_to_rows, types.none, types.Array, types.Array, types.Integer, types.Array, types.Array
)
def _add_to_rows(context, builder, signature, args):
    (table, width), (places, _), (factors, _), (numbers, columns) = (
        _array(context, builder, signature, args, i) for i in (0, 1, 3, 4)
    )
    n = context.cast(builder, args[2], signature.args[2], types.intp)

    def add(starts: Any, masks: Any) -> None:
        added = [eight(builder, numbers, *some) for some in zip(starts, masks, strict=True)]
        with cgutils.for_range(builder, n) as loop:
            row = _place(builder, places, loop.index, width)
            factor = in_all(builder, builder.load(builder.gep(factors, [loop.index])))
            for start, mask, number in zip(starts, masks, added, strict=True):
                place = builder.add(row, start)
                total = fused(builder, factor, number, eight(builder, table, place, mask))
                put_eight(builder, total, table, place, mask)

    _for_blocks(builder, columns, add)
    return context.get_dummy_value()


def dots(numbers: Any, table: Any, first: int, step: int, results: Any) -> None:
    """results[c] = sum_j numbers[j] table[first + c step, j] for all numbers, a multiple of LANES, and for the first
    results, a multiple of TOGETHER: rows that pass by together wait for memory together."""
    n, rows = len(numbers), len(results) // TOGETHER * TOGETHER
    results[:rows] = table[first : first + rows * step : step, :n] @ numbers


@compiled_as(dots, types.none, types.Array, types.Array, types.Integer, types.Integer, types.Array)
def _dots(context, builder, signature, args):
    (numbers, n), (table, width), (results, rows) = (
        _array(context, builder, signature, args, i) for i in (0, 1, 4)
    )
    first, step = (context.cast(builder, args[i], signature.args[i], types.intp) for i in (2, 3))
    together = ir.Constant(WORD, TOGETHER)
    with cgutils.for_range(builder, builder.sdiv(rows, together)) as fours:
        c = [
            builder.add(builder.mul(fours.index, together), ir.Constant(WORD, k))
            for k in range(TOGETHER)
        ]
        starts = [builder.mul(builder.add(first, builder.mul(k, step)), width) for k in c]
        totals = [cgutils.alloca_once(builder, VECTOR) for _ in c]
        for total in totals:
            builder.store(ZEROS, total)
        with cgutils.for_range(builder, builder.sdiv(n, ir.Constant(WORD, LANES))) as loop:
            at = builder.mul(loop.index, ir.Constant(WORD, LANES))
            own = eight(builder, numbers, at)
            for total, start in zip(totals, starts, strict=True):
                row = eight(builder, table, builder.add(start, at))
                builder.store(fused(builder, own, row, builder.load(total)), total)
        for total, k in zip(totals, c, strict=True):
            builder.store(sum_of(builder, builder.load(total)), builder.gep(results, [k]))
    return context.get_dummy_value()


@compiled(always_inlined=True)
def all_dots(numbers, table, first, step, results):
    """The same for all results."""
    if results.shape[0] == 1:
        results[0] = dot(numbers, table[first], numbers.shape[0])
        return
    dots(numbers, table, first, step, results)
    for c in range(results.shape[0] // TOGETHER * TOGETHER, results.shape[0]):
        results[c] = dot(numbers, table[first + c * step], numbers.shape[0])


def _array(context: Any, builder: Any, signature: Any, args: Any, i: int) -> Any:
    """(its numbers, how many there are along its last axis)"""
    array = arrayobj.make_array(signature.args[i])(context, builder, args[i])
    return array.data, cgutils.unpack_tuple(builder, array.shape)[-1]


def _place(builder: Any, places: Any, j: Any, width: Any) -> Any:
    """Where the j-th row begins."""
    return builder.mul(builder.load(builder.gep(places, [j])), width)


def _for_blocks(builder: Any, columns: Any, body: Callable[[Any, Any], None]) -> None:
    """body(starts, masks) for whole blocks of BLOCK vectors of columns, and then for as many as are left."""
    block = ir.Constant(WORD, LANES * BLOCK)
    whole = builder.sdiv(columns, block)
    with cgutils.for_range(builder, whole) as loop:
        body(_starts(builder, builder.mul(loop.index, block), BLOCK), [None] * BLOCK)
    start = builder.mul(whole, block)
    left = builder.sub(columns, start)
    for number in range(1, BLOCK + 1):
        more = builder.icmp_signed(">", left, ir.Constant(WORD, LANES * (number - 1)))
        enough = builder.icmp_signed("<=", left, ir.Constant(WORD, LANES * number))
        with builder.if_then(builder.and_(more, enough)):
            starts = _starts(builder, start, number)
            body(
                starts,
                [None] * (number - 1) + [first_lanes(builder, builder.sub(columns, starts[-1]))],
            )


def _starts(builder: Any, first: Any, number: int) -> list[Any]:
    return [builder.add(first, ir.Constant(WORD, LANES * k)) for k in range(number)]

"""Sums over rows of a table, on which models with many classes spend most of their time.

`add_rows` and `add_to_rows` are for tables with a column per class, with or without further columns
behind these. Eight columns at a time stay in registers during the loop over rows; the last columns, fewer than
eight, have a mask. `dots` is for tables with a row per class. The order of summation is the same on every
processor.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from ..compiling.array_views import compiled_as
from ..compiling.jit import compiled
from .registers import LANES, WORD, Kind
from .vector_ops import (
    ACCUMULATORS,
    VECTOR,
    ZEROS,
    array_of,
    dot,
    for_eights,
    fused,
    in_all,
    load_eight,
    store_eight,
    sum_of,
)

_HALF_SIZE = Kind(ir.FloatType(), "f32", LANES)
ROWS_TOGETHER = 4  # rows that `dots` reads at the same time


def add_rows(table: Any, places: Any, n: int, sums: Any) -> None:
    """sums[c] = sum_j table[places[j], c] for j < n, a multiple of ACCUMULATORS. Modifies `sums` in place."""
    sums[:] = table[places[:n], : len(sums)].sum(axis=0)


@compiled_as(add_rows, types.none, types.Array, types.Array, types.Integer, types.Array)
def _add_rows(context, builder, signature, args):
    (table, width), (places, _), (sums, columns) = (
        array_of(context, builder, signature, args, i) for i in (0, 1, 3)
    )
    n = context.cast(builder, args[2], signature.args[2], types.intp)
    rounds = builder.sdiv(n, ir.Constant(WORD, ACCUMULATORS))

    def add(start: Any, mask: Any) -> None:
        accumulators = [cgutils.alloca_once(builder, VECTOR) for _ in range(ACCUMULATORS)]
        for accumulator in accumulators:
            builder.store(ZEROS, accumulator)
        with cgutils.for_range(builder, rounds) as loop:
            first = builder.mul(loop.index, ir.Constant(WORD, ACCUMULATORS))
            for k, accumulator in enumerate(accumulators):
                j = builder.add(first, ir.Constant(WORD, k))
                row = load_eight(builder, table, _place(builder, places, j, width, start), mask)
                builder.store(builder.fadd(builder.load(accumulator), row), accumulator)
        one, two, three, four = (builder.load(accumulator) for accumulator in accumulators)
        total = builder.fadd(builder.fadd(one, two), builder.fadd(three, four))
        store_eight(builder, total, sums, start, mask)

    for_eights(builder, columns, add)
    return context.get_dummy_value()


def add_to_rows(table: Any, places: Any, n: int, factors: Any, numbers: Any) -> None:
    """table[places[j], c] += factors[j] numbers[c] for j < n, where all places differ.

    Modifies `table` in place.
    """
    table[places[:n], : len(numbers)] += factors[:n, None] * numbers


@compiled_as(
    add_to_rows, types.none, types.Array, types.Array, types.Integer, types.Array, types.Array
)
def _add_to_rows(context, builder, signature, args):
    (table, width), (places, _), (factors, _), (numbers, columns) = (
        array_of(context, builder, signature, args, i) for i in (0, 1, 3, 4)
    )
    n = context.cast(builder, args[2], signature.args[2], types.intp)

    def add(start: Any, mask: Any) -> None:
        added = load_eight(builder, numbers, start, mask)
        with cgutils.for_range(builder, n) as loop:
            place = _place(builder, places, loop.index, width, start)
            factor = in_all(builder, builder.load(builder.gep(factors, [loop.index])))
            row = fused(builder, factor, added, load_eight(builder, table, place, mask))
            store_eight(builder, row, table, place, mask)

    for_eights(builder, columns, add)
    return context.get_dummy_value()


def row_distances(
    table: Any, places: Any, n: int, numbers: Any, weights: Any, columns: int, sums: Any
) -> None:
    """sums[j] = sum_c weights[c] (table[places[j], c] - numbers[c])^2 for j < n and c < columns.

    The table is of float32, with rows of whole eights, whose last numbers are 0. Modifies `sums` in place.
    """
    apart = table[places[:n], :columns] - numbers[:columns]
    sums[:n] = apart * apart @ weights[:columns]


@compiled_as(
    row_distances,
    *(types.none, types.Array, types.Array, types.Integer),
    *(types.Array, types.Array, types.Integer, types.Array),
)
def _row_distances(context, builder, signature, args):
    (table, width), (places, _), (numbers, _), (weights, _), (sums, _) = (
        array_of(context, builder, signature, args, i) for i in (0, 1, 3, 4, 6)
    )
    n, columns = (context.cast(builder, args[i], signature.args[i], types.intp) for i in (2, 5))
    total = cgutils.alloca_once(builder, VECTOR)
    with cgutils.for_range(builder, n) as loop:
        builder.store(ZEROS, total)

        def add(start: Any, mask: Any) -> None:
            place = _place(builder, places, loop.index, width, start)
            own, factors = (load_eight(builder, each, start, mask) for each in (numbers, weights))
            row = builder.fpext(_HALF_SIZE.load(builder, table, place), VECTOR)
            apart = builder.fsub(row, own)
            weighted = builder.fmul(factors, apart)
            builder.store(fused(builder, weighted, apart, builder.load(total)), total)

        for_eights(builder, columns, add)
        found = sum_of(builder, builder.load(total))
        builder.store(found, builder.gep(sums, [loop.index]))
    return context.get_dummy_value()


def dots(numbers: Any, table: Any, first: int, step: int, results: Any) -> None:
    """results[c] = sum_j numbers[j] table[first + c step, j], where there are a multiple of LANES numbers.

    Modifies `results` in place, except for the last entries if their number is no multiple of ROWS_TOGETHER: it
    reads four rows at the same time, so that their cache misses overlap.
    """
    n, rows = len(numbers), len(results) // ROWS_TOGETHER * ROWS_TOGETHER
    results[:rows] = table[first : first + rows * step : step, :n] @ numbers


@compiled_as(dots, types.none, types.Array, types.Array, types.Integer, types.Integer, types.Array)
def _dots(context, builder, signature, args):
    (numbers, n), (table, width), (results, rows) = (
        array_of(context, builder, signature, args, i) for i in (0, 1, 4)
    )
    first, step = (context.cast(builder, args[i], signature.args[i], types.intp) for i in (2, 3))
    together = ir.Constant(WORD, ROWS_TOGETHER)
    with cgutils.for_range(builder, builder.sdiv(rows, together)) as fours:
        c = [
            builder.add(builder.mul(fours.index, together), ir.Constant(WORD, k))
            for k in range(ROWS_TOGETHER)
        ]
        starts = [builder.mul(builder.add(first, builder.mul(k, step)), width) for k in c]
        totals = [cgutils.alloca_once(builder, VECTOR) for _ in c]
        for total in totals:
            builder.store(ZEROS, total)
        with cgutils.for_range(builder, builder.sdiv(n, ir.Constant(WORD, LANES))) as loop:
            at = builder.mul(loop.index, ir.Constant(WORD, LANES))
            own = load_eight(builder, numbers, at)
            for total, start in zip(totals, starts, strict=True):
                row = load_eight(builder, table, builder.add(start, at))
                builder.store(fused(builder, own, row, builder.load(total)), total)
        for total, k in zip(totals, c, strict=True):
            builder.store(sum_of(builder, builder.load(total)), builder.gep(results, [k]))
    return context.get_dummy_value()


@compiled(always_inlined=True)
def all_dots(numbers, table, first, step, results):
    """`dots` for any number of results, also if it is no multiple of ROWS_TOGETHER.

    Modifies `results` in place.
    """
    if results.shape[0] == 1:
        results[0] = dot(numbers, table[first], numbers.shape[0])
        return
    dots(numbers, table, first, step, results)
    for c in range(results.shape[0] // ROWS_TOGETHER * ROWS_TOGETHER, results.shape[0]):
        results[c] = dot(numbers, table[first + c * step], numbers.shape[0])


def _place(builder: Any, places: Any, j: Any, width: Any, start: Any) -> Any:
    """The offset in the table of column `start` of the row places[j]."""
    return builder.add(builder.mul(builder.load(builder.gep(places, [j])), width), start)

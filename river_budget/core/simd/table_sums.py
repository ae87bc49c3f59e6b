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

from ..compiling.jit import compiled
from .vector_ops import (
    ACCUMULATORS,
    LANES,
    VECTOR,
    WORD,
    ZEROS,
    Kind,
    dot,
    for_eights,
    fused,
    generated,
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


@generated(add_rows, types.none, types.Array, types.Array, types.Integer, types.Array)
def _add_rows(builder, table, places, n, sums):
    (table, width), (places, _), (sums, columns) = table, places, sums
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


def add_to_rows(table: Any, places: Any, n: int, factors: Any, numbers: Any) -> None:
    """table[places[j], c] += factors[j] numbers[c] for j < n, where all places differ.

    Modifies `table` in place.
    """
    table[places[:n], : len(numbers)] += factors[:n, None] * numbers


@generated(
    add_to_rows, types.none, types.Array, types.Array, types.Integer, types.Array, types.Array
)
def _add_to_rows(builder, table, places, n, factors, numbers):
    (table, width), (places, _), (factors, _), (numbers, columns) = table, places, factors, numbers

    def add(start: Any, mask: Any) -> None:
        added = load_eight(builder, numbers, start, mask)
        with cgutils.for_range(builder, n) as loop:
            place = _place(builder, places, loop.index, width, start)
            factor = in_all(builder, builder.load(builder.gep(factors, [loop.index])))
            row = fused(builder, factor, added, load_eight(builder, table, place, mask))
            store_eight(builder, row, table, place, mask)

    for_eights(builder, columns, add)


def row_distances(
    table: Any, places: Any, n: int, numbers: Any, weights: Any, columns: int, sums: Any
) -> None:
    """sums[j] = sum_c weights[c] (table[places[j], c] - numbers[c])^2 for j < n and c < columns.

    The table is of float32, with rows of whole eights, whose last numbers are 0. Modifies `sums` in place.
    """
    apart = table[places[:n], :columns] - numbers[:columns]
    sums[:n] = apart * apart @ weights[:columns]


@generated(
    row_distances,
    *(types.none, types.Array, types.Array, types.Integer),
    *(types.Array, types.Array, types.Integer, types.Array),
)
def _row_distances(builder, table, places, n, numbers, weights, columns, sums):
    (table, width), (places, _), (sums, _) = table, places, sums
    total = cgutils.alloca_once(builder, VECTOR)
    with cgutils.for_range(builder, n) as loop:
        builder.store(ZEROS, total)

        def add(start: Any, mask: Any) -> None:
            place = _place(builder, places, loop.index, width, start)
            own, factors = (
                load_eight(builder, each, start, mask) for each, _ in (numbers, weights)
            )
            row = builder.fpext(_HALF_SIZE.load(builder, table, place), VECTOR)
            apart = builder.fsub(row, own)
            weighted = builder.fmul(factors, apart)
            builder.store(fused(builder, weighted, apart, builder.load(total)), total)

        for_eights(builder, columns, add)
        found = sum_of(builder, builder.load(total))
        builder.store(found, builder.gep(sums, [loop.index]))


def dots(numbers: Any, table: Any, first: int, step: int, results: Any) -> None:
    """results[c] = sum_j numbers[j] table[first + c step, j], where there are a multiple of LANES numbers.

    Modifies `results` in place, except for the last entries if their number is no multiple of ROWS_TOGETHER: it
    reads four rows at the same time, so that their cache misses overlap.
    """
    n, rows = len(numbers), len(results) // ROWS_TOGETHER * ROWS_TOGETHER
    results[:rows] = table[first : first + rows * step : step, :n] @ numbers


@generated(dots, types.none, types.Array, types.Array, types.Integer, types.Integer, types.Array)
def _dots(builder, numbers, table, first, step, results):
    (numbers, n), (table, width), (results, rows) = numbers, table, results
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

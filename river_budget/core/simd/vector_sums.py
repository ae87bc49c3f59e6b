"""Sums over the features of an example for all stored vectors, which take most of the time of kernels and distances.

The table has a row per feature and a column per vector. One instruction works on eight vectors, and up to
GROUPS_IN_REGISTERS such groups keep their sums in registers during the loop over the example's features: it
loads every number once and writes every sum once. Absent features cost nothing. Terms are added one by one, fused, in the order of the features, so the sums are the same to the
last bit on every processor.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding
from numba.core import cgutils, types
from numba.np import arrayobj

from ..compiling.array_views import compiled_as
from .vector_ops import DOUBLES, LANES, VECTOR, WORD, ZEROS, fused, in_all

HAS_AVX512 = llvmlite.binding.get_host_cpu_features().get("avx512f", False)
GROUPS_IN_REGISTERS = 8 if HAS_AVX512 else 4  # groups of vectors whose sums fit into registers
GROUPS_TOGETHER = 4 if HAS_AVX512 else 1  # the same for sums of several examples at once

# (builder, numbers of the example in all lanes, the vectors' numbers, sums) -> sums
Term = Callable[[Any, Sequence[Any], Any, Any], Any]


def product(builder: Any, numbers: Sequence[Any], vectors: Any, total: Any) -> Any:
    """The term of an inner product: the example's value of a feature times those of the vectors."""
    (value,) = numbers
    return fused(builder, value, vectors, total)


def compiled_sweep(function: Any, term: Term, examples: int = 1) -> None:
    """Register the compiled form of a function of (vectors, x, [numbers per present feature,] sums, n).

    It sums `term` over the features of x for the first n vectors, rounded up to whole groups, and overwrites `sums`.

    With several examples, all must have the same features, and their values lie one behind the other. Each has a row of
    `sums`.
    """
    most = GROUPS_IN_REGISTERS if examples == 1 else GROUPS_TOGETHER

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        operands, n = _operands(context, builder, signature, args)
        groups = _rounded_up(builder, n, WORD(LANES))
        parts = _rounded_up(builder, groups, WORD(most))
        left, column = (cgutils.alloca_once_value(builder, each) for each in (groups, WORD(0)))
        with cgutils.for_range(builder, parts) as loop:  # parts of about the same size
            remaining = builder.sub(parts, loop.index)
            groups = _rounded_up(builder, builder.load(left), remaining)
            end = builder.append_basic_block("swept")
            sizes = builder.switch(groups, end)
            for size in range(1, most + 1):
                block = builder.append_basic_block(f"groups_{size}")
                sizes.add_case(WORD(size), block)
                builder.position_at_end(block)
                first = builder.load(column)
                _sweep(builder, operands, first, size, term, examples)
                builder.branch(end)
            builder.position_at_end(end)
            builder.store(builder.sub(builder.load(left), groups), left)
            done = builder.mul(groups, WORD(LANES))
            builder.store(builder.add(builder.load(column), done), column)
        return context.get_dummy_value()

    _compile(function, generate)


def compiled_group(function: Any, term: Term) -> None:
    """Like `compiled_sweep`, for one group of vectors; the function takes its first column instead of n."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        operands, column = _operands(context, builder, signature, args)
        _sweep(builder, operands, column, 1, term, 1)
        return context.get_dummy_value()

    _compile(function, generate)


def _compile(function: Any, generate: Any) -> None:
    arrays = [types.Array] * (function.__code__.co_argcount - 3)
    compiled_as(function, types.none, types.Array, types.UniTuple, *arrays, types.Integer)(generate)


def _rounded_up(builder: Any, n: Any, divisor: Any) -> Any:
    return builder.sdiv(builder.sub(builder.add(n, divisor), WORD(1)), divisor)


def _operands(context: Any, builder: Any, signature: Any, args: Any) -> tuple[tuple[Any, ...], Any]:
    """((vectors, their row length, places, numbers, how many, sums, their row length), the last argument)"""
    vectors, *further, sums = (
        arrayobj.make_array(signature.args[i])(context, builder, args[i])
        for i in range(len(args) - 1)
        if i != 1
    )
    places, values, n, _, _ = cgutils.unpack_tuple(builder, args[1])
    places = builder.inttoptr(places, WORD.as_pointer())
    numbers = [builder.inttoptr(values, DOUBLES.number.as_pointer())]
    numbers += [array.data for array in further]
    width, room = (cgutils.unpack_tuple(builder, each.shape)[-1] for each in (vectors, sums))
    last = context.cast(builder, args[-1], signature.args[-1], types.intp)
    return (vectors.data, width, places, numbers, n, sums.data, room), last


def _sweep(
    builder: Any, operands: Any, column: Any, groups: int, term: Term, examples: int
) -> None:
    """Generate the sums for `groups` groups of vectors, from a column on."""
    vectors, width, places, numbers, n, sums, room = operands
    columns = [builder.add(column, WORD(LANES * i)) for i in range(groups)]
    totals = [[cgutils.alloca_once(builder, VECTOR) for _ in columns] for _ in range(examples)]
    for total in itertools.chain(*totals):
        builder.store(ZEROS, total)
    with cgutils.for_range(builder, n) as loop:
        start = builder.mul(builder.load(builder.gep(places, [loop.index])), width)
        loaded = [DOUBLES.load(builder, vectors, builder.add(start, at)) for at in columns]
        place = loop.index
        for row in totals:
            own = [in_all(builder, builder.load(builder.gep(each, [place]))) for each in numbers]
            for total, some in zip(row, loaded, strict=True):
                builder.store(term(builder, own, some, builder.load(total)), total)
            place = builder.add(place, n)
    first = WORD(0)
    for row in totals:
        for total, at in zip(row, columns, strict=True):
            DOUBLES.store(builder, builder.load(total), sums, builder.add(first, at))
        first = builder.add(first, room)

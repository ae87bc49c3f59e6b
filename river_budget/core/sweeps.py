"""Sums over the features of an example for all stored vectors: most of what kernels and distances cost.

The vectors lie side by side in memory, a row per feature. Eight of them at a time, or sixteen in float32, are one
instruction, and up to MOST such groups keep their sums in registers while the features of the example pass by: every number is loaded once, and
the sums are written once. What is not there is no work. One term is added after the other, fused, in the order in
which the features come; so the sums do not depend, to the last bit, on what processor this is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from .numba_types import compiled_as
from .registers import DOUBLES, WORD, Kind

WIDE = llvmlite.binding.get_host_cpu_features().get("avx512f", False)
MOST = 8 if WIDE else 4  # groups whose sums find room in registers

# (builder, numbers of the example in all lanes, the vectors' numbers, sums) -> sums
Term = Callable[[Any, Sequence[Any], Any, Any], Any]


def compiled_sweep(
    function: Any, groups: int, term: Term, examples: int = 1, kind: Kind = DOUBLES
) -> None:
    """Compile a function of (vectors, x, [further numbers of each feature that is present,] sums, first column)
    for so many groups of vectors; `term` says what a feature adds. All numbers are of one kind.

    More examples than one have the same features, and their values lie one behind the other. Each has a row of sums.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vectors, *further, sums = (
            arrayobj.make_array(signature.args[i])(context, builder, args[i])
            for i in range(len(args) - 1)
            if i != 1
        )
        places, values, n, _, _ = cgutils.unpack_tuple(builder, args[1])
        places = builder.inttoptr(places, WORD.as_pointer())
        numbers = [builder.inttoptr(values, kind.number.as_pointer())]
        numbers += [array.data for array in further]
        column = context.cast(builder, args[-1], signature.args[-1], types.intp)
        columns = [builder.add(column, ir.Constant(WORD, kind.lanes * i)) for i in range(groups)]
        totals = [
            [cgutils.alloca_once(builder, kind.vector) for _ in columns] for _ in range(examples)
        ]
        for total in itertools.chain(*totals):
            builder.store(kind.same(0.0), total)
        width, room = (cgutils.unpack_tuple(builder, each.shape)[-1] for each in (vectors, sums))
        with cgutils.for_range(builder, n) as loop:
            start = builder.mul(builder.load(builder.gep(places, [loop.index])), width)
            loaded = [kind.load(builder, vectors.data, builder.add(start, at)) for at in columns]
            place = loop.index
            for row in totals:
                own = [
                    kind.in_all(builder, builder.load(builder.gep(each, [place])))
                    for each in numbers
                ]
                for total, some in zip(row, loaded, strict=True):
                    builder.store(term(builder, own, some, builder.load(total)), total)
                place = builder.add(place, n)
        first = ir.Constant(WORD, 0)
        for row in totals:
            for total, at in zip(row, columns, strict=True):
                kind.store(builder, builder.load(total), sums.data, builder.add(first, at))
            first = builder.add(first, room)
        return context.get_dummy_value()

    arrays = [types.Array] * (function.__code__.co_argcount - 3)
    compiled_as(function, types.none, types.Array, types.UniTuple, *arrays, types.Integer)(generate)

"""Products of an example with all support vectors: most of what a kernel row costs.

The vectors lie side by side in memory, a row per feature. Eight of them at a time are one instruction, and up to MOST
such groups keep their sums in registers while the features of the example pass by: every number is loaded once, and
the row written once. What is not there is no work. One product is added after the other, fused, in the order of the
keys; so it makes no difference to the last bit where zeros stand between them, nor what processor this is.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from .examples import places_of, values_of
from .jit import compiled
from .lanes import LANES, VECTOR, WORD, ZEROS, eight, fused, in_all, put_eight
from .linked import add_listed_products
from .numba_types import compiled_as

WIDE = llvmlite.binding.get_host_cpu_features().get("avx512f", False)
MOST = 8 if WIDE else 4  # groups whose sums find room in registers


def _products(groups: int) -> Any:
    """A function for so many groups of vectors."""

    def products(vectors: Any, x: Any, row: Any, column: int) -> None:
        """row[j] = <vector j, x> for the vectors from a column on"""
        some = slice(column, column + LANES * groups)
        row[some] = 0.0
        for place, value in zip(places_of(x), values_of(x), strict=True):
            row[some] += value * vectors[place, some]

    @compiled_as(products, types.none, types.Array, types.UniTuple, types.Array, types.Integer)
    def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vectors, row = (
            arrayobj.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 2)
        )
        places, values, n, _, _ = cgutils.unpack_tuple(builder, args[1])
        places = builder.inttoptr(places, WORD.as_pointer())
        values = builder.inttoptr(values, VECTOR.element.as_pointer())
        column = context.cast(builder, args[3], signature.args[3], types.intp)
        columns = [builder.add(column, ir.Constant(WORD, LANES * i)) for i in range(groups)]
        sums = [cgutils.alloca_once(builder, VECTOR) for _ in columns]
        for one in sums:
            builder.store(ZEROS, one)
        width = cgutils.unpack_tuple(builder, vectors.shape)[1]
        with cgutils.for_range(builder, n) as loop:
            start = builder.mul(builder.load(builder.gep(places, [loop.index])), width)
            value = in_all(builder, builder.load(builder.gep(values, [loop.index])))
            for one, at in zip(sums, columns, strict=True):
                loaded = eight(builder, vectors.data, builder.add(start, at))
                builder.store(fused(builder, value, loaded, builder.load(one)), one)
        for one, at in zip(sums, columns, strict=True):
            put_eight(builder, builder.load(one), row.data, at)
        return context.get_dummy_value()

    return products


_1, _2, _3, _4, _5, _6, _7, _8 = (_products(groups) for groups in range(1, 9))


@compiled
def dot_products(model, x, row, n):
    """row[j] = <vector j, x> for j < n, a multiple of LANES"""
    if model.head.slots:
        for j in range(n):
            row[j] = 0.0
        add_listed_products(model, places_of(x), values_of(x), row)
        return
    vectors, left, column = model.vectors, n // LANES, 0
    parts = (left + MOST - 1) // MOST
    while left > 0:
        groups = (left + parts - 1) // parts  # parts of about the same size
        if groups == 8:
            _8(vectors, x, row, column)
        elif groups == 7:
            _7(vectors, x, row, column)
        elif groups == 6:
            _6(vectors, x, row, column)
        elif groups == 5:
            _5(vectors, x, row, column)
        elif groups == 4:
            _4(vectors, x, row, column)
        elif groups == 3:
            _3(vectors, x, row, column)
        elif groups == 2:
            _2(vectors, x, row, column)
        else:
            _1(vectors, x, row, column)
        left -= groups
        column += LANES * groups
        parts -= 1

"""The limit of a processor: how fast the scores of a model with RBF kernels can be.

To score one example, a processor must load all numbers of every support vector once, and compute one exponential
per vector. This loop does only that, eight doubles at a time, with as many sums in registers as fit: it checks
nothing and stores no kernel row. It gets the same rows as a model. It first lists the values that are not 0, unless
the rows are known to have no zeros.
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def"

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from ...core.block.blocks import columns_for, zeros
from ...core.compiling.array_views import address_of, f64, i64
from ...core.compiling.jit import compiled
from ...core.examples.present_features import write_places
from ...core.simd.vector_ops import LANES, VECTOR, WORD, dot, fused, in_all, load_eight, same
from ...core.simd.vector_sums import GROUPS_IN_REGISTERS
from ...model.calls.calls import EXAMPLES_PER_CALL

TAYLOR_TERMS = [1.0 / math.factorial(n) for n in range(11, -1, -1)]
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
ROUNDING_SHIFT, SMALLEST_EXPONENT = (
    6755399441055744.0 + 1023.0,
    -708.0,
)  # the constants of core/simd/exponential.py
_WORDS = ir.VectorType(WORD, LANES)


def _eight(builder: Any, matrix: Any, row: Any, column: Any) -> Any:
    """Eight numbers of a row."""
    width = cgutils.unpack_tuple(builder, matrix.shape)[1]
    return load_eight(builder, matrix.data, builder.add(builder.mul(row, width), column))


def _exponential(builder: Any, x: Any) -> Any:
    """exp of eight numbers that are at most 0."""
    normal = builder.fcmp_ordered(">", x, same(SMALLEST_EXPONENT))
    bounded = builder.select(normal, x, same(SMALLEST_EXPONENT))
    shifted = fused(builder, bounded, same(1.0 / math.log(2.0)), same(ROUNDING_SHIFT))
    whole = builder.fsub(shifted, same(ROUNDING_SHIFT))
    rest = fused(builder, whole, same(-LN2_HIGH), bounded)
    rest = fused(builder, whole, same(-LN2_LOW), rest)
    value = same(TAYLOR_TERMS[0])
    for term in TAYLOR_TERMS[1:]:
        value = fused(builder, value, rest, same(term))
    bits = builder.shl(builder.bitcast(shifted, _WORDS), ir.Constant(_WORDS, [52] * LANES))
    value = builder.fmul(value, builder.bitcast(bits, VECTOR))
    return builder.select(normal, value, same(0.0))


def _total(builder: Any, vector: Any) -> Any:
    """The sum of eight numbers."""
    lanes = [builder.extract_element(vector, ir.Constant(WORD, i)) for i in range(LANES)]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [builder.fadd(lanes[i], lanes[half + i]) for i in range(half)]
    return lanes[0]


def _part(groups: int) -> Any:
    """Make a function for the sum over `groups` groups of eight vectors, from a column on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vectors, beside, places, values = (
            arrayobj.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:4], args[:4], strict=True)
        )
        start, end, column, gamma, length = args[4:]
        columns = [builder.add(column, ir.Constant(WORD, LANES * i)) for i in range(groups)]
        sums = [cgutils.alloca_once(builder, VECTOR) for _ in columns]
        for one in sums:
            builder.store(same(0.0), one)
        with cgutils.for_range(builder, end, start=start) as loop:
            place = builder.load(builder.gep(places.data, [loop.index]))
            x = in_all(builder, builder.load(builder.gep(values.data, [loop.index])))
            for one, at in zip(sums, columns, strict=True):
                loaded = _eight(builder, vectors, place, at)
                builder.store(fused(builder, x, loaded, builder.load(one)), one)
        total, steep = same(0.0), in_all(builder, builder.fneg(gamma))
        length = in_all(builder, length)
        for one, at in zip(sums, columns, strict=True):
            norm, coefficient = (
                _eight(builder, beside, ir.Constant(WORD, i), at) for i in range(2)
            )
            both = builder.fadd(norm, length)
            distance = fused(builder, same(-2.0), builder.load(one), both)
            positive = builder.fcmp_ordered(">", distance, same(0.0))
            distance = builder.select(positive, distance, same(0.0))
            value = _exponential(builder, builder.fmul(steep, distance))
            total = fused(builder, coefficient, value, total)
        return _total(builder, total)

    @intrinsic  # type: ignore[misc]
    def part(context, vectors, beside, places, values, start, end, column, gamma, length):
        words, numbers = [types.int64] * 3, [types.float64] * 2
        return types.float64(vectors, beside, places, values, *words, *numbers), generate

    return part


_1, _2, _3, _4, _5, _6, _7, _8 = (_part(groups) for groups in range(1, 9))


# cached on disk under the stamp of core: after editing this file, delete its __pycache__
@compiled(called_from_python=True)
def _list(rows, places, values, starts, lengths):
    """List the values that are not 0 in rows: those of row t from starts[t] to starts[t + 1]. lengths[t] = |x_t|^2"""
    first, room, numbers = address_of(rows), address_of(places), address_of(values)
    width, n = rows.shape[1], 0
    for t in range(lengths.shape[0]):
        x = f64(first + 8 * width * t, width)
        found, listed = i64(room + 8 * n, width), f64(numbers + 8 * n, width)
        some = write_places(x, found)
        for i in range(some):
            listed[i] = x[found[i]]
        lengths[t], n = dot(listed, listed, some), n + some
        starts[t + 1] = n


@compiled(called_from_python=True)
def _scores(vectors, beside, places, values, starts, lengths, gamma, most, found):
    """found[t] = sum_j beside[1, j] exp(-gamma |vector j - x_t|^2); beside[0] are squared lengths"""
    groups = beside.shape[1] // LANES
    for t in range(found.shape[0]):
        a, b, g, length = starts[t], starts[t + 1], gamma, lengths[t]
        total, left, at = 0.0, groups, 0
        parts = (groups + most - 1) // most
        while left > 0:
            n = (left + parts - 1) // parts  # parts of about equal size
            if n == 8:
                total += _8(vectors, beside, places, values, a, b, at, g, length)
            elif n == 7:
                total += _7(vectors, beside, places, values, a, b, at, g, length)
            elif n == 6:
                total += _6(vectors, beside, places, values, a, b, at, g, length)
            elif n == 5:
                total += _5(vectors, beside, places, values, a, b, at, g, length)
            elif n == 4:
                total += _4(vectors, beside, places, values, a, b, at, g, length)
            elif n == 3:
                total += _3(vectors, beside, places, values, a, b, at, g, length)
            elif n == 2:
                total += _2(vectors, beside, places, values, a, b, at, g, length)
            else:
                total += _1(vectors, beside, places, values, a, b, at, g, length)
            left, at, parts = left - n, at + LANES * n, parts - 1
        found[t] = total


class Limit:
    """The scores of these rows by a binary model with an RBF kernel, as fast as possible."""

    def __init__(self, model: Any, X: npt.NDArray[np.float64], dense: bool = False):
        stored = model.support_vectors()
        n, self.gamma = -(-len(stored) // LANES) * LANES, model.kernel.gamma
        self.vectors = _aligned(X.shape[1], columns_for(len(stored)))
        self.beside = _aligned(2, n)
        for j, vector in enumerate(stored):
            for place, value in vector["features"].items():
                self.vectors[place, j] = value
            self.beside[1, j] = vector["coefficients"]
        self.beside[0] = (self.vectors[:, :n] ** 2).sum(axis=0)
        self.rows, self.found = np.ascontiguousarray(X, np.float64), np.empty(len(X))
        n, d = min(len(X), EXAMPLES_PER_CALL), X.shape[1]
        self.places, self.values = np.tile(np.arange(d), n), np.empty(n * d)
        self.starts, self.lengths = d * np.arange(n + 1), (X**2).sum(axis=1)
        self.lists = not dense and bool((X == 0.0).any())

    def scores(self) -> npt.NDArray[np.float64]:
        """The score of every row."""
        for first in range(0, len(self.rows), EXAMPLES_PER_CALL):
            some = slice(first, first + EXAMPLES_PER_CALL)
            rows, lengths, found = self.rows[some], self.lengths[some], self.found[some]
            values = rows.reshape(-1)
            if self.lists:
                values = self.values
                _list(rows, self.places, values, self.starts, lengths)
            listed = (self.places, values, self.starts, lengths)
            _scores(self.vectors, self.beside, *listed, self.gamma, GROUPS_IN_REGISTERS, found)
        return self.found


def _aligned(rows: int, columns: int) -> npt.NDArray[np.float64]:
    """A matrix of zeros at the start of a cache line."""
    found: npt.NDArray[np.float64] = zeros(8 * rows * columns).view(np.float64)
    return found.reshape(rows, columns)

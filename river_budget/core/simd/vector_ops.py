"""SIMD vectors in LLVM code (eight numbers, on which one instruction works), and vector operations on arrays with
the same order of summation on every processor.

A compiler sums in as many lanes as the processor has, and the last digit of a sum can decide which vectors a
model merges. Here the order is fixed: lane l takes the products l, l + 8, l + 16 and so on, in four
accumulators while at least 32 products remain, each fused with its addition; then it adds the accumulators,
and the two halves of the lanes until one number is left.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from ..compiling.array_views import compiled_as
from ..compiling.jit import compiled

LANES = 8
WORD = ir.IntType(64)


class Kind:
    """A type of SIMD vector: `lanes` numbers of one type, with the instructions that passes need."""

    def __init__(self, number: Any, name: str, lanes: int):
        self.number, self.lanes = number, lanes
        self.vector, self._name = ir.VectorType(number, lanes), f"v{lanes}{name}"
        self._bytes = 8 if name == "f64" else 4
        self._first = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)

    def same(self, number: float) -> Any:
        """A constant in every lane."""
        return ir.Constant(self.vector, [number] * self.lanes)

    def in_all(self, builder: Any, number: Any) -> Any:
        """A number in every lane."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        one = builder.insert_element(undefined, number, ir.Constant(WORD, 0))
        return builder.shuffle_vector(one, undefined, self._first)

    def fused(self, builder: Any, a: Any, b: Any, c: Any) -> Any:
        """a b + c, rounded once."""
        fma = declared(builder, f"llvm.fma.{self._name}", self.vector, *[self.vector] * 3)
        return builder.call(fma, [a, b, c])

    def load(self, builder: Any, array: Any, start: Any) -> Any:
        """The numbers of an array from `start` on."""
        found = builder.load(self._place(builder, array, start))
        found.align = self._bytes
        return found

    def store(self, builder: Any, numbers: Any, array: Any, start: Any) -> None:
        """Write the numbers to an array from `start` on."""
        builder.store(numbers, self._place(builder, array, start)).align = self._bytes

    def _place(self, builder: Any, array: Any, start: Any) -> Any:
        return builder.bitcast(builder.gep(array, [start]), self.vector.as_pointer())


def declared(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    """An LLVM intrinsic, declared in the module being generated."""
    kind = ir.FunctionType(result, list(arguments))
    return cgutils.get_or_insert_function(builder.module, kind, name)


DOUBLES = Kind(ir.DoubleType(), "f64", LANES)

ACCUMULATORS = 4
_FLAG = ir.IntType(1)
VECTOR, _MASK = DOUBLES.vector, ir.VectorType(_FLAG, LANES)
PLACES = ir.VectorType(WORD, LANES)
_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
_ZERO, ZEROS = ir.Constant(WORD, 0), DOUBLES.same(0.0)
same, in_all, fused = DOUBLES.same, DOUBLES.in_all, DOUBLES.fused


def generated(function: Any, result: Any, *arguments: Any) -> Any:
    """Decorator: `compiled_as`, where the generator takes a builder and operands instead of numba's arguments.

    The operand of an array is (pointer to its numbers, the length of its last axis), that of an integer a machine
    word.
    """

    def decorate(generate: Any) -> Any:
        @compiled_as(function, result, *arguments)
        def with_operands(context, builder, signature, args):
            operands = map(functools.partial(_operand, context, builder), signature.args, args)
            found = generate(builder, *operands)
            return context.get_dummy_value() if result == types.none else found

        return generate

    return decorate


def _operand(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An argument of this type as `generated` passes it on."""
    if isinstance(kind, types.Array):
        array = arrayobj.make_array(kind)(context, builder, value)
        return array.data, cgutils.unpack_tuple(builder, array.shape)[-1]
    integer = isinstance(kind, types.Integer)
    return context.cast(builder, value, kind, types.intp) if integer else value


def dot(a, b, n):
    """sum_j a[j] b[j] for j < n"""
    return float(a[:n] @ b[:n])


@generated(dot, types.float64, types.Array, types.Array, types.Integer)
def _dot(builder, a, b, n):
    (a, _), (b, _) = a, b
    accumulators = [cgutils.alloca_once(builder, VECTOR) for _ in range(ACCUMULATORS)]
    for accumulator in accumulators:
        builder.store(ZEROS, accumulator)
    groups = builder.sdiv(n, ir.Constant(WORD, LANES))
    with_accumulators(
        builder,
        groups,
        ACCUMULATORS,
        lambda accumulator, start: _add(builder, accumulators[accumulator], a, b, start),
    )
    start = builder.mul(groups, ir.Constant(WORD, LANES))
    with builder.if_then(builder.icmp_signed("<", start, n)):
        _add(builder, accumulators[1], a, b, start, mask_of_first(builder, builder.sub(n, start)))
    first, second, third, fourth = (builder.load(accumulator) for accumulator in accumulators)
    return sum_of(builder, builder.fadd(builder.fadd(first, second), builder.fadd(third, fourth)))


def with_accumulators(
    builder: Any, groups: Any, accumulators: int, body: Callable[[int, Any], None]
) -> None:
    """Generate body(k, start) for each group of eight, with accumulators k = 0, 1, .. in turn.

    Several accumulators, so that additions do not wait for each other. The last groups use k = 0.
    """
    rounds = builder.sdiv(groups, ir.Constant(WORD, accumulators))
    with cgutils.for_range(builder, rounds) as loop:
        start = builder.mul(loop.index, ir.Constant(WORD, LANES * accumulators))
        for accumulator in range(accumulators):
            body(accumulator, builder.add(start, ir.Constant(WORD, LANES * accumulator)))
    done = builder.mul(rounds, ir.Constant(WORD, accumulators))
    with cgutils.for_range(builder, groups, start=done) as loop:
        body(0, builder.mul(loop.index, ir.Constant(WORD, LANES)))


def _add(builder: Any, accumulator: Any, a: Any, b: Any, start: Any, mask: Any = None) -> None:
    """accumulator += a[start : start + 8] * b[start : start + 8], fused"""
    x, y = (load_eight(builder, array, start, mask) for array in (a, b))
    builder.store(fused(builder, x, y, builder.load(accumulator)), accumulator)


def load_eight(builder: Any, array: Any, start: Any, mask: Any = None) -> Any:
    """Load eight numbers; with a mask, read its lanes only and set the others to 0."""
    if mask is None:
        return DOUBLES.load(builder, array, start)
    place = builder.bitcast(builder.gep(array, [start]), VECTOR.as_pointer())
    kinds = (VECTOR.as_pointer(), ir.IntType(32), _MASK, VECTOR)
    load = declared(builder, "llvm.masked.load.v8f64.p0", VECTOR, *kinds)
    return builder.call(load, [place, ir.Constant(ir.IntType(32), 8), mask, ZEROS])


@compiled
def append_nonzero(numbers, start, places, n):
    """Among eight numbers from `start` on, find those that are not 0, and append their indexes to the first n places.

    Returns the new number of places. Modifies `places` in place, also one entry behind the last one. Reads each number
    before it writes, as `places` may be the memory of the numbers.
    """
    for i in range(start, start + LANES):
        found = numbers[i] != 0.0
        places[n] = i
        n += found
    return n


def integer_in_all(builder: Any, number: Any) -> Any:
    """An integer in every lane."""
    number = ir.Constant(WORD, number) if isinstance(number, int) else number
    one = builder.insert_element(ir.Constant(PLACES, ir.Undefined), number, _ZERO)
    return builder.shuffle_vector(one, ir.Constant(PLACES, ir.Undefined), _FIRST)


def mask_of_first(builder: Any, number: Any) -> Any:
    """The mask of the first `number` lanes."""
    numbers = integer_in_all(builder, number)
    return builder.icmp_signed("<", ir.Constant(PLACES, list(range(LANES))), numbers)


@compiled
def combine(a, scale, factor, b, n):
    """a[j] = scale a[j] + factor b[j] for j < n. Modifies `a` in place."""
    for j in range(n):
        a[j] = scale * a[j] + factor * b[j]


def sum_of(builder: Any, vector: Any) -> Any:
    """The sum of the lanes: the second half is added to the first, then again, until one number is left."""
    lanes = lanes_of(builder, vector)
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [builder.fadd(lanes[i], lanes[half + i]) for i in range(half)]
    return lanes[0]


def lanes_of(builder: Any, vector: Any) -> list[Any]:
    """The lanes of a vector, one by one."""
    return [builder.extract_element(vector, ir.Constant(WORD, i)) for i in range(LANES)]

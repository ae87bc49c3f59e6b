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

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from ..compiling.array_views import compiled_as

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

# For each of the 256 masks of eight lanes: the indexes of its set lanes, then zeros
_FLAGS, _BYTES = ir.IntType(LANES), ir.VectorType(ir.IntType(8), LANES)
_SET = [[i for i in range(LANES) if flags >> i & 1] for flags in range(2**LANES)]
_PLACES_OF_FLAGS = ir.Constant(
    ir.ArrayType(_BYTES, 2**LANES),
    [ir.Constant(_BYTES, (found + [0] * LANES)[:LANES]) for found in _SET],
)


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


def store_eight(builder: Any, numbers: Any, array: Any, start: Any, mask: Any = None) -> None:
    """Store eight numbers, or those in the lanes of the mask."""
    if mask is None:
        DOUBLES.store(builder, numbers, array, start)
        return
    place = builder.bitcast(builder.gep(array, [start]), VECTOR.as_pointer())
    alignment, kinds = ir.IntType(32), (VECTOR, VECTOR.as_pointer(), ir.IntType(32), _MASK)
    store = declared(builder, "llvm.masked.store.v8f64.p0", ir.VoidType(), *kinds)
    builder.call(store, [numbers, place, ir.Constant(alignment, 8), mask])


def load_eight(builder: Any, array: Any, start: Any, mask: Any = None) -> Any:
    """Load eight numbers; with a mask, read its lanes only and set the others to 0."""
    if mask is None:
        return DOUBLES.load(builder, array, start)
    place = builder.bitcast(builder.gep(array, [start]), VECTOR.as_pointer())
    kinds = (VECTOR.as_pointer(), ir.IntType(32), _MASK, VECTOR)
    load = declared(builder, "llvm.masked.load.v8f64.p0", VECTOR, *kinds)
    return builder.call(load, [place, ir.Constant(ir.IntType(32), 8), mask, ZEROS])


def load_eight_integers(builder: Any, numbers: Any, start: Any) -> Any:
    """Load eight integers."""
    found = builder.load(builder.bitcast(builder.gep(numbers, [start]), PLACES.as_pointer()))
    found.align = 8
    return found


def write_ranks(numbers: Any, n: int, ranks: Any) -> None:
    """ranks[j] = the place of numbers[j] in ascending order, of equal ones in their order, for j < n.

    Takes integers; n is a multiple of LANES. Compares every pair, which for a few dozen numbers is faster than sorting,
    as it has no branches that the processor could not predict. Modifies `ranks` in place.
    """
    ranks[np.argsort(numbers[:n], kind="stable")] = np.arange(n)


@generated(write_ranks, types.none, types.Array, types.Integer, types.Array)
def _write_ranks(builder, numbers, n, ranks):
    rank = cgutils.alloca_once(builder, PLACES)
    with cgutils.for_range(builder, builder.sdiv(n, ir.Constant(WORD, LANES))) as groups:
        start = builder.mul(groups.index, ir.Constant(WORD, LANES))
        end = builder.add(start, ir.Constant(WORD, LANES))
        own = load_eight_integers(builder, numbers[0], start)
        places = builder.add(
            ir.Constant(PLACES, list(range(LANES))), integer_in_all(builder, start)
        )
        builder.store(ir.Constant(PLACES, [0] * LANES), rank)

        def count_below(first: Any, last: Any, limits: Callable[[Any], Any]) -> None:
            """Add to each rank how many of the numbers from `first` to `last` are below its limit."""
            with cgutils.for_range(builder, last, start=first) as loop:
                other = integer_in_all(builder, builder.load(builder.gep(numbers[0], [loop.index])))
                below = builder.icmp_signed("<", other, limits(loop.index))
                found = builder.add(builder.load(rank), builder.zext(below, PLACES))
                builder.store(found, rank)

        def above_own_if_after(place: Any) -> Any:
            after = builder.icmp_signed("<", integer_in_all(builder, place), places)
            return builder.add(own, builder.zext(after, PLACES))

        above_own = builder.add(own, integer_in_all(builder, 1))
        count_below(_ZERO, start, lambda place: above_own)  # of those before, equal ones count too
        count_below(start, end, above_own_if_after)
        count_below(end, n, lambda place: own)
        place = builder.bitcast(builder.gep(ranks[0], [start]), PLACES.as_pointer())
        builder.store(builder.load(rank), place).align = 8


def _compared(builder: Any, numbers: Any, start: Any, limit: Any, relation: str) -> Any:
    """For eight integers, the mask of those below a limit, or at most the limit."""
    found = load_eight_integers(builder, numbers[0], start)
    flags = builder.icmp_signed(relation, found, integer_in_all(builder, limit))
    return builder.bitcast(flags, _FLAGS)


def append_nonzero(numbers: Any, start: int, places: Any, n: int) -> int:
    """Among eight numbers from `start` on, find those that are not 0, and append their indexes to the first n places.

    Returns the new number of places. Modifies `places` in place, also up to eight entries behind the last
    one.
    """
    found = [start + i for i in range(LANES) if numbers[start + i] != 0.0]
    places[n : n + len(found)] = found
    return n + len(found)


@generated(append_nonzero, types.int64, types.Array, types.Integer, types.Array, types.Integer)
def _append_nonzero(builder, numbers, start, places, n):
    flags = builder.fcmp_unordered("!=", load_eight(builder, numbers[0], start), ZEROS)
    return _write_flagged(builder, builder.bitcast(flags, _FLAGS), start, places, n)


def write_up_to(numbers: Any, start: int, limit: int, places: Any, n: int) -> int:
    """Among eight integers from `start` on, append the indexes of those <= limit, as `append_nonzero` does."""
    found = [start + i for i in range(LANES) if numbers[start + i] <= limit]
    places[n : n + len(found)] = found
    return n + len(found)


_TWO_INTEGERS = (types.Integer, types.Integer)


@generated(write_up_to, types.int64, types.Array, *_TWO_INTEGERS, types.Array, types.Integer)
def _write_up_to(builder, numbers, start, limit, places, n):
    flags = _compared(builder, numbers, start, limit, "<=")
    return _write_flagged(builder, flags, start, places, n)


def _write_flagged(builder: Any, flags: Any, start: Any, places: Any, n: Any) -> Any:
    """Append start + l for each set lane l of a mask to the first n places, without a branch."""
    table = cgutils.global_constant(builder, "places_of_flags", _PLACES_OF_FLAGS)
    chosen = builder.gep(table, [_ZERO, builder.zext(flags, WORD)])
    found = builder.zext(builder.load(chosen), PLACES)
    found = builder.add(found, integer_in_all(builder, start))
    place = builder.bitcast(builder.gep(places[0], [n]), PLACES.as_pointer())
    builder.store(found, place).align = 8
    return builder.add(n, builder.zext(builder.ctpop(flags), WORD))


def integer_in_all(builder: Any, number: Any) -> Any:
    """An integer in every lane."""
    number = ir.Constant(WORD, number) if isinstance(number, int) else number
    one = builder.insert_element(ir.Constant(PLACES, ir.Undefined), number, _ZERO)
    return builder.shuffle_vector(one, ir.Constant(PLACES, ir.Undefined), _FIRST)


def mask_of_first(builder: Any, number: Any) -> Any:
    """The mask of the first `number` lanes."""
    numbers = integer_in_all(builder, number)
    return builder.icmp_signed("<", ir.Constant(PLACES, list(range(LANES))), numbers)


def combine(a: Any, scale: float, factor: float, b: Any, n: int) -> None:
    """a[j] = scale a[j] + factor b[j] for j < n, a multiple of LANES. Modifies `a` in place."""
    a[:n] = scale * a[:n] + factor * b[:n]


@generated(combine, types.none, types.Array, types.Float, types.Float, types.Array, types.Integer)
def _combine(builder, a, scale, factor, b, n):
    (a, _), (b, _) = a, b
    scale, factor = in_all(builder, scale), in_all(builder, factor)
    with cgutils.for_range(builder, builder.sdiv(n, ir.Constant(WORD, LANES))) as loop:
        start = builder.mul(loop.index, ir.Constant(WORD, LANES))
        before = builder.fmul(scale, load_eight(builder, a, start))
        added = fused(builder, factor, load_eight(builder, b, start), before)
        store_eight(builder, added, a, start)


def for_eights(builder: Any, n: Any, body: Callable[[Any, Any], None]) -> None:
    """Generate body(start, mask) for each group of eight among n entries; only a partial last group has a mask."""
    groups = builder.sdiv(n, ir.Constant(WORD, LANES))
    with cgutils.for_range(builder, groups) as loop:
        body(builder.mul(loop.index, ir.Constant(WORD, LANES)), None)
    start = builder.mul(groups, ir.Constant(WORD, LANES))
    with builder.if_then(builder.icmp_signed("<", start, n)):
        body(start, mask_of_first(builder, builder.sub(n, start)))


def eight_by_eight(function: Any, step: Any) -> None:
    """Register the compiled form of a function of (numbers, results, n), n a multiple of LANES.

    `step(builder, eight numbers)` generates the eight results.
    """

    @generated(function, types.none, types.Array, types.Array, types.Integer)
    def generate(builder, numbers, results, n):
        with cgutils.for_range(builder, builder.sdiv(n, ir.Constant(WORD, LANES))) as loop:
            start = builder.mul(loop.index, ir.Constant(WORD, LANES))
            found = step(builder, load_eight(builder, numbers[0], start))
            store_eight(builder, found, results[0], start)


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

"""Vector operations on arrays, eight float64 at a time, with the same order of summation on every processor.

A compiler sums in as many lanes as the processor has, and the last digit of a sum can decide which vectors a
model merges. Here the order is fixed: lane l takes the products l, l + 8, l + 16 and so on, in four
accumulators while at least 32 products remain, each fused with its addition; then it adds the accumulators,
and the two halves of the lanes until one number is left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from ..compiling.array_views import compiled_as
from .registers import DOUBLES, LANES, WORD, declared

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


def array_of(context: Any, builder: Any, signature: Any, args: Any, i: int) -> tuple[Any, Any]:
    """(pointer to the numbers of an array argument, the length of its last axis)"""
    array = arrayobj.make_array(signature.args[i])(context, builder, args[i])
    return array.data, cgutils.unpack_tuple(builder, array.shape)[-1]


def dot(a, b, n):
    """sum_j a[j] b[j] for j < n"""
    return float(a[:n] @ b[:n])


@compiled_as(dot, types.float64, types.Array, types.Array, types.Integer)
def _dot(context, builder, signature, args):
    (a, _), (b, _) = (array_of(context, builder, signature, args, i) for i in (0, 1))
    n = context.cast(builder, args[2], signature.args[2], types.intp)
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
    load = declared(
        builder,
        "llvm.masked.load.v8f64.p0",
        VECTOR,
        VECTOR.as_pointer(),
        ir.IntType(32),
        _MASK,
        VECTOR,
    )
    return builder.call(load, [place, ir.Constant(ir.IntType(32), 8), mask, ZEROS])


def load_eight_integers(builder: Any, numbers: Any, start: Any) -> Any:
    """Load eight integers."""
    found = builder.load(builder.bitcast(builder.gep(numbers, [start]), PLACES.as_pointer()))
    found.align = 8
    return found


def number_below(numbers: Any, n: int, limit: int) -> int:
    """How many of the first n integers are below the limit; n is a multiple of LANES."""
    return int((numbers[:n] < limit).sum())


@compiled_as(number_below, types.int64, types.Array, types.Integer, types.Integer)
def _number_below(context, builder, signature, args):
    found = cgutils.alloca_once_value(builder, _ZERO)
    n = context.cast(builder, args[1], signature.args[1], types.intp)
    groups = builder.sdiv(n, ir.Constant(WORD, LANES))
    with cgutils.for_range(builder, groups) as loop:
        start = builder.mul(loop.index, ir.Constant(WORD, LANES))
        flags = _compared(context, builder, signature, (args[0], start, args[2]), "<")
        some = builder.zext(builder.ctpop(flags), WORD)
        builder.store(builder.add(builder.load(found), some), found)
    return builder.load(found)


def _compared(context: Any, builder: Any, signature: Any, args: Any, relation: str) -> Any:
    """For eight integers, the mask of those below a limit, or at most the limit.

    `args` are (numbers, start, limit).
    """
    numbers = arrayobj.make_array(signature.args[0])(context, builder, args[0]).data
    start, limit = (context.cast(builder, args[i], signature.args[i], types.intp) for i in (1, 2))
    found = load_eight_integers(builder, numbers, start)
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


@compiled_as(append_nonzero, types.int64, types.Array, types.Integer, types.Array, types.Integer)
def _write_others(context, builder, signature, args):
    numbers = arrayobj.make_array(signature.args[0])(context, builder, args[0]).data
    start = context.cast(builder, args[1], signature.args[1], types.intp)
    flags = builder.fcmp_unordered("!=", load_eight(builder, numbers, start), ZEROS)
    flags = builder.bitcast(flags, _FLAGS)
    return _write_flagged(context, builder, flags, start, signature.args[-2:], args[-2:])


def write_up_to(numbers: Any, start: int, limit: int, places: Any, n: int) -> int:
    """Among eight integers from `start` on, append the indexes of those <= limit, as `append_nonzero` does."""
    found = [start + i for i in range(LANES) if numbers[start + i] <= limit]
    places[n : n + len(found)] = found
    return n + len(found)


@compiled_as(
    write_up_to,
    types.int64,
    types.Array,
    types.Integer,
    types.Integer,
    types.Array,
    types.Integer,
)
def _write_up_to(context, builder, signature, args):
    flags = _compared(context, builder, signature, args[:3], "<=")
    start = context.cast(builder, args[1], signature.args[1], types.intp)
    return _write_flagged(context, builder, flags, start, signature.args[-2:], args[-2:])


def _write_flagged(
    context: Any, builder: Any, flags: Any, start: Any, kinds: Any, args: Any
) -> Any:
    """Append start + l for each set lane l of a mask to the first n places, without a branch."""
    places = arrayobj.make_array(kinds[0])(context, builder, args[0]).data
    n = context.cast(builder, args[1], kinds[1], types.intp)
    table = cgutils.global_constant(builder, "places_of_flags", _PLACES_OF_FLAGS)
    chosen = builder.gep(table, [_ZERO, builder.zext(flags, WORD)])
    found = builder.zext(builder.load(chosen), PLACES)
    found = builder.add(found, integer_in_all(builder, start))
    place = builder.bitcast(builder.gep(places, [n]), PLACES.as_pointer())
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


@compiled_as(combine, types.none, types.Array, types.Float, types.Float, types.Array, types.Integer)
def _combine(context, builder, signature, args):
    (a, _), (b, _) = (array_of(context, builder, signature, args, i) for i in (0, 3))
    scale, factor = in_all(builder, args[1]), in_all(builder, args[2])
    n = context.cast(builder, args[4], signature.args[4], types.intp)
    with cgutils.for_range(builder, builder.sdiv(n, ir.Constant(WORD, LANES))) as loop:
        start = builder.mul(loop.index, ir.Constant(WORD, LANES))
        before = builder.fmul(scale, load_eight(builder, a, start))
        store_eight(
            builder, fused(builder, factor, load_eight(builder, b, start), before), a, start
        )
    return context.get_dummy_value()


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

    @compiled_as(function, types.none, types.Array, types.Array, types.Integer)
    def generate(context, builder, signature, args):
        (numbers, _), (results, _) = (
            array_of(context, builder, signature, args, i) for i in (0, 1)
        )
        n = context.cast(builder, args[2], signature.args[2], types.intp)
        with cgutils.for_range(builder, builder.sdiv(n, ir.Constant(WORD, LANES))) as loop:
            start = builder.mul(loop.index, ir.Constant(WORD, LANES))
            store_eight(builder, step(builder, load_eight(builder, numbers, start)), results, start)
        return context.get_dummy_value()


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

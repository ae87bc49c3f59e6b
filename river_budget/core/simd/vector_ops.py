"""Vector operations on arrays with the same order of summation on every processor.

A compiler sums in as many lanes as the processor has, and the last digit of a sum can decide which vectors a
model merges. In `dot` and `squared_distance` the order is fixed: lane l takes the products l, l + 8, l + 16
and so on, in four accumulators while at least 32 products remain, each fused with its addition; then it adds the
accumulators, and the two halves of the lanes until one number is left. LLVM instructions on vectors of eight
numbers say so.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from ..compiling.array_views import compiled_as
from ..compiling.jit import FUSED, compiled

ALIGNED = 4  # bytes, as numbers in float32 are
LANES, ACCUMULATORS = 8, 4  # several accumulators, so that additions do not wait for each other
WORD, INT32 = ir.IntType(64), ir.IntType(32)
VECTOR, PLACES = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(WORD, LANES)
ZEROS = VECTOR([0.0] * LANES)


def dot(a, b, n):
    """sum_j a[j] b[j] for j < n"""
    return float(a[:n] @ b[:n])


@compiled_as(dot, types.float64, types.Array, types.Array, types.Integer)
def _dot(context, builder, signature, args):
    return sum_of_products(context, builder, signature, args, lambda a, b: (a, b))


def squared_distance(row, x, weights, n):
    """sum_j weights[j] (row[j] - x[j])^2 for j < n"""
    return float(weights[:n] @ (row[:n] - x[:n]) ** 2)


@compiled_as(squared_distance, types.float64, types.Array, types.Array, types.Array, types.Integer)
def _squared_distance(context, builder, signature, args):
    def factors(row: Any, x: Any, weights: Any) -> Any:
        apart = builder.fsub(row, x)
        return builder.fmul(weights, apart), apart

    return sum_of_products(context, builder, signature, args, factors)


def sum_of_products(context: Any, builder: Any, signature: Any, args: Any, factors: Any) -> Any:
    """The sum over the first n numbers of some arrays, n the last argument; `factors` takes eight numbers of each array
    and returns the two factors of eight products."""
    arrays = [
        arrayobj.make_array(kind)(context, builder, array).data
        for kind, array in zip(signature.args[:-1], args[:-1], strict=True)
    ]
    n = context.cast(builder, args[-1], signature.args[-1], types.intp)
    sums = [cgutils.alloca_once_value(builder, ZEROS) for _ in range(ACCUMULATORS)]

    def add(total: Any, start: Any, mask: Any = None) -> None:
        """Add eight products to an accumulator, each rounded once."""
        a, b = factors(*(load_eight(builder, array, start, mask) for array in arrays))
        builder.store(intrinsic(builder, "llvm.fma.v8f64", a, b, builder.load(total)), total)

    eights = builder.sdiv(n, WORD(LANES))
    rounds = builder.sdiv(eights, WORD(ACCUMULATORS))
    with cgutils.for_range(builder, rounds) as loop:
        start = builder.mul(loop.index, WORD(LANES * ACCUMULATORS))
        for k, each in enumerate(sums):
            add(each, builder.add(start, WORD(LANES * k)))
    with cgutils.for_range(builder, eights, builder.mul(rounds, WORD(ACCUMULATORS))) as loop:
        add(sums[0], builder.mul(loop.index, WORD(LANES)))
    start = builder.mul(eights, WORD(LANES))
    with builder.if_then(builder.icmp_signed("<", start, n)):
        add(sums[1], start, mask_of_first(builder, builder.sub(n, start)))
    first, second, third, fourth = map(builder.load, sums)
    return sum_of(builder, builder.fadd(builder.fadd(first, second), builder.fadd(third, fourth)))


def load_eight(builder: Any, array: Any, start: Any, mask: Any) -> Any:
    """Load eight numbers, as float64; with a mask, read its lanes only and set the others to 0."""
    single = array.type.pointee == ir.FloatType()
    kind = ir.VectorType(array.type.pointee, LANES)
    place = builder.bitcast(builder.gep(array, [start]), kind.as_pointer())
    if mask is None:
        found = builder.load(place)
        found.align = ALIGNED
    else:
        name = f"llvm.masked.load.v8f{32 if single else 64}.p0"
        found = intrinsic(builder, name, place, INT32(ALIGNED), mask, kind([0.0] * LANES))
    return builder.fpext(found, VECTOR) if single else found


def intrinsic(builder: Any, name: str, *operands: Any) -> Any:
    """Call a function that LLVM provides; it returns eight numbers, of the type of its last operand."""
    kind = ir.FunctionType(operands[-1].type, [operand.type for operand in operands])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), operands)


def mask_of_first(builder: Any, number: Any) -> Any:
    """The mask of the first `number` lanes."""
    undefined = ir.Constant(PLACES, ir.Undefined)
    one = builder.insert_element(undefined, number, INT32(0))
    in_all = builder.shuffle_vector(one, undefined, ir.VectorType(INT32, LANES)([0] * LANES))
    return builder.icmp_signed("<", PLACES(list(range(LANES))), in_all)


def sum_of(builder: Any, vector: Any) -> Any:
    """The sum of the lanes: the second half is added to the first, then again, until one number is left."""
    lanes = [builder.extract_element(vector, WORD(i)) for i in range(LANES)]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [builder.fadd(lanes[i], lanes[half + i]) for i in range(half)]
    return lanes[0]


@compiled
def combine(a, scale, factor, b, n):
    """a[j] = scale a[j] + factor b[j] for j < n. Modifies `a` in place."""
    for j in range(n):
        a[j] = scale * a[j] + factor * b[j]


@compiled(fastmath=FUSED, always_inlined=True)
def add_multiple(total, factor, row, n):
    """total[j] += factor row[j] for j < n. Modifies `total` in place."""
    for j in range(n):
        total[j] += factor * row[j]

"""Storage in a table of float32: half the memory of core/vectors/table.py, and twice as many vectors per instruction.

The numbers of examples and of vectors are rounded. Products and exponentials are computed in float32, everything else in float64. Only for the Gaussian kernel is that precise enough: its
values have errors of about 1e-6, at most 4e-5, since products are float64 where float32 would cancel. There are no
multipliers for long vectors (core/budget/long_vectors.py). The functions are in the order of core/vectors/stored.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from ..block.codes import Maintenance
from ..block.layout import TOGETHER
from ..block.limits import CANCELS, LAPLACIAN, padded_count
from ..block.written_vectors import record_write
from ..compiling.array_views import address_of, f32, f32_matrix, f64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import (
    EXAMPLE,
    FLAG,
    MATRIX,
    MODEL,
    NOTHING,
    NUMBERS,
    REAL,
    WHOLE,
    WHOLES,
)
from ..compiling.needs import Need
from ..examples.present_features import ZERO, places_of, present, values_of, write_whole
from ..simd.exponential import LOG2E, ROUGH_MAGIC, F, gaussians
from ..simd.vector_ops import DOUBLES, FLOATS, WORD, Kind, dot, generated
from ..simd.vector_sums import compiled_group, compiled_sweep, product_of
from .table import add_differences

# Smaller numbers are stored as 0, since their products would be denormal, for which some processors take a hundred times
# as long; larger ones are clamped, so that no sum overflows.
SMALLEST_STORED, LARGEST_STORED = 1e-18, 2.0**67
ZERO32 = F(0.0)


@compiled(always_inlined=True)
def rounded(value):
    """The float32 in which a number is stored."""
    value = value if value < LARGEST_STORED else LARGEST_STORED
    value = value if value > -LARGEST_STORED else -LARGEST_STORED
    return F(value) if abs(value) >= SMALLEST_STORED else ZERO32


@compiled
def round_into(rounded_values, values):
    """Round numbers as `rounded` does. Returns the sum of the squares of the results."""
    for i in range(values.shape[0]):
        rounded_values[i] = rounded(values[i])
    return dot(rounded_values, rounded_values, values.shape[0])


@shared(Need.NARROW, NOTHING, NUMBERS)
def round_in_place(numbers):
    """Round numbers as `rounded` does."""
    for i in range(numbers.shape[0]):
        numbers[i] = rounded(numbers[i])


@shared(Need.NARROW, NOTHING, MODEL, WHOLE, EXAMPLE)
def write(model, j, x):
    """Overwrite vector j with x, rounded, and its norm with that of the rounded x. Overwrites model.whole."""
    places, values, vectors = places_of(x), values_of(x), model.narrow_vectors
    record_write(model, j)
    model.norms[j] = round_into(model.whole, values)
    if places.shape[0] == vectors.shape[0]:  # x has every feature, in the order of rows
        for i in range(vectors.shape[0]):
            vectors[i, j] = rounded(values[i])
        return
    for i in range(vectors.shape[0]):
        vectors[i, j] = ZERO32
    for i in range(places.shape[0]):
        vectors[places[i], j] = rounded(values[i])


@shared(Need.NARROW, EXAMPLE, MODEL, WHOLE)
def read(model, j):
    """Vector j as an example, in scratch space."""
    places, values, vectors, n = model.nonzero, model.x, model.narrow_vectors, ZERO
    for i in range(vectors.shape[0]):
        places[n], values[n] = i, vectors[i, j]
        n += vectors[i, j] != ZERO32
    return present(places, values, n)


@shared(Need.NARROW, NOTHING, MODEL, WHOLE, WHOLE)
def copy(model, source, target):
    """Overwrite vector `target` with vector `source`."""
    vectors = model.narrow_vectors
    record_write(model, target)
    for i in range(vectors.shape[0]):
        vectors[i, target] = vectors[i, source]


@shared(Need.NARROW, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def differences(model, x, distances, n):
    """distances[j] += |vector j - x|^2 for j < n, feature by feature; model.whole holds x, rounded, with its zeros."""
    absolute = model.head.kernel == LAPLACIAN  # False, but a constant would compile `size_of` again
    add_differences(model.narrow_vectors, model.whole, x, absolute, distances, n)


@shared(Need.NARROW, NOTHING, MODEL, WHOLES, WHOLE, EXAMPLE, MATRIX, NUMBERS)
def write_points(model, members, unwritten, x, points, sizes):
    """points[i] = member i, zeros included; sizes[f] += |points[i, f]|. The slot `unwritten` stands for x."""
    vectors = model.narrow_vectors
    for i in range(members.shape[0]):
        point, member = points[i], members[i]
        if member == unwritten:
            write_whole(x, point)
            round_in_place(point)
        else:
            for f in range(vectors.shape[0]):
                point[f] = vectors[f, member]
        for f in range(sizes.shape[0]):
            sizes[f] += abs(point[f])


# products and Gaussian kernel values, in generated LLVM code. Products are written into the second half of the row
# that the kernel values will fill: in float32 they take half the memory, and each is read before its bytes are overwritten


SIXTEEN = FLOATS.lanes
NO_NORM = -1.0  # instead of a norm: no products were computed
MERGE = int(Maintenance.MERGE)
DOUBLES16 = Kind(DOUBLES.number, "f64", SIXTEEN)  # sixteen numbers of float64

SMALLEST_POWER = -126.0  # below it 2^x is denormal in float32, and the result is exactly 0
LARGEST_RATE = 1e30  # 2 gamma is clamped to it, and is 0 if below its inverse
TINY_LOG = 1e-30  # subtracted from logarithms, so that none is denormal
# 2^r = a polynomial for |r| <= 1/2, the highest power first: interpolated at Chebyshev points, with an error of 1e-7
POWER_SERIES = (
    0.00015453172886881826,
    0.0013390874847865938,
    0.009618082538637,
    0.05550357092688901,
    0.24022650760606962,
    0.6931471880307135,
    1.0,
)


def _sums(vectors: Any, x: Any, row: Any, n: int) -> None:
    """row[j] = <vector j, x> for j < n, where the numbers of x are float32"""
    row[:n] = 0.0
    for place, value in zip(places_of(x), f32(x[1], x[2]), strict=True):
        row[:n] += value * vectors[place, :n]


def _sums_of_sixteen(vectors: Any, x: Any, row: Any, column: int) -> None:
    """`_sums` for the sixteen vectors from a column on."""
    _sums(vectors[:, column:], x, row[column:], SIXTEEN)


def _sums_together(vectors: Any, x: Any, rows: Any, n: int) -> None:
    """`_sums` for TOGETHER examples, of which x is the first."""
    examples = f32_matrix(x[1], TOGETHER, x[2])
    rows[:TOGETHER, :n] = 0.0
    for i, place in enumerate(places_of(x)):
        rows[:TOGETHER, :n] += examples[:, i, None] * vectors[place, :n]


def _wide_sums(vectors: Any, x: Any, row: Any, n: int) -> None:
    """`_sums` where the numbers of x, and the sums, are float64."""
    row[:n] = 0.0
    for place, value in zip(places_of(x), values_of(x), strict=True):
        row[:n] += value * vectors[place, :n].astype(float)


_product = product_of(FLOATS)
compiled_sweep(_sums, _product, kind=FLOATS)
compiled_sweep(_wide_sums, product_of(DOUBLES), stored=Kind(FLOATS.number, "f32", DOUBLES.lanes))
compiled_group(_sums_of_sixteen, _product, FLOATS)
compiled_sweep(_sums_together, _product, TOGETHER, FLOATS)


@compiled(always_inlined=True)
def second_half(row):
    """The second half of a row, as an array of float32."""
    n = row.shape[0]
    return f32(address_of(row) + 4 * n, n)


@compiled(always_inlined=True)
def second_halves(rows):
    """The second halves of several rows."""
    n = rows.shape[1]
    return f32_matrix(address_of(rows) + 4 * n, rows.shape[0], 2 * n)


@compiled(always_inlined=True)
def _rounded_example(model, x, k):
    """x rounded to float32, in scratch space behind k other examples of the same length."""
    values, n = values_of(x), x[2]
    numbers = f32(address_of(model.narrow_values) + 4 * n * k, n)
    for i in range(n):
        numbers[i] = rounded(values[i])
    return x[0], address_of(numbers), n, x[3], x[4]


@compiled(always_inlined=True)
def _whole_groups(n):
    """n rounded up to whole groups of sixteen."""
    return (n + SIXTEEN - 1) // SIXTEEN * SIXTEEN


@shared(Need.NARROW, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def products(model, x, row, n):
    """<vector j, x> for j < n, as float32 in the second half of the row"""
    _sums(model.narrow_vectors, _rounded_example(model, x, ZERO), second_half(row), n)


@shared(Need.NARROW, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def products_of_sixteen(model, x, row, column):
    """`products` for the group of sixteen vectors that contains a column."""
    column = column // SIXTEEN * SIXTEEN
    _sums_of_sixteen(
        model.narrow_vectors, _rounded_example(model, x, ZERO), second_half(row), column
    )


@shared(Need.NARROW, NOTHING, MODEL, EXAMPLE, MATRIX, WHOLE)
def products_together(model, x, rows, n):
    """`products` for TOGETHER examples with the same features, of which x is the first: one row for each."""
    for k in range(1, TOGETHER):
        _rounded_example(model, (x[0], x[1] + 8 * k * x[2], x[2], x[3], x[4]), k)
    _sums_together(model.narrow_vectors, _rounded_example(model, x, ZERO), second_halves(rows), n)


@shared(Need.NARROW, FLAG, MODEL, EXAMPLE, NUMBERS, WHOLE)
def distances_from_wide_products(model, x, distances, n):
    """distances[j] = |vector j - x|^2 for j < n, from products in float64. Returns False if x is so long that float64
    would cancel too."""
    norm, norms = _wide_products(model, x, distances, n), model.norms
    if norm < 0.0:
        return False
    for j in range(n):
        distances[j] = max(norms[j] + norm - 2.0 * distances[j], 0.0)
    return True


@shared(Need.NARROW, FLAG, MODEL, EXAMPLE)
def gaussian_values_from_wide_products(model, x):
    """row[j] = k(vector j, x) from products in float64. Returns False if float64 would cancel too, or if the model
    does not know all features of x."""
    row, n = model.row, padded_count(model)
    norm = _wide_products(model, x, row, n) if x[2] == x[4] else NO_NORM
    if norm < 0.0:
        return False
    gaussians(row, row, model.logs, model.norms, norm, model.head.gamma, n)
    return True


@compiled
def _wide_products(model, x, products, n):
    """products[j] = <vector j, x> in float64 for j < n. Returns |x|^2, or NO_NORM if float64 would cancel too."""
    values = f64(address_of(model.narrow_values), x[2])
    norm = round_into(values, values_of(x))
    if not model.head.gamma * norm <= CANCELS:
        return NO_NORM
    _wide_sums(model.narrow_vectors, (x[0], address_of(values), x[2], x[3], x[4]), products, n)
    return norm


@shared(Need.NARROW, NOTHING, NUMBERS, WHOLE)
def widen(row, n):
    """Convert the products in the second half of a row to float64, over the whole row."""
    narrow = second_half(row)
    for j in range(n):
        row[j] = narrow[j]


@shared(Need.NARROW, NOTHING, MODEL, NUMBERS, NUMBERS, REAL)
def gaussian_values(model, products, row, norm):
    """row[j] = k(vector j, x) from products in the second half of a row.

    In models that merge, model.logs[j] = its logarithm, from which the search for partners reads distances.
    """
    if model.head.maintenance != MERGE:
        gaussian_values_without_logs(model, products, row, norm)
        return
    n = _whole_groups(model.head.count)
    _gaussians_with_logs(
        second_half(products), row, model.logs, model.norms, norm, model.head.gamma, n
    )


@compiled
def gaussian_values_without_logs(model, products, row, norm):
    """`gaussian_values` without the logarithms."""
    n = _whole_groups(model.head.count)
    _gaussians(second_half(products), row, model.logs, model.norms, norm, model.head.gamma, n)


def _compiled_gaussians(keeps_logs: bool) -> Any:
    """Register `gaussians` (core/simd/exponential.py) for products in float32, with or without the logarithms."""

    def gaussians32(
        products: Any, row: Any, logs: Any, norms: Any, norm: float, gamma: float, n: int
    ) -> None:
        """row[j] = exp(-gamma |vector j - x|^2) for j < n, a multiple of SIXTEEN. The exponentials are float32."""
        distances = norms[:n] + norm - 2.0 * products[:n].astype(float)
        found = -gamma * np.where(distances < 0.0, 0.0, distances)
        if keeps_logs:
            logs[:n] = found
        near = found * LOG2E >= SMALLEST_POWER  # False for NaN
        row[:n] = np.exp2(np.where(near, found * LOG2E, 0.0).astype(np.float32)) * near

    @generated(gaussians32, types.none, *[types.Array] * 4, types.Float, types.Float, types.Integer)
    def generate(builder, products, row, logs, norms, norm, gamma, n):
        (products, _), (row, _), (logs, _), (norms, _) = products, row, logs, norms
        rate = builder.fmul(gamma, gamma.type(LOG2E))
        own = builder.fsub(gamma.type(-TINY_LOG), builder.fmul(rate, norm))
        own, factor = DOUBLES16.in_all(builder, own), DOUBLES16.in_all(builder, builder.fneg(rate))
        twice = FLOATS.in_all(builder, _bounded_float32(builder, builder.fadd(rate, rate)))
        with cgutils.for_range(builder, builder.sdiv(n, ir.Constant(WORD, SIXTEEN))) as loop:
            start = builder.mul(loop.index, ir.Constant(WORD, SIXTEEN))
            both = DOUBLES16.fused(builder, DOUBLES16.load(builder, norms, start), factor, own)
            product = FLOATS.load(builder, products, start)
            power = FLOATS.fused(builder, product, twice, builder.fptrunc(both, FLOATS.vector))
            above = builder.fcmp_ordered(">", power, FLOATS.same(0.0))  # positive by rounding
            power = builder.select(above, FLOATS.same(0.0), power)
            value = builder.fpext(power_of_two(builder, power), DOUBLES16.vector)
            if keeps_logs:
                log = builder.fmul(
                    builder.fpext(power, DOUBLES16.vector), DOUBLES16.same(1.0 / LOG2E)
                )
                DOUBLES16.store(builder, log, logs, start)
            DOUBLES16.store(builder, value, row, start)

    return gaussians32


def _bounded_float32(builder: Any, rate: Any) -> Any:
    """A rate >= 0 as a float32 that is neither denormal nor infinite."""
    kind = rate.type
    largest = kind(LARGEST_RATE)
    bounded = builder.select(builder.fcmp_ordered("<", rate, largest), rate, largest)
    slow = builder.fcmp_ordered("<", rate, kind(1.0 / LARGEST_RATE))
    return builder.fptrunc(builder.select(slow, kind(0.0), bounded), FLOATS.number)


def power_of_two(builder: Any, x: Any) -> Any:
    """2^x for sixteen x <= 0 of float32, as in core/simd/exponential.py; 0 for NaN and for everything below SMALLEST_POWER."""
    same, bits = FLOATS.same, ir.VectorType(ir.IntType(32), SIXTEEN)
    normal = builder.fcmp_ordered(">=", x, same(SMALLEST_POWER))
    bounded = builder.select(normal, x, same(SMALLEST_POWER))
    shifted = builder.fadd(bounded, same(float(ROUGH_MAGIC)))
    r = builder.fsub(bounded, builder.fsub(shifted, same(float(ROUGH_MAGIC))))
    p = same(float(F(POWER_SERIES[0])))
    for term in POWER_SERIES[1:]:
        p = FLOATS.fused(builder, p, r, same(float(F(term))))
    whole = builder.shl(builder.bitcast(shifted, bits), ir.Constant(bits, [23] * SIXTEEN))
    value = builder.fmul(p, builder.bitcast(whole, FLOATS.vector))
    return builder.select(normal, value, same(0.0))


_gaussians, _gaussians_with_logs = _compiled_gaussians(False), _compiled_gaussians(True)

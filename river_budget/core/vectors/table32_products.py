"""Products and Gaussian kernel values of narrow models, in float32 (core/vectors/table32.py).

The products are written into the second half of the row where the kernel values will be: in float32 they take half the
room, and every one of them has been read when its place is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from ..block.codes import Maintenance
from ..block.layout import TOGETHER
from ..block.limits import CANCELS, padded_count
from ..compiling.array_views import address_of, compiled_as, f32, f32_matrix, f64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, FLAG, MATRIX, MODEL, NOTHING, NUMBERS, REAL, WHOLE
from ..compiling.needs import Need
from ..examples.present_features import NONE, places_of, values_of
from ..simd.exponential import LOG2E, ROUGH_MAGIC, F, gaussians
from ..simd.registers import DOUBLES, FLOATS, WORD, Kind
from ..simd.vector_ops import array_of
from ..simd.vector_sums import compiled_group, compiled_sweep, product_of
from .table32 import narrowed, round_into

SIXTEEN = FLOATS.lanes
REFUSED = -1.0
MERGE = int(Maintenance.MERGE)
BOTH = Kind(DOUBLES.number, "f64", SIXTEEN)  # as many of float64

SMALLEST = -126.0  # below, 2^x is no normal float32 and the result is exactly 0
FAST = 1e30  # 2 gamma counts as this where it is larger, and as 0 below its inverse
NEXT_TO_NOTHING = 1e-30  # that is taken off from logarithms, so that none is denormal
# 2^r = a polynomial for |r| <= 1/2, the highest power first: interpolated at Chebyshev points, it errs by 1e-7
TERMS = (
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
    """The same for the sixteen vectors from a column on."""
    _sums(vectors[:, column:], x, row[column:], SIXTEEN)


def _sums_together(vectors: Any, x: Any, rows: Any, n: int) -> None:
    """The same for TOGETHER examples, of which x is the first."""
    examples = f32_matrix(x[1], TOGETHER, x[2])
    rows[:TOGETHER, :n] = 0.0
    for i, place in enumerate(places_of(x)):
        rows[:TOGETHER, :n] += examples[:, i, None] * vectors[place, :n]


def _wide_sums(vectors: Any, x: Any, row: Any, n: int) -> None:
    """The same where the numbers of x, and the sums, are float64."""
    row[:n] = 0.0
    for place, value in zip(places_of(x), values_of(x), strict=True):
        row[:n] += value * vectors[place, :n].astype(float)


_product = product_of(FLOATS)
compiled_sweep(_sums, _product, kind=FLOATS)
compiled_sweep(_wide_sums, product_of(DOUBLES), stored=Kind(FLOATS.number, "f32", DOUBLES.lanes))
compiled_group(_sums_of_sixteen, _product, FLOATS)
compiled_sweep(_sums_together, _product, TOGETHER, FLOATS)


@compiled(always_inlined=True)
def half_of(row):
    """The second half of a row, as numbers of float32."""
    n = row.shape[0]
    return f32(address_of(row) + 4 * n, n)


@compiled(always_inlined=True)
def halves_of(rows):
    """Those of several rows."""
    n = rows.shape[1]
    return f32_matrix(address_of(rows) + 4 * n, rows.shape[0], 2 * n)


@compiled(always_inlined=True)
def _write_down(model, x, k):
    """x in float32, behind k others of the same length."""
    values, n = values_of(x), x[2]
    numbers = f32(address_of(model.narrow_values) + 4 * n * k, n)
    for i in range(n):
        numbers[i] = narrowed(values[i])
    return x[0], address_of(numbers), n, x[3], x[4]


@compiled(always_inlined=True)
def _filled_up(n):
    return (n + SIXTEEN - 1) // SIXTEEN * SIXTEEN


@shared(Need.NARROW, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def narrow_products(model, x, row, n):
    """<vector j, x> for j < n, into the second half of the row"""
    _sums(model.narrow_vectors, _write_down(model, x, NONE), half_of(row), n)


@shared(Need.NARROW, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def narrow_products_of_some(model, x, row, column):
    """The same for the sixteen vectors around a column."""
    column = column // SIXTEEN * SIXTEEN
    _sums_of_sixteen(model.narrow_vectors, _write_down(model, x, NONE), half_of(row), column)


@shared(Need.NARROW, NOTHING, MODEL, EXAMPLE, MATRIX, WHOLE)
def narrow_products_together(model, x, rows, n):
    """The same for TOGETHER examples with the same features, of which x is the first, into as many rows."""
    for k in range(1, TOGETHER):
        _write_down(model, (x[0], x[1] + 8 * k * x[2], x[2], x[3], x[4]), k)
    _sums_together(model.narrow_vectors, _write_down(model, x, NONE), halves_of(rows), n)


@shared(Need.NARROW, FLAG, MODEL, EXAMPLE, NUMBERS, WHOLE)
def wide_distances(model, x, distances, n):
    """distances[j] = |vector j - x|^2 for j < n, from products in float64, if these will do. Returns whether."""
    norm, norms = _wide_products(model, x, distances, n), model.norms
    if norm < 0.0:
        return False
    for j in range(n):
        distances[j] = max(norms[j] + norm - 2.0 * distances[j], 0.0)
    return True


@shared(Need.NARROW, FLAG, MODEL, EXAMPLE)
def wide_kernel_values(model, x):
    """row[j] = k(vector j, x) in the same way, for an example without strangers."""
    row, n = model.row, padded_count(model)
    norm = _wide_products(model, x, row, n) if x[2] == x[4] else REFUSED
    if norm < 0.0:
        return False
    gaussians(row, row, model.logs, model.norms, norm, model.head.gamma, n)
    return True


@compiled
def _wide_products(model, x, products, n):
    """products[j] = <vector j, x> in float64 for j < n, and |x|^2; or REFUSED, where these would cancel too."""
    values = f64(address_of(model.narrow_values), x[2])
    norm = round_into(values, values_of(x))
    if not model.head.gamma * norm <= CANCELS:
        return REFUSED
    _wide_sums(model.narrow_vectors, (x[0], address_of(values), x[2], x[3], x[4]), products, n)
    return norm


@shared(Need.NARROW, NOTHING, NUMBERS, WHOLE)
def widen(row, n):
    """Products from the second half of a row become numbers of float64 in all of it."""
    products = half_of(row)
    for j in range(n):
        row[j] = products[j]


@shared(Need.NARROW, NOTHING, MODEL, NUMBERS, NUMBERS, REAL)
def narrow_kernel_values(model, products, row, norm):
    """row[j] = k(vector j, x) from products in the second half of a row; the logarithms are kept for who merges."""
    if model.head.maintenance != MERGE:
        narrow_values_alone(model, products, row, norm)
        return
    n = _filled_up(model.head.count)
    _gaussians_and_logs(half_of(products), row, model.logs, model.norms, norm, model.head.gamma, n)


@compiled
def narrow_values_alone(model, products, row, norm):
    """The same for who only asks for scores."""
    n = _filled_up(model.head.count)
    _gaussians(half_of(products), row, model.logs, model.norms, norm, model.head.gamma, n)


def _narrow_gaussians(keeps_logs: bool) -> Any:
    """As `gaussians` of core/simd/exponential.py, from products in float32; with the logarithms or without."""

    def narrow_gaussians(
        products: Any, row: Any, logs: Any, norms: Any, norm: float, gamma: float, n: int
    ) -> None:
        """row[j] = exp(-gamma |vector j - x|^2) for j < n, a multiple of SIXTEEN. The exponentials are float32."""
        distances = norms[:n] + norm - 2.0 * products[:n].astype(float)
        found = -gamma * np.where(distances < 0.0, 0.0, distances)
        if keeps_logs:
            logs[:n] = found
        near = found * LOG2E >= SMALLEST  # not so for NaN
        row[:n] = np.exp2(np.where(near, found * LOG2E, 0.0).astype(np.float32)) * near

    @compiled_as(
        narrow_gaussians, types.none, *[types.Array] * 4, types.Float, types.Float, types.Integer
    )
    def generate(context, builder, signature, args):
        (products, _), (row, _), (logs, _), (norms, _) = (
            array_of(context, builder, signature, args, i) for i in range(4)
        )
        rate = builder.fmul(args[5], args[5].type(LOG2E))
        own = builder.fsub(args[5].type(-NEXT_TO_NOTHING), builder.fmul(rate, args[4]))
        own, factor = BOTH.in_all(builder, own), BOTH.in_all(builder, builder.fneg(rate))
        twice = FLOATS.in_all(builder, _short(builder, builder.fadd(rate, rate)))
        n = context.cast(builder, args[6], signature.args[6], types.intp)
        with cgutils.for_range(builder, builder.sdiv(n, ir.Constant(WORD, SIXTEEN))) as loop:
            start = builder.mul(loop.index, ir.Constant(WORD, SIXTEEN))
            both = BOTH.fused(builder, BOTH.load(builder, norms, start), factor, own)
            both = builder.fptrunc(both, FLOATS.vector)
            product = FLOATS.load(builder, products, start)
            power = FLOATS.fused(builder, product, twice, both)
            above = builder.fcmp_ordered(">", power, FLOATS.same(0.0))
            power = builder.select(above, FLOATS.same(0.0), power)
            value = builder.fpext(power_of_two(builder, power), BOTH.vector)
            if keeps_logs:
                log = builder.fmul(builder.fpext(power, BOTH.vector), BOTH.same(1.0 / LOG2E))
                BOTH.store(builder, log, logs, start)
            BOTH.store(builder, value, row, start)
        return context.get_dummy_value()

    return narrow_gaussians


def _short(builder: Any, rate: Any) -> Any:
    """A rate >= 0 as a float32 that is neither denormal nor infinite."""
    kind = rate.type
    bounded = builder.select(builder.fcmp_ordered("<", rate, kind(FAST)), rate, kind(FAST))
    slow = builder.fcmp_ordered("<", rate, kind(1.0 / FAST))
    return builder.fptrunc(builder.select(slow, kind(0.0), bounded), FLOATS.number)


def power_of_two(builder: Any, x: Any) -> Any:
    """2^x for sixteen x <= 0 of float32, as in core/simd/exponential.py; 0 for NaN and for everything below SMALLEST."""
    same, bits = FLOATS.same, ir.VectorType(ir.IntType(32), SIXTEEN)
    normal = builder.fcmp_ordered(">=", x, same(SMALLEST))
    bounded = builder.select(normal, x, same(SMALLEST))
    shifted = builder.fadd(bounded, same(float(ROUGH_MAGIC)))
    r = builder.fsub(bounded, builder.fsub(shifted, same(float(ROUGH_MAGIC))))
    p = same(float(F(TERMS[0])))
    for term in TERMS[1:]:
        p = FLOATS.fused(builder, p, r, same(float(F(term))))
    whole = builder.shl(builder.bitcast(shifted, bits), ir.Constant(bits, [23] * SIXTEEN))
    value = builder.fmul(p, builder.bitcast(whole, FLOATS.vector))
    return builder.select(normal, value, same(0.0))


_gaussians, _gaussians_and_logs = _narrow_gaussians(False), _narrow_gaussians(True)

"""exp(x) for x <= 0, in plain arithmetic, so that LLVM vectorises a loop that calls it; log(x) and softmax.

exp(x) = 2^k exp(r) with k the integer nearest to x / ln 2. Adding MAGIC leaves k in the low bits of
the sum; shifting these bits into the exponent field gives 2^k. The polynomials interpolate (exp(r) - 1 - r) / r^2
at Chebyshev points. `exp_of` has a largest relative error of 3e-16 on [-708, 0]; `rough_exp_of` works in
float32, has a relative error of 5e-7 and takes a third of the time: good enough to rank.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from ..compiling.array_views import compiled_as
from ..compiling.jit import FUSED, compiled
from .vector_ops import (
    LANES,
    VECTOR,
    WORD,
    eight_by_eight,
    for_eights,
    fused,
    generated,
    in_all,
    lanes_of,
    load_eight,
    same,
    store_eight,
    sum_of,
)

LOG2E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
MAGIC = 6755399441055744.0 + 1023.0  # 1.5 * 2^52, and the bias of the exponent field
SMALLEST_EXPONENT = -708.0  # below it exp(x) is denormal, and the result is exactly 0

# exp(r) = 1 + r + r^2 (a polynomial), the highest power first
TERMS = (
    2.51003767988125e-08,
    2.762007713646922e-07,
    2.7557268478279004e-06,
    2.480152131972762e-05,
    0.00019841269863041851,
    0.0013888888917198419,
    0.008333333333330065,
    0.04166666666662416,
    0.16666666666666669,
    0.5,
)

F = np.float32
ROUGH_LOG2E, ROUGH_MAGIC, ROUGH_SMALLEST_EXPONENT = F(LOG2E), F(12582912.0 + 127.0), F(-40.0)
ROUGH_LN2_HIGH, ROUGH_LN2_LOW = F(0.693359375), F(-2.12194440e-4)
ROUGH_1, ROUGH_0 = F(1.0), F(0.0)
ROUGH_A, ROUGH_B, ROUGH_C, ROUGH_D = F(0.49999749), F(0.16666631), F(0.041833807), F(0.0083572006)


def low_bits_as_exponent(x):
    """Shift the low bits of x into the exponent field: 2^k, if k + bias stands in these bits."""
    unsigned, mantissa = (np.uint64, 52) if x.dtype == np.float64 else (np.uint32, 23)
    bits = np.asarray(x).view(unsigned)
    return np.left_shift(bits, unsigned(mantissa)).view(x.dtype)[()]


@compiled_as(low_bits_as_exponent, lambda x: x, types.Float)
def _low_bits_as_exponent(context, builder, signature, args):
    bits, mantissa = (64, 52) if signature.args[0] == types.float64 else (32, 23)
    integer = ir.IntType(bits)
    shifted = builder.shl(builder.bitcast(args[0], integer), ir.Constant(integer, mantissa))
    return builder.bitcast(shifted, args[0].type)


@compiled(fastmath=FUSED)  # with reordering, LLVM would remove the addition of MAGIC
def exp_of(x):
    """exp(x) for x <= 0; 0 for NaN and for everything below SMALLEST_EXPONENT."""
    bounded = x if x > SMALLEST_EXPONENT else SMALLEST_EXPONENT
    shifted = np.float64(bounded * LOG2E + MAGIC)
    k = shifted - MAGIC
    r = bounded - k * LN2_HIGH - k * LN2_LOW
    p = TERMS[0]
    p = p * r + TERMS[1]
    p = p * r + TERMS[2]
    p = p * r + TERMS[3]
    p = p * r + TERMS[4]
    p = p * r + TERMS[5]
    p = p * r + TERMS[6]
    p = p * r + TERMS[7]
    p = p * r + TERMS[8]
    p = p * r + TERMS[9]
    value = (p * r * r + r + 1.0) * low_bits_as_exponent(shifted)
    return value if x >= SMALLEST_EXPONENT else 0.0


def exponentials(logs, row, n):
    """row[j] = exp_of(logs[j]) for j < n, a multiple of LANES. Modifies `row` in place."""
    for j in range(n):
        row[j] = exp_of(logs[j])


def exp_of_eight(builder, x):
    """exp_of of eight numbers, by the same steps, with the widest vectors of the processor.

    LLVM vectorises a loop that calls exp_of with half the width on some processors.
    """
    normal = builder.fcmp_ordered(">", x, same(SMALLEST_EXPONENT))
    bounded = builder.select(normal, x, same(SMALLEST_EXPONENT))
    shifted = fused(builder, bounded, same(LOG2E), same(MAGIC))
    k = builder.fsub(shifted, same(MAGIC))
    r = fused(builder, k, same(-LN2_HIGH), bounded)
    r = fused(builder, k, same(-LN2_LOW), r)
    p = same(TERMS[0])
    for term in TERMS[1:]:
        p = fused(builder, p, r, same(term))
    series = builder.fadd(fused(builder, builder.fmul(p, r), r, r), same(1.0))
    words = ir.VectorType(WORD, LANES)
    power = builder.shl(builder.bitcast(shifted, words), ir.Constant(words, [52] * LANES))
    value = builder.fmul(series, builder.bitcast(power, VECTOR))
    return builder.select(builder.fcmp_ordered(">=", x, same(SMALLEST_EXPONENT)), value, same(0.0))


eight_by_eight(exponentials, exp_of_eight)


@compiled(always_inlined=True)
def gaussians(products, row, logs, norms, norm, gamma, n):
    """Gaussian kernel values from inner products: row[j] = exp(logs[j]), logs[j] = -gamma |vector j - x|^2.

    For j < n, a multiple of LANES. Overwrites `row` and `logs`; `products` may be `row` itself. A squared
    distance that rounding made negative counts as 0; an overflowed one gives exp = 0.
    """
    for j in range(n):
        distance = norms[j] + norm - 2.0 * products[j]
        logs[j] = -gamma * (0.0 if distance < 0.0 else distance)
    exponentials(logs, row, n)


@compiled(fastmath=FUSED)
def rough_exp_of(x):
    """exp(x) for a float32 x <= 0, and 4e-18 below -40.

    Products of smaller numbers would be denormal, on which some processors take a hundred times as long.
    """
    bounded = x if x > ROUGH_SMALLEST_EXPONENT else ROUGH_SMALLEST_EXPONENT
    shifted = bounded * ROUGH_LOG2E + ROUGH_MAGIC
    k = shifted - ROUGH_MAGIC
    r = bounded - k * ROUGH_LN2_HIGH - k * ROUGH_LN2_LOW
    p = ((ROUGH_D * r + ROUGH_C) * r + ROUGH_B) * r + ROUGH_A
    return (p * r * r + r + ROUGH_1) * low_bits_as_exponent(shifted)


# logarithms: x = 2^k m with m between the root of 1/2 and that of 2; log(m) = 2 atanh(s) with s = (m - 1) / (m + 1).
# The polynomial interpolates (atanh(s) / s - 1) / s^2 at Chebyshev points, as a function of s^2. The largest relative
# error is 4e-16


ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of the root of 1/2
MANTISSA_BITS = 52  # bits of the mantissa of a float64

# (atanh(s) / s - 1) / s^2, the highest power of s^2 first
LOG_TERMS = (
    0.07308224842521703,
    0.07665860800278021,
    0.09091444562630861,
    0.1111110556739754,
    0.14285714312987743,
    0.19999999999949752,
    0.3333333333333335,
)


def logarithms(values, logs, n):
    """logs[j] = log(values[j]) for j < n, a multiple of LANES. Modifies `logs` in place."""
    for j in range(n):
        logs[j] = math.log(values[j])


def _log_of_eight(builder, x):
    words = ir.VectorType(WORD, LANES)
    bits = builder.bitcast(x, words)
    shift = ir.Constant(words, [MANTISSA_BITS] * LANES)
    above = builder.sub(bits, ir.Constant(words, [ROOT_HALF] * LANES))
    exponent = builder.ashr(above, shift)
    m = builder.bitcast(builder.sub(bits, builder.shl(exponent, shift)), VECTOR)
    k = builder.sitofp(exponent, VECTOR)
    f = builder.fsub(m, same(1.0))
    s = builder.fdiv(f, builder.fadd(m, same(1.0)))
    z = builder.fmul(s, s)
    p = same(LOG_TERMS[0])
    for term in LOG_TERMS[1:]:
        p = fused(builder, p, z, same(term))
    twice = builder.fadd(s, s)
    rest = fused(builder, builder.fmul(twice, z), p, builder.fmul(k, same(LN2_LOW)))
    return fused(builder, k, same(LN2_HIGH), builder.fadd(twice, rest))


eight_by_eight(logarithms, _log_of_eight)


# softmax, with the same order of summation on every processor


NO_SHARE = same(-np.inf)


def softmax(scores: Any, shares: Any) -> None:
    """shares[c] = exp(scores[c]) / sum_k exp(scores[k]). Modifies `shares` in place."""
    powers = np.exp(scores - scores.max())
    shares[:] = powers / powers.sum()


@generated(softmax, types.none, types.Array, types.Array)
def _softmax(builder, scores, shares):
    (scores, n), (shares, _) = scores, shares
    highest, total = cgutils.alloca_once(builder, VECTOR), cgutils.alloca_once(builder, VECTOR)
    builder.store(NO_SHARE, highest)
    builder.store(same(0.0), total)

    def raise_highest(start: Any, mask: Any) -> None:
        found, before = _load_masked(builder, scores, start, mask), builder.load(highest)
        larger = builder.fcmp_ordered(">", found, before)
        builder.store(builder.select(larger, found, before), highest)

    for_eights(builder, n, raise_highest)
    top = in_all(builder, _largest(builder, builder.load(highest)))

    def write_powers(start: Any, mask: Any) -> None:
        power = exp_of_eight(builder, builder.fsub(_load_masked(builder, scores, start, mask), top))
        store_eight(builder, power, shares, start, mask)
        builder.store(builder.fadd(builder.load(total), power), total)

    for_eights(builder, n, write_powers)
    whole = in_all(builder, sum_of(builder, builder.load(total)))

    def divide(start: Any, mask: Any) -> None:
        share = builder.fdiv(load_eight(builder, shares, start, mask), whole)
        store_eight(builder, share, shares, start, mask)

    for_eights(builder, n, divide)


def _load_masked(builder: Any, numbers: Any, start: Any, mask: Any) -> Any:
    """Load eight numbers, with -inf, whose exponential is 0, in the masked lanes."""
    found = load_eight(builder, numbers, start, mask)
    return found if mask is None else builder.select(mask, found, NO_SHARE)


def _largest(builder: Any, vector: Any) -> Any:
    """The largest of the lanes."""
    first, *others = lanes_of(builder, vector)
    for other in others:
        first = builder.select(builder.fcmp_ordered(">", other, first), other, first)
    return first

"""exp, log and sums of products in plain arithmetic, so that LLVM vectorises loops over them, with
the same order of additions on every processor.

exp(x) = 2^k exp(r) with k the integer nearest to x / ln 2. Adding MAGIC leaves k in the low bits of
the sum; shifting these bits into the exponent field gives 2^k. The polynomial interpolates (exp(r)
- 1 - r) / r^2 at Chebyshev points. log(x) = k ln 2 + 2 atanh(s) for x = 2^k m, with m between the
root of 1/2 and that of 2 and s = (m - 1) / (m + 1).
"""

from __future__ import annotations

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from .compiling import inner, without_nan

LOG2E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
MAGIC = 6755399441055744.0 + 1023.0  # 1.5 * 2^52, and the bias of the exponent field
SMALLEST_EXPONENT = -708.0  # below it exp(x) is denormal, and the result is exactly 0

F = np.float32
ROUGH_LOG2E, ROUGH_MAGIC, ROUGH_SMALLEST = F(LOG2E), F(12582912.0 + 127.0), F(-40.0)
ROUGH_HIGH, ROUGH_LOW, ROUGH_1 = F(0.693359375), F(-2.12194440e-4), F(1.0)
ROUGH_A, ROUGH_B, ROUGH_C, ROUGH_D = F(0.49999749), F(0.16666631), F(0.041833807), F(0.0083572006)

ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of the root of 1/2
MANTISSA_BITS = 52


@intrinsic
def bits_of(typingctx, x):
    """The bits of a float as a whole number of the same size, and back. (numba compiles its own
    `view` for every use.)
    """
    pairs = {types.float32: types.int32, types.float64: types.int64}
    result = pairs.get(x) or {whole: real for real, whole in pairs.items()}.get(x)

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(result))

    return result and result(x), generate


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def _bits_of_number(x):
        kinds = {np.float32: np.int32, np.float64: np.int64, float: np.int64, np.int32: np.float32}
        return np.asarray(x).view(kinds.get(type(x), np.float64))[()]

    bits_of = _bits_of_number  # type: ignore[assignment]


@inner
def exp_of(x):
    """exp(x) for x <= 0, to 3e-16; 0 for NaN and for everything below SMALLEST_EXPONENT."""
    bounded = x if x > SMALLEST_EXPONENT else SMALLEST_EXPONENT
    shifted = bounded * LOG2E + MAGIC
    k = shifted - MAGIC
    r = bounded - k * LN2_HIGH - k * LN2_LOW
    p = (2.51003767988125e-08 * r + 2.762007713646922e-07) * r + 2.7557268478279004e-06
    p = ((p * r + 2.480152131972762e-05) * r + 0.00019841269863041851) * r + 0.0013888888917198419
    p = (
        ((p * r + 0.008333333333330065) * r + 0.04166666666662416) * r + 0.16666666666666669
    ) * r + 0.5
    value = (p * r * r + r + 1.0) * bits_of(bits_of(shifted) << MANTISSA_BITS)
    return value if x >= SMALLEST_EXPONENT else 0.0


@inner
def rough_exp_of(x):
    """exp(x) for a float32 x <= 0, to 5e-7, and 4e-18 below -40. It takes a third of the time: good
    enough to rank.

    Products of smaller numbers would be denormal, on which some processors take a hundred times as
    long.
    """
    bounded = x if x > ROUGH_SMALLEST else ROUGH_SMALLEST
    shifted = bounded * ROUGH_LOG2E + ROUGH_MAGIC
    k = shifted - ROUGH_MAGIC
    r = bounded - k * ROUGH_HIGH - k * ROUGH_LOW
    p = ((ROUGH_D * r + ROUGH_C) * r + ROUGH_B) * r + ROUGH_A
    return (p * r * r + r + ROUGH_1) * bits_of(np.int32(bits_of(shifted) << np.int32(23)))


@inner
def log_of(x):
    """log(x) for a normal x > 0, to 4e-16"""
    bits = bits_of(x)
    exponent = (bits - ROOT_HALF) >> MANTISSA_BITS
    m = bits_of(bits - (exponent << MANTISSA_BITS))
    k = np.float64(exponent)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = (0.07308224842521703 * z + 0.07665860800278021) * z + 0.09091444562630861
    p = ((p * z + 0.1111110556739754) * z + 0.14285714312987743) * z + 0.19999999999949752
    p = p * z + 0.3333333333333335
    return k * LN2_HIGH + (2.0 * s + (2.0 * s * z * p + k * LN2_LOW))


@inner
def dot(a, b, n):
    """sum_j a[j] b[j] for j < n, in eight sums of every eighth product: in this order on every
    processor.
    """
    p, q, r, s, t, u, v, w = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    eights = n & ~7
    for j in range(0, eights, 8):
        p += a[j] * b[j]
        q += a[j + 1] * b[j + 1]
        r += a[j + 2] * b[j + 2]
        s += a[j + 3] * b[j + 3]
        t += a[j + 4] * b[j + 4]
        u += a[j + 5] * b[j + 5]
        v += a[j + 6] * b[j + 6]
        w += a[j + 7] * b[j + 7]
    for j in range(eights, n):
        p += a[j] * b[j]
    return ((p + t) + (r + v)) + ((q + u) + (s + w))


@inner
def add_multiple(total, factor, row, n):
    """total[j] += factor row[j] for j < n. Modifies `total` in place."""
    for j in range(n):
        total[j] += factor * row[j]


@without_nan
def least_of(numbers, n):
    """The least of n numbers, none of which is NaN."""
    least = np.inf
    for j in range(n):
        least = numbers[j] if numbers[j] < least else least
    return least


@inner
def clamp(value, limit):
    """The value, clamped to [-limit, limit]."""
    return limit if value > limit else -limit if value < -limit else value

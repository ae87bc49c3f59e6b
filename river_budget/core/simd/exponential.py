"""exp(x) for x <= 0, in plain arithmetic, so that LLVM vectorises a loop that calls it; log(x) and softmax.

exp(x) = 2^k exp(r) with k the integer nearest to x / ln 2. Adding MAGIC leaves k in the low bits of
the sum; shifting these bits into the exponent field gives 2^k. The polynomials interpolate (exp(r) - 1 - r) / r^2
at Chebyshev points. `exp_of` has a largest relative error of 3e-16 on [-708, 0]; `rough_exp_of` works in
float32, has a relative error of 5e-7 and takes a third of the time: good enough to rank.
"""

from __future__ import annotations

import numpy as np

from ..compiling.jit import FUSED, compiled
from .bits import bits_of, from_bits

LOG2E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
MANTISSA_BITS, ROUGH_MANTISSA_BITS = np.int64(52), np.uint32(23)  # of float64, of float32
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
ROUGH_1 = F(1.0)
ROUGH_A, ROUGH_B, ROUGH_C, ROUGH_D = F(0.49999749), F(0.16666631), F(0.041833807), F(0.0083572006)


@compiled(always_inlined=True)
def power_of_two(shifted):
    """2^k, if k + bias stands in the low bits of a float64: they become its exponent."""
    return from_bits(bits_of(shifted) << MANTISSA_BITS)


@compiled(always_inlined=True)
def rough_power_of_two(shifted):
    """`power_of_two` in float32."""
    return np.uint32(np.float32(shifted).view(np.uint32) << ROUGH_MANTISSA_BITS).view(np.float32)


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
    value = (p * r * r + r + 1.0) * power_of_two(shifted)
    return value if x >= SMALLEST_EXPONENT else 0.0


@compiled
def exponentials(logs, row, n):
    """row[j] = exp_of(logs[j]) for j < n. Modifies `row` in place."""
    for j in range(n):
        row[j] = exp_of(logs[j])


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
    return (p * r * r + r + ROUGH_1) * rough_power_of_two(shifted)


# logarithms: x = 2^k m with m between the root of 1/2 and that of 2; log(m) = 2 atanh(s) with s = (m - 1) / (m + 1).
# The polynomial interpolates (atanh(s) / s - 1) / s^2 at Chebyshev points, as a function of s^2. The largest relative
# error is 4e-16


ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)  # the bits of the root of 1/2

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


@compiled(always_inlined=True)
def log_of(x):
    """log(x) for a normal x > 0"""
    bits = bits_of(x)
    exponent = (bits - ROOT_HALF) >> MANTISSA_BITS
    m = from_bits(bits - (exponent << MANTISSA_BITS))
    k = np.float64(exponent)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = LOG_TERMS[0]
    p = p * z + LOG_TERMS[1]
    p = p * z + LOG_TERMS[2]
    p = p * z + LOG_TERMS[3]
    p = p * z + LOG_TERMS[4]
    p = p * z + LOG_TERMS[5]
    p = p * z + LOG_TERMS[6]
    twice = s + s
    return k * LN2_HIGH + (twice + (twice * z * p + k * LN2_LOW))


@compiled
def logarithms(values, logs, n):
    """logs[j] = log(values[j]) for j < n. Modifies `logs` in place."""
    for j in range(n):
        logs[j] = log_of(values[j])


@compiled
def softmax(scores, shares):
    """shares[c] = exp(scores[c]) / sum_k exp(scores[k]). Modifies `shares` in place."""
    highest, total = scores[0], 0.0
    for c in range(1, scores.shape[0]):
        highest = max(highest, scores[c])
    for c in range(scores.shape[0]):
        shares[c] = exp_of(scores[c] - highest)
        total += shares[c]
    for c in range(scores.shape[0]):
        shares[c] /= total

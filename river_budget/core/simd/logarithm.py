"""log(x) of normal numbers x > 0, eight at a time: AutoKernel takes one per expert and class in every round.

x = 2^k m with m between the root of 1/2 and that of 2; log(m) = 2 atanh(s) with s = (m - 1) / (m + 1). The
polynomial interpolates (atanh(s) / s - 1) / s^2 at Chebyshev points, as a function of s^2. The largest
relative error is 4e-16.
"""

from __future__ import annotations

import math

from llvmlite import ir

from .exponential import LN2_HIGH, LN2_LOW
from .registers import LANES, WORD
from .vector_ops import VECTOR, eight_by_eight, fused, same

ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of the root of 1/2
MANTISSA_BITS = 52  # bits of the mantissa of a float64

# (atanh(s) / s - 1) / s^2, the highest power of s^2 first
TERMS = (
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
    p = same(TERMS[0])
    for term in TERMS[1:]:
        p = fused(builder, p, z, same(term))
    twice = builder.fadd(s, s)
    rest = fused(builder, builder.fmul(twice, z), p, builder.fmul(k, same(LN2_LOW)))
    return fused(builder, k, same(LN2_HIGH), builder.fadd(twice, rest))


eight_by_eight(logarithms, _log_of_eight)

"""Sine and cosine of a row of angles, in plain arithmetic that LLVM vectorises.

An angle is reduced to [-pi/4, pi/4] by subtracting k quarter turns: k is the nearest whole number
to x 2/pi, and pi/2 is split into three parts, of which the first two have so few bits that their
products with k are exact. The polynomials interpolate (sin r - r) / r^3 and (cos r - 1 + r^2/2) /
r^4 at Chebyshev points. Both errors stay below 2 ulp for angles up to LARGEST_ANGLE; a row with a
larger one goes to the C library.
"""

from __future__ import annotations

import math

from .compiling import inner
from .numerics import bits_of

LARGEST_ANGLE = 1.5e6  # k stays below 2^20
FARTHEST_ANGLE = 2.0**50
QUARTERS = 2.0 / math.pi
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves a whole number in the low bits
PART_1 = 1.57079632673412561417e00  # the first 33 bits of pi/2
PART_2 = 6.07710050630396597660e-11  # the next 33
PART_3 = 2.02226624879595063154e-21  # the rest
SINE_0, SINE_1 = -0.16666666666666666, 0.008333333333330936
SINE_2, SINE_3 = -0.00019841269836740532, 2.7557316093198404e-06
SINE_4, SINE_5 = -2.5051129896450185e-08, 1.5917988979397435e-10
COSINE_0, COSINE_1 = 0.041666666666666664, -0.0013888888888887389
COSINE_2, COSINE_3 = 2.48015872987544e-05, -2.755731726587808e-07
COSINE_4, COSINE_5 = 2.087614504941318e-09, -1.138254464534925e-11


@inner
def sine_of(r):
    """sin r on [-pi/4, pi/4]"""
    z = r * r
    p = SINE_5
    p = p * z + SINE_4
    p = p * z + SINE_3
    p = p * z + SINE_2
    p = p * z + SINE_1
    p = p * z + SINE_0
    return r + r * (z * p)


@inner
def cosine_of(r):
    """cos r on [-pi/4, pi/4]"""
    z = r * r
    p = COSINE_5
    p = p * z + COSINE_4
    p = p * z + COSINE_3
    p = p * z + COSINE_2
    p = p * z + COSINE_1
    p = p * z + COSINE_0
    half = 0.5 * z
    large = 1.0 - half
    return large + ((1.0 - large - half) + z * z * p)


@inner
def sines_and_cosines(angles, sines, n):
    """sines[j] = sin(angles[j]) and angles[j] = cos(angles[j]) for j < n. Overwrites both arrays.

    An angle that is NaN or beyond FARTHEST_ANGLE, where rounding is as large as a turn, counts as
    0.
    """
    far = 0
    for j in range(n):
        far += not abs(angles[j]) <= LARGEST_ANGLE  # counts NaN too
    if far > 0:
        _by_c_library(angles, sines, n)
        return
    for j in range(n):
        shifted = angles[j] * QUARTERS + ROUND
        k = shifted - ROUND
        quadrant = bits_of(shifted)
        r = angles[j] - k * PART_1 - k * PART_2 - k * PART_3
        sine, cosine = sine_of(r), cosine_of(r)
        odd = quadrant & 1 != 0
        s, c = cosine if odd else sine, sine if odd else cosine
        sines[j] = -s if quadrant & 2 != 0 else s
        angles[j] = -c if (quadrant + 1) & 2 != 0 else c


@inner
def _by_c_library(angles, sines, n):
    """`sines_and_cosines` by the C library, one angle at a time. Overwrites both arrays."""
    for j in range(n):
        angle = (
            angles[j] if abs(angles[j]) <= FARTHEST_ANGLE else 0.0
        )  # also if a product overflowed
        sines[j] = math.sin(angle)
        angles[j] = math.cos(angle)

"""Kernel rows: k(vector j, x) for one example x and all support vectors.

Inner loops run over support vectors, which lie side by side in memory, and over the features that
are present in x, however many the model knows. They run to the number of vectors rounded up to a
multiple of eight: columns behind the last vector have coefficients 0, and the scalar tail of a
vectorised loop takes longer than one more iteration.
"""

from __future__ import annotations

import math

from ..codes import Kernel
from ..compiling import inlined, inner
from ..custom_kernels import call_function
from ..numerics import clamp, dot, exp_of
from .examples import read_vector, write_whole

RBF, LAPLACIAN = int(Kernel.RBF), int(Kernel.LAPLACIAN)
POLYNOMIAL, LINEAR, CUSTOM = int(Kernel.POLYNOMIAL), int(Kernel.LINEAR), int(Kernel.CUSTOM)
# The kernels that kernel_row computes; a file whose model has another kernel is refused
KERNELS = (RBF, LAPLACIAN, POLYNOMIAL, LINEAR, CUSTOM)
# If gamma |x|^2 is larger, distances are computed as sums of squared differences, since
# cancellation in |v|^2 + |x|^2 - 2 <v, x> would lose their digits. (It is enough to look at x: v is
# about as long, or so far away that its kernel value is 0.)
CANCELS = 1e4
FARTHEST = 1e9  # gamma times a squared distance is at most this, also after overflow
BOUND = 1e100  # values of unbounded kernels are clamped to [-BOUND, BOUND]
LEAST_LENGTH = 1e-60  # a vector with a smaller squared length counts as zero


@inner
def padded(count):
    """The number of columns in loops over the support vectors."""
    return (count + 7) & ~7


@inlined
def norm_of(m, x):
    """The norm of x as in m.norms: |x|^2, or |x|_1 for the Laplacian kernel, or k(x, x) for a
    user's kernel.
    """
    return other_norm(m.other, m, x)


@inlined
def kernel_row(m, x, norm):
    """m.row[j] = k(vector j, x). For Gaussian and Laplacian kernels m.logs[j] = its logarithm. May
    overwrite m.whole and m.buffer.
    """
    fill_row(m.other, m, x, norm)


@inlined
def self_kernel(m, norm):
    """k(x, x) from the norm of x; of vector j it is m.norms[j]."""
    return other_self_kernel(m.other, m.head[0], norm)


@inner
def fill_row(other, m, x, norm):
    """`kernel_row`: for the Gaussian kernel here."""
    if other is None:
        head, row, logs, norms = m.head[0], m.row, m.logs, m.norms
        n, gamma = padded(head.count), head.gamma
        if gamma * norm > CANCELS:
            differences(m.vectors, x, m.whole, head.kernel == LAPLACIAN, logs, n)
        else:
            products(m.vectors, x, row, n)
            for j in range(n):
                logs[j] = norms[j] + norm - 2.0 * row[j]
        for j in range(n):
            # negative by rounding counts as 0; infinite or NaN after an overflow stays so, and the
            # kernel value is 0
            logs[j] = -gamma * (0.0 if logs[j] < 0.0 else logs[j])
            row[j] = exp_of(logs[j])
    else:
        other_row(m, x, norm)


@inner
def products(vectors, x, row, n):
    """row[j] = <vector j, x> for j < n: four features a sweep, or one of the last, added in their
    order.
    """
    places, values, _ = x
    for j in range(n):
        row[j] = 0.0
    fours = places.shape[0] & ~3
    for i in range(0, fours, 4):
        a, b = vectors[places[i]], vectors[places[i + 1]]
        c, d = vectors[places[i + 2]], vectors[places[i + 3]]
        p, q, r, s = values[i], values[i + 1], values[i + 2], values[i + 3]
        for j in range(n):
            row[j] = (((row[j] + p * a[j]) + q * b[j]) + r * c[j]) + s * d[j]
    for i in range(fours, places.shape[0]):
        a, p = vectors[places[i]], values[i]
        for j in range(n):
            row[j] += p * a[j]


@inner
def differences(vectors, x, whole, absolute, distances, n):
    """distances[j] = |vector j - x|^2, or |vector j - x|_1, for j < n. Overwrites `whole`."""
    write_whole(x, whole)
    for j in range(n):
        distances[j] = x[2]
    for f in range(whole.shape[0]):
        feature, value = vectors[f], whole[f]
        for j in range(n):
            apart = feature[j] - value
            distances[j] += abs(apart) if absolute else apart * apart


@inlined
def row_of_vector(m, j):
    """m.row[i] = k(vector i, vector j). Overwrites m.own_places and m.own_values, and what
    `kernel_row` overwrites.
    """
    kernel_row(m, read_vector(m, j), m.norms[j])


@inner
def along_row(m, row, p):
    """a_p . f(x), with the coefficients a_p of vector p, without the scale: `row` is that of x."""
    a, n, total = m.coefficients, padded(m.head[0].count), 0.0
    for r in range(a.shape[0]):
        if a[r, p] != 0.0:
            total += a[r, p] * dot(row, a[r], n)
    return total


# Other kernels. m.other is None in a model whose kernel is Gaussian: numba leaves out the
# branches for others


@inner
def other_norm(other, m, x):
    """`norm_of`"""
    values, total = x[1], x[2]
    if other is None:
        return dot(values, values, values.shape[0]) + total
    if m.head[0].kernel == CUSTOM:
        return value_of(m, values, values, values.shape[0])
    if m.head[0].kernel != LAPLACIAN:
        return dot(values, values, values.shape[0]) + total
    for i in range(values.shape[0]):
        total += abs(values[i])
    return total


@inner
def other_self_kernel(other, head, norm):
    """`self_kernel`"""
    if other is None:
        return 1.0
    if head.bounded:
        return 1.0
    length = raw_self_kernel(head, norm)
    if length < LEAST_LENGTH:
        return min(length, 0.0)
    return 1.0 if head.normalised else length


@inner
def raw_self_kernel(head, norm):
    """k(x, x) before it is normalised."""
    if head.kernel == CUSTOM:
        return norm
    if head.kernel == POLYNOMIAL:
        return min((head.gamma * norm + head.coef0) ** head.degree, BOUND)
    return min(norm, BOUND)


@inner
def other_row(m, x, norm):
    """`kernel_row` for Laplacian, linear and polynomial kernels, and kernel functions of users."""
    head, row, logs, base = m.head[0], m.row, m.logs, m.buffer
    n, gamma = padded(head.count), head.gamma
    if head.kernel == LAPLACIAN:
        if gamma * norm > CANCELS:
            differences(m.vectors, x, m.whole, head.kernel == LAPLACIAN, logs, n)
        else:
            absolute_distances(m.vectors, m.norms, x, logs, n)
        for j in range(n):
            logs[j] = -gamma * (0.0 if logs[j] < 0.0 else logs[j])
            row[j] = exp_of(logs[j])
        return
    if head.kernel == CUSTOM:
        length = min(x[1].shape[0], m.vectors.shape[0])
        for j in range(n):
            row[j] = 0.0
        for j in range(head.count):
            for i in range(length):
                m.whole[i] = m.vectors[i, j]
            row[j] = value_of(m, x[1], m.whole, length)
    else:
        products(m.vectors, x, row, n)
        gamma, coef0, degree = head.gamma, head.coef0, head.degree
        if head.kernel == LINEAR:
            gamma, coef0, degree = 1.0, 0.0, 1
        for j in range(n):
            base[j] = row[j] = gamma * row[j] + coef0
        for _ in range(1, degree):
            for j in range(n):
                row[j] *= base[j]
        for j in range(n):  # NaN: overflows of both signs
            row[j] = clamp(row[j], BOUND) if row[j] == row[j] else 0.0
    if head.normalised:
        length = max(raw_self_kernel(head, norm), 0.0)
        for j in range(head.count):
            both = math.sqrt(length) * math.sqrt(max(raw_self_kernel(head, m.norms[j]), 0.0))
            row[j] = row[j] / both if both > 0.0 else 0.0


@inner
def absolute_distances(vectors, norms, x, distances, n):
    """distances[j] = |vector j - x|_1 = |vector j|_1 + the sum over features of x of |v - x_i| -
    |v|, for j < n.
    """
    places, values, rest = x
    for j in range(n):
        distances[j] = norms[j] + rest
    for i in range(places.shape[0]):
        feature, value = vectors[places[i]], values[i]
        for j in range(n):
            distances[j] += abs(feature[j] - value) - abs(feature[j])


@inner
def value_of(m, x, z, n):
    """The user's kernel function of two rows of n numbers, clamped to [-BOUND, BOUND]."""
    value = call_function(m.function, x, z, n)
    return clamp(value, BOUND) if value == value else 0.0

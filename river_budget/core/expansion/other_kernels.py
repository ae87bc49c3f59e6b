"""Kernels other than the Gaussian one: linear and polynomial, Laplacian, and kernel functions of users.

They are compiled when the first model has such a kernel (core/compiling/by_address.py).
"""

from __future__ import annotations

import math

from ..block.limits import BOUND, CUSTOM, LEAST, POLYNOMIAL, log_of_distance, padded_count
from ..compiling.array_views import address_of
from ..compiling.by_address import shared
from ..compiling.jit import FUSED, REORDERED, compiled
from ..compiling.model_type import EXAMPLE, MODEL, NOTHING, NUMBERS, REAL
from ..compiling.needs import Need
from ..examples.finite import is_finite
from ..examples.present_features import places_of, rest_of, values_of
from ..simd.exponential import exp_of
from ..vectors.table import add_absolute_differences, read_with_zeros
from .custom_kernels import call_function


@shared(Need.OTHER_KERNELS, REAL, MODEL, EXAMPLE)
def other_norm(model, x):
    """`norm_of` for kernels without products: |x|_1 for the Laplacian kernel, k(x, x) for a user's function."""
    values, total = values_of(x), rest_of(x)
    if model.head.kernel == CUSTOM:
        return _value_of(model, values, values, values.shape[0]) if is_finite(values) else math.inf
    for i in range(values.shape[0]):
        total += abs(values[i])
    return total


@shared(Need.OTHER_KERNELS, REAL, MODEL, REAL)
def other_self_kernel(model, norm):
    """k(x, x) from the norm of x, for kernels whose values have no bound."""
    length = _raw_self_kernel(model, norm)
    if length < LEAST:
        return min(length, 0.0)
    return length if model.head.normalised == 0 else 1.0


@shared(Need.OTHER_KERNELS, NOTHING, MODEL, EXAMPLE, REAL)
def row_without_products(model, x, norm):
    """model.row[j] = k(vector j, x) for kernels that are no function of inner products."""
    if model.head.kernel != CUSTOM:
        _laplacian(model, x)
        return
    other, values = model.other, values_of(x)  # dense rows: such models have a table of float64
    n = min(values.shape[0], other.shape[0])
    for j in range(padded_count(model)):
        model.row[j] = 0.0
    for j in range(model.head.count):
        read_with_zeros(model, j, other[:n])
        model.row[j] = _value_of(model, values, other, n)
    if model.head.normalised:
        _normalise(model, model.row, norm)


@shared(Need.OTHER_KERNELS, NOTHING, MODEL, NUMBERS, REAL)
def powers(model, row, norm):
    """row[j] = the polynomial or linear kernel, from inner products in `row`."""
    head, n = model.head, padded_count(model)
    if head.kernel == POLYNOMIAL:
        _polynomial(row, model.buffer, head.gamma, head.coef0, head.degree, n)
    else:  # LINEAR
        _bounded(row, n)
    if head.normalised:
        _normalise(model, row, norm)


@compiled
def _raw_self_kernel(model, norm):
    """k(x, x) before it is normalised."""
    head = model.head
    if head.kernel == CUSTOM:
        return norm
    if head.kernel == POLYNOMIAL:
        return min((head.gamma * norm + head.coef0) ** head.degree, BOUND)
    return min(norm, BOUND)  # LINEAR


@compiled
def _value_of(model, x, other, n):
    """The user's kernel function of two rows of n numbers, clamped to [-BOUND, BOUND]."""
    value = call_function(model.function_at[0], address_of(x), address_of(other), n)
    return min(max(value, -BOUND), BOUND) if value == value else 0.0


@compiled(fastmath=FUSED, always_inlined=True)
def _laplacian(model, x):
    """row[j] = exp(-gamma |vector j - x|_1), where |vector j - x|_1 = |vector j|_1 + the sum over features of x of
    |v - x_i| - |v|"""
    n, row, norms, gamma = padded_count(model), model.row, model.norms, model.head.gamma
    places, values = places_of(x), values_of(x)
    for j in range(n):
        row[j] = norms[j] + rest_of(x)
    for i in range(places.shape[0]):
        add_absolute_differences(model, places[i], values[i], row, n)
    for j in range(n):
        row[j] = exp_of(log_of_distance(row[j], gamma))


@compiled(fastmath=REORDERED, always_inlined=True)
def _polynomial(row, base, gamma, coef0, degree, n):
    """row[j] = (gamma <vector j, x> + coef0)^degree, from inner products in `row`."""
    for j in range(n):
        base[j] = gamma * row[j] + coef0
        row[j] = base[j]
    for _ in range(1, degree):
        for j in range(n):
            row[j] *= base[j]
    _bounded(row, n)


@compiled(fastmath=REORDERED)
def _bounded(row, n):
    """Clamp kernel values to [-BOUND, BOUND], so that their sums are finite."""
    for j in range(n):
        value = row[j] if row[j] == row[j] else 0.0  # NaN: overflows of both signs
        row[j] = min(max(value, -BOUND), BOUND)


@compiled
def _normalise(model, row, norm):
    """row[j] = k(vector j, x) / sqrt(k(vector j, vector j) k(x, x)), or 0 where the denominator is 0"""
    norms, length = model.norms, max(_raw_self_kernel(model, norm), 0.0)
    for j in range(model.head.count):
        both = math.sqrt(length) * math.sqrt(max(_raw_self_kernel(model, norms[j]), 0.0))
        row[j] = row[j] / both if both > 0.0 else 0.0

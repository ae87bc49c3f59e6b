"""Kernels that are no function of a distance: linear, polynomial, and kernel functions of users.

They are compiled when the first model has such a kernel (core/compiling/by_address.py).
"""

from __future__ import annotations

import math

import numpy as np

from ..block.limits import BOUND, CUSTOM, LEAST, POLYNOMIAL, padded_count, within
from ..compiling.array_views import address_of
from ..compiling.by_address import shared
from ..compiling.jit import REORDERED, compiled
from ..compiling.model_type import EXAMPLE, MODEL, NOTHING, REAL
from ..compiling.needs import Need
from ..examples.present_features import rest_of, values_of
from ..vectors.table import dot_products, read_with_zeros
from .custom_kernels import call_function

ONCE = np.int64(1)


@shared(Need.OTHER_KERNELS, REAL, MODEL, EXAMPLE)
def other_norm(model, x):
    """`norm_of` for kernels without products: |x|_1 for the Laplacian kernel, k(x, x) for a user's function."""
    values, total = values_of(x), rest_of(x)
    if model.head.kernel == CUSTOM:
        return _value_of(model, values, values, values.shape[0])
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
def other_row(model, x, norm):
    """model.row[j] = k(vector j, x) for linear and polynomial kernels and for a user's function."""
    head, row, n = model.head, model.row, padded_count(model)
    if head.kernel == CUSTOM:
        _call_for_each_vector(model, values_of(x), row, n)
    else:
        dot_products(model, x, row, n)
        if head.kernel == POLYNOMIAL:
            _powers(row, model.buffer, head.gamma, head.coef0, head.degree, n)
        else:  # LINEAR
            _powers(row, model.buffer, 1.0, 0.0, ONCE, n)
    if head.normalised:
        length = max(_raw_self_kernel(model, norm), 0.0)
        for j in range(head.count):
            own = max(_raw_self_kernel(model, model.norms[j]), 0.0)
            both = math.sqrt(length) * math.sqrt(own)
            row[j] = row[j] / both if both > 0.0 else 0.0


@compiled(fastmath=REORDERED)
def _powers(row, base, gamma, coef0, degree, n):
    """row[j] = (gamma row[j] + coef0)^degree, clamped to [-BOUND, BOUND], so that sums of kernel values are finite."""
    for j in range(n):
        base[j] = gamma * row[j] + coef0
        row[j] = base[j]
    for _ in range(1, degree):
        for j in range(n):
            row[j] *= base[j]
    for j in range(n):
        value = row[j] if row[j] == row[j] else 0.0  # NaN: overflows of both signs
        row[j] = within(value, BOUND)


@compiled
def _call_for_each_vector(model, values, row, n):
    """row[j] = the user's function of vector j and an example, whose rows hold zeros too. Overwrites model.other."""
    other, length = model.other, min(values.shape[0], model.other.shape[0])
    for j in range(n):
        row[j] = 0.0
    for j in range(model.head.count):
        read_with_zeros(model, j, other[:length])
        row[j] = _value_of(model, values, other, length)


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
    return within(value, BOUND) if value == value else 0.0

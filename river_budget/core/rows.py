"""Rows of kernel values between one example and all support vectors, and the scores they give.

The inner loops run over support vectors, which lie side by side in memory, and over the features that are
present in an example, whatever else the model knows (core/examples.py).
"""

from __future__ import annotations

import math

from .calls import row_of
from .codes import Kernel
from .custom import call_function
from .differences import distances_by_differences
from .examples import all_of, places_of, values_of
from .exponential import exp_of, exponentials
from .gaussian import gaussians
from .jit import FUSED, REORDERED, compiled
from .lanes import dot
from .linked import vector
from .nodes import column_of
from .numba_types import address_of, f64_matrix
from .products import dot_products

RBF, LAPLACIAN = int(Kernel.RBF), int(Kernel.LAPLACIAN)
POLYNOMIAL, LINEAR, CUSTOM = int(Kernel.POLYNOMIAL), int(Kernel.LINEAR), int(Kernel.CUSTOM)
KERNELS = (
    RBF,
    LAPLACIAN,
    POLYNOMIAL,
    LINEAR,
    CUSTOM,
)  # those that kernel_row knows; models of others are refused
FARTHEST = 1e9  # a squared distance times gamma, also where it has overflowed
HUGE = 1e300  # all features of an example with a norm below it are finite
BOUND = 1e100  # of the values of kernels that have no bound of their own
LEAST = 1e-60  # below this squared length a vector counts as zero
# a norm times gamma, from which distances come from differences: |v|^2 + |x|^2 - 2 <v, x> would lose what they have in
# common. A vector with a smaller norm is so far away that its kernel value is 0
CANCELS = 1e4


@compiled(always_inlined=True)
def padded_count(model):
    """The number of columns to work on: the support, filled up to whole vectors of eight, as a loop's
    odd rest costs more than a round of it. The columns beyond the support have coefficients 0."""
    return (model.head.count + 7) & ~7


@compiled(fastmath=REORDERED)
def is_finite(x):
    """Whether no value of x is NaN or infinite."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * 0.0
    return total == 0.0


@compiled(called_from_python=True)
def first_bad_row(rows):
    """The number of the first row with a NaN or an infinity, or -1."""
    matrix = f64_matrix(
        address_of(rows), rows.shape[0], rows.shape[1]
    )  # whatever kind of array comes
    for t in range(rows.shape[0]):
        if not is_finite(row_of(matrix, t)):
            return t
    return -1


@compiled(always_inlined=True)
def usable(x, norm):
    """Whether x is finite. A norm that is not huge is proof enough."""
    return norm < HUGE or is_finite(all_of(x))


@compiled
def _value_of(model, x, other, n):
    """The kernel function of two rows of n numbers, kept within bounds."""
    value = call_function(model.function_at[0], address_of(x), address_of(other), n)
    return min(max(value, -BOUND), BOUND) if value == value else 0.0


@compiled
def _custom_norm(model, x):
    return _value_of(model, x, x, x.shape[0]) if is_finite(x) else math.inf


@compiled
def _custom(model, x):
    """row[j] = what the kernel function says of x, in which zeros stand too, and vector j"""
    other, values = model.other, all_of(x)
    n = min(values.shape[0], other.shape[0])
    for j in range(padded_count(model)):
        model.row[j] = 0.0
    for j in range(model.head.count):
        for i in range(n):
            other[i] = model.vectors[i, j]
        model.row[j] = _value_of(model, values, other, n)


@compiled(always_inlined=True)
def norm_of(model, x):
    """|x|^2, or |x|_1 for the Laplacian kernel, or k(x, x) for a kernel function: what `norms` keeps of
    every vector."""
    values = all_of(x)
    if model.head.kernel == CUSTOM:
        return _custom_norm(model, values)
    if model.head.kernel != LAPLACIAN:
        return dot(values, values, values.shape[0])
    total = 0.0
    for i in range(values.shape[0]):
        total += abs(values[i])
    return total


@compiled
def self_kernel(model, norm):
    """k(x, x) from the norm of x: 1 for a kernel that is bounded so."""
    if model.head.bounded:
        return 1.0
    length = raw_self_kernel(model, norm)
    if length < LEAST:
        return min(length, 0.0)
    return length if model.head.normalised == 0 else 1.0


@compiled
def raw_self_kernel(model, norm):
    """The same for a kernel without a bound, before it is normalised."""
    head = model.head
    if head.kernel == CUSTOM:
        return norm
    if head.kernel == POLYNOMIAL:
        return min((head.gamma * norm + head.coef0) ** head.degree, BOUND)
    return min(norm, BOUND)  # LINEAR


@compiled
def _normalise(model, row, norm):
    """row[j] = k(vector j, x) / sqrt(k(vector j, vector j) k(x, x)), or 0 where that does not exist"""
    norms, length = model.norms, max(raw_self_kernel(model, norm), 0.0)
    for j in range(model.head.count):
        both = math.sqrt(length) * math.sqrt(max(raw_self_kernel(model, norms[j]), 0.0))
        row[j] = row[j] / both if both > 0.0 else 0.0


@compiled(fastmath=REORDERED)
def _log_of_distance(distance, gamma):
    """-gamma distance, where a rounding error below 0 counts as 0. An overflow stays what it is, infinite
    or NaN, and exp_of makes a 0 of it."""
    return -gamma * (0.0 if distance < 0.0 else distance)


@compiled(always_inlined=True)
def cancels(model, norm):
    """Whether the distance of x from vectors of such norms must come from differences."""
    return model.head.gamma * norm > CANCELS


@compiled(fastmath=REORDERED, always_inlined=True)
def _exponentials(row, logs, gamma, n):
    """From distances to exp(-gamma distance) and its logarithm."""
    for j in range(n):
        logs[j] = _log_of_distance(row[j], gamma)
    exponentials(logs, row, n)


@compiled(fastmath=FUSED, always_inlined=True)
def _laplacian(model, x):
    """row[j] = exp(-gamma |vector j - x|_1); where x is 0 it is |vector j|, which the norm has already"""
    n, row, norms, gamma = padded_count(model), model.row, model.norms, model.head.gamma
    places, values = places_of(x), values_of(x)
    for j in range(n):
        row[j] = norms[j]
    for i in range(places.shape[0]):
        x_i = values[i]
        if places[i] < 0:  # the model does not know it
            for j in range(n):
                row[j] += abs(x_i)
        elif model.head.slots:
            _add_listed_differences(model, places[i], x_i, row)
        else:
            feature = model.vectors[places[i]]
            for j in range(n):
                row[j] += abs(feature[j] - x_i) - abs(feature[j])
    for j in range(n):
        row[j] = exp_of(_log_of_distance(row[j], gamma))


@compiled
def _add_listed_differences(model, place, x_i, row):
    """The same from lists: what a feature adds where a vector lacks it, except where it does not."""
    n, column, before = padded_count(model), column_of(model, place), model.logs
    for k in range(column.shape[0]):
        j, value = column[k].vector, column[k].value
        before[j] = row[j] + (abs(value - x_i) - abs(value))
    for j in range(n):
        row[j] += abs(x_i)
    for k in range(column.shape[0]):
        row[column[k].vector] = before[column[k].vector]


@compiled(fastmath=REORDERED)
def _bounded(row, n):
    for j in range(n):
        value = row[j] if row[j] == row[j] else 0.0  # NaN: a sum of opposite overflows
        row[j] = min(max(value, -BOUND), BOUND)


@compiled(fastmath=REORDERED, always_inlined=True)
def _polynomial(row, base, gamma, coef0, degree, n):
    """From inner products to (gamma <vector j, x> + coef0)^degree"""
    for j in range(n):
        base[j] = gamma * row[j] + coef0
        row[j] = base[j]
    for _ in range(1, degree):
        for j in range(n):
            row[j] *= base[j]
    _bounded(row, n)


@compiled
def kernel_row(model, x, norm):
    """row[j] = k(vector j, x)"""
    head, row, n = model.head, model.row, padded_count(model)
    if (head.kernel == RBF or head.kernel == LAPLACIAN) and cancels(model, norm):
        distances_by_differences(model, x, row, n)
        _exponentials(row, model.logs, head.gamma, n)
        return
    if head.kernel == LAPLACIAN:
        _laplacian(model, x)
        return
    if head.kernel == CUSTOM:
        _custom(model, x)
        if head.normalised:
            _normalise(model, row, norm)
        return
    dot_products(model, x, row, n)
    from_products(model, row, norm)


@compiled
def from_products(model, row, norm):
    """From inner products to kernel values. Of the Gaussian kernel their logarithms are kept for who merges x next."""
    head, n = model.head, padded_count(model)
    if head.kernel == RBF:
        gaussians(row, model.logs, model.norms, norm, head.gamma, n)
    elif head.kernel == POLYNOMIAL:
        _polynomial(row, model.buffer, head.gamma, head.coef0, head.degree, n)
    else:  # LINEAR
        _bounded(row, n)
    if head.normalised and not head.bounded:
        _normalise(model, row, norm)


@compiled(fastmath=REORDERED, always_inlined=True)
def distances_into(model, x, norm, s):
    """s[j] = gamma |vector j - x|^2, at most FARTHEST"""
    n, row, norms, gamma = padded_count(model), model.row, model.norms, model.head.gamma
    if cancels(model, norm):
        distances_by_differences(model, x, row, n)
        for j in range(n):
            distance = -_log_of_distance(row[j], gamma)
            s[j] = distance if distance < FARTHEST else FARTHEST
        return
    dot_products(model, x, row, n)
    for j in range(n):
        distance = -_log_of_distance(norms[j] + norm - 2.0 * row[j], gamma)
        s[j] = distance if distance < FARTHEST else FARTHEST


@compiled(fastmath=REORDERED, always_inlined=True)
def rbf_into(row, norms, norm, gamma, share, logs, n):
    """row: from inner products to exp(-gamma |vector j - x|^2); share times its logarithm is added to logs."""
    for j in range(n):
        log = _log_of_distance(norms[j] + norm - 2.0 * row[j], gamma)
        log = log if log > -FARTHEST else -FARTHEST
        logs[j] += share * log
        row[j] = exp_of(log)


@compiled(fastmath=REORDERED)
def rbf_from_distances_into(row, gamma, share, logs, n):
    """The same where the distances are at hand."""
    for j in range(n):
        log = _log_of_distance(row[j], gamma)
        log = log if log > -FARTHEST else -FARTHEST
        logs[j] += share * log
        row[j] = exp_of(log)


@compiled(always_inlined=True)
def score_row(model, row, scores):
    """scores[r] = f_r(x), from the kernel row of x."""
    n, scale = padded_count(model), model.head.scale
    for r in range(scores.shape[0]):
        scores[r] = scale * dot(row, model.coefficients[r], n)


@compiled(always_inlined=True)
def score(model, x, norm, scores):
    """The kernel row of x, and f(x)."""
    kernel_row(model, x, norm)
    score_row(model, model.row, scores)


@compiled
def along_row(model, row, p):
    """a_p . f(x), with the kernel row of x"""
    total = 0.0
    for r in range(model.coefficients.shape[0]):
        if model.coefficients[r, p] != 0.0:
            total += model.coefficients[r, p] * dot(row, model.coefficients[r], padded_count(model))
    return total


@compiled
def row_of_vector(model, j):
    """The kernel row of vector j into model.row."""
    if model.head.noted:  # distances (core/heavy.py)
        for i in range(padded_count(model)):
            model.row[i] = exp_of(-model.distances[j, i])
        return
    kernel_row(model, vector(model, j), model.norms[j])

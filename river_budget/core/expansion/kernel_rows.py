"""Kernel rows: k(vector j, x) for one example x and all support vectors, and the scores that follow from them.

The inner loops run over support vectors, which lie side by side in memory (core/vectors/table.py), and over the features
that are present in x, however many the model knows (core/examples/present_features.py).
"""

from __future__ import annotations

from ..block.limits import CUSTOM, FARTHEST, LAPLACIAN, RBF, cancels, log_of_distance, padded_count
from ..compiling.by_address import shared
from ..compiling.jit import REORDERED, compiled
from ..compiling.model_type import EXAMPLE, MODEL, NOTHING, REAL
from ..compiling.needs import Need
from ..examples.present_features import rest_of, values_of
from ..simd.exponential import exp_of
from ..simd.vector_ops import dot
from ..vectors.table import (
    absolute_distances,
    distances_by_differences,
    dot_products,
    read_vector,
)
from .other_kernels import other_norm, other_row, other_self_kernel


@shared(Need.KERNEL, NOTHING, MODEL, EXAMPLE, REAL)
def kernel_row(model, x, norm):
    """model.row[j] = k(vector j, x). For Gaussian and Laplacian kernels model.logs[j] = its logarithm."""
    head, row, logs, n = model.head, model.row, model.logs, padded_count(model)
    norms, gamma, from_products = model.norms, head.gamma, False
    if head.kernel != RBF and head.kernel != LAPLACIAN:
        other_row(model, x, norm)
        return
    if cancels(model, norm):
        distances_by_differences(model, x, row, n)
    elif head.kernel == LAPLACIAN:
        absolute_distances(model, x, row, n)
    else:
        dot_products(model, x, row, n)
        from_products = True
    for j in range(n):
        distance = norms[j] + norm - 2.0 * row[j] if from_products else row[j]
        logs[j] = log_of_distance(distance, gamma)
        row[j] = exp_of(logs[j])


@compiled(always_inlined=True)
def has_products(model):
    """Whether kernel values follow from inner products."""
    return model.head.kernel != LAPLACIAN and model.head.kernel != CUSTOM


@compiled(always_inlined=True)
def norm_of(model, x):
    """The norm of x as in model.norms: |x|^2, or |x|_1 for the Laplacian kernel, or k(x, x) for a user's kernel."""
    if not has_products(model):
        return other_norm(model, x)
    values = values_of(x)
    return dot(values, values, values.shape[0]) + rest_of(x)


@compiled(always_inlined=True)
def self_kernel(model, norm):
    """k(x, x) from the norm of x; 1 for kernels with k(x, x) = 1, which have head.bounded."""
    return 1.0 if model.head.bounded else other_self_kernel(model, norm)


@compiled(fastmath=REORDERED, always_inlined=True)
def distances_into(model, x, norm, s):
    """s[j] = gamma |vector j - x|^2, at most FARTHEST. Overwrites model.row, which `s` may be."""
    n, row, norms, gamma = padded_count(model), model.row, model.norms, model.head.gamma
    if cancels(model, norm):
        distances_by_differences(model, x, row, n)
    else:
        dot_products(model, x, row, n)
        for j in range(n):
            row[j] = norms[j] + norm - 2.0 * row[j]
    for j in range(n):
        distance = -log_of_distance(row[j], gamma)
        s[j] = distance if distance < FARTHEST else FARTHEST


@compiled(always_inlined=True)
def score_row(model, row, scores):
    """scores[r] = f_r(x), from the kernel row of x."""
    n, scale = padded_count(model), model.head.scale
    for r in range(scores.shape[0]):
        scores[r] = scale * dot(row, model.coefficients[r], n)


@compiled(always_inlined=True)
def score(model, x, norm, scores):
    """scores[r] = f_r(x). Leaves the kernel row of x in model.row."""
    kernel_row(model, x, norm)
    score_row(model, model.row, scores)


@compiled
def along_row(model, row, p):
    """a_p . f(x), from the kernel row of x"""
    total = 0.0
    for r in range(model.coefficients.shape[0]):
        if model.coefficients[r, p] != 0.0:
            total += model.coefficients[r, p] * dot(row, model.coefficients[r], padded_count(model))
    return total


@compiled
def row_of_vector(model, j):
    """model.row[i] = k(vector i, vector j)"""
    kernel_row(model, read_vector(model, j), model.norms[j])

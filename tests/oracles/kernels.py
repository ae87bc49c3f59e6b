"""Kernel functions, computed the obvious way.

Every factory returns a callable ``k(A, B)`` that maps an ``n x d`` and an ``m x d`` array to the
``n x m`` Gram matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist


def _matrix(A):
    """Rows of floats. cdist subtracts before it squares, so near rows keep all digits."""
    return np.atleast_2d(np.asarray(A, dtype=float))


def rbf(gamma):
    """Gaussian kernel exp(-gamma ||a - b||^2)."""

    def k(A, B):
        return np.exp(-gamma * cdist(_matrix(A), _matrix(B), "sqeuclidean"))

    return k


def laplacian(gamma):
    """Laplacian kernel exp(-gamma |a - b|_1)."""

    def k(A, B):
        return np.exp(-gamma * cdist(_matrix(A), _matrix(B), "cityblock"))

    return k


def polynomial(degree, gamma, coef0):
    """Polynomial kernel (gamma a.b + coef0)^degree."""

    def k(A, B):
        products = np.asarray(A, dtype=float) @ np.asarray(B, dtype=float).T
        return (gamma * products + coef0) ** degree

    return k


def linear():
    """Linear kernel a.b."""

    def k(A, B):
        return np.asarray(A, dtype=float) @ np.asarray(B, dtype=float).T

    return k

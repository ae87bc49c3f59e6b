"""Kernel functions, computed the obvious way.

Every factory returns a callable ``k(A, B)`` that maps an ``n x d`` and an ``m x d`` array to the
``n x m`` Gram matrix.
"""

from __future__ import annotations

import numpy as np


def _differences(A, B):
    """All differences a - b as an n x m x d array."""
    A, B = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    return A[:, None, :] - B[None, :, :]


def rbf(gamma):
    """Gaussian kernel exp(-gamma ||a - b||^2)."""

    def k(A, B):
        squared = np.sum(_differences(A, B) ** 2, axis=2)
        return np.exp(-gamma * np.maximum(squared, 0.0))

    return k


def laplacian(gamma):
    """Laplacian kernel exp(-gamma |a - b|_1)."""

    def k(A, B):
        return np.exp(-gamma * np.sum(np.abs(_differences(A, B)), axis=2))

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

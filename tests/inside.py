"""Looking into a model, and building one around a given support."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from oracles import kernels

import river_budget as rb
from river_budget.core.block import views


class Support(NamedTuple):
    """Vectors (one per row), their coefficients (one row each) and arrivals, oldest first."""

    X: np.ndarray
    A: np.ndarray
    arrivals: np.ndarray


def support(model):
    """A copy of the support, features in the order of `model._features`."""
    block = views(model._block)
    n, width = int(block.head[0].count), len(model._features)
    order = np.argsort(block.arrivals[:n])
    coefficients = block.head[0].scale * block.coefficients[:, :n]
    X, A = block.vectors[:width, order].T, coefficients[:, order].T
    return Support(X.copy(), A.copy(), block.arrivals[order].copy())


def row(model, x):
    """An example as a row for the vectors of `support`; its features are known."""
    return np.array([x.get(name, 0.0) for name in model._features])


def squared_length(X, A, kernel):
    """|w|^2 of the expansion with these vectors and coefficients."""
    return float(np.sum(A * (kernel(X, X) @ A)))


def holding(X, A, strategy, gamma=1.0):
    """A model with this support; a budget smaller by one makes it maintain once."""
    X, A = np.asarray(X, float), np.asarray(A, float)
    n, outputs = A.shape
    classes = tuple(range(max(outputs, 2)))
    model = rb.BSGDClassifier(n, rb.kernels.RBF(gamma), strategy, classes=classes, seed=1)
    model.learn_one(dict(enumerate(X[0].tolist())), 1, 0.0)  # makes the block
    block = views(model._block)
    block.head[0].count = block.head[0].arrived = n
    block.vectors[:, :n], block.coefficients[:, :n] = X.T, A.T
    block.norms[:n], block.arrivals[:n] = np.sum(X**2, axis=1), np.arange(n)
    gram = kernels.rbf(gamma)(X, X)
    if block.head[0].factored:
        block.factor[:n, :n] = np.linalg.inv(np.linalg.cholesky(gram))
    model._own().norm2 = np.sum(A * (gram @ A))
    return model


def maintained(X, A, strategy, gamma=1.0):
    """The same model after a maintenance that makes room for one."""
    model = holding(X, A, strategy, gamma)
    model.budget = len(X) - 1
    return model

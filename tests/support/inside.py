"""Read the support of a model, and build a model with a given support."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import river_budget as rb
from river_budget.core.memory import views


class Support(NamedTuple):
    """Vectors (one per row), their coefficients (one row each) and arrivals, oldest first."""

    X: np.ndarray
    A: np.ndarray
    arrivals: np.ndarray


def support(model):
    """A copy of the support, features in the order of `model.features`."""
    block = views(model._block)
    head, arrivals = block.head, block.arrivals
    n, places = int(head.count), list(model._features.places.values())
    order = np.argsort(arrivals[:n])
    coefficients = head.scale * block.coefficients[:, :n]
    X, A = block.vectors[places, :n].T[order], coefficients[:, order].T
    return Support(X.copy(), A.copy(), arrivals[order])


def row(model, x):
    """An example with known features as a row, with the columns of `support`."""
    return np.array([x.get(name, 0.0) for name in model._features])


def plain(kernel):
    """The plain reference function of a kernel."""
    from oracles import kernels as plain_kernels  # scripts in this folder lack that folder

    name, parameters = type(kernel).__name__.lower(), dict(vars(kernel))
    if "kernel" in parameters:
        parameters["kernel"] = plain(kernel.kernel)
    return getattr(plain_kernels, name)(**parameters)


def squared_length(X, A, kernel):
    """|w|^2 of the expansion with these vectors and coefficients."""
    return float(np.sum(A * (plain(kernel)(X, X) @ A)))


def error_of_factor(model):
    """How far W'W is from the inverse of the Gram matrix: the largest entry of W K W' - I."""
    block = views(model._block)
    n = int(block.head.count)
    X, W = block.vectors[:, :n].T, np.tril(block.factor[:n, :n])
    return np.abs(W @ plain(model.kernel)(X, X) @ W.T - np.eye(n)).max()


def holding(X, A, strategy, kernel):
    """A model with this support; coefficients have 1 column, or 3 and more."""
    X, A = np.asarray(X, float), np.asarray(A, float)
    n, outputs = A.shape
    classes = tuple(range(max(outputs, 2)))
    model = rb.BSGDClassifier(n, kernel, strategy, classes=classes, seed=1)
    model.learn_one(dict(enumerate(X[0].tolist())), 1, 0.0)  # weight 0: only creates the block
    block = views(model._block)
    block.head.count = block.head.arrived = n
    block.vectors[:, :n], block.coefficients[:, :n] = X.T, A.T
    laplacian = isinstance(kernel, rb.kernels.Laplacian)
    block.norms[:n] = np.sum(np.abs(X) if laplacian else X**2, axis=1)
    if isinstance(kernel, rb.kernels.Custom):
        block.norms[:n] = np.diag(plain(kernel)(X, X))
    block.arrivals[:n] = np.arange(n)
    if block.head.factored:
        block.factor[:n, :n] = np.linalg.inv(np.linalg.cholesky(plain(kernel)(X, X)))
    model._state_record().norm2 = squared_length(X, A, kernel)
    return model


def maintained(X, A, strategy, kernel):
    """`holding`, after maintenance has made room for one vector."""
    model = holding(X, A, strategy, kernel)
    model.budget = len(X) - 1
    return model


def check_names(model):
    """Names have places of their own, all below the width of the table; rows without a name hold
    nothing.
    """
    features, block = model._features, views(model._block)
    places, width = list(features.places.values()), int(block.head.width)
    assert len(set(places)) == len(places)
    assert features.width <= width
    free = sorted(features.vacant, reverse=True)
    assert features.vacant == free
    assert sorted([*places, *free]) == list(range(features.width))
    if len(block.vectors):
        rows = [*free, *range(features.width, width)]
        assert not block.vectors[rows, : block.head.count].any()

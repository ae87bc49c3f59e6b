"""A small problem for the batch methods, with its objective and its dual."""

from __future__ import annotations

import numpy as np
from oracles.kernels import rbf
from papers.rivals import batch_methods as methods

GAMMA = 2.0


def problem(n=60, seed=0):
    """Two bent clusters that overlap."""
    rng = np.random.default_rng(seed)
    turn, y = np.pi * rng.random(n), rng.random(n) < 0.4
    X = np.column_stack([np.cos(turn), np.sin(turn)])
    X[y] = 0.5 - X[y]
    return X + 0.3 * rng.normal(size=X.shape), y


def split(n=200, n_test=200):
    X, y = problem(n + n_test)
    return X[:n], y[:n], X[n:], y[n:]


def gram(X):
    return rbf(GAMMA)(X, X)


def signs(y):
    return np.where(y, 1.0, -1.0)


def objective(coefficients, X, y, l2):
    """The objective that Pegasos minimises."""
    scores = gram(X) @ coefficients
    hinge = np.maximum(0, 1 - signs(y) * scores).mean()
    return l2 / 2 * coefficients @ scores + hinge


def dual(coefficients, X, y, l2):
    """The dual objective that SDCA maximises, in the units of `objective`."""
    return l2 * (signs(y) @ coefficients - coefficients @ gram(X) @ coefficients / 2)


def ascended(X, y, l2, iterations=6000):
    return last(methods.ascend(X, y, gamma=GAMMA, l2=l2, iterations=[iterations], seed=1))


def last(snapshots):
    *_, (_, coefficients) = snapshots
    return coefficients[:, 0]

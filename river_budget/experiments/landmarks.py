"""Linear SVMs on features that approximate a kernel: landmarks, and random waves.

LLSVM: a linear SVM on Nyström features of landmarks, the batch rival of NOGD in the paper of 2016.

K. Zhang, L. Lan, Z. Wang, F. Moerchen. Scaling up kernel SVM on limited resources: a low-rank linearization
approach. AISTATS 2012. Landmarks are the means of ten passes of Lloyd's algorithm; the SVM has no bias and is
solved by dual coordinate descent. Two classes.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from .batch_methods import Point

Array = npt.NDArray[Any]
LLOYD, EPOCHS = 10, 10  # passes over the examples
BLOCK = 20_000  # examples whose kernel values are in memory at the same time
NEGLIGIBLE = 1e-5  # eigenvalues, relative to the largest


def llsvm(
    X: Array,
    y: Array,
    X_test: Array,
    y_test: Array,
    *,
    gamma: float,
    C: float,
    landmarks: int,
    seed: int,
) -> list[Point]:
    """One point: the solution."""
    rng, start = np.random.default_rng(seed), time.perf_counter()
    Z = means(X, landmarks, rng)
    onto = basis(Z, gamma)
    w = linear_svm(kernel(X, Z, gamma) @ onto, np.where(y, 1.0, -1.0), C, rng)
    seconds = time.perf_counter() - start
    blocks = range(0, len(X_test), BLOCK)
    scores = [kernel(X_test[i : i + BLOCK], Z, gamma) @ onto @ w for i in blocks]
    wrong = (np.concatenate(scores) >= 0.0) != y_test
    return [Point(None, float(np.mean(wrong)), seconds)]


def fourier_curve(
    X: Array,
    y: Array,
    X_test: Array,
    y_test: Array,
    *,
    gamma: float,
    C: float,
    most: int,
    seed: int,
) -> list[Point]:
    """A linear SVM on 1, 2, 4, ..., `most` pairs of random Fourier features, which more and more approximate the kernel.

    An inner product of a wave with an example costs as much as a kernel value, and so counts as one evaluation. As in
    the appendix of Cotter, Shalev-Shwartz and Srebro (2012), that of the linear SVM counts nothing.
    """
    rng, y = np.random.default_rng(seed), np.where(y, 1.0, -1.0)
    waves = rng.normal(scale=np.sqrt(2.0 * gamma), size=(X.shape[1], most))
    points, pairs = [], 1
    while pairs <= most:
        start = time.perf_counter()
        some = waves[:, :pairs]
        w = linear_svm(_pairs_of(X, some), y, C, rng)
        seconds = time.perf_counter() - start
        wrong = (_pairs_of(X_test, some) @ w >= 0.0) != y_test
        points.append(Point(pairs * len(X), float(np.mean(wrong)), seconds))
        pairs *= 2
    return points


def _pairs_of(X: Array, waves: Array) -> Array:
    phases = X @ waves
    features = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
    features /= np.sqrt(waves.shape[1])
    return features


def distances(A: Array, B: Array) -> Array:
    squared = np.sum(A * A, axis=1)[:, None] + np.sum(B * B, axis=1) - 2.0 * A @ B.T
    clipped: Array = np.maximum(squared, 0.0)
    return clipped


def kernel(A: Array, B: Array, gamma: float) -> Array:
    values: Array = np.exp(-gamma * distances(A, B))
    return values


def means(X: Array, n: int, rng: np.random.Generator) -> Array:
    """Lloyd's algorithm from random rows. A mean that is nearest to no row is not moved."""
    Z = X[rng.permutation(len(X))[:n]].copy()
    for _ in range(LLOYD):
        nearest = np.argmin(distances(X, Z), axis=1)
        order = np.argsort(nearest, kind="stable")
        found, first = np.unique(nearest[order], return_index=True)
        counts = np.diff(np.append(first, len(X)))
        Z[found] = np.add.reduceat(X[order], first) / counts[:, None]
    return Z


def basis(Z: Array, gamma: float) -> Array:
    """The matrix that turns kernel values into features with the inner products of the landmarks' span."""
    values, vectors = np.linalg.eigh(kernel(Z, Z, gamma))
    kept = values > NEGLIGIBLE * values[-1]
    features: Array = vectors[:, kept] / np.sqrt(values[kept])
    return features


def linear_svm(F: Array, y: Array, C: float, rng: np.random.Generator) -> Array:
    """min |w|^2 / 2 + C sum hinge, one coordinate of the dual after the other."""
    w, alpha, lengths = np.zeros(F.shape[1]), np.zeros(len(F)), np.einsum("ij,ij->i", F, F)
    for _ in range(EPOCHS):
        for i in rng.permutation(len(F)):
            slope = 1.0 - y[i] * np.dot(F[i], w)
            better = min(max(alpha[i] + slope / lengths[i], 0.0), C) if lengths[i] > 0.0 else 0.0
            if better != alpha[i]:
                w += (better - alpha[i]) * y[i] * F[i]
                alpha[i] = better
    return w

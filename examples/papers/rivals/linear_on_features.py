"""Linear SVMs on features that approximate a kernel: Nyström features of landmarks, random Fourier
features.

LLSVM: a linear SVM on Nyström features of landmarks, the batch rival of NOGD in the paper of 2016.

K. Zhang, L. Lan, Z. Wang, F. Moerchen. Scaling up kernel SVM on limited resources: a low-rank
linearization approach. AISTATS 2012. Landmarks are the means of ten passes of Lloyd's algorithm;
the SVM has no bias and is solved by dual coordinate descent. Two classes.
"""

from __future__ import annotations

import time

import numpy as np

from .batch_methods import Array, Point, Solution, Split, compact, signs_of, squared_lengths

LLOYD_PASSES, SVM_PASSES = 10, 10  # passes over the examples
TEST_ROWS_AT_ONCE = 20_000  # examples whose kernel values are in memory at the same time
NEGLIGIBLE_SHARE = 1e-5  # eigenvalues below this share of the largest are dropped


def llsvm(split: Split, *, gamma: float, C: float, landmarks: int, seed: int) -> Solution:
    """The solution of LLSVM."""
    X, y, X_test, y_test = split
    rng, start = np.random.default_rng(seed), time.thread_time()
    Z = means(X, landmarks, rng)
    onto = basis(Z, gamma)
    w = linear_svm(kernel(X, Z, gamma) @ onto, signs_of(y), C, rng)
    seconds = time.thread_time() - start
    blocks = range(0, len(X_test), TEST_ROWS_AT_ONCE)
    scores = [kernel(X_test[i : i + TEST_ROWS_AT_ONCE], Z, gamma) @ onto @ w for i in blocks]
    wrong = (np.concatenate(scores) >= 0.0) != y_test
    return Solution(float(np.mean(wrong)), seconds)


def fourier_curve(split: Split, *, gamma: float, C: float, most: int, seed: int) -> list[Point]:
    """Linear SVMs on 1, 2, 4, ..., `most` pairs of random Fourier features.

    An inner product of a wave with an example takes as long as a kernel value, and so counts as one
    evaluation. As in the appendix of Cotter, Shalev-Shwartz and Srebro (2012), inner products of
    the linear SVM do not count.
    """
    X, y, X_test, y_test = compact(split)
    rng, signs = np.random.default_rng(seed), signs_of(y)
    waves = rng.normal(scale=np.sqrt(2.0 * gamma), size=(X.shape[1], most))
    points, pairs = [], 1
    while pairs <= most:
        some = waves[:, :pairs]
        w = linear_svm(_pairs_of(X, some), signs, C, rng)
        wrong = (_pairs_of(X_test, some) @ w >= 0.0) != y_test
        points.append(Point(pairs * len(y), float(np.mean(wrong))))
        pairs *= 2
    return points


def _pairs_of(X: Array, waves: Array) -> Array:
    """The random Fourier features: the cosine and the sine of every wave."""
    phases = X @ waves
    features = np.concatenate([np.cos(phases), np.sin(phases)], axis=1)
    features /= np.sqrt(waves.shape[1])
    return features


def distances(A: Array, B: Array) -> Array:
    """|a - b|^2 of every row of A with every row of B."""
    squared = np.sum(A * A, axis=1)[:, None] + np.sum(B * B, axis=1) - 2.0 * A @ B.T
    clipped: Array = np.maximum(squared, 0.0)
    return clipped


def kernel(A: Array, B: Array, gamma: float) -> Array:
    """The RBF kernel of every row of A with every row of B."""
    values: Array = np.exp(-gamma * distances(A, B))
    return values


def means(X: Array, n: int, rng: np.random.Generator) -> Array:
    """The landmarks: Lloyd's algorithm from random rows. A mean that is nearest to no row stays."""
    Z = X[rng.permutation(len(X))[:n]].copy()
    for _ in range(LLOYD_PASSES):
        nearest = np.argmin(distances(X, Z), axis=1)
        order = np.argsort(nearest, kind="stable")
        found, first = np.unique(nearest[order], return_index=True)
        counts = np.diff(np.append(first, len(X)))
        Z[found] = np.add.reduceat(X[order], first) / counts[:, None]
    return Z


def basis(Z: Array, gamma: float) -> Array:
    """The matrix that turns kernel values into features with the inner products of the landmarks'
    span.
    """
    values, vectors = np.linalg.eigh(kernel(Z, Z, gamma))
    kept = values > NEGLIGIBLE_SHARE * values[-1]
    features: Array = vectors[:, kept] / np.sqrt(values[kept])
    return features


def linear_svm(F: Array, y: Array, C: float, rng: np.random.Generator) -> Array:
    """The w that minimises |w|^2 / 2 + C sum hinge, by dual coordinate descent."""
    w, alpha, lengths = np.zeros(F.shape[1]), np.zeros(len(F)), squared_lengths(F)
    for _ in range(SVM_PASSES):
        for i in rng.permutation(len(F)):
            slope = 1.0 - y[i] * np.dot(F[i], w)
            better = min(max(alpha[i] + slope / lengths[i], 0.0), C) if lengths[i] > 0.0 else 0.0
            if better != alpha[i]:
                w += (better - alpha[i]) * y[i] * F[i]
                alpha[i] = better
    return w

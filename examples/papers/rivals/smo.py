"""Sequential minimal optimisation: a kernel SVM without a bias, two coefficients at a time.

J. Platt. Fast training of support vector machines using sequential minimal optimization. 1998. The
pair is chosen by the second-order rule of R.-E. Fan, P.-H. Chen and C.-J. Lin (JMLR 6, 2005),
without the equality constraint that a bias would bring: the coefficient with the largest gain
alone, and the partner with the largest gain of both together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .batch_methods import (
    Array,
    Point,
    Snapshot,
    Split,
    compact,
    gaussian_row,
    measured,
    signs_of,
    squared_lengths,
)

TOLERANCE = 1e-3  # the default of LIBSVM
MOST_PAIRS = 60_000  # at most so many pairs are optimised
POINTS_PER_DECADE = 6  # points of the curve per decade


def curve(split: Split, *, gamma: float, C: float) -> list[Point]:
    """The test error while the coefficients are optimised."""
    split = compact(split)
    return measured(optimise(*split[:2], gamma=gamma, C=C), split, gamma)[0]


def optimise(X: Array, y: Array, *, gamma: float, C: float) -> Iterator[Snapshot]:
    """Yield (kernel evaluations, coefficients) during the optimisation and at its end.

    A row of the kernel matrix counts when it is first used, as if a cache held the whole matrix:
    the best case.
    """
    n, signs, norms = len(y), signs_of(y), squared_lengths(X)
    alpha, gradient = np.zeros(n), np.ones(n)  # gradient of sum(alpha) - |w|^2 / 2
    seen, stop = np.zeros(n, dtype=bool), float(n)
    for _ in range(MOST_PAIRS):
        gains = _gains(alpha, gradient, C)
        i = int(np.argmax(gains))
        if gains[i] <= TOLERANCE:
            break
        row_i = signs[i] * signs * gaussian_row(X, norms, i, gamma)
        j = _partner(i, row_i, gains, gradient)
        row_j = signs[j] * signs * gaussian_row(X, norms, j, gamma)
        steps = _steps(alpha[[i, j]], gradient[[i, j]], row_i[j], C)
        alpha[[i, j]] += steps
        gradient -= steps[0] * row_i + steps[1] * row_j
        seen[[i, j]] = True
        evaluations = int(seen.sum()) * n
        if evaluations >= stop:
            yield evaluations, (signs * alpha)[:, None]
            stop = evaluations * 10.0 ** (1.0 / POINTS_PER_DECADE)
    yield int(seen.sum()) * n, (signs * alpha)[:, None]


def norm_and_losses(X: Array, y: Array, *, gamma: float, C: float) -> tuple[float, float]:
    """The norm of the solution, and the sum of its hinge losses on the examples."""
    *_, (_, last) = optimise(X, y, gamma=gamma, C=C)
    coefficients, signs, norms = last[:, 0], signs_of(y), squared_lengths(X)
    scores = np.zeros(len(y))
    for i in np.flatnonzero(coefficients):
        scores += coefficients[i] * gaussian_row(X, norms, int(i), gamma)
    losses = np.maximum(0.0, 1.0 - signs * scores)
    return float(np.sqrt(coefficients @ scores)), float(losses.sum())


def _gains(alpha: Array, gradient: Array, C: float) -> Array:
    """By how much each coefficient violates the condition of optimality."""
    up = np.where(alpha < C, gradient, 0.0)
    down = np.where(alpha > 0.0, -gradient, 0.0)
    found: Array = np.maximum(np.maximum(up, down), 0.0)
    return found


def _partner(i: int, row: Array, gains: Array, gradient: Array) -> int:
    """The coefficient that gains most when it changes together with i, if bounds are ignored.

    With g the gradients and k the kernel value of the pair: (g_i^2 + g_j^2 - 2 k g_i g_j) / (2 (1 -
    k^2)).
    """
    k = np.clip(row, -1.0 + 1e-9, 1.0 - 1e-9)
    gain = (gradient[i] ** 2 + gradient**2 - 2.0 * k * gradient[i] * gradient) / (1.0 - k * k)
    gain[gains <= 0.0] = -1.0
    gain[i] = -2.0
    return int(np.argmax(gain))


def _steps(alpha: Array, gradient: Array, k: float, C: float) -> Array:
    """The best step of a pair within its bounds: updates them alternately until neither changes."""
    found = np.zeros(2)
    for _ in range(50):
        before = found.copy()
        for one, other in ((0, 1), (1, 0)):
            step = gradient[one] - k * found[other]
            found[one] = min(max(alpha[one] + step, 0.0), C) - alpha[one]
        if np.abs(found - before).sum() < 1e-12:
            break
    return found

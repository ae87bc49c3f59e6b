"""Projectron and Projectron++ as the programs of the authors of 2016 have them, to explain what
their tables print.

projectron.m and proplus.m keep the inverse of the kernel matrix, and extend it by every stored
vector without a guard against examples that (nearly) equal a stored one. There they divide by a
distance that is 0 up to rounding, and the inverse is wrong from then on. So their results scatter
far more than those of the guarded classes, and depend on how sums are rounded. A full budget
projects every mistake.

    program                        here
    K_t_inver                      inverse
    d_star                         d, the coefficients of the projection
    norm_delta_t (its square)      residual, the squared distance to the span
    P, power_p_k_t                 length: k'd for several classes, d'Kd for two
    U                              span
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from river_budget import ProjectronClassifier

Floats = npt.NDArray[np.float64]
compiled = numba.njit(cache=True, error_model="numpy")  # a division by 0 is no error in MATLAB


class Memory(NamedTuple):
    """What the program holds; of each array the first rows, or rows and columns, are in use."""

    vectors: Floats
    norms: Floats
    coefficients: Floats  # classes x budget
    gram: Floats
    inverse: Floats


@compiled
def first_largest(f, without):
    """The first largest score but that of `without`, as MATLAB's max finds it: NaN counts as
    none.
    """
    best = -1
    for r in range(len(f)):
        if r != without and not math.isnan(f[r]) and (best < 0 or f[r] > f[best]):
            best = r
    return best if best >= 0 else (1 if without == 0 else 0)


@compiled
def store(m, count, x, norm, k, d, residual, right, rival):
    """Append a vector, and extend the inverse by it."""
    for i in range(count):
        for j in range(count):
            m.inverse[i, j] += d[i] * d[j] / residual
        m.inverse[i, count] = m.inverse[count, i] = -d[i] / residual
        m.gram[i, count] = m.gram[count, i] = k[i]
    m.inverse[count, count], m.gram[count, count] = 1.0 / residual, 1.0
    m.vectors[count], m.norms[count] = x, norm
    m.coefficients[right, count], m.coefficients[rival, count] = 1.0, -1.0


@compiled
def learn(m, X, labels, gamma, eager, count, predicted):
    """One pass: `predicted` becomes the classes before learning. Returns the number of stored
    vectors.
    """
    budget, classes = len(m.norms), len(m.coefficients)
    k, f = np.zeros(budget), np.zeros(classes)  # k and d are 0 behind the stored vectors
    span = 0.25 * math.sqrt((budget + 1.0) / math.log(budget + 1.0))
    for t in range(len(X)):
        x, right = X[t], labels[t]
        norm = np.dot(x, x)
        for j in range(count):
            k[j] = math.exp(-gamma * (norm + m.norms[j] - 2.0 * np.dot(m.vectors[j], x)))
        for r in range(classes):
            f[r] = np.dot(m.coefficients[r, :count], k[:count])
        predicted[t], rival = first_largest(f, -1), first_largest(f, right)
        mistake = predicted[t] != right or math.isnan(f[right])
        # with two classes the scores are f and -f, and f = 0 is no margin error
        loss = 1.0 - (f[right] - f[rival]) if classes > 2 else 1.0 - f[right]
        inside = eager and count > 0 and loss > 0.0 and (classes > 2 or loss < 1.0)
        if not (mistake or inside):
            continue
        d = np.dot(m.inverse, k)
        length, share = np.dot(k, d), 1.0
        if mistake and count < budget:
            store(m, count, x, norm, k, d, 1.0 - length, right, rival)
            count += 1
            continue
        if not mistake:
            # the root of a negative number is imaginary, and MATLAB compares real parts
            distance = math.sqrt(max(1.0 - length, 0.0))
            if classes == 2:
                length = np.dot(d, np.dot(m.gram, d))
            share = min(loss / length, 1.0)
            if not 2.0 * loss - share * length - 2.0 * span * distance >= 0.0:
                continue
        for j in range(count):
            m.coefficients[right, j] += share * d[j]
            m.coefficients[rival, j] -= share * d[j]
    return count


class ReleasedProjectronClassifier(ProjectronClassifier):
    """`ProjectronClassifier` as projectron.m computes it. It only learns from arrays, and its
    kernel is Gaussian.
    """

    eager = False
    memory: Memory | None = None
    stored = 0

    def predict_then_learn_many(self, X: Any, y: Any, w: Any = None) -> Any:
        """Predict every row before it is learned. With two classes True is the first one, which
        wins ties.
        """
        labels = (True, False) if y.dtype == bool else tuple(sorted(self.classes or ()))
        if self.memory is None:
            n, d = int(self.budget or 0), X.shape[1]
            shapes = (n, d), (n,), (len(labels), n), (n, n), (n, n)
            self.memory = Memory(*map(np.zeros, shapes))
        numbers = {label: i for i, label in enumerate(labels)}
        predicted = np.zeros(len(y), np.int64)
        self.stored = learn(
            self.memory,
            np.ascontiguousarray(X, float),
            np.array([numbers[label] for label in y.tolist()], np.int64),
            float(self.kernel.gamma),  # type: ignore[union-attr]
            self.eager,
            self.stored,
            predicted,
        )
        return np.array(labels)[predicted]


class ReleasedProjectronPPClassifier(ReleasedProjectronClassifier):
    """`ProjectronPPClassifier` as proplus.m computes it."""

    eager = True

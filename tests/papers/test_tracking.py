"""KRLS-T against two older kernel filters on chaotic series: the order that its paper reports.

One-step prediction of the Mackey-Glass series, in decibels of the squared error of the last 200 of
993 steps:

                            QKLMS           ALD-KRLS        KRLS-T
    the series stays        -26.7 (46)      -34.1 (65)      -34.2 (60 vectors, forgetting 1)
    its delay changes       -25.4 (56)      -25.0 (76)      -34.0 (60 vectors, forgetting 0.999)
"""

from __future__ import annotations

import numpy as np
import pytest
from oracles.kernels import rbf

import river_budget as rb

GAMMA, BUDGET, EMBEDDED = 1.0, 60, 7


def mackey_glass(n, delay, start=None):
    """x' = 0.2 x(t - delay) / (1 + x(t - delay)^10) - 0.1 x, by Euler steps of 0.1, sampled every
    6.
    """
    x = list(start if start is not None else 1.2 + 0.1 * np.random.default_rng(0).normal(size=400))
    for _ in range(60 * n):
        late = x[-10 * delay]
        x.append(x[-1] + 0.1 * (0.2 * late / (1.0 + late**10) - 0.1 * x[-1]))
    return x


def series(changes):
    """(rows of the last values, the next value), with a little noise; the delay changes
    half-way.
    """
    x = mackey_glass(600, 30)
    x = mackey_glass(500, 17 if changes else 30, x)[-60 * 1000 :: 60]
    x = np.array(x) - 1.0 + 0.01 * np.random.default_rng(1).normal(size=len(x))
    return np.lib.stride_tricks.sliding_window_view(x[:-1], EMBEDDED), x[EMBEDDED:]


def errors(learn, X, y):
    return np.array([learn(x, target) - target for x, target in zip(X, y, strict=True)]) ** 2


class QuantizedLMS:
    """Gradient descent whose steps near a stored vector go to it (Chen et al. 2012)."""

    def __init__(self, step=0.5, near=0.35):
        self.kernel, self.step, self.near, self.X, self.a = rbf(GAMMA), step, near, [], []

    def learn(self, x, y):
        row = self.kernel(np.array(self.X), x)[:, 0] if self.X else np.zeros(0)
        f = row @ np.array(self.a)
        nearest = int(np.argmax(row)) if len(row) else 0
        if len(row) and row[nearest] >= np.exp(-GAMMA * self.near**2):
            self.a[nearest] += self.step * (y - f)
        else:
            self.X.append(x)
            self.a.append(self.step * (y - f))
        return f


class ApproximateLeastSquares:
    """ALD-KRLS (Engel, Mannor and Meir 2004): least squares over vectors that none of the others
    span.
    """

    def __init__(self, threshold=0.01):
        self.kernel, self.threshold, self.X = rbf(GAMMA), threshold, []
        self.Q = self.P = np.zeros((0, 0))
        self.a = np.zeros(0)

    def learn(self, x, y):
        row = self.kernel(np.array(self.X), x)[:, 0] if self.X else np.zeros(0)
        f, d = row @ self.a, self.Q @ row
        delta = 1.0 - row @ d
        if delta > self.threshold:
            self.X.append(x)
            p = np.append(-d, 1.0)
            self.Q = np.pad(self.Q, (0, 1)) + np.outer(p, p) / delta
            self.P = np.pad(self.P, (0, 1))
            self.P[-1, -1] = 1.0
            self.a = np.append(self.a, 0.0) + p * (y - f) / delta
        else:
            q = self.P @ d / (1.0 + d @ self.P @ d)
            self.P = self.P - np.outer(q, d @ self.P)
            self.a = self.a + self.Q @ q * (y - f)
        return f


def tracked(X, y, forgetting):
    model = rb.KRLSTRegressor(BUDGET, forgetting, 0.01, rb.kernels.RBF(GAMMA))
    return (model.predict_then_learn_many(X, y) - y) ** 2


def decibels(squares):
    return 10.0 * np.log10(np.mean(squares[-200:]))


@pytest.mark.parametrize("changes", [False, True], ids=["stays", "changes"])
def test_the_order_of_the_paper(changes):
    X, y = series(changes)
    descent, squares = QuantizedLMS(), ApproximateLeastSquares()
    qklms, ald = decibels(errors(descent.learn, X, y)), decibels(errors(squares.learn, X, y))
    krlst = decibels(tracked(X, y, 0.999 if changes else 1.0))
    expected = (-25.4, -25.0, -34.0) if changes else (-26.7, -34.1, -34.2)
    assert (qklms, ald, krlst) == pytest.approx(expected, abs=0.1)

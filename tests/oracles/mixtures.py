"""The mixer of rb.Mixture, slow and literal: Newton steps that forget, and the calibration of the
largest probability.

Log loss: P ~ prod_k p_k^w_k, with p_k = .999 p + .001 / C. Squared loss: my + sum_k w_k (p_k - my),
with the running mean my. A starts at ridge I, and a thousandth of ridge I and of the first weights
comes back with each example.
"""

from __future__ import annotations

import math

import numpy as np

LAM, EPS, KNOTS = 0.999, 1e-3, 11


class Newton:
    def __init__(self, first, ridge):
        self.first, self.ridge = list(map(float, first)), ridge
        self.w = list(self.first)
        self.A = [[ridge * (i == j) for j in self.w_range()] for i in self.w_range()]

    def w_range(self):
        return range(len(self.first))

    def step(self, gradient, u, weight):
        for i in self.w_range():
            for j in self.w_range():
                self.A[i][j] = LAM * self.A[i][j] + weight * u[i] * u[j]
            self.A[i][i] += (1 - LAM) * self.ridge
        pull = [
            weight * gradient[i] + (1 - LAM) * self.ridge * (self.w[i] - self.first[i])
            for i in self.w_range()
        ]
        self.w = [w - d for w, d in zip(self.w, np.linalg.inv(self.A) @ pull, strict=True)]


class LogMixture(Newton):
    def __init__(self, first):
        super().__init__(first, 30.0)
        self.mass, self.excess = [0.0] * KNOTS, [0.0] * KNOTS

    def mixed(self, shares):
        """Product of powers, which sums to 1."""
        n = len(shares[0])
        powers = [
            math.prod(
                ((1 - EPS) * row[c] + EPS / n) ** w for row, w in zip(shares, self.w, strict=True)
            )
            for c in range(n)
        ]
        return [power / sum(powers) for power in powers]

    def top(self, p):
        best = max(p)
        return 1 if len(p) == 2 and p[1] == best else p.index(best)

    def knots(self, p):
        """{knot: its share} of the two knots around the largest probability."""
        n, largest = len(p), max(p)
        place = (KNOTS - 1) * min(max((largest - 1 / n) / (1 - 1 / n), 0), 1)
        low = min(math.floor(place), KNOTS - 2)
        return {low: 1 - (place - low), low + 1: place - low}

    def probabilities(self, shares):
        p = self.mixed(shares)
        top, largest = self.top(p), max(p)
        if largest >= 1 - 1e-4:
            return p
        excess = sum(
            share * self.excess[k] / (self.mass[k] + 30) for k, share in self.knots(p).items()
        )
        right = min(largest + excess, 1 - 1e-4)
        second = max(value for c, value in enumerate(p) if c != top)
        # no lower than the others could rise to: (1 - least) second / (1 - largest) = least
        right = max(right, (1 + 1e-9) * second / (1 - largest + second))
        return [
            right if c == top else value * (1 - right) / (1 - largest) for c, value in enumerate(p)
        ]

    def learn(self, shares, y, weight=1.0):
        weight, p, n = min(weight, 1e3), self.mixed(shares), len(shares[0])
        logs = [[math.log((1 - EPS) * q + EPS / n) for q in row] for row in shares]
        g = [sum(a * b for a, b in zip(p, row, strict=True)) - row[y] for row in logs]
        self.step([1.8 * each for each in g], g, weight)
        self.mass = [0.999 * each for each in self.mass]
        self.excess = [0.999 * each for each in self.excess]
        for k, share in self.knots(p).items():
            self.mass[k] += weight * share
            self.excess[k] += weight * share * ((self.top(p) == y) - max(p))


class SumMixture(Newton):
    def __init__(self, first):
        super().__init__(first, 3.0)
        self.n, self.mean, self.variance, self.square = 0, 0.0, 0.0, 0.0
        self.targets = []

    def size(self):
        return math.sqrt(self.variance) if self.variance > 1e-24 * self.mean**2 else 1.0

    def differences(self, numbers):
        low, high = min(self.targets), max(self.targets)
        spread = high - low
        within = [min(max(number, low - spread), high + spread) for number in numbers]
        return [(number - self.mean) / self.size() for number in within]

    def prediction(self, numbers):
        if not self.targets:
            return sum(w * number for w, number in zip(self.w, numbers, strict=True))
        low, high = min(self.targets), max(self.targets)
        f, margin = self.differences(numbers), 0.1 * (high - low)
        value = self.mean + self.size() * sum(a * b for a, b in zip(self.w, f, strict=True))
        return min(max(value, low - margin), high + margin)

    def learn(self, numbers, y, weight=1.0):
        weight = min(weight, 1e3)
        if not self.targets:
            self.mean = y
            self.targets.append(y)
        f, size = self.differences(numbers), self.size()
        error = y - self.mean - size * sum(a * b for a, b in zip(self.w, f, strict=True))
        if self.n > 10 and self.square > 0:
            bound = 4 * math.sqrt(self.square)
            error = min(max(error, -bound), bound)
        if self.n >= 30:
            self.step([-error / size * each for each in f], f, weight)
        if self.n > 0:
            rate = min(weight * max(1 / (self.n + 1), 0.01), 0.5)
            self.square += rate * (error**2 - self.square)
            rate, away = min(weight * max(1 / (self.n + 1), 1e-4), 0.5), y - self.mean
            self.mean += rate * away
            self.variance += rate * (away * (y - self.mean) - self.variance)
        self.targets.append(y)
        self.n += 1

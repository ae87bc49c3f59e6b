"""How opinions are mixed: weights that follow Newton steps, and probabilities that are calibrated.
As AutoKernel does it.

E. Hazan, A. Agarwal, S. Kale. Logarithmic regret algorithms for online convex optimization. Machine
Learning 69, 2007. (Here with forgetting, and with weights that need not be positive or sum to 1.)

    K models, C classes
    l_kc   log((1 - eps) p_kc + eps / C), the logarithm of what model k says of class c
    P      softmax(sum_k w_k l_k), the mixture
    g_k    sum_c P_c l_kc - l_ky, the gradient of the log loss -log P_y
    f_k    (what model k says - my) / sy, with running mean and deviation of the targets; e the
           error of sum_k w_k f_k in units of sy. Under the squared loss the gradient is -e f_k
    A      A <- lam A + u u' + (1 - lam) ridge I, with u = g or f: from the second derivative, with
           forgetting
    w      w <- w - A^-1 (step g + (1 - lam) ridge (w - first weights))
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

FORGETTING = 0.999  # lam
LOG_STEP = 1.8  # of the log loss
UNIFORM_SHARE = 1e-3  # eps
KNOTS, CALIBRATION_FORGETTING, DOUBT = 11, 0.999, 30.0
# so that corrected probabilities do not tie, and larger ones stay as they are
AHEAD_OF_SECOND, CERTAIN = 1.0 + 1e-9, 1.0 - 1e-4
HEAVIEST = 1e3  # larger weights of an example count as this
SLOWEST_TARGETS, ERROR_RATE = 1e-4, 0.01
BOUND, UNBOUNDED_ROUNDS = 4.0, 10  # errors of the first rounds are not clipped
MIXING_ROUND = 30  # the squared loss is learned from this round on
RANGE_MARGIN = 0.1  # predictions may leave the range of targets by this share of it


class Mixer:
    """The weights of K opinions."""

    ridge: float

    def __init__(self, first: Any):
        self.first = np.array(first, float)
        self.weights = self.first.copy()
        self.curvature = self.ridge * np.eye(len(self.first))

    def step(self, slopes: Any, curves: Any, w: float) -> None:
        """A Newton step. slopes: (K,), the gradient; curves: (K,), the vector u."""
        leak = (1.0 - FORGETTING) * self.ridge
        self.curvature = FORGETTING * self.curvature + w * np.outer(curves, curves)
        self.curvature.flat[:: len(self.weights) + 1] += leak  # the diagonal
        pull = w * slopes + leak * (self.weights - self.first)
        self.weights = self.weights - np.linalg.solve(self.curvature, pull)


class Mixed(NamedTuple):
    """A mixture of probabilities that is not calibrated."""

    logs: Any  # l_kc
    p: Any  # P
    top: int  # the most probable class
    left: int  # the knot of calibration below its probability ...
    share: float  # ... and the share of the next one


class LogMixer(Mixer):
    """Mixes probabilities by their logarithms, and corrects the largest by how often such ones were
    right.
    """

    ridge = 30.0

    def __init__(self, first: Any):
        super().__init__(first)
        self.mass, self.excess = np.zeros(KNOTS), np.zeros(KNOTS)

    def mix(self, shares: Any) -> Mixed:
        """The mixture of shares: (K, C), the probabilities that K models give to C classes."""
        logs = np.log((1.0 - UNIFORM_SHARE) * shares + UNIFORM_SHARE / shares.shape[1])
        scores = self.weights @ logs
        powers = np.exp(scores - scores.max())
        p = powers / powers.sum()
        n, top = len(p), top_of(p)
        place = (KNOTS - 1) * min(max((float(p[top]) * n - 1.0) / (n - 1.0), 0.0), 1.0)
        left = min(int(place), KNOTS - 2)
        return Mixed(logs, p, top, left, place - left)

    def calibrated(self, mixed: Mixed) -> Any:
        """The probabilities with that of the most probable class corrected, which stays the most
        probable.
        """
        p, left = float(mixed.p[mixed.top]), mixed.left
        if p >= CERTAIN:
            return mixed.p
        low, high = self.excess[left : left + 2] / (self.mass[left : left + 2] + DOUBT)
        second = sorted(mixed.p.tolist())[-2]
        least = AHEAD_OF_SECOND * second / (second + 1.0 - p)
        right = max(min(p + (1.0 - mixed.share) * low + mixed.share * high, CERTAIN), least)
        found = mixed.p * ((1.0 - right) / (1.0 - p))
        found[mixed.top] = right
        return found

    def learn(self, mixed: Mixed, y: int, w: float = 1.0) -> None:
        """Learn that class y came."""
        w = min(w, HEAVIEST)
        slopes = mixed.logs @ mixed.p - mixed.logs[:, y]
        self.step(LOG_STEP * slopes, slopes, w)
        excess = w * float((mixed.top == y) - mixed.p[mixed.top])
        self.mass *= CALIBRATION_FORGETTING
        self.excess *= CALIBRATION_FORGETTING
        for knot, part in ((mixed.left, 1.0 - mixed.share), (mixed.left + 1, mixed.share)):
            self.mass[knot] += w * part
            self.excess[knot] += part * excess


def top_of(shares: Any) -> int:
    """The most probable class; of two that are equal the second, positive one."""
    return int(shares[1] >= shares[0]) if len(shares) == 2 else int(np.argmax(shares))


class SumMixer(Mixer):
    """Mixes numbers by a weighted sum of their differences from the running mean of the targets."""

    ridge = 3.0

    def __init__(self, first: Any):
        super().__init__(first)
        self.rounds = 0
        self.average = self.variance = self.lowest = self.highest = self.squared_error = 0.0

    def mix(self, numbers: Any) -> float:
        """The mixture of numbers: (K,), what K models say."""
        if self.rounds == 0:
            return float(self.weights @ np.nan_to_num(numbers))
        value = self.average + self._size() * float(self.weights @ self._levels(numbers))
        margin = RANGE_MARGIN * (self.highest - self.lowest)
        return min(max(value, self.lowest - margin), self.highest + margin)

    def learn(self, numbers: Any, y: float, w: float = 1.0) -> None:
        """Learn that the target was y."""
        w = min(w, HEAVIEST)
        if self.rounds == 0:
            self.average = self.lowest = self.highest = y
        size, levels = self._size(), self._levels(numbers)
        bound = self._largest_error()
        error = size * ((y - self.average) / size - float(self.weights @ levels))
        error = min(max(error, -bound), bound)
        if self.rounds >= MIXING_ROUND:
            self.step(-error / size * levels, levels, w)
        self._learn_target(y, error, w)

    def _size(self) -> float:
        """sy, or 1 before there are two different targets."""
        return math.sqrt(self.variance) if self.variance > 1e-24 * self.average**2 else 1.0

    def _levels(self, numbers: Any) -> Any:
        """f_k. No opinion is further from the targets so far than these from each other; one that
        is NaN is the mean.
        """
        spread = self.highest - self.lowest
        within = np.clip(numbers, self.lowest - spread, self.highest + spread)
        return np.nan_to_num((within - self.average) / self._size())

    def _largest_error(self) -> float:
        if self.rounds <= UNBOUNDED_ROUNDS or self.squared_error <= 0.0:
            return math.inf
        return BOUND * math.sqrt(self.squared_error)

    def _learn_target(self, y: float, error: float, w: float) -> None:
        """Update the running means, and the range."""
        if self.rounds > 0:
            first = 1.0 / (self.rounds + 1.0)
            rate = min(w * max(first, ERROR_RATE), 0.5)
            self.squared_error += rate * (error * error - self.squared_error)
            rate, deviation = min(w * max(first, SLOWEST_TARGETS), 0.5), y - self.average
            self.average += rate * deviation
            self.variance += rate * (deviation * (y - self.average) - self.variance)
        self.lowest, self.highest = min(self.lowest, y), max(self.highest, y)
        self.rounds += 1

"""One round of online kernel learning: score, judge, then learn.

The model is a kernel expansion f_r(x) = sum_i A[i, r] k(X[i], x) with one column r per output:
a single column for two classes and for regression, one column per class otherwise.  Every oracle
recomputes what it needs from X and A in each round; nothing is cached, so nothing can be stale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

BINARY, MULTICLASS, REGRESSION = "binary", "multiclass", "regression"
TIE = 1e-9  # what differs less, relatively, counts as equal


class Verdict(NamedTuple):
    """What the target says about the scores of a round."""

    mistake: bool  # wrong sign, wrong class, or a residual outside the tube
    margin: float  # y f, or the score of the class minus its best rival's; nan in regression
    direction: np.ndarray  # the row that improves the scores: y, e_y - e_s, or sign(residual)
    residual: float  # target - f in regression; nan otherwise


def judge(task, scores, target, epsilon=0.0):
    """Compare scores with a target: +1/-1, a column number or a real number, by task."""
    if task == BINARY:
        predicted = 1 if scores[0] >= 0 else -1
        return Verdict(predicted != target, target * scores[0], np.array([float(target)]), np.nan)
    if task == MULTICLASS:
        rivals = scores.copy()
        rivals[target] = -np.inf
        runner_up = int(np.argmax(rivals))
        direction = np.zeros(len(scores))
        direction[target], direction[runner_up] = 1.0, -1.0
        # argmax returns the first maximum: a tie goes to the smaller column number.
        mistake = int(np.argmax(scores)) != target
        return Verdict(mistake, scores[target] - scores[runner_up], direction, np.nan)
    residual = target - scores[0]
    return Verdict(abs(residual) > epsilon, np.nan, np.array([np.sign(residual)]), residual)


def lightest(weights):
    """The first index whose value equals the minimum up to rounding: that of the oldest.

    Values that are equal on paper differ in their last digits, so a plain argmin would let the
    rounding choose.
    """
    weights = np.asarray(weights, dtype=float)
    return int(np.flatnonzero(weights <= weights.min() * (1.0 + TIE))[0])


@dataclass(eq=False)
class OnlineKernelLearner:
    """A kernel expansion that learns one example at a time; subclasses say how, in `learn`."""

    kernel: Any
    task: str
    outputs: int = 1  # at the start

    def __post_init__(self):
        self.X = []
        self.A = np.zeros((0, self.outputs))
        self.arrival = []
        self._arrivals = 0

    def step(self, x, target, weight=1.0):
        """Return the scores of x before learning, then learn (x, target); weight 0 only scores."""
        x = np.array(x, dtype=float)
        scores = self.scores(x)
        if weight > 0:
            self.learn(x, target, scores, weight)
        return scores

    def learn(self, x, target, scores, weight):
        raise NotImplementedError

    def scores(self, x):
        return self.row(x) @ self.A

    def row(self, x):
        """k(X[i], x) for every stored vector."""
        if not self.X:
            return np.zeros(0)
        return self.kernel(np.array(self.X), np.array([x]))[:, 0]

    def gram(self, some=slice(None)):
        """The kernel values of the stored vectors, or of some, with each other."""
        points = np.array(self.X)[some] if self.X else np.zeros((0, 0))
        return self.kernel(points, points) if len(points) else np.zeros((0, 0))

    def norm2(self, x):
        """k(x, x)."""
        return self.kernel(np.array([x]), np.array([x]))[0, 0]

    def add(self, x, coefficients):
        self.X.append(x)
        self.A = np.vstack([self.A, coefficients])
        self.arrival.append(self._arrivals)
        self._arrivals += 1

    def replace(self, slot, x, coefficients):
        """Forget the vector of a slot and give its place to a newcomer."""
        self.X[slot] = x
        self.A[slot] = coefficients
        self.arrival[slot] = self._arrivals
        self._arrivals += 1

    def remove(self, slot):
        del self.X[slot]
        self.A = np.delete(self.A, slot, axis=0)
        del self.arrival[slot]

    def oldest(self):
        return int(np.argmin(self.arrival))

    def add_output(self):
        """Make room for a new class: it has scored 0 so far."""
        self.A = np.hstack([self.A, np.zeros((len(self.X), 1))])

    def promote(self):
        """Turn two classes into three; the difference of the first two scores stays f."""
        self.A = np.hstack([-self.A / 2, self.A / 2, np.zeros((len(self.X), 1))])
        self.task = MULTICLASS

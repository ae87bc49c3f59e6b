"""The stochastic batch Perceptron, on a fixed sample and on a window of a stream.

Cotter, Shalev-Shwartz, Srebro: The kernelized stochastic batch Perceptron. ICML, 2012.

A unit vector w = sum_i alpha_i y_i phi(x_i) shall classify all examples by the largest possible
margin, where the responses c_i = y_i <w, phi(x_i)> may be lifted by n * slack in total (the
paper's nu).  The best lifting is water poured on the responses, and its surface is the margin.
Each iteration picks an example under water and steps towards it.  The responses follow from alpha
and the Gram matrix K anew each time.

The draws are pinned so that a run can be replayed: `choose(n)` gives a uniform integer in 0..n-1,
once per picked example, and the candidates are listed in index order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

# Responses that are equal on paper differ in their last digits, which must not decide who is wet.
TOLERANCE = 1e-12


# Water levels


def water_level(c, volume):
    """The surface of `volume` units of water on a floor of unit columns with heights c."""
    heights = np.sort(c)
    n = len(heights)
    levels = (volume + np.cumsum(heights)) / np.arange(1, n + 1)
    next_heights = np.append(heights[1:], np.inf)
    return levels[np.flatnonzero(levels <= next_heights)[0]]


def water_levels_biased(u, v, volume):
    """The levels in the basins of positives u and negatives v, and how many columns k each covers.

    The bias moves the basins against each other, so the margin is the mean of the two levels and
    the bias half their difference, negative minus positive.  Among equally good biases this is
    the middle one.
    """
    u, v = np.sort(u), np.sort(v)
    sums_u, sums_v = np.cumsum(u), np.cumsum(v)
    most = min(len(u), len(v))
    counts = np.arange(1, most + 1)
    needed = counts * u[:most] - sums_u[:most] + counts * v[:most] - sums_v[:most]
    reached = counts[needed < volume]
    k = int(reached.max()) if len(reached) else 1
    top_u, top_v = u[k - 1], v[k - 1]  # u_k and v_k of the paper, which counts from 1
    depth = (volume + sums_u[k - 1] + sums_v[k - 1]) / k - top_u - top_v
    room_u = min(depth, u[k] - top_u) if k < len(u) else depth
    room_v = min(depth, v[k] - top_v) if k < len(v) else depth
    lev_plus = top_u + (depth + room_u - room_v) / 2
    lev_minus = top_v + (depth - room_u + room_v) / 2
    return lev_plus, lev_minus, k


def water_level_lp(c, volume):
    """The largest gamma with c_i + xi_i >= gamma, xi >= 0 and sum xi <= volume."""
    return _largest_margin(np.zeros(len(c)), np.asarray(c, dtype=float), volume)


def water_levels_biased_lp(u, v, volume):
    """The largest gamma with u_i + b + xi_i >= gamma and v_j - b + xi_j >= gamma, b free."""
    y = np.concatenate([np.ones(len(u)), -np.ones(len(v))])
    return _largest_margin(y, np.concatenate([u, v]), volume)


def _largest_margin(y, c, volume):
    """Linear program over (gamma, b, xi): gamma - y_i b - xi_i <= c_i."""
    n = len(c)
    above_floor = np.hstack([np.ones((n, 1)), -y[:, None], -np.eye(n)])
    water_used = np.concatenate([[0.0, 0.0], np.ones(n)])
    result = linprog(
        np.concatenate([[-1.0], np.zeros(n + 1)]),
        A_ub=np.vstack([above_floor, water_used]),
        b_ub=np.append(c, volume),
        bounds=[(None, None)] * 2 + [(0, None)] * n,
    )
    return result.x[0]


# Iterations


def responses(alpha, K, y):
    return y * (K @ (alpha * y))


def tolerance(level):
    return TOLERANCE * max(1.0, abs(level))


def pick(c, volume, choose):
    """A uniform index among the covered examples."""
    level = water_level(c, volume)
    covered = np.flatnonzero(c <= level + tolerance(level))
    return covered[choose(len(covered))]


def covered_lowest_first(c, level):
    """The places strictly under water in index order, then those at the surface."""
    below = np.flatnonzero(c < level - tolerance(level))
    equal = np.flatnonzero(np.abs(c - level) <= tolerance(level))
    return np.concatenate([below, equal])


def pick_pair(c, y, volume, choose):
    """A positive and a negative index, each uniform among equally many covered examples."""
    positives, negatives = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    lev_plus, lev_minus, _ = water_levels_biased(c[positives], c[negatives], volume)
    wet_positives = positives[covered_lowest_first(c[positives], lev_plus)]
    wet_negatives = negatives[covered_lowest_first(c[negatives], lev_minus)]
    k = min(len(wet_positives), len(wet_negatives))
    positive = wet_positives[choose(k)]
    negative = wet_negatives[choose(k)]
    return positive, negative


def iterate(alpha, K, y, slack, t, choose, fit_bias):
    """Iteration t: step towards one covered example, or half a step to a pair, and project."""
    longest = np.max(np.diagonal(K))
    # If all vectors are 0 there is nowhere to go, and the step would be infinite.
    step = 1 / np.sqrt(longest * t) if longest > 0 else 0.0
    c = responses(alpha, K, y)
    alpha = alpha.copy()
    if fit_bias:
        positive, negative = pick_pair(c, y, len(y) * slack, choose)
        alpha[positive] += step / 2
        alpha[negative] += step / 2
    else:
        alpha[pick(c, len(y) * slack, choose)] += step
    # The paper calls sum alpha_i c_i the length of w; it is the squared length.
    squared_length = alpha @ responses(alpha, K, y)
    return alpha / np.sqrt(squared_length) if squared_length > 1 else alpha


def run(alpha, K, y, slack, done, iterations, choose, fit_bias):
    """The last iterate and the mean of the iterates, after `done` earlier ones."""
    total = np.zeros(len(alpha))
    for t in range(done + 1, done + iterations + 1):
        alpha = iterate(alpha, K, y, slack, t, choose, fit_bias)
        total = total + alpha
    return alpha, total / max(iterations, 1)


def margin_and_bias(alpha, K, y, slack, fit_bias):
    c, volume = responses(alpha, K, y), len(y) * slack
    if not fit_bias:
        return water_level(c, volume), 0.0
    lev_plus, lev_minus, _ = water_levels_biased(c[y > 0], c[y < 0], volume)
    return (lev_plus + lev_minus) / 2, (lev_minus - lev_plus) / 2


def scaled(alpha, K, y, slack, fit_bias):
    """(alpha, bias) in the scale where the margin is 1, or as they are if there is no margin."""
    margin, bias = margin_and_bias(alpha, K, y, slack, fit_bias)
    # A margin of 0 on paper, as when equal examples differ in their labels, is rounding noise.
    return (alpha / margin, bias / margin) if margin > TOLERANCE else (alpha, bias)


def can_iterate(y, fit_bias):
    """With one class only, a bias alone would classify by any margin."""
    return len(y) > 0 and (not fit_bias or len(set(y)) == 2)


# Learners


def batch(K, y, slack, iterations, choose, fit_bias):
    """(alpha, bias) after the iterations: the averaged iterate, scaled to margin 1; zeros where
    none are possible.
    """
    K, y = np.asarray(K, dtype=float), np.asarray(y, dtype=float)
    start = np.zeros(len(y))
    if not can_iterate(y, fit_bias):
        return start, 0.0
    _, mean = run(start, K, y, slack, 0, iterations, choose, fit_bias)
    return scaled(mean, K, y, slack, fit_bias)


@dataclass(eq=False)
class StreamingSBP:
    """The same iterations on a window: `steps` of them per arrival, and more by `refine`.

    eviction "reservoir": the window is a uniform sample of the past; "oldest": the recent past.
    It predicts with the last iterate, after `refine` with the mean of the refining iterates.
    """

    kernel: Callable
    window: int = 500
    slack: float = 0.05
    steps: int = 4
    fit_bias: bool = False
    eviction: str = "reservoir"
    choose: Callable | None = None
    arrivals, t = 0, 0  # examples and iterations so far
    bias = 0.0

    def __post_init__(self):
        self.X, self.y = [], np.zeros(0)
        self.arrival = []  # when the example of each slot came
        self.K = np.zeros((self.window, self.window))  # the part of the slots in use counts
        self.alpha = np.zeros(0)
        self.model = self.alpha, self.bias  # what predicts

    def score(self, x):
        alpha, bias = self.model
        return float((alpha * self.y) @ self.row(np.array(x, dtype=float)) + bias)

    def row(self, x):
        if not self.X:
            return np.zeros(0)
        return self.kernel(np.array(self.X), np.array([x]))[:, 0]

    def step(self, x, label):
        """Return the score of x before learning, then learn (x, label)."""
        x = np.array(x, dtype=float)
        score = self.score(x)
        self.arrivals += 1
        slot = self.slot_for_newcomer()
        if slot is not None:
            self.insert(slot, x, label)
        if can_iterate(self.y, self.fit_bias):
            self.iterate(self.steps)
            # With one class in the window the bias stays what it was.
            _, self.bias = margin_and_bias(self.alpha, *self.problem())
        self.model = self.alpha, self.bias
        return score

    def slot_for_newcomer(self):
        """A new slot, the one to give up, or None if the newcomer itself is left out."""
        if len(self.X) < self.window:
            return len(self.X)
        if self.eviction == "oldest":
            return int(np.argmin(self.arrival))
        drawn = self.choose(self.arrivals)
        return drawn if drawn < self.window else None

    def insert(self, slot, x, label):
        if slot == len(self.X):
            self.X.append(x)
            self.arrival.append(self.arrivals)
            self.y = np.append(self.y, float(label))
            self.alpha = np.append(self.alpha, 0.0)
        else:
            self.X[slot] = x
            self.arrival[slot] = self.arrivals
            self.y[slot] = label
            self.alpha[slot] = 0.0
        self.K[slot, : len(self.X)] = self.K[: len(self.X), slot] = self.row(x)

    def problem(self):
        n = len(self.X)
        return self.K[:n, :n], self.y, self.slack, self.fit_bias

    def iterate(self, iterations):
        """Go on from the last iterate; returns the mean of the new ones."""
        K, y, slack, fit_bias = self.problem()
        self.alpha, mean = run(self.alpha, K, y, slack, self.t, iterations, self.choose, fit_bias)
        self.t += iterations
        return mean

    def refine(self, n):
        """n iterations without new data; their scaled mean predicts until the next arrival."""
        if n > 0 and can_iterate(self.y, self.fit_bias):
            self.model = scaled(self.iterate(n), *self.problem())

"""The automatic kernel regressor, plainly."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from .auto import CELLS, TABLES, Auto, K, over_root
from .auto_archive import vote

LEVELS = np.array([0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.995])


class AutoRegressor(Auto):
    """A number, and the spread around it."""

    def __init__(self, seed, budget=1000):
        super().__init__(seed, budget)
        self.my = self.vy = self.last = self.lo = self.hi = 0.0
        self.ve = self.ae = self.latest = self.stretch = 0.0
        self.quantiles = np.array([NormalDist().inv_cdf(level) for level in LEVELS])

    def begin(self, d):
        E = 8 if self.second >= 0 else 7
        self.L, self.G = np.zeros((2, d + 1)), np.zeros((2, d + 1))
        self.TW, self.visits = np.zeros((TABLES, CELLS)), np.zeros((TABLES, CELLS))
        self.P = np.eye(max(self.second, 0) + 1)
        self.squares = np.zeros((1, max(self.second, 0) + 1))
        self.begin_mixer(E, 1.0 / (E - 1))

    def grow(self, n):
        self.L = np.hstack([self.L, np.zeros((2, n))])
        self.G = np.hstack([self.G, np.zeros((2, n))])

    def forget(self, j):
        self.TW[j] = self.visits[j] = 0.0

    @property
    def ready(self):
        return self.vy > 1e-24 * self.my**2

    def look(self, x):
        s = {}
        x1 = self.look_around(s, x, 3)
        f = [self.last - self.my, *(self.L @ x1)]
        if self.second >= 0:
            f.append(float(self.squares[0] @ x1[: self.second + 1]))
        f.append(self.TW[np.arange(TABLES), s["cells"]].sum())
        near, far, variance = 0.0, 0.0, self.latest
        if self.memory:
            near, far = self.voted(s["near"]), self.voted(s["far"])
            entries, pi, number = vote(s["near"], 4.0)
            squares = pi @ [entry.error**2 for entry in entries]
            variance = (number * squares + 2.0 * self.latest) / (number + 2.0)
        f += [near, s["kernel"] @ [row["alpha"] for row in self.memory], far]
        s["spread"] = math.exp(self.stretch) * math.sqrt(variance)
        return self.mixed(s, f)

    def mixed(self, s, f):
        s["f"], s["sy"] = np.array(f), math.sqrt(self.vy) if self.ready else 1.0
        s["fs"] = np.clip(s["f"] / s["sy"], -1e6, 1e6) if self.ready else np.zeros(self.E)
        s["level"], margin = float(self.w @ s["fs"]), 0.1 * (self.hi - self.lo)
        s["yh"] = min(max(self.my + s["level"] * s["sy"], self.lo - margin), self.hi + margin)
        return s

    def learn_mixer(self, s, y, bound, w):
        most = bound / s["sy"]
        e = np.clip((y - self.my) / s["sy"] - s["level"], -most, most)
        if self.t >= 30:
            self.newton(-e * s["fs"], s["fs"], 1.0, w)

    def predict(self, x):
        """(mean, spread, quantiles)"""
        if self.second is None:
            return 0.0, 0.0, *np.zeros(len(LEVELS))
        s = self.look(x)
        return s["yh"], s["spread"], *(s["yh"] + s["spread"] * self.quantiles)

    def learn(self, x, y, w=1.0):
        self.meet(x)
        if w == 0.0:
            return
        w, y = min(w, 1000.0), min(max(y, -1e150), 1e150)
        s = self.look(x)
        first = self.t == 0
        if first:
            self.my = self.last = self.lo = self.hi = y
        err = 0.0 if first else y - s["yh"]
        some = self.t > 10 and self.ve > 0.0
        bound = 4.0 * math.sqrt(self.ve) if some else math.inf
        rest = np.clip(y - self.my - s["f"], -bound, bound)
        if not first:
            self.learn_mixer(s, y, bound, w)
            self.learn_experts(s, rest, w)
            self.learn_metric(s, y, w)
        self.remember(s, y, w, min(0.5 * w, 1.0) * rest[-2], abs(err) > self.ae, err)
        if self.t >= 10 and s["spread"] > 0.0:
            rate = min(w, 1.0) * max(0.02, min(0.2, 40 / (self.t + 1)))
            below = np.heaviside(self.quantiles - err / s["spread"], 0.5)
            self.quantiles = np.sort(np.clip(self.quantiles + rate * (LEVELS - below), -1e3, 1e3))
        if self.t >= 30 and s["spread"] > 0.0:
            missed = float(abs(err) > 1.6448536269514722 * s["spread"])
            step = min(w, 1.0) * max(0.05, 10 / (self.t + 1)) * (missed - 0.1)
            self.stretch = min(max(self.stretch + step, -5.0), 5.0)
        if not first:
            self.learn_targets(y, err, bound, w)
        self.lo, self.hi = min(self.lo, y), max(self.hi, y)
        self.follow_features(s["moments"])

    def learn_experts(self, s, bounded, w):
        if self.ready:
            for u, rate in enumerate((0.3, 0.05)):
                slope = -w * bounded[1 + u] / s["sy"] * s["x1"]
                self.G[u] = 0.9995 * self.G[u] + slope**2
                self.L[u] -= rate * s["sy"] * slope / np.sqrt(self.G[u] + 1e-10)
        at = (np.arange(TABLES), s["cells"])
        share = np.minimum(w * np.maximum(0.05, over_root(1.0, 1.0 + self.visits[at])), 1.0)
        self.TW[at] += share * bounded[3 + (self.second >= 0)] / TABLES
        self.visits[at] += min(w, 1.0)
        if self.second >= 0:
            self.least_squares_step(s, bounded[3:4], w)

    def voted(self, pool):
        entries, pi, _ = vote(pool, 8.0)
        return pi @ [entry.y for entry in entries] - self.my

    def learn_metric(self, s, y, w):
        if len(s["near"]) < K or not self.ready:
            return
        entries, pi, _ = vote(s["near"], 4.0)
        targets = np.array([entry.y for entry in entries])
        mean = pi @ targets
        self.turn_metric(s, -(y - mean) / self.vy * pi * (targets - mean), w)

    def learn_targets(self, y, err, bound, w):
        def rate(slowest):
            return min(w * max(1.0 / (self.t + 1), slowest), 0.5)

        self.ve += rate(0.01) * (min(err**2, bound**2) - self.ve)
        self.latest += rate(0.1) * (min(err**2, bound**2) - self.latest)
        self.ae += rate(0.01) * (abs(err) - self.ae)
        gap = y - self.my
        self.my += rate(1e-4) * gap
        self.vy += rate(1e-4) * (gap * (y - self.my) - self.vy)
        self.last += min(0.5 * w, 0.5) * (y - self.last)

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
        s["moments"], z, x1 = self.scaled(x)
        s["z"], s["x1"], s["D"] = z, x1, self.distances(z)
        f = [self.last - self.my, *(self.L @ x1)]
        if self.second >= 0:
            f.append(float(self.squares[0] @ x1[: self.second + 1]))
        s["cells"] = self.binning.cells(z)
        f.append(self.TW[np.arange(TABLES), s["cells"]].sum())
        k = self.kernel(s["D"], s["moments"][2])
        near, far, variance, s["far"] = 0.0, 0.0, self.latest, self.far(z, s["D"], 2)
        if self.memory:
            places, pi, number = self.neighbours(s["D"], 8.0)
            near = pi @ [self.memory[i]["y"] for i in places] - self.my
            places, pi, number = self.neighbours(s["D"], 3.0)
            squares = pi @ [self.memory[i]["error"] ** 2 for i in places]
            variance = (number * squares + 2.0 * self.latest) / (number + 2.0)
            entries, pi, _ = vote(s["far"], 8.0)
            far = pi @ [entry.y for entry in entries] - self.my
        f += [near, sum(k[i] * row["alpha"] for i, row in enumerate(self.memory)), far]
        sy = math.sqrt(self.vy) if self.ready else 1.0
        s["f"], s["sy"] = np.array(f), sy
        s["fs"] = np.clip(s["f"] / sy, -1e6, 1e6) if self.ready else np.zeros(self.E)
        s["level"] = float(self.w @ s["fs"])
        margin = 0.1 * (self.hi - self.lo)
        s["yh"] = min(max(self.my + s["level"] * sy, self.lo - margin), self.hi + margin)
        s["spread"] = math.exp(self.stretch) * math.sqrt(variance)
        return s

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
        ye, rest = y - self.my, y - self.my - s["f"]
        if not first:
            self.learn_experts(s, ye, np.clip(rest, -bound, bound), bound, w)
            self.learn_metric(s, y, w)
        alpha = min(0.5 * w, 1.0) * np.clip(rest[-2], -bound, bound)
        hard = abs(err) > self.ae
        self.remember(
            {"x": s["z"], "y": y, "alpha": alpha, "hard": hard, "weight": w, "error": err},
            s["far"],
        )
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

    def learn_experts(self, s, ye, bounded, bound, w):
        e = np.clip(ye / s["sy"] - s["level"], -bound / s["sy"], bound / s["sy"])
        if self.t >= 30:
            self.newton(-e * s["fs"], s["fs"], 1.0, w)
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
            varies = s["moments"][2] != 0.0
            self.least_squares_step(s["x1"][: self.second + 1], bounded[3:4], w, varies)

    def learn_metric(self, s, y, w):
        if len(s["D"]) < K or not self.ready:
            return
        near, pi, _ = self.neighbours(s["D"], 3.0)
        far = np.array([(s["z"] - self.memory[i]["entry"].x) ** 2 for i in near])
        targets = np.array([self.memory[i]["y"] for i in near])
        scale, mean = max(s["D"][near[-1]], 1e-9), pi @ targets
        g = -(y - mean) / self.vy * self.a * 3.0 / scale * ((pi * (targets - mean)) @ far)
        self.turn_metric(g, w, s["moments"][2] != 0.0)

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

"""The automatic kernel regressor, plainly."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from .auto import CELLS, TABLES, Auto, K, Mean, Text, over_root
from .auto_archive import vote

LEVELS = np.array([0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.995])


class AutoRegressor(Auto):
    """A number, and the spread around it."""

    def __init__(self, seed, budget=1000):
        super().__init__(seed, budget)
        self.my = self.vy = self.last = self.lo = self.hi = 0.0
        self.ve = self.ae = self.latest = self.stretch = 0.0
        self.quantiles = np.array([NormalDist().inv_cdf(level) for level in LEVELS])
        self.both = self.apart = self.square = 0.0  # of least squares beside the mixture
        # the first rows; {feature, or column of text: {value: (sum, number)}}
        self.first, self.coded = [], {}

    def begin(self, d):
        E = 8 if self.second >= 0 else 7
        self.L, self.G = np.zeros((2, d + 1)), np.zeros((2, d + 1))
        self.TW, self.visits = np.zeros((TABLES, CELLS)), np.zeros((TABLES, CELLS))
        self.P = np.eye(max(self.second, 0) + 1)
        self.squares = np.zeros((1, max(self.second, 0) + 1))
        self.centre, self.unit = np.zeros(d), np.zeros(d)
        self.noise, self.noise_sums = np.zeros(1 + d), np.zeros(1 + d)
        self.begin_mixer(E, 1.0 / (E - 1))

    def grow(self, n):
        self.L = np.hstack([self.L, np.zeros((2, n))])
        self.G = np.hstack([self.G, np.zeros((2, n))])
        self.centre = np.append(self.centre, np.zeros(n))
        self.unit = np.append(self.unit, np.zeros(n))
        self.noise = np.append(self.noise, np.zeros(n))
        self.noise_sums = np.append(self.noise_sums, np.zeros(n))

    def forget(self, j):
        self.TW[j] = self.visits[j] = 0.0

    @property
    def ready(self):
        return self.vy > 1e-24 * self.my**2

    def look(self, x):
        s, x = {}, self.with_means(x)
        x1 = self.look_around(s, x, 3)
        s["u"] = self.referred(x)
        f = [self.last - self.my, *(self.L @ x1)]
        if self.second >= 0:
            f.append(float(self.squares[0] @ s["u"]))
        f.append(self.TW[np.arange(TABLES), s["cells"]].sum())
        near, far, variance = 0.0, 0.0, self.latest
        if self.memory:
            near, far = self.voted(s["near"]), self.voted(s["far"])
            entries, pi, number = vote(s["near"], 4.0)
            squares = pi @ [entry.error**2 for entry in entries]
            variance = (number * squares + 2.0 * self.latest) / (number + 2.0)
        f += [near, s["kernel"] @ [row["alpha"] for row in self.memory], far]
        s["loud"] = np.zeros(1 + len(self.names))
        if variance > 0.0 and self.latest > 0.0:
            s["loud"][0] = min(max(math.log(variance / self.latest), -4.0), 4.0)
        s["loud"][1:] = s["z"]
        louder = min(max(float(self.noise @ s["loud"]), -3.0), 3.0)
        s["spread"] = math.exp(self.stretch + louder) * math.sqrt(variance)
        return self.blended(self.mixed(s, f))

    # target means

    def decide(self):
        """Begin anew with the target means of features that may be names, if there are any."""
        names, rows, n = self.names, self.first, len(self.names)
        columns = {}
        for name in names:
            if isinstance(name, Text):
                values = {value_of(Text(name.column, None), x) for x, _, _ in rows} - {None}
                columns[Text(name.column, None)] = values
            else:
                columns[name] = {x.get(name, 0.0) for x, _, _ in rows}
        coded = [
            name
            for name, values in columns.items()
            if 3 <= len(values) <= 60 and all(map(is_name, values))
        ][: 16 if n > 64 else min(16, 64 - n)]
        self.first = None
        if coded:
            self.__init__(self.seed, self.W1 + self.W2)
            self.first, self.coded = None, {name: {} for name in coded}
            self.take([*map(Mean, coded), *names])
            for row in rows:
                self.learn(*row)

    def with_means(self, x):
        means = {}
        for name, known in self.coded.items():
            total, number = known.get(value_of(name, x), (0.0, 0.0))
            means[Mean(name)] = (total + 5.0 * self.my) / (number + 5.0)
        return x | means

    def learn_means(self, x, y, w):
        for name, known in self.coded.items():
            value = value_of(name, x)
            total, number = known.get(value, (0.0, 0.0))
            if is_name(value) and (value in known or len(known) < 192):
                share = 0.5 if number + w > 1000.0 else 1.0
                known[value] = share * (total + w * y), share * (number + w)

    # least squares

    def referred(self, x):
        """1, and features in the units that they have for least squares."""
        raw = np.clip([float(x.get(name, 0.0)) for name in self.names], -1e150, 1e150)
        there = self.unit > 0.0
        apart = np.where(there, raw - self.centre, 0.0) / np.where(there, self.unit, 1.0)
        return np.append(1.0, np.clip(apart, -40.0, 40.0))[: max(self.second, 0) + 1]

    def refer_anew(self, mean, sd):
        """Other units for features that left theirs: x = c + s u is also c' + s' u', so u = shift +
        factor u'.
        """
        for f in range(max(self.second, 0)):
            c, unit = self.centre[f], self.unit[f]
            if not sd[f] > 1e-12 * abs(mean[f]):
                continue
            if unit > 0.0:
                if unit / 2 <= sd[f] <= 2 * unit and abs(mean[f] - c) <= unit:
                    continue
                turn = np.eye(self.second + 1)  # of weights
                turn[0, 1 + f], turn[1 + f, 1 + f] = (mean[f] - c) / unit, sd[f] / unit
                self.P = turn @ self.P @ turn.T
                self.squares = self.squares @ turn.T
                less = np.ones(self.second + 1)
                for i in (0, 1 + f):
                    less[i] = 1e4 / max(math.sqrt(self.P[i, i]), 1e4)
                self.P *= np.outer(less, less)
            self.centre[f], self.unit[f] = mean[f], sd[f]

    def mixed(self, s, f):
        s["f"], s["sy"] = np.array(f), math.sqrt(self.vy) if self.ready else 1.0
        s["fs"] = np.clip(s["f"] / s["sy"], -1e6, 1e6) if self.ready else np.zeros(self.E)
        s["level"] = float(self.w @ s["fs"])
        s["yh"] = self.near_targets(self.my + s["level"] * s["sy"])
        return s

    def near_targets(self, y):
        margin = 0.1 * (self.hi - self.lo)
        return min(max(y, self.lo - margin), self.hi + margin)

    def blended(self, s):
        """The mixture, and least squares beside it as far as they would have made it better."""
        s["mixture"] = s["yh"]
        s["apart"] = 0.0
        if self.second >= 0:
            s["apart"] = self.near_targets(self.my + s["f"][3]) - s["yh"]
        whole = self.apart + 10.0 * self.square
        if self.second >= 0 and whole > 0.0:
            share = (self.both - 0.5 * math.sqrt(self.apart * self.square)) / whole
            s["yh"] += min(max(share, 0.0), 1.0) * s["apart"]
        return s

    def learn_noise(self, s, ratio, w):
        """The spread follows features, and its local variance, where errors differ from it."""
        slope = w * min(ratio - 0.8, 3.0) * s["loud"]
        self.noise_sums += slope**2
        self.noise = 0.9999 * self.noise + 0.03 * slope / np.sqrt(self.noise_sums + 1e-6)

    def learn_blend(self, s, y, w):
        w, error = min(w, 1.0), abs(y - s["yh"])
        most = 4.0 * math.sqrt(self.square) if self.t > 10 and self.square > 0.0 else math.inf
        shrunk = min(1.0, most / error) if error > 0.0 else 1.0
        lacks, apart = shrunk * (y - s["mixture"]), shrunk * s["apart"]
        self.both = (1.0 - 0.002 * w) * self.both + w * lacks * apart
        self.apart = (1.0 - 0.002 * w) * self.apart + w * apart**2
        rate = min(w * max(1.0 / (self.t + 1), 0.01), 0.5)
        self.square += rate * ((shrunk * error) ** 2 - self.square)

    def learn_mixer(self, s, y, bound, w):
        most = bound / s["sy"]
        e = np.clip((y - self.my) / s["sy"] - s["level"], -most, most)
        if self.t >= 30:
            precision = min(max(0.4 * self.vy / self.ve, 1.0), 1e4) if self.ve > 0.0 else 1e4
            self.newton(-e * s["fs"], s["fs"], 1.0, w * precision)

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
        if self.first is not None and self.t == 200:
            self.decide()
        elif self.first is not None:
            self.first.append((x, y, w))
        s = self.look(x)
        first = self.t == 0
        if first:
            self.my = self.last = self.lo = self.hi = y
        err, lacks = (0.0, 0.0) if first else (y - s["yh"], y - s["mixture"])
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
            self.learn_noise(s, abs(err) / s["spread"], min(w, 1.0))
        if self.t >= 30 and s["spread"] > 0.0:
            missed = float(abs(err) > 1.6448536269514722 * s["spread"])
            step = min(w, 1.0) * max(0.05, 10 / (self.t + 1)) * (missed - 0.1)
            self.stretch = min(max(self.stretch + step, -5.0), 5.0)
        self.learn_means(x, y, w)
        if not first:
            self.learn_blend(s, y, w)
            before = self.my
            self.learn_targets(y, err, bound, w, lacks)
            self.squares[0, 0] -= self.my - before
        self.refer_anew(s["moments"][0], np.sqrt(np.maximum(s["moments"][1], 0.0)))
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
            self.least_squares_step(s | {"x1": s["u"]}, bounded[3:4], w)

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

    def learn_targets(self, y, err, bound, w, lacks):
        def rate(slowest):
            return min(w * max(1.0 / (self.t + 1), slowest), 0.5)

        self.ve += rate(0.01) * (min(lacks**2, bound**2) - self.ve)
        self.latest += rate(0.1) * (min(err**2, bound**2) - self.latest)
        self.ae += rate(0.01) * (min(abs(err), bound) - self.ae)
        gap = y - self.my
        self.my += rate(1e-4) * gap
        self.vy += rate(1e-4) * (gap * (y - self.my) - self.vy)
        self.last += min(0.5 * w, 0.5) * (y - self.last)


def value_of(name, x):
    """The value of a feature, or the text of a column, in a row."""
    if isinstance(name, Text):
        return next((text for (column, text) in texts_in(x) if column == name.column), None)
    return x.get(name, 0.0)


def texts_in(x):
    """The texts of a row."""
    return [name for name, value in x.items() if isinstance(name, Text) and value != 0.0]


def is_name(value):
    """Whether a value may be a name: a text or a whole number."""
    return value is not None and (isinstance(value, str) or value == math.floor(value))

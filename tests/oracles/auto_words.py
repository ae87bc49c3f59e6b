"""The automatic learners on words, plainly: a dict of names without end, for every class its own
column.
"""

from __future__ import annotations

import math

import numpy as np

from .auto import softmax
from .auto_classification import AutoClassifier
from .auto_regression import AutoRegressor

FADING = 0.9998
BIAS = object()  # a name that is in every example


class Words:
    """What is known of names: the weights of two linear models, sums, counts, and when they came
    last.
    """

    def __init__(self, columns, counts):
        self.columns, self.counts, self.known = columns, counts, {}
        self.take([BIAS], 0)
        self.totals = np.zeros(counts)

    def take(self, names, t):
        for name in names:
            if name not in self.known:
                zeros = {"linear": np.zeros(self.columns), "confident": np.zeros(self.columns)}
                self.known[name] = zeros | {"G": 0.0, "S": 0.0, "n": np.zeros(self.counts)}
            row = self.known[name]
            row["n"] = self.faded(row, t)
            row["seen"] = t + 1

    def faded(self, row, t):
        return row["n"] * FADING ** (t - row["seen"]) if "seen" in row else row["n"]

    def add_column(self):
        self.columns, self.counts = self.columns + 1, self.counts + 1
        self.totals = np.append(self.totals, 0.0)
        for row in self.known.values():
            for part in ("linear", "confident", "n"):
                row[part] = np.append(row[part], 0.0)

    def score(self, model, x, scale):
        found = self.known[BIAS][model].copy()
        for name, value in x.items():
            if name in self.known:
                found += self.known[name][model] * value / scale
        return found

    def learn_linear(self, x, scale, rate, e):
        for name, value in [(BIAS, scale), *x.items()]:
            row, z = self.known[name], value / scale
            row["G"] = 0.9995 * row["G"] + np.mean(e**2) * z**2
            row["linear"] += rate * e * z / math.sqrt(row["G"] + 1e-10)

    def learn_confident(self, x, scale, v, e, bounded):
        rows = [(self.known[name], value / scale) for name, value in [(BIAS, scale), *x.items()]]
        for row, z in rows:
            row["S"] = 0.9999 * row["S"] + v * z**2
        g = v / (1.0 + sum(v * z**2 / (0.3 + row["S"]) for row, z in rows)) if bounded else 1.0
        for row, z in rows:
            row["confident"] += g * e * z / (0.3 + row["S"])

    def count(self, x, column, number):
        self.totals *= FADING
        for name, value in x.items():
            if value > 0.0:
                self.known[name]["n"][column] += number * min(value, 1000.0)
                self.totals[column] += number * min(value, 1000.0)

    def present(self, x, t):
        """(counted value, counts) of the names that are known and above 0."""
        found = [(v, self.known[n]) for n, v in x.items() if n in self.known and v > 0.0]
        return [(min(value, 1000.0), self.faded(row, t)) for value, row in found]


def entries(x):
    """The values that are not 0, and the root of the sum of their squares."""
    found = {name: value for name, value in x.items() if value != 0.0}
    return found, math.sqrt(sum(value**2 for value in found.values())) or 1.0


class WordsClassifier(AutoClassifier):
    def __init__(self, seed, classes=2):
        super().__init__(seed, 1, classes)
        self.second, self.words = -1, Words(classes, classes)
        self.prior = np.full(classes, 1.0 / classes)
        self.mass, self.excess = np.zeros(11), np.zeros(11)
        self.begin_mixer(5, 1.5 / 5)

    def add_class(self):
        self.C += 1
        self.prior, self.seen = np.append(self.prior, 0.0), np.append(self.seen, False)
        self.words.add_column()

    def look(self, x):
        x, length = entries(x)
        p = [
            self.prior,
            *(softmax(self.words.score(m, x, length)) for m in ("linear", "confident")),
        ]
        found, V = self.words.present(x, self.t), max(len(self.words.known) - 1, 1)
        known = sum(value for value, _ in found)
        for a, scale in ((1.0, 1.0), (0.1, 1.0 / math.sqrt(known) if known else 0.0)):
            score = np.log(np.maximum(self.prior, 1e-10)) - known * np.log(
                self.words.totals + a * V
            )
            p.append(softmax(scale * (score + sum(v * np.log(n + a) for v, n in found))))
        return self.mixed({}, p)

    def learn(self, x, y, w=1.0):
        if w == 0.0:
            return
        w, s = min(w, 1000.0), self.look(x)
        x, length = entries(x)
        self.seen[y] = True
        e_y = (np.arange(self.C) == y).astype(float)
        g = s["l"] @ s["P"] - s["l"][:, y]
        self.newton(g, g, 1.8, w)
        self.learn_calibration(s, y, w)
        e, p = w * (e_y - s["p"]), s["p"][2]
        v = np.sum(p * (1.0 - p)) / (1.0 if self.C == 2 else self.C)
        self.words.take(x, self.t)
        self.words.learn_linear(x, length, 0.5, e[1])
        self.words.learn_confident(x, length, w * max(v, 1e-3), e[2], False)
        self.words.count(x, y, w)
        self.prior = self.prior + min(0.02 * w, 1.0) * (e_y - self.prior)
        self.t += 1


class WordsRegressor(AutoRegressor):
    def __init__(self, seed):
        super().__init__(seed, 1)
        self.words, self.square = Words(1, 2), 0.0
        self.begin_mixer(4, 1.0 / 3)

    def look(self, x):
        x, length = entries(x)
        usual = math.sqrt(self.square) or length
        f = [self.last - self.my]
        f += [float(self.words.score("linear", x, length)[0])]
        f += [float(self.words.score("confident", x, usual)[0])]
        found = self.words.present(x, self.t)
        known = sum(value for value, _ in found)
        f.append(sum(v * d / (n + 1.0) for v, (n, d) in found) / known if known else 0.0)
        return self.mixed({}, f)

    def predict(self, x):
        return self.look(x)["yh"]

    def learn(self, x, y, w=1.0):
        if w == 0.0:
            return
        w, first = min(w, 1000.0), self.t == 0
        if first:
            self.my = self.last = self.lo = self.hi = y
        s, (x, length) = self.look(x), entries(x)
        err = 0.0 if first else y - s["yh"]
        bound = 4.0 * math.sqrt(self.ve) if self.t > 10 and self.ve > 0.0 else math.inf
        e, size = np.clip(y - self.my - s["f"], -bound, bound), s["sy"]
        usual = math.sqrt(self.square) or length
        self.words.take(x, self.t)
        self.learn_mixer(s, y, bound, w)
        if not first and self.ready:
            self.words.learn_linear(x, length, 0.5 * size, w * e[1:2] / size)
            self.words.learn_confident(x, usual, w, e[2:3], True)
        deviation = min(max(y - self.my, -bound), bound)
        self.words.count(x, 0, w)
        self.words.count(x, 1, w * deviation)
        if not first:
            self.learn_targets(y, err, bound, w, err)
        self.lo, self.hi = min(self.lo, y), max(self.hi, y)
        rate = min(w * max(1.0 / (self.t + 1), 0.01), 1.0)
        self.square += rate * (sum(value**2 for value in x.values()) - self.square)
        self.t += 1

"""The automatic kernel learners, plainly: every class has its own column, every example its own
arrays.

Written from the specification of the algorithm; formulas in its words. Examples are dicts; features
become known, in sorted order, when they are first learned, and a missing one is 0.
"""

from __future__ import annotations

import functools
import hashlib
import math
from typing import NamedTuple

import numpy as np

from .auto_archive import Archive
from .randoms import SplitMix

K = 20
TABLES, CELLS = 120, 128
DEPTH, BINS = 5, 4.0  # features per table at most, bins over 4 standard deviations
SLOTS = TABLES * DEPTH


def draws(text, seed, n, turned=False):
    """n uniform numbers that depend on a text and the seed; others, if all bits of the key are
    turned.
    """
    key = hashlib.blake2b(text.encode(), digest_size=8, key=seed.to_bytes(8, "little")).digest()
    stream = SplitMix(int.from_bytes(key, "little") ^ (2**64 - 1 if turned else 0))
    return np.array([((stream.word() >> 11) + 0.5) * 2.0**-53 for _ in range(n)])


def over_root(rate, number):
    """rate / sqrt(number) in single precision."""
    return np.float64(np.float32(rate) / np.sqrt(np.float32(number)))


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / e.sum()


@functools.cache
def slots(j):
    """The slots of table j: the first tables have one, the last DEPTH."""
    return [b * TABLES + j for b in range(DEPTH) if j >= math.ceil(TABLES * b / DEPTH)]


class Mean(NamedTuple):
    """The name of the target mean of a feature."""

    of: object


class Text(NamedTuple):
    """The name of the feature of a text in a column."""

    column: str
    text: str


class Binning:
    """Tables over few features. The feature of a slot is the one that draws the smallest number for
    it.
    """

    def __init__(self, seed):
        self.seed, self.best = seed, np.full(SLOTS, 2.0)
        self.feature = np.zeros(SLOTS, int)
        width, self.offset, self.turn = draws("('the bins',)", seed, 3 * SLOTS).reshape(3, -1)
        self.wid = 4.0 / (BINS * (0.5 + width))

    def join(self, features):
        """New features (place, name); returns the tables that look at one of them."""
        changed = np.zeros(SLOTS, bool)
        for place, name in features:
            turned, name = isinstance(name, Mean), name.of if isinstance(name, Mean) else name
            if isinstance(name, Text):
                name = (name.column, "<other>" if turned else name.text)
            text = repr(name) if isinstance(name, str | tuple) else repr(float(name))
            number = draws(text, self.seed, SLOTS, turned)
            smaller = number < self.best
            self.best[smaller], self.feature[smaller] = number[smaller], place
            changed |= smaller
        return [j for j in range(TABLES) if changed[slots(j)].any()]

    def cells(self, x):
        values = np.clip(x[self.feature], -3.0, 3.0) if len(x) else np.zeros(SLOTS)
        turns = (np.floor(values / self.wid + self.offset) * self.turn).tolist()
        found = []
        for j in range(TABLES):
            total = 0.0
            for s in slots(j):
                total += turns[s]
            found.append(min(int((total - math.floor(total)) * CELLS), CELLS - 1))
        return np.array(found)


class Auto:
    """What both have: scaling, metric, memory, mixer."""

    def __init__(self, seed, budget=1000):
        self.W2 = budget // 2
        self.W1 = budget - self.W2
        self.archive = Archive(budget)
        self.seed, self.names, self.t = seed, [], 0
        self.mean = self.var = self.sign = np.zeros(0)
        self.a, self.u = np.zeros(0), np.zeros(0)
        self.binning = Binning(seed)
        self.recent, self.hard, self.moved = [], [], 0
        self.second = None

    # features

    def meet(self, x):
        self.take(
            sorted(x.keys() - set(self.names), key=lambda name: (isinstance(name, str), name))
        )

    def take(self, new):
        n = len(new)
        self.names += new
        self.mean, self.var = np.append(self.mean, [0.0] * n), np.append(self.var, [0.0] * n)
        self.sign = np.append(self.sign, [0.0] * n)
        self.a, self.u = np.append(self.a, [1.0] * n), np.append(self.u, [1e-3] * n)
        for row in self.recent + self.hard:
            row["x"] = np.append(row["x"], [0.0] * n)
        for entry in self.archive.entries.values():
            entry.x = np.append(entry.x, [0.0] * n)
        if self.second is None:
            d = len(self.names)
            self.second = d if d <= 64 else -1
            self.begin(d)
        elif n:
            self.grow(n)
        if self.second >= 0:
            before, self.second = self.second, min(len(self.names), 64)
            P = np.eye(self.second + 1)
            P[: before + 1, : before + 1] = self.P[: before + 1, : before + 1]
            self.P = P
            self.squares = np.hstack(
                [self.squares, np.zeros((len(self.squares), self.second - before))]
            )

    def scaled(self, x):
        """(moments after the row, the row in their units within 4 of them, 1 and the same within
        40)
        """
        raw = np.clip([float(x.get(name, 0.0)) for name in self.names], -1e150, 1e150)
        r = max(1.0 / (self.t + 1), 1e-4)
        mean = self.mean + r * (raw - self.mean)
        var = self.var + r * ((raw - self.mean) * (raw - mean) - self.var)
        sd = np.sqrt(np.maximum(var, 0.0))
        varies = sd > 1e-12 * np.abs(mean)
        z = np.zeros(len(raw))
        z[varies] = np.clip(((raw - mean)[varies] / sd[varies]), -40.0, 40.0)
        sign = self.sign.copy()
        fresh = varies & (sign == 0.0)
        sign[fresh] = np.where((raw - mean)[fresh] >= 0.0, 1.0, -1.0)
        return (mean, var, sign), np.clip(z * sign, -4.0, 4.0), np.append(1.0, z * sign)

    # memory

    @property
    def memory(self):
        return self.recent + self.hard

    def remember(self, s, y, w, alpha, hard, error=0.0):
        """The row comes in for the oldest recent one, which if it is hard comes in for the oldest
        hard one.
        """
        row = {"x": s["z"], "alpha": alpha, "hard": hard}
        goes = self.enter(self.recent, self.W1, self.t, row)
        if goes and goes["hard"] and self.W2:
            goes = self.enter(self.hard, self.W2, self.moved, goes)
            self.moved += 1
        if goes:
            self.archive.held.remove(goes["entry"].number)
        row["entry"] = self.archive.add(row["x"], y, w, error, s["far"])

    @staticmethod
    def enter(ring, size, number, row):
        """The row that a ring of this size loses for its next row."""
        if len(ring) < size:
            ring.append(row)
            return None
        goes, ring[number % size] = ring[number % size], row
        return goes

    def look_around(self, s, x, steps):
        """Scale, look up bins, measure distances from the memory, find the K nearest in it and the
        archive.
        """
        s["moments"], s["z"], s["x1"] = self.scaled(x)
        D = np.array([np.sum(self.a * (s["z"] - row["x"]) ** 2) for row in self.memory])
        s["cells"] = self.binning.cells(s["z"])
        s["kernel"] = np.exp(-D / max(np.sum(s["moments"][2] != 0.0), 1))
        nearest = np.argsort(D, kind="stable")[:K]
        s["near"] = [[D[i], self.memory[i]["entry"], False] for i in nearest]
        s["far"] = self.archive.search(s["near"], s["z"], self.a, steps)
        return s["x1"]

    def turn_metric(self, s, factors, w):
        """A step of the features that have ever varied; the others stay at 1."""
        scale, varies = max(s["near"][-1][0], 1e-9), s["moments"][2] != 0.0
        apart = np.array([(s["z"] - entry.x) ** 2 for _, entry, _ in s["near"]])
        g = self.a * 4.0 / scale * (factors @ apart)
        u = self.u[varies] + 0.01 * (g[varies] ** 2 - self.u[varies])
        step = np.clip(w * 0.02 * g[varies] / np.sqrt(u + 1e-12), -0.2, 0.2)
        a = np.maximum(1e-3, self.a[varies] ** (1 - 0.0002) * np.exp(step))
        self.u[varies], self.a[varies] = u, a * len(a) / a.sum()

    def follow_features(self, moments):
        """A feature that begins to vary joins the bins; the tables that look at it begin anew."""
        before = self.sign
        self.mean, self.var, self.sign = moments
        began = [f for f in range(len(self.names)) if self.sign[f] != 0.0 == before[f]]
        joining = [(f, self.names[f]) for f in began]
        for j in self.binning.join(joining):
            self.forget(j)
        self.t += 1

    # mixer

    def begin_mixer(self, E, start):
        self.E, self.start = E, start
        self.w, self.A = np.full(E, start), 10.0 * np.eye(E)

    def newton(self, g, u, step, w):
        self.A = 0.999 * self.A + w * np.outer(u, u) + 0.001 * 10.0 * np.eye(self.E)
        rest = 0.001 * 10.0 * (self.w - self.start)
        self.w = self.w - np.linalg.solve(self.A, w * step * g + rest)

    def least_squares_step(self, s, errors, w):
        """One covariance P for all columns; of features that never varied it stays as it is."""
        x1 = s["x1"][: self.second + 1]
        q = self.P @ x1
        k = w / (0.9995 + w * (x1 @ q))
        self.squares = self.squares + np.outer(errors, q) * k
        self.P = self.P - k * np.outer(q, q)
        self.P = (self.P + self.P.T) / 2
        among = np.append(True, s["moments"][2][: self.second] != 0.0)
        if np.diag(self.P)[among].sum() / 0.9995 < among.sum():
            self.P[np.ix_(among, among)] /= 0.9995

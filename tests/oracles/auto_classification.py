"""The automatic kernel classifier, plainly: every class has its own column."""

from __future__ import annotations

import math

import numpy as np

from .auto import CELLS, TABLES, Auto, K, over_root, softmax
from .auto_archive import vote


class AutoClassifier(Auto):
    """Probabilities of all classes; labels become known when they are first learned, two of them
    before that.
    """

    def __init__(self, seed, budget=1000, classes=2):
        super().__init__(seed, budget)
        self.C = classes
        self.seen = np.zeros(classes, bool)

    def begin(self, d):
        C, E = self.C, 8 if self.second >= 0 else 7
        self.prior = np.full(C, 1.0 / C)
        self.L, self.G = np.zeros((2, C, d + 1)), np.zeros((2, d + 1))
        self.TW, self.TG = np.zeros((TABLES, CELLS, C)), np.zeros((TABLES, CELLS))
        self.P = np.eye(max(self.second, 0) + 1)
        self.squares = np.zeros((C, max(self.second, 0) + 1))
        self.squares[:, 0] = 1.0 / C
        self.v = 0.1
        self.mass, self.excess = np.zeros(11), np.zeros(11)
        self.begin_mixer(E, 1.5 / E)

    def grow(self, n):
        self.L = np.concatenate([self.L, np.zeros((2, self.C, n))], 2)
        self.G = np.concatenate([self.G, np.zeros((2, n))], 1)

    def forget(self, j):
        self.TW[j] = self.TG[j] = 0.0

    def add_class(self):
        self.C += 1
        self.seen = np.append(self.seen, False)
        if self.second is None:
            return
        self.prior = np.append(self.prior, 0.0)
        self.L = np.pad(self.L, ((0, 0), (0, 1), (0, 0)))
        self.TW = np.pad(self.TW, ((0, 0), (0, 0), (0, 1)))
        self.squares = np.vstack([self.squares, np.zeros(self.squares.shape[1])])
        for row in self.memory:
            row["alpha"] = np.append(row["alpha"], 0.0)

    def look(self, x):
        """Everything that follows from a row."""
        C, s = self.C, {}
        x1 = self.look_around(s, x, 10 if C >= 8 else 3)
        p = [self.prior, *(softmax(self.L[u] @ x1) for u in range(2))]
        if self.second >= 0:
            s["s"] = self.squares @ x1[: self.second + 1]
            p.append(softmax(s["s"] / self.v))
        p.append(softmax(self.TW[np.arange(TABLES), s["cells"]].sum(0)))
        p.append(self.votes(s["near"], 8.0))
        p.append(softmax(s["kernel"] @ np.array([r["alpha"] for r in self.memory]).reshape(-1, C)))
        p.append(self.votes(s["far"], 8.0 if C >= 8 else 4.0))
        return self.mixed(s, p)

    def mixed(self, s, p):
        s["p"] = np.array(p)
        s["l"] = np.log((1 - 1e-3) * s["p"] + 1e-3 / self.C)
        s["P"] = softmax(self.w @ s["l"])
        s["Q"] = self.corrected(s["P"], s)
        return s

    def votes(self, pool, beta):
        """The votes of the nearest, and a few of the prior."""
        votes, number = np.zeros(self.C), 0.0
        if pool:
            entries, pi, number = vote(pool, beta)
            np.add.at(votes, [entry.y for entry in entries], pi)
        return (votes * number + 0.3 * self.prior) / (number + 0.3)

    def corrected(self, P, s):
        C = self.C  # of two classes that are equal the second one counts as predicted
        top = int(P[1] >= P[0]) if C == 2 else int(np.argmax(P))
        p, second = P[top], max(np.delete(P, top))
        place = min(max((p * C - 1) / (C - 1), 0.0), 1.0) * 10
        left = min(int(place), 9)
        s["top"], s["left"], s["share"] = top, left, place - left
        if p >= 1 - 1e-4:
            return P
        knots = self.excess / (self.mass + 30.0)
        sure = p + (1 - s["share"]) * knots[left] + s["share"] * knots[left + 1]
        sure = max(min(sure, 1 - 1e-4), (1 + 1e-9) * second / (second + 1 - p))
        Q = P * (1 - sure) / (1 - p)
        Q[top] = sure
        return Q

    def probabilities(self, x):
        if not self.seen.any():
            return np.full(self.C, 1.0 / self.C)
        found = np.where(self.seen, self.look(x)["Q"], 0.0)
        return found / found.sum()

    def learn(self, x, y, w=1.0):
        self.meet(x)
        if w == 0.0:
            return
        w, s = min(w, 1000.0), self.look(x)
        self.seen[y] = True
        e_y = (np.arange(self.C) == y).astype(float)
        g = s["l"] @ s["P"] - s["l"][:, y]
        self.newton(g, g, 1.8, w)
        self.learn_calibration(s, y, w)
        for u, rate in enumerate((0.3, 0.05)):
            slope = w * np.outer(s["p"][1 + u] - e_y, s["x1"])
            self.G[u] = 0.9995 * self.G[u] + (slope**2).mean(0)
            self.L[u] -= rate * slope / np.sqrt(self.G[u] + 1e-10)
        bins = 3 + (self.second >= 0)
        at, slope = (np.arange(TABLES), s["cells"]), w * (s["p"][bins] - e_y)
        self.TG[at] = 0.9995 * self.TG[at] + (slope**2).mean()
        step = over_root(0.4 / math.sqrt(TABLES), self.TG[at] + 1e-2)
        self.TW[at] -= np.outer(step, slope)
        if self.second >= 0:
            errors = e_y - s["s"]
            self.least_squares_step(s, errors, w)
            residual = min(np.mean(errors**2), 1.0)
            self.v = max(self.v + min(0.005 * w, 1.0) * (residual - self.v), 1e-3)
        self.learn_metric(s, y, w)
        self.remember(s, y, w, w * (e_y - s["p"][-2]), s["P"][y] < 0.9)
        self.prior = self.prior + min(0.02 * w, 1.0) * (e_y - self.prior)
        self.follow_features(s["moments"])

    def learn_calibration(self, s, y, w):
        self.mass, self.excess = 0.999 * self.mass, 0.999 * self.excess
        right = w * (float(s["top"] == y) - s["P"][s["top"]])
        for knot, share in ((s["left"], 1 - s["share"]), (s["left"] + 1, s["share"])):
            self.mass[knot] += w * share
            self.excess[knot] += right * share

    def learn_metric(self, s, y, w):
        if len(s["near"]) < K:
            return
        entries, pi, _ = vote(s["near"], 4.0)
        same = np.array([entry.y == y for entry in entries])
        if same.any():
            pi[same] -= pi[same] / pi[same].sum()
            self.turn_metric(s, pi, w)

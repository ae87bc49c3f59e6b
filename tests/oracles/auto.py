"""The automatic kernel learners, plainly: every class has its own column, every example its own arrays.

Written from the specification of the algorithm; formulas in its words. Examples are dicts; features become known, in
sorted order, when they are first learned, and a missing one is 0.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np

from .randoms import SplitMix

K = 20
WIDTHS = (2.0, 8.0, 32.0)
TABLES, CELLS = 120, 128
BINNING = ((5, 4.0), (2, 8.0))  # features per table at most, bins over 4 standard deviations
SLOTS = TABLES * sum(depth for depth, _ in BINNING)


def draws(text, seed, n):
    """n uniform numbers that depend on a text and the seed."""
    key = hashlib.blake2b(text.encode(), digest_size=8, key=seed.to_bytes(8, "little")).digest()
    stream = SplitMix(int.from_bytes(key, "little"))
    return np.array([((stream.word() >> 11) + 0.5) * 2.0**-53 for _ in range(n)])


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / e.sum()


class Binning:
    """Tables over few features. The feature of a slot is the one that draws the smallest number for it."""

    def __init__(self, seed):
        self.seed, self.best = seed, np.full(SLOTS, 2.0)
        self.feature = np.zeros(SLOTS, int)
        width, self.offset, self.turn = draws("('the bins',)", seed, 3 * SLOTS).reshape(3, -1)
        bins = np.concatenate([[b] * (TABLES * depth) for depth, b in BINNING])
        self.wid = 4.0 / (bins * (0.5 + width))

    def slots(self, u, j):
        """The slots of table j of expert u: the first tables have one, the last `depth`."""
        first = sum(depth for depth, _ in BINNING[:u])
        depth = BINNING[u][0]
        return [
            (first + b) * TABLES + j for b in range(depth) if j >= math.ceil(TABLES * b / depth)
        ]

    def join(self, features):
        """New features (place, name); returns the tables (u, j) that look at one of them."""
        changed = np.zeros(SLOTS, bool)
        for place, name in features:
            number = draws(
                repr(name) if isinstance(name, str) else repr(float(name)), self.seed, SLOTS
            )
            smaller = number < self.best
            self.best[smaller], self.feature[smaller] = number[smaller], place
            changed |= smaller
        every = [(u, j) for u in range(2) for j in range(TABLES)]
        return [(u, j) for u, j in every if changed[self.slots(u, j)].any()]

    def cells(self, u, x):
        found = []
        for j in range(TABLES):
            total = 0.0
            for s in self.slots(u, j):
                value = np.clip(x[self.feature[s]], -3.0, 3.0) if len(x) else 0.0
                total += math.floor(value / self.wid[s] + self.offset[s]) * self.turn[s]
            found.append(min(int((total - math.floor(total)) * CELLS), CELLS - 1))
        return np.array(found)


class Auto:
    """What both have: scaling, metric, memory, mixer."""

    def __init__(self, seed, budget=1000):
        self.W2 = budget // 2
        self.W1 = budget - self.W2
        self.seed, self.random, self.names, self.t = seed, SplitMix(seed), [], 0
        self.mean = self.var = self.sign = np.zeros(0)
        self.a, self.u = np.zeros(0), np.zeros(0)
        self.binning = Binning(seed)
        self.recent, self.hard, self.pos, self.pos2 = [], [], 0, 0
        self.second = None

    # features

    def meet(self, x):
        new = sorted(x.keys() - set(self.names))
        n = len(new)
        self.names += new
        self.mean, self.var = np.append(self.mean, [0.0] * n), np.append(self.var, [0.0] * n)
        self.sign = np.append(self.sign, [0.0] * n)
        self.a, self.u = np.append(self.a, [1.0] * n), np.append(self.u, [1e-3] * n)
        for row in self.recent + self.hard:
            row["x"] = np.append(row["x"], [0.0] * n)
        if self.second is None:
            d = len(self.names)
            self.second, self.lm = d if d <= 64 else -1, 0.0
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
        """(moments after the row, the row in their units)"""
        raw = np.clip([float(x.get(name, 0.0)) for name in self.names], -1e150, 1e150)
        r = max(1.0 / (self.t + 1), 1e-4)
        mean = self.mean + r * (raw - self.mean)
        var = self.var + r * ((raw - self.mean) * (raw - mean) - self.var)
        sd = np.sqrt(np.maximum(var, 0.0))
        varies = sd > 1e-12 * np.abs(mean)
        z = np.zeros(len(raw))
        z[varies] = np.clip(((raw - mean)[varies] / sd[varies]), -4.0, 4.0)
        sign = self.sign.copy()
        fresh = varies & (sign == 0.0)
        sign[fresh] = np.where((raw - mean)[fresh] >= 0.0, 1.0, -1.0)
        return (mean, var, sign), z * sign

    # memory

    @property
    def memory(self):
        return self.recent + self.hard

    def remember(self, row):
        row["arrival"] = self.t
        row["weight"] = max(row["weight"], 1e-9)
        if len(self.recent) < self.W1:
            self.recent.append(row)
        else:
            old = self.recent[self.pos]
            if old["hard"] and self.W2:
                if len(self.hard) < self.W2:
                    self.hard.append(old)
                else:
                    self.hard[self.pos2] = old
                self.pos2 = (self.pos2 + 1) % self.W2
            self.recent[self.pos] = row
        self.pos = (self.pos + 1) % self.W1

    def distances(self, z):
        return np.array([np.sum(self.a * (z - row["x"]) ** 2) for row in self.memory])

    def neighbours(self, D, beta):
        """(places of the K nearest, their shares, the effective number of them)"""
        near = np.argsort(D, kind="stable")[:K]
        scale = max(D[near[-1]], 1e-9)
        pi = np.exp(-beta * (D[near] - D[near[0]]) / scale)
        pi = pi * [self.memory[i]["weight"] for i in near]
        pi /= pi.sum()
        return near, pi, 1.0 / np.sum(pi**2)

    def kernels(self, D):
        return [np.exp(-width * D / math.exp(self.lm)) for width in WIDTHS]

    def follow_distance(self, D):
        if len(D) > 2:
            chosen = D[self.random.below(len(D))]
            if chosen > 1e-9:
                self.lm += max(1 / (self.t - 2), 0.01) * (math.log(chosen) - self.lm)

    def turn_metric(self, g, w, varies):
        """A step of the features that have ever varied; the others stay at 1."""
        u = self.u[varies] + 0.01 * (g[varies] ** 2 - self.u[varies])
        step = np.clip(w * 0.02 * g[varies] / np.sqrt(u + 1e-12), -0.2, 0.2)
        a = np.maximum(1e-3, self.a[varies] ** (1 - 0.001) * np.exp(step))
        self.u[varies], self.a[varies] = u, a * len(a) / a.sum()

    def follow_features(self, moments):
        """A feature that begins to vary joins the bins; the tables that look at it begin anew."""
        before = self.sign
        self.mean, self.var, self.sign = moments
        began = [f for f in range(len(self.names)) if self.sign[f] != 0.0 == before[f]]
        for u, j in self.binning.join([(f, self.names[f]) for f in began]):
            self.forget(u, j)
        self.t += 1

    # mixer

    def begin_mixer(self, E, start):
        self.E, self.start = E, start
        self.w, self.A = np.full(E, start), 10.0 * np.eye(E)

    def newton(self, g, u, step, w):
        self.A = 0.999 * self.A + w * np.outer(u, u) + 0.001 * 10.0 * np.eye(self.E)
        rest = 0.001 * 10.0 * (self.w - self.start)
        self.w = self.w - np.linalg.solve(self.A, w * step * g + rest)

    def least_squares_step(self, x1, errors, w, varies):
        """One covariance P for all columns; of features that never varied it stays as it is."""
        q = self.P @ x1
        k = w / (0.9995 + w * (x1 @ q))
        self.squares = self.squares + np.outer(errors, q) * k
        self.P = self.P - k * np.outer(q, q)
        self.P = (self.P + self.P.T) / 2
        among = np.append(True, varies[: len(x1) - 1])
        if np.diag(self.P)[among].sum() / 0.9995 < among.sum():
            self.P[np.ix_(among, among)] /= 0.9995


class AutoClassifier(Auto):
    """Probabilities of all classes; labels become known when they are first learned, two of them before that."""

    def __init__(self, seed, budget=1000, classes=2):
        super().__init__(seed, budget)
        self.C = classes

    def begin(self, d):
        C, E = self.C, 11 if self.second >= 0 else 10
        self.prior = np.full(C, 1.0 / C)
        self.L, self.G = np.zeros((2, C, d + 1)), np.zeros((2, C, d + 1))
        self.TW, self.TG = np.zeros((2, TABLES, CELLS, C)), np.zeros((2, TABLES, CELLS, C))
        self.P = np.eye(max(self.second, 0) + 1)
        self.squares = np.zeros((C, max(self.second, 0) + 1))
        self.squares[:, 0] = 1.0 / C
        self.v = 0.1
        self.mass, self.excess = np.zeros(11), np.zeros(11)
        self.begin_mixer(E, 1.5 / E)

    def grow(self, n):
        more = np.zeros((2, self.C, n))
        self.L, self.G = np.concatenate([self.L, more], 2), np.concatenate([self.G, more], 2)

    def forget(self, u, j):
        self.TW[u, j] = self.TG[u, j] = 0.0

    def add_class(self):
        self.C += 1
        if self.second is None:
            return
        self.prior = np.append(self.prior, 0.0)
        self.L, self.G = (np.pad(t, ((0, 0), (0, 1), (0, 0))) for t in (self.L, self.G))
        self.TW, self.TG = (np.pad(t, ((0, 0), (0, 0), (0, 0), (0, 1))) for t in (self.TW, self.TG))
        self.squares = np.vstack([self.squares, np.zeros(self.squares.shape[1])])
        for row in self.memory:
            row["alpha"] = np.pad(row["alpha"], ((0, 0), (0, 1)))

    def look(self, x):
        """Everything that follows from a row."""
        C, s = self.C, {}
        s["moments"], z = self.scaled(x)
        x1 = np.append(1.0, z)
        s["z"], s["x1"], s["D"] = z, x1, self.distances(z)
        p = [self.prior]
        p += [softmax(self.L[u] @ x1) for u in range(2)]
        s["cells"] = [self.binning.cells(u, z) for u in range(2)]
        p += [softmax(self.TW[u, np.arange(TABLES), s["cells"][u]].sum(0)) for u in range(2)]
        for beta in (3.0, 8.0):
            vote, number = np.zeros(C), 0.0
            if self.memory:
                near, pi, number = self.neighbours(s["D"], beta)
                for i, share in zip(near, pi, strict=True):
                    vote[self.memory[i]["y"]] += share
                if beta == 3.0:
                    s["near"], s["pi"], s["vote"] = near, pi, vote
            p.append((vote * number + 0.3 * self.prior) / (number + 0.3))
        for q, k in enumerate(self.kernels(s["D"])):
            z_q = sum((k[i] * row["alpha"][q] for i, row in enumerate(self.memory)), np.zeros(C))
            p.append(softmax(z_q))
        if self.second >= 0:
            s["s"] = self.squares @ x1[: self.second + 1]
            p.append(softmax(s["s"] / self.v))
        s["p"] = np.array(p)
        s["l"] = np.log((1 - 1e-3) * s["p"] + 1e-3 / C)
        s["P"] = softmax(self.w @ s["l"])
        s["Q"] = self.corrected(s["P"], s)
        return s

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
        return np.full(self.C, 1.0 / self.C) if self.second is None else self.look(x)["Q"]

    def learn(self, x, y, w=1.0):
        self.meet(x)
        if w == 0.0:
            return
        w, s = min(w, 1000.0), self.look(x)
        e_y = (np.arange(self.C) == y).astype(float)
        g = s["l"] @ s["P"] - s["l"][:, y]
        self.newton(g, g, 1.5, w)
        self.mass, self.excess = 0.999 * self.mass, 0.999 * self.excess
        right = w * (float(s["top"] == y) - s["P"][s["top"]])
        for knot, share in ((s["left"], 1 - s["share"]), (s["left"] + 1, s["share"])):
            self.mass[knot] += w * share
            self.excess[knot] += right * share
        for u, rate in enumerate((0.3, 0.05)):
            slope = w * np.outer(s["p"][1 + u] - e_y, s["x1"])
            self.G[u] = 0.9995 * self.G[u] + slope**2
            self.L[u] -= rate * slope / np.sqrt(self.G[u] + 1e-10)
        for u in range(2):
            at, slope = (u, np.arange(TABLES), s["cells"][u]), w * (s["p"][3 + u] - e_y)
            self.TG[at] = 0.9995 * self.TG[at] + slope**2
            self.TW[at] -= 0.3 / math.sqrt(TABLES) * slope / np.sqrt(self.TG[at] + 1e-2)
        if self.second >= 0:
            errors = e_y - s["s"]
            varies = s["moments"][2] != 0.0
            self.least_squares_step(s["x1"][: self.second + 1], errors, w, varies)
            residual = min(np.mean(errors**2), 1.0)
            self.v = max(self.v + min(0.005 * w, 1.0) * (residual - self.v), 1e-3)
        self.learn_metric(s, y, w)
        self.follow_distance(s["D"])
        alpha = w * (e_y - s["p"][7:10])
        hard = s["P"][y] < 0.8
        self.remember({"x": s["z"], "y": y, "alpha": alpha, "hard": hard, "weight": w})
        self.prior = self.prior + min(0.02 * w, 1.0) * (e_y - self.prior)
        self.follow_features(s["moments"])

    def learn_metric(self, s, y, w):
        if len(s["D"]) < K or not 1e-3 < s["vote"][y] < 0.999:
            return
        far = np.array([(s["z"] - self.memory[i]["x"]) ** 2 for i in s["near"]])
        same = np.array([self.memory[i]["y"] == y for i in s["near"]])
        pi, scale = s["pi"][:, None], max(s["D"][s["near"][-1]], 1e-9)
        rest = (pi * far).sum(0) - (pi * far)[same].sum(0) / s["vote"][y]
        self.turn_metric(self.a * 3.0 / scale * rest, w, s["moments"][2] != 0.0)


class AutoRegressor(Auto):
    """A number, and the spread around it."""

    def __init__(self, seed, budget=1000):
        super().__init__(seed, budget)
        self.my = self.vy = self.fast = self.last = self.lo = self.hi = 0.0
        self.ve = self.ae = self.stretch = 0.0

    def begin(self, d):
        E = 11 if self.second >= 0 else 10
        self.L, self.G = np.zeros(d + 1), np.zeros(d + 1)
        self.TW, self.visits = np.zeros((2, TABLES, CELLS)), np.zeros((2, TABLES, CELLS))
        self.P = np.eye(max(self.second, 0) + 1)
        self.squares = np.zeros((1, max(self.second, 0) + 1))
        self.begin_mixer(E, 1.0 / (E - 1))

    def grow(self, n):
        self.L, self.G = np.append(self.L, [0.0] * n), np.append(self.G, [0.0] * n)

    def forget(self, u, j):
        self.TW[u, j] = self.visits[u, j] = 0.0

    @property
    def ready(self):
        return self.vy > 1e-24 * self.my**2

    def look(self, x):
        s = {}
        s["moments"], z = self.scaled(x)
        x1 = np.append(1.0, z)
        s["z"], s["x1"], s["D"] = z, x1, self.distances(z)
        f = [self.fast - self.my, self.last - self.my, self.L @ x1]
        s["cells"] = [self.binning.cells(u, z) for u in range(2)]
        f += [self.TW[u, np.arange(TABLES), s["cells"][u]].sum() for u in range(2)]
        variance = self.ve
        for beta in (3.0, 8.0):
            vote = 0.0
            if self.memory:
                near, pi, number = self.neighbours(s["D"], beta)
                vote = pi @ [self.memory[i]["y"] for i in near] - self.my
                if beta == 3.0:
                    s["near"], s["pi"], s["vote"] = near, pi, vote + self.my
                    squares = pi @ [self.memory[i]["error"] ** 2 for i in near]
                    variance = (number * squares + 3.0 * self.ve) / (number + 3.0)
            f.append(vote)
        for q, k in enumerate(self.kernels(s["D"])):
            f.append(sum(k[i] * row["alpha"][q] for i, row in enumerate(self.memory)))
        if self.second >= 0:
            f.append(float(self.squares[0] @ x1[: self.second + 1]))
        sy = math.sqrt(self.vy) if self.ready else 1.0
        s["f"], s["sy"] = np.array(f), sy
        s["fs"] = np.clip(s["f"] / sy, -5.0, 5.0) if self.ready else np.zeros(self.E)
        s["level"] = float(self.w @ s["fs"])
        margin = 0.1 * (self.hi - self.lo)
        s["yh"] = min(max(self.my + s["level"] * sy, self.lo - margin), self.hi + margin)
        s["spread"] = math.exp(self.stretch) * math.sqrt(variance)
        return s

    def predict(self, x):
        """(mean, spread)"""
        if self.second is None:
            return 0.0, 0.0
        s = self.look(x)
        return s["yh"], s["spread"]

    def learn(self, x, y, w=1.0):
        self.meet(x)
        if w == 0.0:
            return
        w, y = min(w, 1000.0), min(max(y, -1e150), 1e150)
        s = self.look(x)
        first = self.t == 0
        if first:
            self.my = self.fast = self.last = self.lo = self.hi = y
        err = 0.0 if first else y - s["yh"]
        some = self.t > 10 and self.ve > 0.0
        bound = 4.0 * math.sqrt(self.ve) if some else math.inf
        ye, rest = y - self.my, y - self.my - s["f"]
        alpha = np.zeros(3)
        if not first:
            self.learn_experts(s, ye, np.clip(rest, -bound, bound), bound, w)
            self.learn_metric(s, y, w)
            alpha = min(0.5 * w, 1.0) * np.clip(rest[7:10], -bound, bound)
        self.follow_distance(s["D"])
        hard = abs(err) > self.ae
        self.remember(
            {"x": s["z"], "y": y, "alpha": alpha, "hard": hard, "weight": w, "error": err}
        )
        if self.t >= 30 and s["spread"] > 0.0:
            missed = float(abs(err) > 1.6448536269514722 * s["spread"])
            self.stretch += min(w, 1.0) * max(0.05, 10 / (self.t + 1)) * (missed - 0.1)
        if not first:
            self.learn_targets(y, err, bound, w)
        self.lo, self.hi = min(self.lo, y), max(self.hi, y)
        self.follow_features(s["moments"])

    def learn_experts(self, s, ye, bounded, bound, w):
        e = np.clip(ye / s["sy"] - s["level"], -bound / s["sy"], bound / s["sy"])
        if self.t >= 30:
            self.newton(-e * s["fs"], s["fs"], 1.0, w)
        if self.ready:
            slope = -w * bounded[2] / s["sy"] * s["x1"]
            self.G = 0.9995 * self.G + slope**2
            self.L = self.L - 0.3 * s["sy"] * slope / np.sqrt(self.G + 1e-10)
        for u in range(2):
            at = (u, np.arange(TABLES), s["cells"][u])
            share = np.minimum(w * np.maximum(0.05, 1 / np.sqrt(1 + self.visits[at])), 1.0)
            self.TW[at] += share * bounded[3 + u] / TABLES
            self.visits[at] += min(w, 1.0)
        if self.second >= 0:
            varies = s["moments"][2] != 0.0
            self.least_squares_step(s["x1"][: self.second + 1], bounded[10:11], w, varies)

    def learn_metric(self, s, y, w):
        if len(s["D"]) < K or not self.ready:
            return
        far = np.array([(s["z"] - self.memory[i]["x"]) ** 2 for i in s["near"]])
        targets = np.array([self.memory[i]["y"] for i in s["near"]])
        scale = max(s["D"][s["near"][-1]], 1e-9)
        pull = (s["pi"] * (targets - s["vote"])) @ far
        g = -(y - s["vote"]) / self.vy * self.a * 3.0 / scale * pull
        self.turn_metric(g, w, s["moments"][2] != 0.0)

    def learn_targets(self, y, err, bound, w):
        def rate(slowest):
            return min(w * max(1.0 / (self.t + 1), slowest), 1.0)

        self.ve += rate(0.01) * (min(err**2, bound**2) - self.ve)
        self.ae += rate(0.01) * (abs(err) - self.ae)
        gap = y - self.my
        self.my += rate(1e-4) * gap
        self.vy += rate(1e-4) * (gap * (y - self.my) - self.vy)
        self.fast += rate(0.02) * (y - self.fast)
        self.last += min(0.5 * w, 1.0) * (y - self.last)

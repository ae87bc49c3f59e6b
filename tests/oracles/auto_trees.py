"""The trees of the automatic kernel learners, plainly: nodes are objects, every class has its own weight.

Eight trees of at most 64 leaves. A leaf counts its rows: their number n, sum v^2, sum v, and for every feature of the
tree the same in 16 cells of its values. After 20 rows, and again after 8 more or an eighth more, it is cut where
S_left^2 / (n_left + 5) + S_right^2 / (n_right + 5) - S^2 / (n + 5) is largest, if that exceeds 10 mean v^2.
"""

from __future__ import annotations

import math

import numpy as np

from .auto import SLOTS, draws

TREES, LEAVES, FEATURES, CELLS, DEEPEST = 8, 64, 16, 16, 10
WIDTH = 6.0 / (CELLS - 1)  # of a cell


class Node:
    def __init__(self, weights, depth, visits):
        self.weights, self.depth, self.visits = weights.copy(), depth, visits
        self.begin_counting()

    def begin_counting(self):
        self.children, self.n, self.squares, self.total, self.due = None, 0, 0.0, 0.0, 20.0
        self.sums, self.numbers = np.zeros((FEATURES, CELLS)), np.zeros((FEATURES, CELLS))

    def is_twig(self):
        """Whether both children are leaves."""
        return self.children is not None and not any(child.children for child in self.children)


class Trees:
    """`columns` weights per leaf and behind them a sum."""

    def __init__(self, seed, columns):
        self.seed, self.slots = seed, [[] for _ in range(TREES)]
        self.pairs = [
            [] for _ in range(TREES)
        ]  # cut nodes, in the order of the places of their children
        self.roots = [Node(np.zeros(columns + 1), 0, 0.0) for _ in range(TREES)]

    def join(self, features):
        for place, name in features:
            key = repr(name) if isinstance(name, str) else repr(float(name))
            numbers = draws(key, self.seed, SLOTS + 2 * TREES)[SLOTS:]
            for j in range(TREES):
                mine = (numbers[j], place, numbers[TREES + j])
                if j % 2 and numbers[j] >= 0.5:
                    continue
                kept = sorted([*self.slots[j], mine])[:FEATURES]
                if mine in kept:
                    self.slots[j] = kept
                    self.roots[j] = Node(np.zeros_like(self.roots[j].weights), 0, 0.0)
                    self.pairs[j] = []

    def add_class(self):
        for node in self.nodes():
            node.weights = np.insert(node.weights, -1, 0.0)

    def nodes(self):
        waiting = list(self.roots)
        while waiting:
            node = waiting.pop()
            waiting += node.children or []
            yield node

    def find(self, x):
        """The leaf of every tree."""
        found = []
        for node in self.roots:
            while node.children:
                node = node.children[int(x[node.feature] > node.threshold)]
            found.append(node)
        return found

    def grow(self, leaves, x, values, t):
        """Leaves count a row, and may be cut."""
        for j, (leaf, v) in enumerate(zip(leaves, values, strict=True)):
            leaf.visits += 1.0
            if leaf.depth == DEEPEST:
                continue
            leaf.n, leaf.squares, leaf.total = leaf.n + 1, leaf.squares + v * v, leaf.total + v
            for i, (_, f, shift) in enumerate(self.slots[j]):
                cell = int((np.clip(x[f], -3.0, 3.0) + 3.0) / WIDTH + shift)
                leaf.sums[i, cell] += v
                leaf.numbers[i, cell] += 1
            if leaf.n >= leaf.due:
                leaf.due = max(leaf.n + 8, leaf.n * 1.125)
                self.cut(j, leaf)
        if (t + 1) % 1024 == 0:
            for node in self.nodes():
                node.visits /= 2.0

    def cut(self, j, leaf):
        best, found = 10.0 * leaf.squares / leaf.n, None
        whole = leaf.total**2 / (leaf.n + 5.0)
        for i in range(len(self.slots[j])):
            left, n_left = np.cumsum(leaf.sums[i]), np.cumsum(leaf.numbers[i])
            right, n_right = leaf.total - left, leaf.n - n_left
            gain = left**2 / (n_left + 5.0) + right**2 / (n_right + 5.0) - whole
            for b in range(CELLS - 1):
                if min(n_left[b], n_right[b]) >= 5 and gain[b] > (1 + 1e-9) * best:
                    best, found = gain[b], (i, b)
        if found is None:
            return
        place = len(self.pairs[j])
        if place == LEAVES - 1:
            place = self.take_back(j, leaf)
            if place is None:
                return
        else:
            self.pairs[j].append(None)
        self.pairs[j][place] = leaf
        _, leaf.feature, shift = self.slots[j][found[0]]
        leaf.threshold = (found[1] + 1 - shift) * WIDTH - 3.0
        leaf.children = [Node(leaf.weights, leaf.depth + 1, leaf.visits / 2) for _ in range(2)]

    def take_back(self, j, leaf):
        """Unite the two leaves that differ least, for their visits. Returns the place of their cut."""
        least, found = math.inf, None
        for parent in self.in_order(j):
            if not parent.is_twig() or leaf in parent.children:
                continue
            a, b = parent.children
            difference = ((a.weights - b.weights)[:-1] ** 2).sum() * self.share(a, b)
            if (1 + 1e-9) * difference < least:
                least, found = difference, parent
        if found is None:
            return None
        one, other = (child.visits + 1.0 for child in found.children)
        a, b = found.children
        found.weights = (one * a.weights + other * b.weights) / (one + other)
        found.visits = a.visits + b.visits
        found.begin_counting()
        return self.pairs[j].index(found)

    @staticmethod
    def share(a, b):
        return a.visits * b.visits / (a.visits + b.visits + 1e-9)

    def in_order(self, j):
        """Cut nodes by their own places: the root, and then pairs of children."""
        children = [child for parent in self.pairs[j] for child in parent.children]
        return [node for node in [self.roots[j], *children] if node.children]


class ClassTrees(Trees):
    def __init__(self, seed, classes):
        super().__init__(seed, classes)

    def scores(self, leaves):
        return sum(leaf.weights[:-1] for leaf in leaves)

    def learn(self, leaves, x, e, t):
        """e: what is lacking, per class."""
        columns, values = len(e), [e[-1]] * TREES
        if columns > 2:
            signs = draws("('the bins',)", self.seed, 3 * SLOTS + TREES * columns)[3 * SLOTS :]
            values = (2.0 * signs.reshape(columns, TREES).T - 1.0) @ e
        for leaf in leaves:
            leaf.weights[-1] = 0.9995 * leaf.weights[-1] + np.mean(e**2)
            leaf.weights[:-1] += e * over_root(1.0 / math.sqrt(TREES), leaf.weights[-1] + 1e-2)
        self.grow(leaves, x, values, t)


def over_root(rate, number):
    """rate / sqrt(number) in single precision."""
    return np.float64(np.float32(rate) / np.sqrt(np.float32(number)))


class NumberTrees(Trees):
    def __init__(self, seed):
        super().__init__(seed, 1)

    def score(self, leaves):
        return sum(leaf.weights[0] for leaf in leaves)

    def learn(self, leaves, x, e, size, w, t):
        for leaf in leaves:
            share = min(w * max(0.05, over_root(1.0, 1.0 + leaf.weights[1])), 1.0)
            leaf.weights += [share * e / TREES, min(w, 1.0)]
        self.grow(leaves, x, [min(w, 1.0) * np.clip(e / size, -1e6, 1e6)] * TREES, t)

"""The mean of the iterates of another reference, as coefficients on the vectors that this one
stores.

Shamir, Zhang: Stochastic gradient descent for non-smooth optimization. ICML, 2013 (section 4, eta =
3).
"""

from __future__ import annotations

import numpy as np


class Mean:
    """`step` is that of the reference, and then the mean moves. Vectors are told apart by identity,
    so a reference that replaces vectors by new ones (merging, projection) is out of reach.
    """

    def __init__(self, oracle, horizon=None):
        self.oracle, self.horizon, self.t = oracle, horizon, 0
        self.kept = []  # pairs (vector, coefficients)
        self.weights = None  # on features, where there are no vectors

    @property
    def task(self):
        return self.oracle.task

    def table(self):
        """The coefficients of the last iterate, one row per vector."""
        weights, basis = getattr(self.oracle, "W", None), getattr(self.oracle, "M", None)
        if basis is not None and weights is not None:
            return basis.T @ weights
        return self.oracle.A if weights is None else weights

    def on_features(self):
        return getattr(self.oracle, "W", None) is not None and not hasattr(self.oracle, "M")

    def means(self):
        table = self.table()
        if self.on_features():
            return np.zeros(table.shape) if self.weights is None else self.weights
        known = {id(x): row for x, row in self.kept}
        rows = [known.get(id(x), np.zeros(table.shape[1])) for x in self.oracle.X]
        return np.array(rows).reshape(table.shape)

    def scores(self, x):
        x = np.asarray(x, float)
        if self.on_features():
            return self.oracle.features(x) @ self.means()
        return self.oracle.row(x) @ self.means()

    def _store(self, means):
        self.weights = means
        self.kept = [] if self.on_features() else list(zip(self.oracle.X, means, strict=True))

    def promote(self):
        means = self.means()
        self.oracle.promote()
        self._store(np.hstack([-means / 2, means / 2, np.zeros_like(means)]))

    def add_output(self):
        means = self.means()
        self.oracle.add_output()
        self._store(np.hstack([means, np.zeros((len(means), 1))]))

    def step(self, x, target, weight=1.0):
        scores = self.scores(x)
        self.oracle.step(x, target, weight)
        if weight > 0:
            self.t += 1
            share = 4.0 / (self.t + 3.0)
            if self.horizon is not None:
                share = max(share, 1.0 / self.horizon)
            means = self.means()
            self._store(means + share * (self.table() - means))
        return scores

"""KRLS-T from the formulas of the paper, in extended precision.

S. Van Vaerenbergh, M. Lazaro-Gredilla, I. Santamaria. Kernel recursive least-squares tracker for
time-varying regression. IEEE TNNLS 23, 2012: Algorithm 1 with back-to-the-prior forgetting.

mu and Sigma are the posterior mean and covariance of f at the basis X, Q the inverse of its kernel
matrix K. Nothing here is in terms of coefficients, but the scores: A = Q mu.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rounds import OnlineKernelLearner, lightest

LONG = np.longdouble


@dataclass(eq=False)
class KRLSTracker(OnlineKernelLearner):
    """budget, forgetting (lambda) and noise (sigma_n^2) as in the paper.

    least  a newcomer whose squared distance to the span of the basis is at most this share of its
           own length is projected instead of included; and so is a vector of the basis
    """

    budget: int = 100
    forgetting: float = 0.999
    noise: float = 0.1
    least: float = 1e-10

    def __post_init__(self):
        super().__post_init__()
        self.mu = np.zeros(0, LONG)
        self.Q, self.Sigma = np.zeros((0, 0), LONG), np.zeros((0, 0), LONG)
        self.errors = self.examples = LONG(0)

    def kernels(self, x):
        """(k_t, k_tt)"""
        return self.row(x).astype(LONG), LONG(self.norm2(x))

    def predict(self, x):
        """(mean, variance) of y at x: equations for y_t given the past."""
        k_t, k_tt = self.kernels(x)
        q_t = self.Q @ k_t
        variance = k_tt - k_t @ q_t + q_t @ self.Sigma @ q_t
        power = self.errors / self.examples if self.examples else LONG(1)
        return float(q_t @ self.mu), float(power * (self.noise + variance))

    def learn(self, x, target, scores, weight):
        self._forget()
        k_t, k_tt = self.kernels(x)
        q_t = self.Q @ k_t
        y_hat = q_t @ self.mu
        gamma2 = k_tt - k_t @ q_t
        h_t = self.Sigma @ q_t
        sigma_f2 = gamma2 + q_t @ h_t
        sigma_y2 = self.noise / LONG(weight) + sigma_f2
        error = target - y_hat
        self.errors = self.forgetting * self.errors + error**2 / sigma_y2
        self.examples = self.forgetting * self.examples + 1

        # the basis with x in it: the mean and covariance of f at x follow from those at the basis
        before = self.Q, list(self.X)
        p = np.append(q_t, LONG(-1))
        self.Q = _bordered(self.Q, 0 * q_t, LONG(0)) + (
            np.outer(p, p) / gamma2 if gamma2 > 0 else 0
        )
        p = np.append(h_t, sigma_f2)
        self.mu = np.append(self.mu, y_hat) + error / sigma_y2 * p
        self.Sigma = _bordered(self.Sigma, h_t, sigma_f2) - np.outer(p, p) / sigma_y2
        self.X.append(x)
        if gamma2 <= self.least * k_tt:
            self.mu, self.Sigma = self.mu[:-1], self.Sigma[:-1, :-1]
            self.Q, self.X = before
        self._prune()
        self.A = np.array(self.Q @ self.mu, float)[:, None]

    def _forget(self):
        """Back to the prior."""
        lam = LONG(self.forgetting)
        if self.X:
            self.Sigma = lam * self.Sigma + (1 - lam) * self.gram().astype(LONG)
            self.mu = np.sqrt(lam) * self.mu

    def _prune(self):
        while len(self.X) > self.budget:
            self._remove(lightest(np.abs(self.Q @ self.mu) / np.diag(self.Q)))
        while len(self.X) > 1:
            lengths = np.array([self.norm2(x) for x in self.X])
            distances = 1 / (np.diag(self.Q) * lengths)
            if distances.min() > self.least:
                break
            self._remove(int(np.argmin(distances)))

    def _remove(self, r):
        rest = [j for j in range(len(self.X)) if j != r]
        column = self.Q[rest, r]
        self.Q = self.Q[np.ix_(rest, rest)] - np.outer(column, column) / self.Q[r, r]
        self.mu, self.Sigma = self.mu[rest], self.Sigma[np.ix_(rest, rest)]
        del self.X[r]


def _bordered(M, side, corner):
    """[[M, side], [side', corner]]"""
    return np.block([[M, side[:, None]], [side[None, :], corner]])

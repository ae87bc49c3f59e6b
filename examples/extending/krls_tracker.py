"""KRLS-T, the kernel recursive least-squares tracker, with two matrices of its own: `inverse`, that
of the kernel matrix, and `known`, such that k' known k is the part of the variance of f(x) that is
known. `rb.KRLSTRegressor` is a more careful form of it.

S. Van Vaerenbergh, M. Lazaro-Gredilla, I. Santamaria. Kernel recursive least-squares tracker for
time-varying regression. IEEE Trans. Neural Networks and Learning Systems 23, 2012.
"""

import math
from typing import Any

import numpy as np
from river import proba

import river_budget as rb
from river_budget import extending as ext


@ext.compiled
def round_of(m, state, own, x, norm, f, y, w):
    """Forget; include x in the basis, if it is not in its span; update."""
    n, k, fading, root = m.head[0].count, m.row, state.forgetting, math.sqrt(state.forgetting)
    q, s = m.work[0], m.work[1]
    residual = variance = ext.self_kernel(m, norm)
    for i in range(n):
        q[i], s[i] = np.dot(own.inverse[i, :n], k[:n]), -fading * np.dot(own.known[i, :n], k[:n])
        residual, variance = residual - q[i] * k[i], variance + s[i] * k[i]
    spread = state.noise / w + max(variance, 0.0)
    if residual > 1e-6 * ext.self_kernel(m, norm):
        ext.insert(m, x, norm)
        q[n], s[n] = -1.0, 1.0
        n += 1
        for i in range(n):
            for j in range(n):
                own.inverse[i, j] += q[i] * q[j] / residual
    else:
        for i in range(n):
            s[i] += q[i]
    ext.rescale(m, root)
    for i in range(n):
        ext.add_to(m, i, 0, -1, (y - root * f[0]) / spread * s[i])
        for j in range(n):
            own.known[i, j] = fading * own.known[i, j] + s[i] * s[j] / spread


@ext.compiled
def remove_least(m, state, own):
    """Project out the vector without which the prediction changes least there."""
    n, a, found, least = m.head[0].count, m.coefficients[0], 0, math.inf
    for r in range(n):
        if abs(a[r]) / own.inverse[r, r] < least:
            found, least = r, abs(a[r]) / own.inverse[r, r]
    p, c, own_known = m.work[0], m.work[1], own.known[found, found]
    for i in range(n):
        p[i], c[i] = own.inverse[i, found] / own.inverse[found, found], own.known[i, found]
    scale, weight = own.inverse[found, found], a[found]
    for i in range(n):
        a[i] -= p[i] * weight
        for j in range(n):
            own.inverse[i, j] -= p[i] * p[j] * scale
            own.known[i, j] += p[i] * p[j] * own_known - p[i] * c[j] - c[i] * p[j]
    ext.remove(m, found)


@ext.each_example
def variance_of(m, state, own, x, norm, f):
    """f[0] = the variance of y at x"""
    n = m.head[0].count
    f[0] = state.noise + ext.self_kernel(m, norm)
    for i in range(n):
        f[0] -= m.row[i] * np.dot(own.known[i, :n], m.row[:n])


@ext.register
class TrackerRegressor(ext.Regressor):
    """Kernel recursive least squares that forgets."""

    algorithm = ext.algorithm(
        round_of, "forgetting noise", remove_least, own={"inverse": ("B", "B"), "known": ("B", "B")}
    )

    forgetting = ext.Mutable(ext.share)
    noise = ext.Mutable(ext.positive)

    def __init__(
        self,
        budget: int = 100,
        kernel: rb.kernels.Kernel | None = None,
        forgetting: float = 0.999,
        noise: float = 0.1,
    ):
        super().__init__(locals())

    def predict_with_variance_one(self, x: dict[Any, Any]) -> Any:
        found = ext.results_of(self, variance_of, x)
        return proba.Gaussian._from_state(1, self.predict_one(x), found[0], 0) if found else None

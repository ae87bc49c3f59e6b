"""Budgeted stochastic gradient descent for kernel machines, a slow and literal reference.

The learner is Algorithm 1 of Wang, Crammer and Vucetic (2010), "Multi-class Pegasos on a budget",
with the budget maintenance of its section 4: removal, projection and merging.  Merging more than
two vectors at once is Algorithms 1 and 2 of Qaadan and Glasmachers (2018), "Multi-merge budget
maintenance for stochastic gradient descent SVM training".

Nothing is cached or updated incrementally: Gram matrices, norms and linear systems are computed
from scratch whenever they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .kernels import rbf
from .rounds import REGRESSION, TIE, OnlineKernelLearner, judge, lightest

# Pairs whose degradations differ by less than this fraction of ||a_p||^2 count as equal: for
# partners far away from p the degradation is ||a_p||^2 up to rounding, whatever the partner.
ROUNDING = 1e-12
# Places h tried first when two vectors are merged: -5, -4.99, .. 6 (0, 1/2 and 1 are exact).
GRID = np.arange(-500, 601) / 100.0
# Stopping rule of the gradient ascent (relative gain, number of steps).
GAIN, STEPS = 1e-8, 100


# ----------------------------------------------------------------------------------------------
# Merging two vectors: Wang, Crammer, Vucetic (2010), section 4.3
# ----------------------------------------------------------------------------------------------
#
# z = h x_m + (1-h) x_n (equation 20) has the kernel values p = exp(-s (1-h)^2) with x_m and
# q = exp(-s h^2) with x_n, where s = gamma ||x_m - x_n||^2, and a_z = p a_m + q a_n (after 22).


def weight_degradation(h, s, mm, nn, cc):
    """||a_m phi(x_m) + a_n phi(x_n) - a_z phi(z)||^2 for the place h (number or array).

    mm, nn and cc are ||a_m||^2, ||a_n||^2 and a_m.a_n.  This is mm + nn + 2 k cc - ||a_z||^2
    rearranged term by term, because the plain difference loses all digits for close vectors.
    """
    lost_m = -mm * np.expm1(-2.0 * s * (1.0 - h) ** 2)  # mm (1 - p^2)
    lost_n = -nn * np.expm1(-2.0 * s * h**2)  # nn (1 - q^2)
    # 2 cc (k - p q), where p q = k exp(u): take the larger of the two out of the bracket.
    u = 2.0 * s * h * (1.0 - h)
    larger = np.exp(-s + np.maximum(u, 0.0))
    lost_mn = 2.0 * cc * larger * np.sign(u) * np.expm1(-np.abs(u))
    return np.maximum(lost_m + lost_n + lost_mn, 0.0)


def best_merge(s, mm, nn, cc):
    """The place h in [-5, 6] of least weight degradation; returns (h, degradation)."""

    def cost(h):
        return weight_degradation(h, s, mm, nn, cc)

    def slope(h):
        # The derivative of ||a_z||^2 over 4 s, divided by the square of the larger of p and q so
        # that it cannot underflow; only its sign is used.
        p, q = _scaled(s, h)
        return (1.0 - h) * p * (mm * p + cc * q) - h * q * (nn * q + cc * p)

    h = _search(s, cost, slope, -5.0, 6.0)
    return h, float(cost(h))


def best_merge_eq21(s, a_m, a_n):
    """The place h that maximises equation (21) of Wang, Crammer, Vucetic (2010) literally.

    For several columns this is not the place of least degradation.  Columns that cancel have a
    denominator of 0, replaced by 1e-4.  Opposite signs of the two sums put z outside the segment.
    Returns (h, degradation at h).
    """
    total = a_m + a_n
    # The entries of a column may be equal in exact arithmetic only, hence "nearly" 0.
    total = np.where(np.abs(total) <= TIE * (np.abs(a_m) + np.abs(a_n)), 1e-4, total)
    alpha, beta = float(np.sum(a_m / total)), float(np.sum(a_n / total))

    if alpha * beta >= 0.0:
        low, high = 0.0, 1.0
    elif alpha > 0.0:
        low, high = 1.0, 6.0
    else:
        low, high = -5.0, 0.0

    def cost(h):
        return -alpha * np.exp(-s * (1.0 - h) ** 2) - beta * np.exp(-s * h**2)

    def slope(h):
        p, q = _scaled(s, h)
        return alpha * (1.0 - h) * p - beta * h * q

    h = _search(s, cost, slope, low, high)
    return h, float(weight_degradation(h, s, a_m @ a_m, a_n @ a_n, a_m @ a_n))


def _scaled(s, h):
    """(p, q) divided by the larger of the two."""
    ratio = s * (2.0 * h - 1.0)  # log(p / q)
    return (1.0, math.exp(-ratio)) if ratio > 0.0 else (math.exp(ratio), 1.0)


def _search(s, cost, slope, low, high):
    """Global minimiser of cost on [low, high]; slope(h) > 0 means that the cost falls with h.

    Every valley found on the grid is refined by bisection.  Valleys equally deep (two vectors of
    equal weight have mirror images) are taken in the order [0, 1/2], [1/2, 1], [1, 6], [-5, 0].
    """
    if s == 0.0:
        return 0.0  # the same vector twice: every place is the same
    grid = GRID[(low <= GRID) & (high >= GRID)]
    values = cost(grid)
    around = np.concatenate(([np.inf], values, [np.inf]))
    left, right = around[:-2], around[2:]
    lowest = (values <= left) & (values <= right) & ((values < left) | (values < right))

    places = []
    for i in np.flatnonzero(lowest):
        a, b = float(grid[max(i - 1, 0)]), float(grid[min(i + 1, len(grid) - 1)])
        for _ in range(60):
            middle = 0.5 * (a + b)
            if slope(middle) > 0.0:
                a = middle
            else:
                b = middle
        places.append(0.5 * (a + b))
    depths = [float(cost(h)) for h in places]
    limit = min(depths) + TIE * abs(min(depths))
    candidates = [h for h, depth in zip(places, depths, strict=False) if depth <= limit]
    return min(candidates, key=lambda h: (h < -1e-12, h))


def _pair(x_m, a_m, x_n, a_n, gamma, objective):
    """Merge two vectors; returns (z, a_z, degradation)."""
    s = gamma * max(float(np.sum((x_m - x_n) ** 2)), 0.0)
    if objective == "degradation":
        h, degradation = best_merge(s, float(a_m @ a_m), float(a_n @ a_n), float(a_m @ a_n))
    else:
        h, degradation = best_merge_eq21(s, a_m, a_n)
    p, q = math.exp(-s * (1.0 - h) ** 2), math.exp(-s * h**2)
    return h * x_m + (1.0 - h) * x_n, p * a_m + q * a_n, degradation


def degradations(A, X, gamma, p, objective="degradation"):
    """Weight degradation E(p, j) of merging row p with row j, for all j (infinite at p)."""
    A = np.asarray(A, dtype=float)
    E = np.full(len(X), np.inf)
    for j in range(len(X)):
        if j != p:
            E[j] = _pair(X[p], A[p], X[j], A[j], gamma, objective)[2]
    return E


# ----------------------------------------------------------------------------------------------
# Merging several vectors: Qaadan and Glasmachers (2018), Algorithms 1 and 2
# ----------------------------------------------------------------------------------------------


def merge_points(points, coefficients, gamma, method, objective="degradation"):
    """Replace points (rows of coefficients belong to them) by one; returns (z, a_z).

    "cascade" is Algorithm 1 (MM-BSGD), pairwise merges in the given order; "gradient" is
    Algorithm 2 (MM-GD), one optimisation for all points at once.
    """
    points, coefficients = np.asarray(points, dtype=float), np.asarray(coefficients, dtype=float)
    if method == "cascade":
        z, a_z = points[0], coefficients[0]
        for x, a in zip(points[1:], coefficients[1:], strict=False):
            z, a_z, _ = _pair(z, a_z, x, a, gamma, objective)
        return z, a_z
    return _ascend(points, coefficients, gamma)


def _ascend(points, coefficients, gamma):
    """Algorithm 2 of Qaadan and Glasmachers (2018).

    With the optimal a_z = g(z) = sum_i a_i k(x_i, z) the degradation is a constant minus
    ||g(z)||^2, which is maximised by gradient ascent.  The first trial step of every round is
    1 / (4 gamma ||g||^2), which leads to the mean of the points with the weights (a_i.g) k(x_i, z)
    (these weights sum to ||g||^2); it is halved until ||g||^2 increases.  The loop test printed in
    the paper is reversed: the loop has to run while there still is progress.
    """
    kernel = rbf(gamma)

    def image(z):
        return kernel(z[None, :], points)[0] @ coefficients

    def value(z):
        return float(np.sum(image(z) ** 2))

    z = _start(points, coefficients, value)
    best = value(z)
    for _ in range(STEPS):
        if best == 0.0:
            break
        pull = (coefficients @ image(z)) * kernel(z[None, :], points)[0]
        gradient = 4.0 * gamma * (pull @ (points - z))
        step = 1.0 / (4.0 * gamma * best)
        for _ in range(60):
            trial = z + step * gradient
            if value(trial) > best:
                break
            step *= 0.5
        else:
            break  # no step increases ||g||^2: a stationary point
        gain = (value(trial) - best) / best
        z, best = trial, value(trial)
        if gain <= GAIN:
            break
    return z, image(z)


def _start(points, coefficients, value):
    """The weighted mean of the points, or the best single point where that is better.

    The weights are the coefficients if there is one column, else the norms of the rows.  A sum of
    (nearly) 0 has no mean.
    """
    one_column = coefficients.shape[1] == 1
    weights = coefficients[:, 0] if one_column else np.sqrt(np.sum(coefficients**2, axis=1))
    values = np.array([value(x) for x in points])
    first = int(np.flatnonzero(values >= values.max() * (1.0 - TIE))[0])
    if abs(weights.sum()) <= TIE * np.abs(weights).sum():
        return points[first]
    mean = weights @ points / weights.sum()
    return points[first] if values[first] > value(mean) else mean


# ----------------------------------------------------------------------------------------------
# The learner
# ----------------------------------------------------------------------------------------------


@dataclass(eq=False)
class BudgetedSGD(OnlineKernelLearner):
    """Algorithm 1 of Wang, Crammer and Vucetic (2010) for three tasks.

    task         "binary" (targets +1 and -1, hinge loss), "multiclass" (targets are column
                 numbers, equation 2) or "regression" (epsilon-insensitive loss).
    budget       largest number of stored vectors, None for no limit.
    maintenance  "oldest", "random", "smallest", "project" or "merge".
    l2           the factor lambda of the objective.
    learning_rate  a constant step; None: 1 / (l2 t) as in the paper.
    choose       choose(n) gives an index below n; only "random" uses it.
    gamma        width of the Gaussian kernel; only "merge" uses it.
    arity        how many vectors are merged at once; from 3 on `method` says how.
    objective    place of a merged pair: "degradation" (its minimiser) or "eq21" (equation 21).
    choice       which vector is projected: "smallest", or "best" (equation 17).

    The ball has the radius sqrt(mean of weight * loss of w = 0) / sqrt(lambda): 1 / sqrt(lambda)
    for classes without weights, as in the paper. `gradient_errors` are the |E_t| of theorem 1.

    The rows of `A` and `X` are in order of insertion (row 0 is the oldest), except with "random",
    where a newcomer takes over the slot of the vector it replaces.
    """

    budget: int | None = None
    maintenance: str = "oldest"
    l2: float = 1e-4
    epsilon: float = 0.1
    project_to_ball: bool = True
    gamma: float | None = None
    choose: Callable | None = None
    arity: int = 2
    method: str = "cascade"
    objective: str = "degradation"
    min_residual: float = 1e-10
    choice: str = "smallest"
    learning_rate: float | None = None
    t = 0

    def __post_init__(self):
        super().__post_init__()
        self.gradient_errors, self.losses_of_zero = [], []

    # -------------------------------------------------------------------------------- learning

    def learn(self, x, target, scores, weight):
        self.t += 1
        verdict = judge(self.task, scores, target, self.epsilon)
        regression = self.task == REGRESSION
        # What w = 0 loses: 1 with classes, so the ball is that of the paper.
        loss_of_zero = max(abs(target) - self.epsilon, 0.0) if regression else 1.0
        self.losses_of_zero.append(weight * loss_of_zero)
        rate = 1.0 / (self.l2 * self.t) if self.learning_rate is None else self.learning_rate
        self.A = (1.0 - rate * self.l2) * self.A
        if verdict.mistake if regression else verdict.margin < 1.0:
            self._step(x, weight * rate * verdict.direction)
        if self.project_to_ball:
            norm = math.sqrt(max(np.sum(self.A * (self.gram() @ self.A)), 0.0))
            radius = math.sqrt(np.mean(self.losses_of_zero) / self.l2)
            if norm > radius:
                self.A = self.A * (radius / norm)

    def _step(self, x, row):
        """Add row times k(x, .) to the model and keep the budget."""
        if self.maintenance == "project" and self._absorb(x, row):
            return
        self.X.append(x)
        self.A = np.vstack([self.A, row])
        if self.maintenance == "project":
            self._keep_apart()
        if self.budget is not None and len(self.X) > self.budget:
            before = list(self.X), self.A
            getattr(self, f"_{self.maintenance}")()
            self._note_gradient_error(*before)

    def _note_gradient_error(self, X, A):
        """|E_t| = |change of w by maintenance| / eta_t."""
        points = np.array(X + self.X)
        change = np.vstack([A, -self.A])
        length2 = float(np.sum(change * (self.kernel(points, points) @ change)))
        self.gradient_errors.append(math.sqrt(max(length2, 0.0)) * self.l2 * self.t)

    # --------------------------------------------------------- removal: section 4.1 of the paper

    def _oldest(self):
        self._delete([0])

    def _random(self):
        """One of the old vectors, never the newcomer, which moves into the free slot."""
        victim = self.choose(self.budget)
        self.X[victim], self.A[victim] = self.X[-1], self.A[-1]
        self._delete([len(self.X) - 1])

    def _smallest(self):
        self._delete([self._lightest()])

    # ------------------------------------------------------ projection: section 4.2 of the paper

    def _absorb(self, x, row):
        """Guard: a vector (nearly) in the span of the stored ones is written in terms of them.

        Storing it would make the Gram matrix of the projection singular.
        """
        k_row, k_xx = self.row(x), self.norm2(x)
        d = _solve(self.gram(), k_row)
        if k_xx - k_row @ d > self.min_residual * k_xx:
            return False
        self.A = self.A + np.outer(d, row)
        return True

    def _keep_apart(self):
        """The same guard for stored vectors that the newcomer has (nearly) made superfluous."""
        while len(self.X) > 1:
            K = self.gram()
            distances = [self._distance2(K, i) / K[i, i] for i in range(len(self.X))]
            if min(distances) > self.min_residual:
                return
            self._project(int(np.argmin(distances)))

    def _distance2(self, K, i):
        """Squared distance of vector i to the span of the others."""
        rest = [j for j in range(len(K)) if j != i]
        return K[i, i] - K[i, rest] @ _solve(K[np.ix_(rest, rest)], K[rest, i])

    def _project(self, p=None):
        """Equation (16): one vector is projected on all others; equation (17): the one that loses
        least.
        """
        if p is None:
            p = self._lightest() if self.choice == "smallest" else self._cheapest()
        rest = [i for i in range(len(self.X)) if i != p]
        K = self.gram()
        d = _solve(K[np.ix_(rest, rest)], K[rest, p])
        row = self.A[p].copy()
        self._delete([p])
        self.A = self.A + np.outer(d, row)

    def _cheapest(self):
        K = self.gram()
        return lightest([self.A[i] @ self.A[i] * self._distance2(K, i) for i in range(len(K))])

    # --------------------------------------------------------- merging: section 4.3 of the paper

    def _merge(self):
        """The lightest vector and its arity - 1 best partners become one, the newest, vector.

        Partners come in the order of their degradation, the older one first if it is equal.
        """
        p = self._lightest()
        E = degradations(self.A, self.X, self.gamma, p, self.objective)
        slack = ROUNDING * float(self.A[p] @ self.A[p])
        members = [p]
        while len(members) < min(self.arity, len(self.X)):
            j = int(np.flatnonzero(E.min() + slack >= E)[0])
            members.append(j)
            E[j] = np.inf
        method = "cascade" if len(members) == 2 else self.method
        points = [self.X[i] for i in members]
        z, a_z = merge_points(points, self.A[members], self.gamma, method, self.objective)
        self._delete(members)
        self.X.append(z)
        self.A = np.vstack([self.A, a_z])

    # --------------------------------------------------------------------------------- helpers

    def _lightest(self):
        """The vector with the smallest ||A_p||^2 k(x_p, x_p)."""
        return lightest(np.sum(self.A**2, axis=1) * np.diag(self.gram()))

    def _delete(self, rows):
        self.X = [x for i, x in enumerate(self.X) if i not in rows]
        self.A = np.delete(self.A, rows, axis=0)


def _solve(K, b):
    """Solve K d = b for a Gram matrix K; least squares where K is singular to rounding."""
    if len(b) == 0:
        return np.zeros(0)
    try:
        L = np.linalg.cholesky(K)
        return np.linalg.solve(L.T, np.linalg.solve(L, b))
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(K, b, rcond=1e-10)[0]

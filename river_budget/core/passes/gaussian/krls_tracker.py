"""KRLS-T: a Gaussian process on a budget that is updated with every example and forgets towards its
prior.

S. Van Vaerenbergh, M. Lazaro-Gredilla, I. Santamaria. Kernel recursive least-squares tracker for
time-varying regression. IEEE Trans. Neural Networks and Learning Systems 23, 2012.

    paper                   here
    lambda                  forgetting
    sigma_n^2               noise
    k_t, k_tt               m.row, the kernel row of x, and k_xx
    Q = K^-1                W'W, by the factor W
    q_t = Q k_t             q, the coefficients of the projection of k(x, .) on the basis
    gamma_t^2               residual, its squared distance to k(x, .)
    Q mu                    the coefficients
    Q - Q Sigma Q           own.known: k' known k is what is known of the prior variance of f(x)
    sigma_ft^2, sigma_yt^2  variance of f(x), spread of y
    sigma_0^2               errors / rows, the power of the signal

The paper has the mean mu and the covariance Sigma of f at the basis. In terms of the coefficients
and of `known`, going back to the prior, Sigma <- lambda Sigma + (1 - lambda) K and mu <-
sqrt(lambda) mu, is a product with lambda, and with its root; and an update needs no product with Q,
whose entries are as large as its basis is nearly dependent.

The power is the maximum likelihood estimate of the authors' program, but here it forgets as the
rest does.
"""

from __future__ import annotations

import math

from ...budget.projection import (
    TINY,
    check_factor,
    extend_factor,
    inverse_column,
    inverse_diagonal,
    most_dependent,
    project,
    project_out,
)
from ...compiling import inlined, inner, passes
from ...expansion.examples import example
from ...expansion.kernels import kernel_row, norm_of, self_kernel
from ...expansion.scoring import score_row
from ...expansion.support import (
    LARGEST,
    LONGEST_STEP,
    bounded,
    insert,
    oldest_of_lightest,
    rescale,
)
from ...memory import record
from ...numerics import clamp, dot
from ...rounds.observe import learn_rows_with, observe

STATE = record("f8 forgetting noise errors rows")
OWN = {"known": ("B", "B")}
LEAST_SPREAD = 1e-12
LARGEST_RATIO = 1e90  # of an error to its standard deviation: then variances are finite


@passes
def learn(m, states, own, rows):
    """The learning pass."""
    return learn_rows_with(m, states, own, rows, observe, round_of)


@inlined
def round_of(m, state, own, x, norm, f, y, w):
    """Algorithm 1 of the paper: forget, include x in the basis, update, and remove what exceeds the
    budget.
    """
    head, n, k_xx, decay = m.head[0], m.head[0].count, self_kernel(m, norm), state.forgetting
    q, c, s = m.work[0], m.work[1], m.work[2]
    residual = k_xx - project(m, m.row, q)
    variance = unknown(k_xx, decay * known_of(m, own, c))
    spread = max(state.noise / w + variance, LEAST_SPREAD)
    rescale(m, math.sqrt(decay))
    error = y - math.sqrt(decay) * f[0]
    count_error(state, error, spread)
    joins = residual > TINY * k_xx
    for i in range(n):
        s[i] = (0.0 if joins else q[i]) - decay * c[i]
    if joins:
        extend_factor(m, q, residual, insert(m, x, norm))
        s[n] = 1.0
    step = clamp(error / spread, LONGEST_STEP) / head.scale
    for i in range(head.count):
        m.coefficients[0, i] = bounded(head, m.coefficients[0, i] + step * s[i])
        row, share = own.known[i], s[i] / spread
        for j in range(head.count):
            row[j] = clamp(decay * row[j] + share * s[j], LARGEST)
    if joins:
        keep_budget(m, own)


@inlined
def known_of(m, own, c):
    """c = known k. Returns k' known k."""
    n, total = m.head[0].count, 0.0
    for i in range(n):
        c[i] = dot(own.known[i], m.row, n)
        total += c[i] * m.row[i]
    return total


@inner
def unknown(k_xx, known):
    """The variance of f(x), which is between 0 and its prior variance; 0 where sums have
    overflowed.
    """
    return min(max(k_xx - known, 0.0), max(k_xx, 0.0)) if abs(known) < math.inf else 0.0


@inlined
def count_error(state, error, spread):
    """The power of the signal is the mean of error^2 / spread."""
    ratio = min(abs(error) / math.sqrt(spread), LARGEST_RATIO)
    state.errors = state.forgetting * state.errors + ratio * ratio
    state.rows = state.forgetting * state.rows + 1.0


@inner
def keep_budget(m, own):
    """Remove vectors until the budget is kept, and old ones that a newcomer has made dependent on
    the others.
    """
    while m.head[0].count > m.head[0].budget:
        remove_from_basis(m, own, least_missed(m))
    while m.head[0].count > 1:
        p, distance = most_dependent(m)
        if distance > TINY:
            break
        remove_from_basis(m, own, p)
    check_factor(m)


@inner
def least_missed(m):
    """The vector whose removal changes the mean of f at it least: argmin_r |[Q mu]_r| / Q_rr."""
    loss, inverse = m.buffer, m.work[0]
    inverse_diagonal(m, inverse)
    for r in range(m.head[0].count):
        loss[r] = abs(m.coefficients[0, r]) / inverse[r]
    return oldest_of_lightest(m, loss)


@inner
def remove_from_basis(m, own, p):
    """Remove vector p: known <- P known P', where P projects on the other vectors."""
    n, known, column, shares, row = m.head[0].count, own.known, m.work[0], m.work[1], m.work[2]
    inverse_column(m, p, column)
    for j in range(n):
        shares[j], row[j] = column[j] / column[p], known[p, j]
    of_p = row[p]
    for i in range(n):
        for j in range(n):
            out = shares[i] * row[j] + row[i] * shares[j]
            known[i, j] = clamp(known[i, j] - out + shares[i] * shares[j] * of_p, LARGEST)
    project_out(m, p)


@passes
def shrink(m, own):
    """The pass that keeps a smaller budget."""
    keep_budget(m, own)


@passes
def predict(m, states, own, rows):
    """scores[t] = (mean, variance) of y at x_t"""
    state = states[0]
    power = state.errors / state.rows if state.rows > 0.0 else 1.0
    for t in range(rows.scores.shape[0]):
        x = example(m, rows, t)
        norm = norm_of(m, x)
        kernel_row(m, x, norm)
        variance = unknown(self_kernel(m, norm), known_of(m, own, m.work[1]))
        score_row(m, m.row, rows.scores[t, :1])
        rows.scores[t, 1] = power * (state.noise + variance)
    return rows.scores.shape[0]

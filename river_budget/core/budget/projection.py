"""Project a vector on the span of the support vectors, by a factor of the inverse Gram matrix.

W = `factor` is the inverse of the Cholesky factor of K = [k(x_i, x_j)]: lower triangular, K^-1 =
W'W. In terms of W, with k the kernel row of x and k_xx = k(x, x):
    residual^2 = k_xx - |W k|^2           squared distance of k(x, .) to the span of the support
    d = W' (W k)                          coefficients of the projection
    new row of W = (-d, 1) / residual     when x joins the support
    K^-1 of a column p = W' W[:, p]       and 1 / (K^-1)_pp = squared distance of p to the others
Errors in W grow with the root of K's condition number, errors in K^-1 would grow with the condition
number itself. To bound this number, no vector may lie within TINY of the span of the others
(squared distance, relative to its own length). A newcomer that is closer is projected instead of
stored. If a newcomer brings an *old* vector that close to the span of the others, the old one is
removed and projected on the others; |w| hardly changes. The root of the condition number stays near
1e5.

The factor is in the order of the support, so vectors leave by `remove_in_order`.

Rounding errors add up over many arrivals. At every EVERY-th arrival `check_factor` projects one
support vector, each in turn, on the support: |W k|^2 must be k(x, x), and the entries of W k behind
its own row must be 0. If the error exceeds DRIFT, the factor is computed from scratch and
head.repairs is increased.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiling import inlined, inner
from ..expansion.kernels import row_of_vector, self_kernel
from ..expansion.support import (
    LARGEST,
    LONGEST_STEP,
    add_to,
    bounded,
    insert,
    oldest_of_lightest,
    remove_in_order,
    weight_of,
    weights_into,
)
from ..numerics import clamp, dot

# Squared distance from the span of the others, relative to k(x, x): no vector is closer
TINY = 1e-10
EVERY = 64  # arrivals between two checks; a check takes as long as an arrival
BETTER_TIMES = 10.0  # a repair is counted if it divides the error by at least this
FACTOR_DRIFT = 1e-7  # relative to k(x, x); rounding alone stays near 1e-11


@inner
def project(m, row, coefficients):
    """coefficients = d = K^-1 row. Returns |W row|^2, the squared length of the projection."""
    factor, n = m.factor, m.head[0].count
    for j in range(n):
        coefficients[j] = 0.0
    length = 0.0
    for i in range(n):
        w = factor[i]
        total = dot(w, row, i + 1)
        length += total * total
        for j in range(i + 1):
            coefficients[j] += total * w[j]
    return length


@inner
def extend_factor(m, coefficients, residual, last):
    """Append the row of the last vector, which has just been inserted, to the factor."""
    w, scale = m.factor[last], 1.0 / math.sqrt(residual)
    for j in range(last):
        w[j] = -coefficients[j] * scale
    w[last] = scale


@inner
def remove_with_factor(m, p):
    """Remove vector p from support and factor.

    Rotates pairs of neighbouring rows, which does not change W'W, until column p is 0 except in the
    last row. Without this row and column it is the factor of the other vectors.
    """
    factor, n = m.factor, m.head[0].count
    for i in range(p, n - 1):
        upper, lower = factor[i], factor[i + 1]
        length = math.hypot(upper[p], lower[p])
        c, s = lower[p] / length, upper[p] / length
        for j in range(i + 2):
            above = upper[j] if j <= i else 0.0
            upper[j], lower[j] = c * above - s * lower[j], s * above + c * lower[j]
    for i in range(p, n - 1):
        w = factor[i]
        for j in range(p, i + 1):
            w[j] = w[j + 1]
    remove_in_order(m, p)


@inlined
def inverse_column(m, p, column):
    """column = K^-1 e_p"""
    factor, n = m.factor, m.head[0].count
    for j in range(n):
        column[j] = 0.0
    for i in range(p, n):
        w = factor[i]
        for j in range(i + 1):
            column[j] += w[p] * w[j]


@inner
def project_out(m, p):
    """Replace vector p by its projection on the others. Returns its squared distance to them."""
    n, column = m.head[0].count, m.work[0]
    inverse_column(m, p, column)
    distance = 1.0 / column[p]
    for r in range(m.coefficients.shape[0]):
        coefficients = m.coefficients[r]
        share = coefficients[p] * distance
        for j in range(n):
            coefficients[j] = bounded(m.head[0], coefficients[j] - share * column[j])
    for e in range(m.per_vector.shape[0]):  # in a mean of the iterates
        mean = m.per_vector[e]
        share = mean[p] * distance
        for j in range(n):
            mean[j] = clamp(mean[j] - share * column[j], LARGEST)
    remove_with_factor(m, p)
    return distance


@inner
def inverse_diagonal(m, diagonal):
    """diagonal[j] = (K^-1)_jj"""
    factor, n = m.factor, m.head[0].count
    for j in range(n):
        diagonal[j] = 0.0
    for i in range(n):
        w = factor[i]
        for j in range(i + 1):
            diagonal[j] += w[j] * w[j]


@inner
def cheapest(m, n):
    """The one of the first n vectors with the least |a_r|^2 / (K^-1)_rr, whose projection changes w
    least.
    """
    loss, inverse = m.buffer, m.work[0]
    weights_into(m, loss)
    inverse_diagonal(m, inverse)
    for r in range(n):
        loss[r] /= inverse[r]
    for r in range(n, m.head[0].count):
        loss[r] = np.inf
    return oldest_of_lightest(m, loss)


@inner
def most_dependent(m):
    """(vector, its squared distance to the span of the others, in units of its own length)"""
    n, inverse = m.head[0].count, m.buffer
    inverse_diagonal(m, inverse)
    worst, least = 0, np.inf
    for j in range(n):
        distance = 1.0 / (inverse[j] * self_kernel(m, m.norms[j]))
        if distance < least:
            worst, least = j, distance
    return worst, least


@inner
def remove_dependent(m):
    """Project out vectors that a newcomer has made linearly dependent on the others, up to TINY.

    Returns by how much |w|^2 decreases. Overwrites m.buffer and work[0].
    """
    lost = 0.0
    while m.head[0].count > 1:
        p, distance = most_dependent(m)
        if distance > TINY:
            break
        weight = weight_of(m, p)
        lost += weight * project_out(m, p)
    return m.head[0].scale ** 2 * lost


@inner
def add_or_project(m, x, norm, plus, minus, amount):
    """Add amount (e_plus - e_minus) k(x, .): with x as a support vector, or projected if x lies in
    their span.

    The kernel row of x must be in m.row. Returns (squared length of the added part, decrease of
    |w|^2 by removing dependent vectors, whether x was stored).
    """
    length, d = self_kernel(m, norm), m.work[0]
    inside = project(m, m.row, d)
    if length - inside <= TINY * length:
        add_projected(m, d, plus, minus, amount)
        return inside, 0.0, False
    j = insert(m, x, norm)
    extend_factor(m, d, length - inside, j)
    add_to(m, j, plus, minus, amount)
    lost = remove_dependent(m)
    check_factor(m)
    return length, lost, True


@inner
def add_projected(m, d, plus, minus, amount):
    """Add amount (e_plus - e_minus) times the projection with coefficients d to the
    coefficients.
    """
    amount = clamp(amount, LONGEST_STEP) / m.head[0].scale
    spread(m, plus, amount, d)
    if minus >= 0:
        spread(m, minus, -amount, d)


@inner
def spread(m, r, amount, d):
    """Add amount times d to the coefficients of output r."""
    coefficients = m.coefficients[r]
    for j in range(m.head[0].count):
        coefficients[j] = bounded(m.head[0], coefficients[j] + amount * d[j])


@inner
def spread_mean(m, e, amount, d):
    """Add amount times d to row e of per_vector, the coefficients of a mean of the iterates."""
    mean = m.per_vector[e]
    for j in range(m.head[0].count):
        mean[j] = clamp(mean[j] + amount * d[j], LARGEST)


@inner
def check_factor(m):
    """At every EVERY-th arrival: check the factor at one vector, and recompute it if the error
    exceeds DRIFT.
    """
    head = m.head[0]
    if head.arrived % EVERY != 0:
        return
    p = (head.arrived // EVERY) % head.count
    error = factor_error_at(m, p)
    if error > FACTOR_DRIFT:
        recompute_factor(m)
        # no repair if, as with vectors that hardly differ, a new factor is no more precise
        if p >= head.count or error > BETTER_TIMES * factor_error_at(m, p):
            head.repairs += 1


@inner
def factor_error_at(m, p):
    """The error of the factor at vector p, relative to the length of the vector."""
    factor, row, length, behind = m.factor, m.row, 0.0, 0.0
    row_of_vector(m, p)
    for i in range(m.head[0].count):
        total = dot(factor[i], row, i + 1)
        length += total * total
        if i > p:
            behind += total * total
    k_pp = self_kernel(m, m.norms[p])
    error = max(abs(length - k_pp) / k_pp, math.sqrt(behind / k_pp))
    return error if error == error else np.inf


@inner
def recompute_factor(m):
    """Compute the factor from scratch. Vectors that depend on those before them are projected on
    these.
    """
    head, i, n = m.head[0], 0, m.head[0].count
    d = m.work[0]
    while i < n:
        head.count = i
        row_of_vector(m, i)
        k_ii = self_kernel(m, m.norms[i])
        residual = k_ii - project(m, m.row, d)
        if residual > TINY * k_ii:
            extend_factor(m, d, residual, i)
            i += 1
            continue
        for r in range(m.coefficients.shape[0]):
            spread(m, r, m.coefficients[r, i], d)
        for e in range(m.per_vector.shape[0]):
            spread_mean(m, e, m.per_vector[e, i], d)
        head.count = n
        remove_in_order(m, i)
        n -= 1
    head.count = n

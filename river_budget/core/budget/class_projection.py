"""Project a vector on the span of the support vectors of one class, by a factor of the inverse Gram
matrix per class.

F. Orabona, J. Keshet, B. Caputo. Bounded kernel-based online learning. JMLR 10, 2009: with several
classes, a mistake adds k(x, .) to its class and subtracts it from the runner-up, and each of the
two is projected on vectors of its class.

A vector belongs to the one or two classes for which it was stored. The factor W of a class
(projection.py) has a row for each of its vectors, in the order of the support, with zeros in the
columns of others. So a vector has up to two rows. Row j of the table `factor` up to the diagonal is
that for its first class. Column j above the diagonal, with its last number in per_vector[DIAGONAL],
is that for its second.
"""

from __future__ import annotations

import math

from ..compiling import inner
from ..expansion.kernels import row_of_vector, self_kernel
from ..expansion.support import bounded, remove_in_order
from ..numerics import dot
from .projection import TINY

# Rows of per_vector: 1 + the number of a class, or 0 for none
FIRST_CLASS, SECOND_CLASS, DIAGONAL = range(3)
ROWS = 3


@inner
def belongs(m, j, c):
    """Whether vector j belongs to class c."""
    return m.per_vector[FIRST_CLASS, j] == c + 1.0 or m.per_vector[SECOND_CLASS, j] == c + 1.0


@inner
def project_on_class(m, row, c, d, products):
    """d = coefficients of the projection on the vectors of class c. Returns its squared length.
    Overwrites products.
    """
    factor, n, length = m.factor, m.head[0].count, 0.0
    second, diagonal = m.per_vector[SECOND_CLASS], m.per_vector[DIAGONAL]
    for j in range(n):
        d[j] = 0.0
        products[j] = diagonal[j] * row[j] if second[j] == c + 1.0 else 0.0
    for i in range(n):  # W row
        if belongs(m, i, c):
            w, k = factor[i], row[i]
            for j in range(i + 1, n):
                products[j] += k * w[j]
    for j in range(n):  # W' (W row)
        if second[j] == c + 1.0:
            length += products[j] * products[j]
            d[j] += diagonal[j] * products[j]
        elif m.per_vector[FIRST_CLASS, j] == c + 1.0:
            w = factor[j]
            total = dot(w, row, j + 1)
            length += total * total
            for i in range(j + 1):
                d[i] += total * w[i]
            products[j] = 0.0
        else:
            products[j] = 0.0
    for i in range(n):
        if belongs(m, i, c):
            w = factor[i]
            for j in range(i + 1, n):
                d[i] += w[j] * products[j]
    return length


@inner
def join_class(m, j, c, d, residual):
    """Vector j joins class c, whose other vectors all stand before it; d and residual are those of
    its projection.
    """
    m.per_vector[SECOND_CLASS if m.per_vector[FIRST_CLASS, j] > 0.0 else FIRST_CLASS, j] = c + 1.0
    write_row(m, j, c, d, residual)


@inner
def write_row(m, j, c, d, residual):
    """The row of vector j in the factor of class c: (-d, 1) / residual."""
    factor, scale = m.factor, 1.0 / math.sqrt(residual)
    if m.per_vector[FIRST_CLASS, j] == c + 1.0:
        for i in range(j):
            factor[j, i] = -d[i] * scale
        factor[j, j] = scale
    else:
        for i in range(j):
            factor[i, j] = -d[i] * scale
        m.per_vector[DIAGONAL, j] = scale


@inner
def entry(m, j, i, c):
    """W[j, i] of class c, to which vector j belongs; i <= j"""
    if m.per_vector[FIRST_CLASS, j] == c + 1.0:
        return m.factor[j, i]
    return m.per_vector[DIAGONAL, j] if i == j else m.factor[i, j]


@inner
def remove_dependent_of_class(m, c):
    """As `remove_dependent`, for one class: a vector that the others of its class span up to TINY
    leaves the class.
    """
    inverse = m.buffer
    while True:
        n, worst, least, members = m.head[0].count, 0, math.inf, 0
        for i in range(n):
            inverse[i] = 0.0
        for j in range(n):
            if belongs(m, j, c):
                for i in range(j + 1):
                    if belongs(m, i, c):
                        inverse[i] += entry(m, j, i, c) ** 2
        for i in range(n):
            if belongs(m, i, c):
                members += 1
                distance = 1.0 / (inverse[i] * self_kernel(m, m.norms[i]))
                if distance < least:
                    worst, least = i, distance
        if members < 2 or least > TINY:
            return
        leave_class(m, worst, c)
        if not (m.per_vector[FIRST_CLASS, worst] > 0.0 or m.per_vector[SECOND_CLASS, worst] > 0.0):
            remove_from_classes(m, worst)


@inner
def leave_class(m, p, c):
    """Replace vector p in class c by its projection on the other vectors of the class. Overwrites
    row, buffer and work.
    """
    n, column, coefficients = m.head[0].count, m.buffer, m.coefficients[c]
    for i in range(n):
        column[i] = 0.0
    for j in range(p, n):  # K^-1 e_p
        if belongs(m, j, c):
            for i in range(j + 1):
                if belongs(m, i, c):
                    column[i] += entry(m, j, p, c) * entry(m, j, i, c)
    share = coefficients[p] / column[p]
    for i in range(n):
        if belongs(m, i, c):
            coefficients[i] = bounded(m.head[0], coefficients[i] - share * column[i])
    coefficients[p] = 0.0
    m.per_vector[FIRST_CLASS if m.per_vector[FIRST_CLASS, p] == c + 1.0 else SECOND_CLASS, p] = 0.0
    recompute_class(m, p, c)


@inner
def recompute_class(m, start, c):
    """Compute the rows of the factor of class c from vector `start` on from scratch."""
    head, n = m.head[0], m.head[0].count
    d, products = m.work[0], m.work[1]
    for j in range(start, n):
        if belongs(m, j, c):
            head.count = j  # project on the vectors before it
            row_of_vector(m, j)
            k_jj = self_kernel(m, m.norms[j])
            residual = k_jj - project_on_class(m, m.row, c, d, products)
            write_row(m, j, c, d, max(residual, TINY * k_jj))
    head.count = n


@inner
def remove_from_classes(m, p):
    """Remove vector p, which belongs to no class, from support and factors."""
    factor, n = m.factor, m.head[0].count
    for i in range(n - 1):
        w = factor[i + 1 if i >= p else i]
        for j in range(n - 1):
            factor[i, j] = w[j + 1 if j >= p else j]
    remove_in_order(m, p)


@inner
def project_out_of_classes(m, p):
    """Replace vector p by its projections on the others of its classes, and remove it."""
    for which in (FIRST_CLASS, SECOND_CLASS):
        c = int(m.per_vector[which, p]) - 1
        if c >= 0:
            leave_class(m, p, c)
    remove_from_classes(m, p)

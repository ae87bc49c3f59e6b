"""Project a vector on the span of the support vectors of one class, by a factor of the inverse Gram matrix per class.

F. Orabona, J. Keshet, B. Caputo. Bounded kernel-based online learning. JMLR 10, 2009: with several classes, a mistake
adds k(x, .) to its class and subtracts it from the runner-up, and each of the two is projected on vectors of its class.

A vector belongs to the one or two classes for which it was stored. The factor W of a class (projection.py) has a row
for each of its vectors, in the order of the support, with zeros in the columns of others. So a vector has up to two
rows. Row j of the table `factor` up to the diagonal is that for its first class. Column j above the diagonal, with its
last number in per_vector[DIAGONAL], is that for its second.
"""

from __future__ import annotations

import math

from ..compiling.array_views import f64
from ..compiling.jit import compiled
from ..examples.present_features import ZERO
from ..expansion.kernel_rows import row_of_vector, self_kernel
from ..expansion.support import bounded, remove_in_order
from ..simd.vector_ops import dot
from .projection import TINY

# Rows of per_vector: 1 + the number of a class, or 0 for none
FIRST, SECOND, DIAGONAL = range(3)
ROWS = 3


@compiled(always_inlined=True)
def belongs(model, j, c):
    """Whether vector j belongs to class c."""
    return model.per_vector[FIRST, j] == c + 1.0 or model.per_vector[SECOND, j] == c + 1.0


@compiled
def project_on_class(model, row, c, d, products):
    """d = coefficients of the projection on the vectors of class c. Returns its squared length. Overwrites products."""
    factor, n, length = model.factor, model.head.count, 0.0
    second, diagonal = model.per_vector[SECOND], model.per_vector[DIAGONAL]
    for j in range(n):
        d[j] = 0.0
        products[j] = diagonal[j] * row[j] if second[j] == c + 1.0 else 0.0
    for i in range(n):  # W row
        if belongs(model, i, c):
            w, k = factor[i], row[i]
            for j in range(i + 1, n):
                products[j] += k * w[j]
    for j in range(n):  # W' (W row)
        if second[j] == c + 1.0:
            length += products[j] * products[j]
            d[j] += diagonal[j] * products[j]
        elif model.per_vector[FIRST, j] == c + 1.0:
            w = factor[j]
            total = dot(w, row, j + 1)
            length += total * total
            for i in range(j + 1):
                d[i] += total * w[i]
            products[j] = 0.0
        else:
            products[j] = 0.0
    for i in range(n):
        if belongs(model, i, c):
            w = factor[i]
            for j in range(i + 1, n):
                d[i] += w[j] * products[j]
    return length


@compiled
def join_class(model, j, c, d, residual):
    """Vector j joins class c, whose other vectors all stand before it; d and residual are those of its projection."""
    model.per_vector[SECOND if model.per_vector[FIRST, j] > 0.0 else FIRST, j] = c + 1.0
    write_row(model, j, c, d, residual)


@compiled
def write_row(model, j, c, d, residual):
    """The row of vector j in the factor of class c: (-d, 1) / residual."""
    factor, scale = model.factor, 1.0 / math.sqrt(residual)
    if model.per_vector[FIRST, j] == c + 1.0:
        for i in range(j):
            factor[j, i] = -d[i] * scale
        factor[j, j] = scale
    else:
        for i in range(j):
            factor[i, j] = -d[i] * scale
        model.per_vector[DIAGONAL, j] = scale


@compiled
def entry(model, j, i, c):
    """W[j, i] of class c, to which vector j belongs; i <= j"""
    if model.per_vector[FIRST, j] == c + 1.0:
        return model.factor[j, i]
    return model.per_vector[DIAGONAL, j] if i == j else model.factor[i, j]


@compiled
def remove_dependent_of_class(model, c):
    """As `remove_dependent`, for one class: a vector that the others of its class span up to TINY leaves the class."""
    inverse = model.buffer
    while True:
        n, worst, least, members = model.head.count, ZERO, math.inf, 0
        for i in range(n):
            inverse[i] = 0.0
        for j in range(n):
            if belongs(model, j, c):
                for i in range(j + 1):
                    if belongs(model, i, c):
                        inverse[i] += entry(model, j, i, c) ** 2
        for i in range(n):
            if belongs(model, i, c):
                members += 1
                distance = 1.0 / (inverse[i] * self_kernel(model, model.norms[i]))
                if distance < least:
                    worst, least = i, distance
        if members < 2 or least > TINY:
            return
        leave_class(model, worst, c)
        if not (model.per_vector[FIRST, worst] > 0.0 or model.per_vector[SECOND, worst] > 0.0):
            remove_from_classes(model, worst)


@compiled
def leave_class(model, p, c):
    """Replace vector p in class c by its projection on the other vectors of the class. Overwrites row, buffer and heap."""
    n, column, coefficients = model.head.count, model.buffer, model.coefficients[c]
    for i in range(n):
        column[i] = 0.0
    for j in range(p, n):  # K^-1 e_p
        if belongs(model, j, c):
            for i in range(j + 1):
                if belongs(model, i, c):
                    column[i] += entry(model, j, p, c) * entry(model, j, i, c)
    share = coefficients[p] / column[p]
    for i in range(n):
        if belongs(model, i, c):
            coefficients[i] = bounded(model, coefficients[i] - share * column[i])
    coefficients[p] = 0.0
    model.per_vector[FIRST if model.per_vector[FIRST, p] == c + 1.0 else SECOND, p] = 0.0
    recompute_class(model, p, c)


@compiled
def recompute_class(model, start, c):
    """Compute the rows of the factor of class c from vector `start` on from scratch."""
    head, n = model.head, model.head.count
    d, products = f64(model.heap, n), f64(model.heap + 8 * n, n)
    for j in range(start, n):
        if belongs(model, j, c):
            head.count = j  # project on the vectors before it
            row_of_vector(model, j)
            k_jj = self_kernel(model, model.norms[j])
            residual = k_jj - project_on_class(model, model.row, c, d, products)
            write_row(model, j, c, d, max(residual, TINY * k_jj))
    head.count = n


@compiled
def remove_from_classes(model, p):
    """Remove vector p, which belongs to no class, from support and factors."""
    factor, n = model.factor, model.head.count
    for i in range(n - 1):
        w = factor[i + 1 if i >= p else i]
        for j in range(n - 1):
            factor[i, j] = w[j + 1 if j >= p else j]
    remove_in_order(model, p)


@compiled
def project_out_of_classes(model, p):
    """Replace vector p by its projections on the others of its classes, and remove it."""
    for which in (FIRST, SECOND):
        c = int(model.per_vector[which, p]) - 1
        if c >= 0:
            leave_class(model, p, c)
    remove_from_classes(model, p)

"""Passes without learning: scores, and rows of kernel values. Each returns how many examples it has
processed.
"""

from __future__ import annotations

from ..compiling import inlined, inner, passes
from ..numerics import dot
from .examples import example
from .kernels import kernel_row, norm_of, padded


@inlined
def each_example(m, rows, do):
    """do(m, x, f) for every example, whose results go to f."""
    for t in range(rows.scores.shape[0]):
        do(m, example(m, rows, t), rows.scores[t])
    return rows.scores.shape[0]


@inner
def score_row(m, row, f):
    """f[r] = f_r(x), from the kernel row of x."""
    n, scale = padded(m.head[0].count), m.head[0].scale
    for r in range(f.shape[0]):
        f[r] = scale * dot(row, m.coefficients[r], n)


@inner
def mean_scores(m, f):
    """f[r] = the score of the mean of the iterates, whose coefficients are the last rows of
    per_vector, from m.row.
    """
    first, n = m.per_vector.shape[0] - f.shape[0], padded(m.head[0].count)
    for r in range(f.shape[0]):
        f[r] = dot(m.row, m.per_vector[first + r], n)


@inlined
def score_example(m, x, f):
    """f[r] = f_r(x). Leaves the kernel row of x in m.row."""
    kernel_row(m, x, norm_of(m, x))
    score_row(m, m.row, f)


@inlined
def score_by_mean(m, x, f):
    """f[r] = the score of the mean of the iterates. Leaves the kernel row of x in m.row."""
    kernel_row(m, x, norm_of(m, x))
    mean_scores(m, f)


@inlined
def copy_row(m, x, values):
    """values[j] = k(vector j, x)"""
    kernel_row(m, x, norm_of(m, x))
    for j in range(values.shape[0]):
        values[j] = m.row[j]


@passes
def score(m, rows):
    """scores[t] = f(x_t)"""
    return each_example(m, rows, score_example)


@passes
def score_mean(m, rows):
    """scores[t] = the score of the mean of the iterates"""
    return each_example(m, rows, score_by_mean)


@passes
def kernel_rows(m, rows):
    """scores[t, j] = k(vector j, x_t)"""
    return each_example(m, rows, copy_row)

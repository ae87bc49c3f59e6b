"""Passes without learning: scores, and rows of kernel values."""

from __future__ import annotations

from ..compiling.jit import compiled
from ..examples.present_features import example_and_scores, unpack
from .kernel_rows import kernel_row, norm_of, score


@compiled(inlined=True)
def each_row(call, do):
    """do(model, x, norm, f) for every row, whose scores go to f. Returns how many it has processed."""
    model, stream, n = unpack(call)
    for t in range(n):
        x, f = example_and_scores(model, stream, t)
        norm = norm_of(model, x)
        do(model, x, norm, f)
    return n


@compiled(inlined=True)
def each_mapped_row(call, do):
    """do(model, x, f) for every row, as `each_row`, for maps that need no norm."""
    model, stream, n = unpack(call)
    for t in range(n):
        x, f = example_and_scores(model, stream, t)
        do(model, x, f)
    return n


@compiled(called_from_python=True)
def decide(call):
    """scores[t] = f(x_t)"""
    return each_row(call, score)


@compiled(called_from_python=True)
def kernel_rows(call):
    """scores[t, j] = k(vector j, x_t)"""
    return each_row(call, copy_row)


@compiled
def copy_row(model, x, norm, values):
    """values[j] = k(vector j, x)"""
    kernel_row(model, x, norm)
    for j in range(values.shape[0]):
        values[j] = model.row[j]

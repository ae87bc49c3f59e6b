"""Passes without learning: scores, and rows of kernel values."""

from __future__ import annotations

from ..compiling.jit import compiled
from ..examples.finite import usable
from ..examples.present_features import example_and_scores, unpack
from .kernel_rows import kernel_row, norm_of, score


@compiled(called_from_python=True)
def decide(call):
    """Score all rows. Returns how many it has scored: it stops at a row that is not finite."""
    model, stream, n = unpack(call)
    for t in range(n):
        x, f = example_and_scores(model, stream, t)
        norm = norm_of(model, x)
        if not usable(x, norm):
            return t
        score(model, x, norm, f)
    return n


@compiled(called_from_python=True)
def kernel_rows(call):
    """scores[t, j] = k(vector j, x_t)"""
    model, stream, n = unpack(call)
    for t in range(n):
        x, values = example_and_scores(model, stream, t)
        kernel_row(model, x, norm_of(model, x))
        for j in range(values.shape[0]):
            values[j] = model.row[j]
    return n

"""A call of a pass: everything it needs as one array of addresses and sizes.

Each array that numba receives from Python costs as much as forty support vectors, so a pass receives one.
"""

from __future__ import annotations

from .jit import compiled
from .layout import model_at
from .numba_types import address_of, f64, f64_matrix

BLOCK, SCRATCH, ROWS, TARGETS, WEIGHTS, SCORES, SIZE, WIDTH, OUTPUTS = range(9)


@compiled(always_inlined=True)
def model_of(call):
    """The model that is called, with scratch space that belongs to this call alone."""
    return model_at(call[BLOCK], call[SCRATCH])


@compiled(always_inlined=True)
def unpack(call):
    """(model, stream, length of the stream)"""
    n = call[SIZE]
    rows = f64_matrix(call[ROWS], n, call[WIDTH])
    scores = f64_matrix(call[SCORES], n, call[OUTPUTS])
    return model_of(call), (rows, f64(call[TARGETS], n), f64(call[WEIGHTS], n), scores), n


@compiled(always_inlined=True)
def row_of(matrix, t):
    """matrix[t], for an array that lives longer than the row is used"""
    return f64(address_of(matrix) + 8 * t * matrix.shape[1], matrix.shape[1])


@compiled(always_inlined=True)
def row_and_scores(stream, t):
    """(x, f): a row, and the place of its scores"""
    rows, _, _, scores = stream
    return row_of(rows, t), row_of(scores, t)


@compiled(always_inlined=True)
def example(stream, t):
    """(x, f, y, w): a row, the place of its scores, its target and its weight"""
    x, f = row_and_scores(stream, t)
    return x, f, stream[1][t], stream[2][t]

"""A call of a pass: everything it needs as one array of addresses and sizes.

Each array that numba receives from Python costs as much as forty support vectors, so a pass receives one.

Examples come as rows of a matrix, a number for every known feature in the order of the places; or each as a list of
the features that are present, with their places: those of example t from STARTS[t] to STARTS[t + 1]. A place below 0
is that of a feature which the model does not know; KEYS and TIES say where it belongs in the order of summation, if
that makes a difference (each 0 where it was not written down).
"""

from __future__ import annotations

from ..block.layout import model_at
from ..compiling.array_views import address_of, f64, f64_matrix, i64
from ..compiling.jit import compiled

BLOCK, SCRATCH, ROWS, TARGETS, WEIGHTS, SCORES, SIZE, WIDTH, OUTPUTS = range(9)
STARTS, PLACES, KEYS, TIES = range(9, 13)

# What is present is gathered for the examples of a call, or the first AT_ONCE of them (core/examples/present_features.py): PARTS
# numbers for each, and from DESK to DESK_END up to LISTED lists of up to LONGEST numbers. DONE says for how many.
LISTS_OF, AT_ONCE, DESK, DESK_END, DONE, EVERY_PLACE, SORTED, LONGEST = range(13, 21)
GATHERED = 4  # where they are listed, in a stream
PARTS, LISTED = 5, 3
N_WORDS = LONGEST + 1


@compiled(always_inlined=True)
def words_of(call):
    """A call for functions that receive it for every example: the references of an array are counted each time, which
    waits for all that is being written."""
    return i64(address_of(call), N_WORDS)


@compiled(always_inlined=True)
def model_of(call):
    """The model that is called, with scratch space that belongs to this call alone."""
    return model_at(call[BLOCK], call[SCRATCH])


@compiled(always_inlined=True)
def unpack_rows(call):
    """(model, stream, length of the stream)"""
    n = call[SIZE]
    rows = f64_matrix(call[ROWS], n, call[WIDTH])
    scores = f64_matrix(call[SCORES], n, call[OUTPUTS])
    return (
        model_of(call),
        (rows, f64(call[TARGETS], n), f64(call[WEIGHTS], n), scores, call[LISTS_OF]),
        n,
    )


@compiled(always_inlined=True)
def row_of(matrix, t):
    """matrix[t], for an array that lives longer than the row is used"""
    return f64(address_of(matrix) + 8 * t * matrix.shape[1], matrix.shape[1])


@compiled(always_inlined=True)
def scores_of(stream, t):
    """The place of the scores of example t."""
    return row_of(stream[3], t)


@compiled(always_inlined=True)
def whole_row(stream, t):
    """(row, f, y, w): a row of the matrix, the place of its scores, its target and its weight. For passes over models
    that take no lists."""
    return row_of(stream[0], t), scores_of(stream, t), stream[1][t], stream[2][t]

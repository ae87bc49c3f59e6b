"""The argument of a pass: one array with the addresses and sizes of everything it needs.

To unpack one array argument from Python takes numba as long as forty support vectors, so a pass has one
argument.

Examples come as rows of a matrix with a column for every place; or as lists of present features, where those of
example t are PLACES[STARTS[t] : STARTS[t + 1]]. A place is the index of a feature in the model's tables, or -1 for a name
that the model does not know.
"""

from __future__ import annotations

from ..block.layout import model_at
from ..compiling.array_views import address_of, f64, f64_matrix, i64
from ..compiling.jit import compiled

BLOCK, SCRATCH, ROWS, TARGETS, WEIGHTS, SCORES, SIZE, WIDTH, OUTPUTS = range(9)
STARTS, PLACES = range(9, 11)

# A pass gathers the present features of the first AT_ONCE examples (core/examples/present_features.py). It
# writes PARTS numbers per example to memory at LISTS_OF; and to memory from DESK to DESK_END, per example, up
# to LISTED lists of at most LONGEST numbers. DONE is the number of examples gathered.
LISTS_OF, AT_ONCE, DESK, DESK_END, DONE, EVERY_PLACE, LONGEST = range(11, 18)
GATHERED = 4  # where in a stream (`unpack_rows`) the address LISTS_OF stands
PARTS, LISTED = 4, 3
N_WORDS = LONGEST + 1


@compiled(always_inlined=True)
def words_of(call):
    """The call as a view, for functions that take it once per example.

    For other arrays numba counts a reference at each function call, by an atomic addition that waits for
    pending writes.
    """
    return i64(address_of(call), N_WORDS)


@compiled(always_inlined=True)
def model_of(call):
    """The model of this call, with scratch space that no other call uses."""
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
    """matrix[t] as a view, which is valid as long as the matrix."""
    return f64(address_of(matrix) + 8 * t * matrix.shape[1], matrix.shape[1])


@compiled(always_inlined=True)
def scores_of(stream, t):
    """The row of the output matrix for the scores of example t, to be overwritten."""
    return row_of(stream[3], t)


@compiled(always_inlined=True)
def whole_row(stream, t):
    """(row, f, y, w): row t of the matrix, the row for its scores, its target and its weight.

    For passes of models that take whole rows only.
    """
    return row_of(stream[0], t), scores_of(stream, t), stream[1][t], stream[2][t]

"""Prefetching: tell the processor early which cache lines of our own tables a lookup will need.

Where names come without end, each feature of an example stands in another place of several large tables. A processor
that learns of the next place only from the one before waits for each.
"""

from __future__ import annotations

from ..compiling.array_views import address_of
from ..compiling.jit import compiled
from ..simd.prefetch import ask_for
from .layout import COLUMN_SIZE, NODE_SIZE

LINE = 64  # bytes of a cache line
SOME = 32  # nodes of a column, after which the processor itself fetches what follows


@compiled(always_inlined=True)
def ask_for_columns(model, places):
    """Prefetch where the columns of these features begin, and their keys, in a model that has columns."""
    if model.head.slots == 0:
        return
    columns, keys = address_of(model.columns), address_of(model.keys)
    for i in range(places.shape[0]):
        ask_for(keys + 8 * places[i])
        ask_for(columns + COLUMN_SIZE * places[i])


@compiled(always_inlined=True)
def ask_for_nodes(model, places):
    """Prefetch the first nodes of the columns of these features."""
    nodes, columns = address_of(model.nodes), model.columns
    for i in range(places.shape[0]):
        at = nodes + NODE_SIZE * columns[places[i]].first
        end = at + NODE_SIZE * min(columns[places[i]].count, SOME)
        while at < end:
            ask_for(at)
            at += LINE

"""Vectors as they are stored: columns of a table, or lists of what is not 0.

In a model with slots every number of a vector that is not 0 is a node (core/vectors/sparse_nodes.py): in the list of its vector, in
the order of the keys (of a heavy vector but for the first ones, core/budget/long_vectors.py), and in the column of its feature. A
kernel row goes through the columns of the features of x, a vector that leaves takes its own list with it, and a feature
whose column is empty is not used any more. The table is faster where much is not 0; the lists take memory for what is
there. Sums are the same to the last bit.
"""

from __future__ import annotations

from ..block.written_vectors import note_change
from ..compiling.array_views import address_of, f64
from ..compiling.jit import compiled
from ..examples.present_features import (
    NONE,
    places_of,
    present,
    values_of,
    write_places,
    write_whole,
)
from .sparse import forget_list, has_nodes, listed_vector, lists_side_by_side, move_list, set_list
from .table32 import copy_narrow_vector, narrow_points, narrow_vector, set_narrow_vector


@compiled(always_inlined=True)
def has_slots(model, x):
    """Whether there are nodes for one more vector, which is x."""
    head = model.head
    if head.slots == 0:
        return True
    return has_nodes(model, x)


@compiled
def set_vector(model, j, x):
    """Vector j becomes x, whose norm is noted already: a narrow model notes that of what it keeps of x."""
    places, values = places_of(x), values_of(x)
    if model.head.slots:
        set_list(model, j, x)
        return
    if model.head.narrow:
        set_narrow_vector(model, j, x)
        return
    note_change(model, j)
    vectors = model.vectors
    if places.shape[0] == vectors.shape[0]:  # all in their order
        for i in range(vectors.shape[0]):
            vectors[i, j] = values[i]
        return
    for i in range(vectors.shape[0]):
        vectors[i, j] = 0.0
    for i in range(places.shape[0]):
        vectors[places[i], j] = values[i]


@compiled
def move_vector(model, source, target):
    """Vector `source` goes to the place of vector `target`; of a table a copy stays behind."""
    if model.head.slots:
        move_list(model, source, target)
        return
    if model.head.narrow:
        copy_narrow_vector(model, source, target)
        return
    note_change(model, target)
    for i in range(model.vectors.shape[0]):
        model.vectors[i, target] = model.vectors[i, source]


@compiled(always_inlined=True)
def forget_vector(model, j):
    """Vector j, the last one, is not needed any more."""
    if model.head.slots:
        forget_list(model, j)


@compiled
def vector(model, j):
    """Vector j as an example, in scratch space."""
    if model.head.slots:
        return listed_vector(model, j)
    if model.head.narrow:
        return narrow_vector(model, j)
    places, values, vectors, n = model.nonzero, model.x, model.vectors, NONE
    for i in range(vectors.shape[0]):
        value = vectors[i, j]
        places[n], values[n] = i, value
        n += (value != 0.0) | (model.head.custom != 0)
    return present(places, values, n)


@compiled
def vectors_side_by_side(model, members, unwritten, x, cursors, places, points):
    """The members as rows of points, whose columns are the features that any of them has. Returns how many there
    are. In a table, the vector `unwritten` is that of x."""
    if model.head.slots:
        return lists_side_by_side(model, members, cursors, places, points)
    vectors, width = model.vectors, model.head.width
    # sum_i |x_i|, in the room of the places, which do not overtake them
    sizes = f64(address_of(places), width)
    for f in range(sizes.shape[0]):
        sizes[f] = 0.0
    if model.head.narrow:
        narrow_points(model, members, unwritten, x, points, sizes)
    else:
        # one after the other: every feature of one is in another place of memory
        for i in range(members.shape[0]):
            point, member = points[i], members[i]
            if member == unwritten:
                write_whole(x, point)
            else:
                for f in range(vectors.shape[0]):
                    point[f] = vectors[f, member]
            for f in range(sizes.shape[0]):
                sizes[f] += abs(point[f])
    n = write_places(sizes, places)
    if n < width:
        for i in range(members.shape[0]):
            point = points[i]
            for f in range(n):
                point[f] = point[places[f]]
    return n

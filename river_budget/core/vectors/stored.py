"""How support vectors are stored: one interface, and a file for each storage.

| verb                                       | table: table.py   | sparse: sparse.py, sparse_nodes.py |
|--------------------------------------------|-------------------|------------------------------------|
| write_vector(model, j, x)                  | write             | write                              |
| read_vector(model, j) -> x                 | read              | read                               |
|   read_with_zeros(model, j, values)        | same name         | -                                  |
| move_vector(model, source, target)         | copy              | move                               |
| forget_vector(model, j)                    | -                 | forget                             |
| dot_products(model, x, row, n)             | products          | products                           |
| distances_by_differences(model, ...)       | differences       | differences                        |
|   add_absolute_differences(model, ...)     | same name         | same name                          |
| side_by_side(model, members, ..., points)  | write_points      | side_by_side                       |

A model has a sparse storage if head.slots > 0, and a table otherwise. No folder of core above this one reads this
field: code there calls the functions at the end of this file. A further storage is a file with these verbs, and a
branch in each function here.

Both storages add one product after the other in the order of the keys, which gives the same sums to the last bit. A table is faster for dense vectors; lists take memory only for numbers other than 0. In models with long
vectors, a vector is a multiplier times its stored numbers (core/vectors/multiples.py); callers see no difference.
"""

from __future__ import annotations

from ..compiling.array_views import address_of, f64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, MODEL, NOTHING, NUMBERS, WHOLE
from ..compiling.needs import Need
from ..examples.present_features import NO_VECTOR, write_whole
from . import multiples, sparse, table

# writing and reading


@compiled
def write_vector(model, j, x):
    """Overwrite vector j with x. The caller has set its norm."""
    head = model.head
    if head.noted:
        multiples.write(model, j, x)
    elif head.slots:
        sparse.write(model, j, x)
    else:
        table.write(model, j, x)


@compiled
def read_vector(model, j):
    """Vector j as an example. Overwrites model.nonzero and model.x, which then hold its places and values."""
    head = model.head
    if head.noted:
        return multiples.read(model, j)
    if head.slots:
        return sparse.read(model, j)
    return table.read(model, j)


@compiled(always_inlined=True)
def read_with_zeros(model, j, values):
    """Write the first numbers of vector j, zeros included, to `values`. For users' kernels, which need a table."""
    table.read_with_zeros(model, j, values)


@compiled
def move_vector(model, source, target):
    """Overwrite vector `target` with vector `source`. Afterwards the content of slot `source` is undefined."""
    head = model.head
    if head.noted:
        multiples.move(model, source, target)
    elif head.slots:
        sparse.move(model, source, target)
    else:
        table.copy(model, source, target)


@compiled(always_inlined=True)
def forget_vector(model, j):
    """In a sparse storage, free the nodes of vector j, which is the last vector."""
    if model.head.slots:
        sparse.forget(model, j)


# products


@shared(Need.PRODUCTS, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def dot_products(model, x, row, n):
    """row[j] = <vector j, x> for j < n, a multiple of LANES"""
    if model.head.slots:
        sparse.products(model, x, row, n)
    else:
        table.products(model.vectors, x, row, n)
    if model.head.heavy:
        for j in range(n):
            row[j] *= model.multipliers[j]


# differences


@shared(Need.KERNEL, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def distances_by_differences(model, x, distances, n):
    """distances[j] = |vector j - x|^2 for j < n, or |vector j - x|_1 for the Laplacian kernel. Overwrites model.whole.

    For examples so long that |v|^2 + |x|^2 - 2 <v, x> would cancel. Summed are the features of the vector, by key; then
    those that only x has, whether the model knows them or not: a name that no vector uses may be forgotten in between.
    LLVM fuses and reorders nothing here, so that both storages give the same bits. For vectors with a multiplier
    the result is a lower bound.
    """
    head = model.head
    write_whole(x, model.whole)
    for j in range(n):
        distances[j] = 0.0
    if head.slots:
        sparse.differences(model, x, distances)
    else:
        table.differences(model, x, distances, n)
    if head.heavy:
        multiples.bound_distances(model, x, distances)


@compiled(always_inlined=True)
def add_absolute_differences(model, feature, value, row, n):
    """row[j] += |v - value| - |v| for j < n, where v is the value of the feature in vector j. A sparse storage
    overwrites model.logs."""
    if model.head.slots:
        sparse.add_absolute_differences(model, feature, value, row)
    else:
        table.add_absolute_differences(model, feature, value, row, n)


# several vectors


@compiled
def side_by_side(model, members, unwritten, x, cursors, places, points):
    """points[i, k] = the value of feature places[k] in member i, for all features of any member.

    The slot `unwritten`, if any, stands for x; a sparse storage first writes x there. Returns (number of
    features, the slot that is still not written or NO_VECTOR).
    """
    if model.head.noted:
        multiples.sort_lists(model, members)
    if model.head.slots:
        for i in range(members.shape[0]):
            if members[i] == unwritten:
                write_vector(model, unwritten, x)
                unwritten = NO_VECTOR
        n = sparse.side_by_side(model, members, cursors, places, points)
    else:
        sizes = f64(address_of(places), model.head.width)  # in the memory of the places
        for f in range(sizes.shape[0]):
            sizes[f] = 0.0
        table.write_points(model, members, unwritten, x, points, sizes)
        n = table.drop_absent(model, sizes, places, points)
    if model.head.noted:
        multiples.multiply_points(model, members, points, n)
    return n, unwritten


# what code outside this folder may ask


@compiled(always_inlined=True)
def has_room_for(model, x):
    """Whether the storage has room for the numbers of x. If not, the pass returns, and Python enlarges it."""
    head = model.head
    return head.outgrown == 0 and (head.slots == 0 or sparse.has_nodes_for(model, x))


@compiled(always_inlined=True)
def has_distance_table(model):
    """Whether the model has a table of the distances between its vectors, filled or not (core/budget/long_vectors.py)."""
    return model.head.heavy != 0


@compiled(always_inlined=True)
def distances_are_kept(model):
    """Whether that table is filled: distances[i, j] = gamma |vector i - vector j|^2."""
    return model.head.noted != 0


@compiled
def keep_distances(model):
    """Record that the table of distances is filled and vectors have multipliers from now on."""
    model.head.noted = 1


@compiled
def request_distance_table(model, is_wanted):
    """Ask Python for tables of multipliers and distances if they are wanted."""
    model.head.outgrown = is_wanted

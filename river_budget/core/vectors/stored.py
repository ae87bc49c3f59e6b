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

Both storages add one product after the other in the order of the keys, which gives the same sums to the last bit. A table is faster for dense vectors; lists take memory only for numbers other than 0.
"""

from __future__ import annotations

from ..compiling.array_views import address_of, f64
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, MODEL, NOTHING, NUMBERS, WHOLE
from ..compiling.needs import Need
from ..examples.present_features import NO_VECTOR, write_whole
from . import sparse, table

# writing and reading


@compiled
def write_vector(model, j, x):
    """Overwrite vector j with x. The caller has set its norm."""
    if model.head.slots:
        sparse.write(model, j, x)
    else:
        table.write(model, j, x)


@compiled
def read_vector(model, j):
    """Vector j as an example. Overwrites model.nonzero and model.x, which then hold its places and values."""
    if model.head.slots:
        return sparse.read(model, j)
    return table.read(model, j)


@compiled(always_inlined=True)
def read_with_zeros(model, j, values):
    """Write the first numbers of vector j, zeros included, to `values`. For users' kernels, which need a table."""
    table.read_with_zeros(model, j, values)


@compiled
def move_vector(model, source, target):
    """Overwrite vector `target` with vector `source`. Afterwards the content of slot `source` is undefined."""
    if model.head.slots:
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


# differences


@shared(Need.KERNEL, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def distances_by_differences(model, x, distances, n):
    """distances[j] = |vector j - x|^2 for j < n, or |vector j - x|_1 for the Laplacian kernel. Overwrites model.whole.

    For examples so long that |v|^2 + |x|^2 - 2 <v, x> would cancel. Summed are the features of the vector, by key; then
    those that only x has, whether the model knows them or not: a name that no vector uses may be forgotten in between.
    LLVM fuses and reorders nothing here, so that both storages give the same bits.
    """
    write_whole(x, model.whole)
    for j in range(n):
        distances[j] = 0.0
    if model.head.slots:
        sparse.differences(model, x, distances)
    else:
        table.differences(model, x, distances, n)


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
    return n, unwritten


# what code outside this folder may ask


@compiled(always_inlined=True)
def has_room_for(model, x):
    """Whether the storage has room for the numbers of x. If not, the pass returns, and Python enlarges it."""
    return model.head.slots == 0 or sparse.has_nodes_for(model, x)

"""Storage in a table: a row per feature and a column per vector.

The values of one feature in all vectors lie side by side, so that one instruction works on several vectors. The
functions are in the order of core/vectors/stored.py, which calls them.
"""

from __future__ import annotations

from ..block.limits import LAPLACIAN
from ..compiling.jit import FUSED, compiled
from ..examples.present_features import (
    ZERO,
    all_of,
    is_unknown,
    places_of,
    present,
    stands_in_places,
    values_of,
    write_places,
    write_whole,
)


@compiled
def write(model, j, x):
    """Overwrite vector j with x."""
    places, values, vectors = places_of(x), values_of(x), model.vectors
    if places.shape[0] == vectors.shape[0]:  # x has every feature, in the order of rows
        for i in range(vectors.shape[0]):
            vectors[i, j] = values[i]
        return
    for i in range(vectors.shape[0]):
        vectors[i, j] = 0.0
    for i in range(places.shape[0]):
        vectors[places[i], j] = values[i]


@compiled
def read(model, j):
    """Vector j as an example, in scratch space; for a user's kernel function, zeros included."""
    places, values, vectors, n = model.nonzero, model.x, model.vectors, ZERO
    for i in range(vectors.shape[0]):
        value = vectors[i, j]
        places[n], values[n] = i, value
        n += (value != 0.0) | (model.head.custom != 0)
    return present(places, values, n)


@compiled
def read_with_zeros(model, j, values):
    """Write the first numbers of vector j to `values`."""
    for i in range(values.shape[0]):
        values[i] = model.vectors[i, j]


@compiled
def copy(model, source, target):
    """Overwrite vector `target` with vector `source`."""
    for i in range(model.vectors.shape[0]):
        model.vectors[i, target] = model.vectors[i, source]


@compiled(fastmath=FUSED)
def products(vectors, x, row, n):
    """row[j] = <vector j, x> for j < n, summed in the order of the features."""
    places, values = places_of(x), values_of(x)
    for j in range(n):
        row[j] = 0.0
    fours = places.shape[0] // 4 * 4
    for i in range(0, fours, 4):  # four features in one loop: fewer loads and stores of the sums
        a, b = vectors[places[i]], vectors[places[i + 1]]
        c, d = vectors[places[i + 2]], vectors[places[i + 3]]
        p, q, r, s = values[i], values[i + 1], values[i + 2], values[i + 3]
        for j in range(n):
            row[j] = (((row[j] + p * a[j]) + q * b[j]) + r * c[j]) + s * d[j]
    for i in range(fours, places.shape[0]):
        feature, value = vectors[places[i]], values[i]
        for j in range(n):
            row[j] += value * feature[j]


@compiled(always_inlined=True)
def add_absolute_differences(model, feature, value, row, n):
    """row[j] += |v - value| - |v|, where v is the value of the feature in vector j."""
    numbers = model.vectors[feature]
    for j in range(n):
        row[j] += abs(numbers[j] - value) - abs(numbers[j])


@compiled
def differences(model, x, distances, n):
    """distances[j] += |vector j - x|^2, or |vector j - x|_1 for the Laplacian kernel, for j < n; model.whole holds x with
    its zeros.

    First the features of the vector, in the order of rows, then those that only x has: the order of sparse
    storages, which gives the same bits.
    """
    vectors, whole, absolute = model.vectors, model.whole, model.head.kernel == LAPLACIAN
    for f in range(vectors.shape[0]):
        x_f, feature = whole[f], vectors[f]
        if absolute:
            for j in range(n):
                distances[j] += abs(feature[j] - x_f) if feature[j] != 0.0 else 0.0
        else:
            for j in range(n):
                difference = feature[j] - x_f if feature[j] != 0.0 else 0.0
                distances[j] += difference * difference
    places, everything, k = places_of(x), all_of(x), 0
    for i in range(everything.shape[0]):
        unknown = is_unknown(x, i)
        if unknown:
            alone = size_of(everything[i], absolute)
            for j in range(n):
                distances[j] += alone
        else:
            feature, alone = vectors[places[k]], size_of(whole[places[k]], absolute)
            for j in range(n):
                distances[j] += alone if feature[j] == 0.0 else 0.0
        k += stands_in_places(x, unknown)


@compiled(always_inlined=True)
def size_of(difference, absolute):
    """What a difference in one feature adds to a distance."""
    return abs(difference) if absolute else difference * difference


@compiled
def write_points(model, members, unwritten, x, points, sizes):
    """points[i] = member i, zeros included; sizes[f] += |points[i, f]|. The slot `unwritten` stands for x."""
    vectors = model.vectors
    for i in range(members.shape[0]):  # member by member, as each row is on another page
        point, member = points[i], members[i]
        if member == unwritten:
            write_whole(x, point)
        else:
            for f in range(vectors.shape[0]):
                point[f] = vectors[f, member]
        for f in range(sizes.shape[0]):
            sizes[f] += abs(point[f])


@compiled
def drop_absent(model, sizes, places, points):
    """Drop the columns of points that are 0 in all rows: places[i] = the feature of column i. Returns the number of columns.

    `sizes` may lie in the memory of `places`: each size is read before the place is written there.
    """
    n = write_places(sizes, places)
    if n < model.head.width:
        for i in range(points.shape[0]):
            point = points[i]
            for f in range(n):
                point[f] = point[places[f]]
    return n

"""How support vectors are stored: a table with a row per place (feature) and a column per vector, in float64.

The values of one feature in all vectors lie side by side, so that one instruction works on eight vectors.
"""

from __future__ import annotations

from ..block.limits import LAPLACIAN
from ..compiling.array_views import u64
from ..compiling.by_address import shared
from ..compiling.jit import FUSED, compiled
from ..compiling.model_type import EXAMPLE, MODEL, NOTHING, NUMBERS, WHOLE
from ..compiling.needs import Need
from ..examples.present_features import (
    ZERO,
    places_of,
    present,
    rest_of,
    values_of,
    write_whole,
)

# writing and reading


@compiled
def write_vector(model, j, x):
    """Overwrite vector j with x. The caller has set its norm."""
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
def read_vector(model, j):
    """Vector j as an example, in scratch space; for a user's kernel function, zeros included.

    Overwrites model.nonzero and model.x, which then hold its places and values.
    """
    places, values, vectors, n = model.nonzero, model.x, model.vectors, ZERO
    for i in range(vectors.shape[0]):
        value = vectors[i, j]
        places[n], values[n] = i, value
        n += (value != 0.0) | (model.head.custom != 0)
    return present(places, values, n)


@compiled
def read_with_zeros(model, j, values):
    """Write the first numbers of vector j to `values`."""
    vectors = model.vectors
    for i in range(values.shape[0]):
        values[i] = vectors[i, j]


@compiled
def move_vector(model, source, target):
    """Overwrite vector `target` with vector `source`."""
    for i in range(model.vectors.shape[0]):
        model.vectors[i, target] = model.vectors[i, source]


# products


@compiled(fastmath=FUSED)
def products(vectors, x, row, n):
    """row[j] = <vector j, x> for j < n, summed in the order of the features."""
    # places as unsigned numbers: numba checks whether a signed index counts from the end
    places, values = u64(x[0], x[2]), values_of(x)
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


@shared(Need.PRODUCTS, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def dot_products(model, x, row, n):
    """row[j] = <vector j, x> for j < n, a multiple of LANES"""
    products(model.vectors, x, row, n)


# differences


@shared(Need.KERNEL, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def distances_by_differences(model, x, distances, n):
    """distances[j] = |vector j - x|^2 for j < n, or |vector j - x|_1 for the Laplacian kernel. Overwrites model.whole.

    For examples so long that |v|^2 + |x|^2 - 2 <v, x> would cancel.
    """
    vectors, whole, absolute = model.vectors, model.whole, model.head.kernel == LAPLACIAN
    write_whole(x, whole)
    for j in range(n):
        distances[j] = rest_of(x)
    for i in range(vectors.shape[0]):
        add_differences(vectors[i], whole[i], absolute, distances, n)


@compiled(fastmath=FUSED)
def add_differences(feature, value, absolute, distances, n):
    """distances[j] += the difference of one feature in vector j from this value, its size or its square."""
    if absolute:
        for j in range(n):
            distances[j] += abs(feature[j] - value)
    else:
        for j in range(n):
            difference = feature[j] - value
            distances[j] += difference * difference


@compiled
def absolute_distances(model, x, distances, n):
    """distances[j] = |vector j - x|_1 for j < n: |vector j|_1 + the sum over features of x of |v - x_i| - |v|."""
    places, values = places_of(x), values_of(x)
    for j in range(n):
        distances[j] = model.norms[j] + rest_of(x)
    for i in range(places.shape[0]):
        feature, value = model.vectors[places[i]], values[i]
        for j in range(n):
            distances[j] += abs(feature[j] - value) - abs(feature[j])

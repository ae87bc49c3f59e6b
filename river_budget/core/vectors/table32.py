"""Narrow models: vectors in float32, twice as many to an instruction and to a byte of memory.

The numbers of examples and of vectors are rounded. Of these, products and exponentials are computed in float32
(core/vectors/table32_products.py), and everything else in float64. Only the Gaussian kernel bears that: its values are off by
about 1e-6, at worst by 4e-5, since products are float64 where they and the norms would cancel. The vectors stay in a
table, and are never heavy.
"""

from __future__ import annotations

from ..block.written_vectors import note_change
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, MATRIX, MODEL, NOTHING, NUMBERS, WHOLE, WHOLES
from ..compiling.needs import Need
from ..examples.present_features import NONE, places_of, present, values_of, write_whole
from ..simd.exponential import F
from ..simd.vector_ops import dot

# Smaller numbers count as 0, since products of them would be denormal, which takes some processors a hundred times as
# long; larger ones as the largest, so that no sum overflows.
SMALLEST, LARGEST = 1e-18, 2.0**67
NOUGHT = F(0.0)


@compiled(always_inlined=True)
def narrowed(value):
    """The float32 that stands for a number."""
    value = value if value < LARGEST else LARGEST
    value = value if value > -LARGEST else -LARGEST
    return F(value) if abs(value) >= SMALLEST else NOUGHT


@shared(Need.NARROW, NOTHING, MODEL, WHOLE, EXAMPLE)
def set_narrow_vector(model, j, x):
    """Vector j becomes x, and its norm that of what is kept of x."""
    places, values, vectors = places_of(x), values_of(x), model.narrow_vectors
    note_change(model, j)
    model.norms[j] = round_into(model.whole, values)
    if places.shape[0] == vectors.shape[0]:  # all in their order
        for i in range(vectors.shape[0]):
            vectors[i, j] = narrowed(values[i])
        return
    for i in range(vectors.shape[0]):
        vectors[i, j] = NOUGHT
    for i in range(places.shape[0]):
        vectors[places[i], j] = narrowed(values[i])


@shared(Need.NARROW, NOTHING, MODEL, WHOLE, WHOLE)
def copy_narrow_vector(model, source, target):
    """Vector `target` becomes as vector `source`."""
    vectors = model.narrow_vectors
    note_change(model, target)
    for i in range(vectors.shape[0]):
        vectors[i, target] = vectors[i, source]


@shared(Need.NARROW, EXAMPLE, MODEL, WHOLE)
def narrow_vector(model, j):
    """Vector j as an example, in scratch space."""
    places, values, vectors, n = model.nonzero, model.x, model.narrow_vectors, NONE
    for i in range(vectors.shape[0]):
        places[n], values[n] = i, vectors[i, j]
        n += vectors[i, j] != NOUGHT
    return present(places, values, n)


@compiled
def round_into(rounded, values):
    """What becomes of the values, and the sum of its squares."""
    for i in range(values.shape[0]):
        rounded[i] = narrowed(values[i])
    return dot(rounded, rounded, values.shape[0])


@shared(Need.NARROW, NOTHING, MODEL, WHOLES, WHOLE, EXAMPLE, MATRIX, NUMBERS)
def narrow_points(model, members, unwritten, x, points, sizes):
    """The members as rows of points, as in core/vectors/stored.py. The vector `unwritten` is that of x."""
    vectors = model.narrow_vectors
    for i in range(members.shape[0]):
        point, member = points[i], members[i]
        if member == unwritten:
            write_whole(x, point)
            round_off(point)
        else:
            for f in range(vectors.shape[0]):
                point[f] = vectors[f, member]
        for f in range(sizes.shape[0]):
            sizes[f] += abs(point[f])


@shared(Need.NARROW, NOTHING, NUMBERS)
def round_off(numbers):
    """What becomes of numbers that are stored."""
    for i in range(numbers.shape[0]):
        numbers[i] = narrowed(numbers[i])

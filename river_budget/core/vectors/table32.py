"""Storage in a table of float32: half the memory of core/vectors/table.py, and twice as many vectors per instruction.

The numbers of examples and of vectors are rounded. Products and exponentials are computed in float32
(core/vectors/table32_products.py), everything else in float64. Only for the Gaussian kernel is that precise enough: its
values have errors of about 1e-6, at most 4e-5, since products are float64 where float32 would cancel. There are no
multipliers for long vectors (core/budget/long_vectors.py). The functions are in the order of core/vectors/stored.py.
"""

from __future__ import annotations

from ..block.limits import LAPLACIAN
from ..block.written_vectors import record_write
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, MATRIX, MODEL, NOTHING, NUMBERS, WHOLE, WHOLES
from ..compiling.needs import Need
from ..examples.present_features import ZERO, places_of, present, values_of, write_whole
from ..simd.exponential import F
from ..simd.vector_ops import dot
from .table import add_differences

# Smaller numbers are stored as 0, since their products would be denormal, for which some processors take a hundred times
# as long; larger ones are clamped, so that no sum overflows.
SMALLEST_STORED, LARGEST_STORED = 1e-18, 2.0**67
ZERO32 = F(0.0)


@compiled(always_inlined=True)
def rounded(value):
    """The float32 in which a number is stored."""
    value = value if value < LARGEST_STORED else LARGEST_STORED
    value = value if value > -LARGEST_STORED else -LARGEST_STORED
    return F(value) if abs(value) >= SMALLEST_STORED else ZERO32


@compiled
def round_into(rounded_values, values):
    """Round numbers as `rounded` does. Returns the sum of the squares of the results."""
    for i in range(values.shape[0]):
        rounded_values[i] = rounded(values[i])
    return dot(rounded_values, rounded_values, values.shape[0])


@shared(Need.NARROW, NOTHING, NUMBERS)
def round_in_place(numbers):
    """Round numbers as `rounded` does."""
    for i in range(numbers.shape[0]):
        numbers[i] = rounded(numbers[i])


@shared(Need.NARROW, NOTHING, MODEL, WHOLE, EXAMPLE)
def write(model, j, x):
    """Overwrite vector j with x, rounded, and its norm with that of the rounded x. Overwrites model.whole."""
    places, values, vectors = places_of(x), values_of(x), model.narrow_vectors
    record_write(model, j)
    model.norms[j] = round_into(model.whole, values)
    if places.shape[0] == vectors.shape[0]:  # x has every feature, in the order of rows
        for i in range(vectors.shape[0]):
            vectors[i, j] = rounded(values[i])
        return
    for i in range(vectors.shape[0]):
        vectors[i, j] = ZERO32
    for i in range(places.shape[0]):
        vectors[places[i], j] = rounded(values[i])


@shared(Need.NARROW, EXAMPLE, MODEL, WHOLE)
def read(model, j):
    """Vector j as an example, in scratch space."""
    places, values, vectors, n = model.nonzero, model.x, model.narrow_vectors, ZERO
    for i in range(vectors.shape[0]):
        places[n], values[n] = i, vectors[i, j]
        n += vectors[i, j] != ZERO32
    return present(places, values, n)


@shared(Need.NARROW, NOTHING, MODEL, WHOLE, WHOLE)
def copy(model, source, target):
    """Overwrite vector `target` with vector `source`."""
    vectors = model.narrow_vectors
    record_write(model, target)
    for i in range(vectors.shape[0]):
        vectors[i, target] = vectors[i, source]


@shared(Need.NARROW, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def differences(model, x, distances, n):
    """distances[j] += |vector j - x|^2 for j < n, feature by feature; model.whole holds x, rounded, with its zeros."""
    absolute = model.head.kernel == LAPLACIAN  # False, but a constant would compile `size_of` again
    add_differences(model.narrow_vectors, model.whole, x, absolute, distances, n)


@shared(Need.NARROW, NOTHING, MODEL, WHOLES, WHOLE, EXAMPLE, MATRIX, NUMBERS)
def write_points(model, members, unwritten, x, points, sizes):
    """points[i] = member i, zeros included; sizes[f] += |points[i, f]|. The slot `unwritten` stands for x."""
    vectors = model.narrow_vectors
    for i in range(members.shape[0]):
        point, member = points[i], members[i]
        if member == unwritten:
            write_whole(x, point)
            round_in_place(point)
        else:
            for f in range(vectors.shape[0]):
                point[f] = vectors[f, member]
        for f in range(sizes.shape[0]):
            sizes[f] += abs(point[f])

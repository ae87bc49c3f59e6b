"""Distances as sums of squared differences, for examples so long that |v|^2 + |x|^2 - 2 <v, x> would cancel.

The order of summation: features of the vector, by key; then those that only x has; then those that the model
does not know. LLVM fuses and reorders nothing here, so that all storages in float64 give the same bits.
"""

from __future__ import annotations

from ..block.limits import LAPLACIAN
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, MODEL, NOTHING, NUMBERS, WHOLE
from ..compiling.needs import Need
from ..examples.present_features import all_of, places_of, values_of
from ..vectors.stored import bound_distances_of_multiples, differences


@shared(Need.KERNEL, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def distances_by_differences(model, x, distances, n):
    """distances[j] = |vector j - x|^2 for j < n, or |vector j - x|_1 for the Laplacian kernel. Overwrites model.whole."""
    differences(model, x, distances, n)
    unknown = _length_of_unknown(model, x)
    for j in range(n):
        distances[j] += unknown
    bound_distances_of_multiples(model, x, distances)


@compiled
def _length_of_unknown(model, x):
    """The part of |vector - x|^2, or |vector - x|_1, from features that the model does not know: the same for all vectors."""
    places, values, everything, total = places_of(x), values_of(x), all_of(x), 0.0
    if model.head.kernel == LAPLACIAN:
        for i in range(places.shape[0]):
            total += abs(values[i]) if places[i] < 0 else 0.0
        return total
    known = 0
    for i in range(everything.shape[0]):  # known features too, in the same order
        if known < values.shape[0] and everything[i] == values[known]:
            known += 1
        else:
            total += everything[i] * everything[i]
    return total

"""Distances as sums of squared differences, for examples so long that |v|^2 + |x|^2 - 2 <v, x> would cancel.

The order of summation: features of the vector, by key; then those that only x has, whether the model knows them or
not: a name that no vector uses may be forgotten in between. LLVM fuses and reorders nothing here, so that all storages
in float64 give the same bits.
"""

from __future__ import annotations

from ..compiling.by_address import shared
from ..compiling.model_type import EXAMPLE, MODEL, NOTHING, NUMBERS, WHOLE
from ..compiling.needs import Need
from ..vectors.stored import bound_distances_of_multiples, differences


@shared(Need.KERNEL, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def distances_by_differences(model, x, distances, n):
    """distances[j] = |vector j - x|^2 for j < n, or |vector j - x|_1 for the Laplacian kernel. Overwrites model.whole."""
    differences(model, x, distances, n)
    bound_distances_of_multiples(model, x, distances)

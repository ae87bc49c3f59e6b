"""The merged vector: gather the members, combine them, store the result."""

from __future__ import annotations

import math

from ..block.limits import HUGE
from ..compiling.jit import FUSED, compiled
from ..examples.present_features import present
from ..expansion.kernel_rows import norm_of
from ..expansion.support import overwrite_vector
from .newcomer import remove_with_newcomer
from .several import distance_to

# A number whose square is a smaller share of |z|^2 changes a distance by less than rounding does
NEGLIGIBLE = 1e-34


@compiled(fastmath=FUSED)
def combination(model, places, points, shares):
    """(z, its norm) for z = sum_i share_i x_i, without numbers that are NEGLIGIBLE. Overwrites model.x and model.nonzero."""
    kept, z, n = model.nonzero, model.x, places.shape[0]
    for f in range(n):
        z[f] = shares[0] * points[0, f]
    for i in range(1, shares.shape[0]):
        for f in range(n):
            z[f] += shares[i] * points[i, f]
    norm, unfelt = norm_of(model, present(places, z, n)), 0
    least = NEGLIGIBLE * norm if norm < HUGE else 0.0
    for f in range(n):
        unfelt += z[f] * z[f] <= least
    if unfelt == 0:
        return present(places, z, n), norm
    i = 0
    for f in range(n):
        kept[i], z[i] = places[f], z[f]
        i += z[f] * z[f] > least
    felt = present(kept, z, n - unfelt)
    return felt, norm_of(model, felt)


@compiled
def merge_own_rows(model, members, shares, s, place):
    """Merge the members' coefficients c_i in a mean of the iterates: write sum_i k(x_i, z) c_i to slot `place`."""
    for e in range(model.per_vector.shape[0]):
        total = 0.0
        for i in range(members.shape[0]):
            total += math.exp(-distance_to(shares, s, i)) * model.per_vector[e, members[i]]
        model.per_vector[e, place] = total


@compiled
def replace(model, members, z, norm, a_z, unwritten, x):
    """Write z with coefficients a_z to the first slot of the members, and remove the others. Sorts `members`."""
    sort_places(members)
    place = members[0]
    for i in range(members.shape[0] - 1, 0, -1):  # from the back, so that slots stay valid
        remove_with_newcomer(model, members[i], unwritten, x)
    overwrite_vector(model, place, z, norm)
    for r in range(a_z.shape[0]):
        model.coefficients[r, place] = a_z[r]


@compiled(always_inlined=True)
def first_of(members):
    """The lowest slot of the members, where z is written."""
    place = members[0]
    for i in range(1, members.shape[0]):
        place = min(place, members[i])
    return place


@compiled
def sort_places(places):
    """Sort a few slots in place, by insertion."""
    for i in range(1, places.shape[0]):
        place, j = places[i], i
        while j > 0 and places[j - 1] > place:
            places[j] = places[j - 1]
            j -= 1
        places[j] = place

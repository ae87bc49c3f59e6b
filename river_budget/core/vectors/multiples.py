"""Vectors as multiples of stored ones: adding a short vector to a long one then takes time for the short one only.

Merging makes z = q x_n + p x_m, where x_n may have thousands of numbers and x_m a few. Here the multiplier of n is
multiplied by q, p / multiplier times the numbers of x_m are added to what is stored of n, and all other numbers of x_n stay
as they are. A model gets the tables below when its vectors have become long (core/budget/long_vectors.py);
core/vectors/stored.py calls the functions below when head.noted says that the tables are filled.

multipliers[j]     vector j is its stored numbers times this
lengths[j]         the number of its stored numbers
unsorted[j]        sparse storage: how many nodes at the head of its list are not in the order of the keys
brief[j]           table: the places where its column is not 0, if these are few: 1 + their number, then the places
"""

from __future__ import annotations

import math

from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, MATRIX, MODEL, NOTHING, NUMBERS, WHOLE, WHOLES
from ..compiling.needs import Need
from ..examples.present_features import all_of, places_of, present, values_of
from . import sparse, table
from .sparse_nodes import add_to_list, free_list, move_into_list, sort_list, tiny_if_zero

SMALLEST_MULTIPLIER = 1e-12  # with a smaller one, sums of many numbers could underflow


@shared(Need.HEAVY, NOTHING, MODEL, WHOLE, EXAMPLE)
def write(model, j, x):
    """Overwrite vector j with x, with multiplier 1."""
    places, values = places_of(x), values_of(x)
    if model.head.slots:
        if model.unsorted[j] > 0:
            free_list(model, j)
        sparse.write(model, j, x)
    else:
        vectors, brief, n = model.vectors, model.brief[j], places.shape[0]
        if brief[0] > 0:
            for i in range(1, brief[0]):
                vectors[brief[i], j] = 0.0
        else:
            for i in range(vectors.shape[0]):
                vectors[i, j] = 0.0
        for i in range(n):
            vectors[places[i], j] = values[i]
        brief[0] = n + 1 if n < brief.shape[0] else 0  # few places: readers skip all others
        for i in range(1, brief[0]):
            brief[i] = places[i - 1]
    model.multipliers[j], model.lengths[j], model.unsorted[j] = 1.0, places.shape[0], 0


@shared(Need.HEAVY, EXAMPLE, MODEL, WHOLE)
def read(model, j):
    """Vector j as an example, in scratch space. Sorts its list."""
    if model.head.slots:
        sort_list(model, j)
        x = sparse.read(model, j)
    elif model.brief[j, 0] > 0:
        x = _read_few(model, j)
    else:
        x = table.read(model, j)
    values, multiplier = values_of(x), model.multipliers[j]
    for i in range(values.shape[0]):
        values[i] *= multiplier
    return x


@compiled
def _read_few(model, j):
    """What is stored of vector j as an example, from the few places that are recorded in `brief`."""
    places, values, brief = model.nonzero, model.x, model.brief[j]
    n = brief[0] - 1
    for i in range(n):
        places[i] = brief[1 + i]
        values[i] = model.vectors[places[i], j]
    return present(places, values, n)


@shared(Need.HEAVY, NOTHING, MODEL, WHOLE, WHOLE)
def move(model, source, target):
    """Overwrite vector `target` with vector `source`."""
    if model.head.slots:
        sparse.move(model, source, target)
    else:
        table.copy(model, source, target)
    model.brief[target, 0] = 0
    model.multipliers[target] = model.multipliers[source]
    model.lengths[target], model.unsorted[target] = model.lengths[source], model.unsorted[source]


@shared(Need.HEAVY, NOTHING, MODEL, EXAMPLE, NUMBERS)
def bound_distances(model, x, distances):
    """distances[j] = (|x| - |vector j|)^2 for all vectors with a multiplier, a lower bound of the squared distance.

    A bound is enough: x is so long that norms and products would cancel, and vectors with a multiplier are short
    compared with x, so the Gaussian kernel value is 0.
    """
    everything, length = all_of(x), 0.0
    for i in range(everything.shape[0]):
        length += everything[i] * everything[i]
    for j in range(model.head.count):
        if model.multipliers[j] != 1.0:
            distances[j] = (math.sqrt(length) - math.sqrt(model.norms[j])) ** 2


@shared(Need.HEAVY, NOTHING, MODEL, WHOLES)
def sort_lists(model, members):
    """Sort the lists of these vectors by the keys, as `side_by_side` needs them."""
    if model.head.slots:
        for i in range(members.shape[0]):
            sort_list(model, members[i])


@shared(Need.HEAVY, NOTHING, MODEL, WHOLES, MATRIX, WHOLE)
def multiply_points(model, members, points, n):
    """Multiply the rows of `points`, the stored numbers of these vectors, by the vectors' multipliers."""
    for i in range(members.shape[0]):
        for f in range(n):
            points[i, f] *= model.multipliers[members[i]]


# adding to a vector


@compiled
def add_example(model, j, share, x):
    """Vector j += share x"""
    share /= model.multipliers[j]
    places, values = places_of(x), values_of(x)
    if model.head.slots:
        add_to_list(model, j, places, values, share)
        return
    for i in range(places.shape[0]):
        stored = model.vectors[places[i], j]
        model.lengths[j] += stored == 0.0
        model.vectors[places[i], j] = tiny_if_zero(stored + share * values[i])


@compiled
def add_vector(model, j, share, source):
    """Vector j += share times vector `source`, whose nodes, in sparse storage, move to the list of j."""
    if model.head.slots:
        own = share / model.multipliers[j]
        move_into_list(model, source, j, own, model.multipliers[source])
    else:
        add_example(model, j, share, read(model, source))

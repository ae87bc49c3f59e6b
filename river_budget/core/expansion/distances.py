"""Distances as sums of differences, for examples so long that norms and products would cancel.

Of each vector first the features that it has are added, in the order of their keys, and then those that only x
has; last comes what the model does not know. A table and lists of the same vectors give the same bits: nothing is
fused or reordered. (Of a narrow model products in float64 are tried before: core/vectors/table32_products.py.)
"""

from __future__ import annotations

import math

from ..block.codes import Kernel
from ..compiling.by_address import shared
from ..compiling.jit import compiled
from ..compiling.model_type import EXAMPLE, MODEL, NOTHING, NUMBERS, WHOLE
from ..compiling.needs import Need
from ..examples.present_features import all_of, places_of, values_of
from ..vectors.table32 import round_off
from ..vectors.table32_products import wide_distances

LAPLACIAN = int(Kernel.LAPLACIAN)


@shared(Need.KERNEL, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def distances_by_differences(model, x, distances, n):
    """distances[j] = |vector j - x|^2 for j < n, or |vector j - x|_1 for the Laplacian kernel"""
    if model.head.narrow and wide_distances(model, x, distances, n):
        _add(distances, _length_of_strangers(model, x), n)
        return
    places, values, whole = places_of(x), values_of(x), model.whole
    for f in range(whole.shape[0]):
        whole[f] = 0.0
    for i in range(places.shape[0]):
        if places[i] >= 0:
            whole[places[i]] = values[i]
    if model.head.narrow:
        round_off(whole)
    laplacian, rest = model.head.kernel == LAPLACIAN, _length_of_strangers(model, x)
    for j in range(n):
        distances[j] = 0.0
    if model.head.slots:
        _from_lists(model, x, distances)
    elif model.head.narrow:
        _from_narrow_table(model, x, distances, n)
    else:
        _add_from_table(model.vectors, whole, places, laplacian, distances, n)
    _add(distances, rest, n)
    if model.head.heavy:
        _keep_far(model, x, distances)


@compiled
def _add(distances, rest, n):
    for j in range(n):
        distances[j] += rest


@shared(Need.HEAVY, NOTHING, MODEL, EXAMPLE, NUMBERS)
def _keep_far(model, x, distances):
    """Heavy vectors are short beside such an example (core/budget/long_vectors.py): a bound will do, as nothing is left of a kernel."""
    everything, length = all_of(x), 0.0
    for i in range(everything.shape[0]):
        length += everything[i] * everything[i]
    for j in range(model.head.count):
        if model.multipliers[j] != 1.0:
            distances[j] = (math.sqrt(length) - math.sqrt(model.norms[j])) ** 2


@shared(Need.NARROW, NOTHING, MODEL, EXAMPLE, NUMBERS, WHOLE)
def _from_narrow_table(model, x, distances, n):
    laplacian = model.head.kernel == LAPLACIAN  # never
    _add_from_table(model.narrow_vectors, model.whole, places_of(x), laplacian, distances, n)


@compiled(inlined=True)
def _add_from_table(vectors, whole, places, laplacian, distances, n):
    for f in range(vectors.shape[0]):
        x_f, feature = whole[f], vectors[f]
        if laplacian:
            for j in range(n):
                distances[j] += abs(feature[j] - x_f) if feature[j] != 0.0 else 0.0
        else:
            for j in range(n):
                difference = feature[j] - x_f if feature[j] != 0.0 else 0.0
                distances[j] += difference * difference
    for i in range(places.shape[0]):
        if places[i] >= 0:
            feature, alone = vectors[places[i]], _size(whole[places[i]], laplacian)
            for j in range(n):
                distances[j] += alone if feature[j] == 0.0 else 0.0


@shared(Need.LISTS, NOTHING, MODEL, EXAMPLE, NUMBERS)
def _from_lists(model, x, distances):
    laplacian = model.head.kernel == LAPLACIAN
    for j in range(model.head.count):
        distances[j] = _from_list(model, j, places_of(x), values_of(x), laplacian)


@compiled
def _from_list(model, j, places, values, laplacian):
    nodes, whole, node, total = model.nodes, model.whole, model.firsts[j], 0.0
    while node != 0:
        f = nodes[node].feature
        total += _size(nodes[node].value - whole[f], laplacian)
        whole[f] = 0.0
        node = nodes[node].after
    for i in range(places.shape[0]):
        if places[i] >= 0:
            total += _size(whole[places[i]], laplacian)
            whole[places[i]] = values[i]
    return total


@compiled(always_inlined=True)
def _size(difference, laplacian):
    return abs(difference) if laplacian else difference * difference


@compiled
def _length_of_strangers(model, x):
    """What the features add that the model does not know."""
    places, values, everything, total = places_of(x), values_of(x), all_of(x), 0.0
    if model.head.kernel == LAPLACIAN:
        for i in range(places.shape[0]):
            total += abs(values[i]) if places[i] < 0 else 0.0
        return total
    known = 0
    for i in range(everything.shape[0]):  # the known ones stand among them, in the same order
        if known < values.shape[0] and everything[i] == values[known]:
            known += 1
        else:
            total += everything[i] * everything[i]
    return total

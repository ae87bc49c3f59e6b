"""The kernel row of the latest example that was scored: River asks for a prediction before it learns an example, whose kernel
row need not be computed twice.

model.row keeps the row between two calls with the same scratch space; model.note says of which vectors and of which
example it is. Every new vector raises head.arrived, and what removes or merges vectors lowers head.count.
"""

from __future__ import annotations

from ..compiling.jit import compiled
from ..examples.present_features import places_of, rest_of, values_of

# Of model.note; ARRIVED is one more, as 0 means that no row is kept
ARRIVED, COUNT, LENGTH, REST = range(4)


@compiled(always_inlined=True)
def keep_row(model, x):
    """Note that model.row is the kernel row of x, as the last step of a call."""
    places, values, note = places_of(x), values_of(x), model.note
    n = places.shape[0]
    if n > model.latest.shape[0]:
        return
    for i in range(n):
        model.latest_places[i], model.latest[i] = places[i], values[i]
    note[ARRIVED], note[COUNT] = model.head.arrived + 1, model.head.count
    note[LENGTH], note[REST] = n, rest_of(x)


@compiled(always_inlined=True)
def is_kept(model, x):
    """Whether model.row is the kernel row of x from the last call. Forgets the row, which the caller may overwrite."""
    head, note, n = model.head, model.note, places_of(x).shape[0]
    known = note[ARRIVED] == head.arrived + 1 and note[COUNT] == head.count
    note[ARRIVED] = 0.0
    return known and note[LENGTH] == n and note[REST] == rest_of(x) and is_latest(model, x)


@compiled(always_inlined=True)
def is_latest(model, x):
    """Whether the features of x are those in model.latest, of which there are as many."""
    places, values, different = places_of(x), values_of(x), 0
    for i in range(places.shape[0]):
        different += model.latest_places[i] != places[i] or model.latest[i] != values[i]
    return different == 0

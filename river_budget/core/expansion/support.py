"""The support vectors and their coefficients: insert, replace, remove, rescale, find the oldest and the lightest.

A vector's slot is its index in all tables: the columns of coefficients and of per_vector, norms, arrivals, and
where the vector itself is stored. The slots in use are 0 .. head.count - 1.
"""

from __future__ import annotations

import numpy as np

from ..block.limits import LONGEST_STEP, padded_count, within
from ..compiling.array_views import address_of, i64
from ..compiling.jit import REORDERED, compiled
from ..simd.bits import from_bits
from ..vectors.table import move_vector, write_vector
from .kernel_rows import self_kernel

TIE = 1.0 + 1e-9  # weights whose ratio is below it count as equal
TINY_SCALE, HUGE_SCALE = 1e-60, 1e60  # beyond, the scale moves into the coefficients
LARGEST = 1e140  # the largest coefficient times scale: then scores stay finite
NEVER = np.int64(2**63 - 1)  # later than every arrival


@compiled(always_inlined=True)
def has_room(model):
    """Whether the block has room for x as one more vector. If not, the pass returns, and Python enlarges the block."""
    return model.head.count < model.head.capacity


@compiled
def insert(model, x, norm):
    """Append x as a support vector with coefficients 0. Returns its slot."""
    j = append_slot(model, norm)
    write_vector(model, j, x)
    return j


@compiled
def append_slot(model, norm):
    """Append a slot with coefficients 0, whose vector is not written yet. Returns the slot.

    The caller writes the vector, with `write_vector` or `write_into_freed_slot`.
    """
    j = model.head.count
    model.head.count = j + 1
    model.norms[j] = norm
    make_newest(model, j)
    clear_coefficients(model, j)
    return j


@compiled
def clear_coefficients(model, j):
    """Set the coefficients of vector j and its column of per_vector to 0."""
    for r in range(model.coefficients.shape[0]):
        model.coefficients[r, j] = 0.0
    for e in range(model.per_vector.shape[0]):
        model.per_vector[e, j] = 0.0


@compiled
def replace_vector(model, j, x, norm):
    """Replace vector j by x, with coefficients 0."""
    overwrite_vector(model, j, x, norm)
    for r in range(model.coefficients.shape[0]):
        model.coefficients[r, j] = 0.0


@compiled
def overwrite_vector(model, j, x, norm):
    """Overwrite vector j and its norm with x, and keep its coefficients. It becomes the newest."""
    model.norms[j] = norm
    write_vector(model, j, x)
    make_newest(model, j)


@compiled
def make_newest(model, j):
    """Give vector j the next arrival number, which makes it the newest."""
    head = model.head
    model.arrivals[j] = head.arrived
    head.arrived += 1


@compiled
def move(model, source, target):
    """Move vector `source`, with all that belongs to it, to the slot `target`. Overwrites what is there."""
    move_vector(model, source, target)
    move_coefficients(model, source, target)


@compiled
def move_coefficients(model, source, target):
    """Copy coefficients, per_vector, norm and arrival number from one slot to another, but not the vector."""
    for r in range(model.coefficients.shape[0]):
        model.coefficients[r, target] = model.coefficients[r, source]
    for e in range(model.per_vector.shape[0]):
        model.per_vector[e, target] = model.per_vector[e, source]
    model.norms[target] = model.norms[source]
    model.arrivals[target] = model.arrivals[source]


@compiled
def remove(model, j):
    """Remove vector j. The last one moves to its slot."""
    last = model.head.count - 1
    if j != last:
        move(model, last, j)
    drop_last_slot(model, last)


@compiled
def write_into_freed_slot(model, x, j):
    """`remove` vector j where the last slot belongs to x, which is not written yet: writes x to slot j."""
    last = model.head.count - 1
    if j != last:
        move_coefficients(model, last, j)
        write_vector(model, j, x)
    drop_last_slot(model, last)


@compiled
def remove_in_order(model, j):
    """Remove vector j and move each vector behind it one slot down, for tables that keep the order of slots."""
    last = model.head.count - 1
    for source in range(j + 1, last + 1):
        move(model, source, source - 1)
    drop_last_slot(model, last)


@compiled
def drop_last_slot(model, last):
    """Set the coefficients of the last slot to 0, and subtract 1 from the number of vectors."""
    clear_coefficients(model, last)
    model.head.count = last


@compiled(always_inlined=True)
def add_to(model, j, plus, minus, amount):
    """Add amount (e_plus - e_minus) to the coefficients of vector j; if minus < 0, only amount e_plus."""
    amount = within(amount, LONGEST_STEP) / model.head.scale
    model.coefficients[plus, j] += amount
    if minus >= 0:
        model.coefficients[minus, j] -= amount


@compiled(always_inlined=True)
def bounded(model, coefficient):
    """A coefficient, clamped so that all scores are finite.

    It could overflow in projections on vectors whose lengths are hundreds of orders of magnitude apart.
    """
    return within(coefficient, largest(model))


@compiled(always_inlined=True)
def largest(model):
    """The largest coefficient that `bounded` allows, divided by the scale."""
    return LARGEST / model.head.scale


@compiled(always_inlined=True)
def rescale(model, factor):
    """Multiply the model by a factor >= 0, in O(1): by its scale. Multiplies an extreme scale into the coefficients."""
    head = model.head
    head.scale *= factor
    if not TINY_SCALE <= head.scale <= HUGE_SCALE:
        for r in range(model.coefficients.shape[0]):
            for j in range(head.count):
                model.coefficients[r, j] *= head.scale
        head.scale = 1.0


@compiled
def oldest(model):
    """The vector with the smallest arrival number."""
    arrivals, found = model.arrivals, 0
    for j in range(1, model.head.count):
        if arrivals[j] < arrivals[found]:
            found = j
    return found


@compiled(fastmath=REORDERED)
def weights_into(model, weights):
    """weights[j] = |a_j|^2, not yet times the square of the scale. Overwrites `weights`."""
    n, coefficients = padded_count(model), model.coefficients[0]
    for j in range(n):
        weights[j] = coefficients[j] * coefficients[j]
    for r in range(1, model.coefficients.shape[0]):
        coefficients = model.coefficients[r]
        for j in range(n):
            weights[j] += coefficients[j] * coefficients[j]


@compiled
def weight_of(model, j):
    """|a_j|^2, not yet times the square of the scale"""
    total = 0.0
    for r in range(model.coefficients.shape[0]):
        total += model.coefficients[r, j] ** 2
    return total


@compiled
def lightest(model, weights):
    """The vector whose removal changes w least: argmin of |a_j|^2 k(x_j, x_j). Overwrites `weights`.

    If weights are equal up to rounding, returns the oldest of these vectors: without merging, all coefficients
    of budgeted SGD are equal in exact arithmetic.
    """
    weights_into(model, weights)
    if not model.head.bounded:
        for j in range(model.head.count):
            length = self_kernel(model, model.norms[j])
            weights[j] = weights[j] * length if length > 0.0 else 0.0  # 0 for NaN too
    return oldest_of_lightest(model, weights)


@compiled
def oldest_of_lightest(model, weights):
    """The oldest of the vectors with the least weight up to rounding. All weights must be >= 0; ignores NaN."""
    arrivals, n, oldest = model.arrivals, model.head.count, NEVER
    most = TIE * least_of(weights, n)
    for j in range(n):
        oldest = min(oldest, arrivals[j] if weights[j] <= most else NEVER)
    found = n - 1  # mostly it is the newcomer
    while found > 0 and arrivals[found] != oldest:
        found -= 1
    return found


@compiled(always_inlined=True)
def least_of(numbers, n):
    """The least of the first n numbers, which are >= 0; ignores NaN.

    Their bits are in the same order, and LLVM vectorises a minimum of whole numbers.
    """
    bits, least = i64(address_of(numbers), n), NEVER
    for j in range(n):
        least = min(least, bits[j] & NEVER)  # without the sign, which a 0 or NaN may have
    return from_bits(least)

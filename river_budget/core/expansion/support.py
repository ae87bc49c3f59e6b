"""The support vectors and their coefficients: insert, replace, remove, rescale, find the oldest and
the lightest.
"""

from __future__ import annotations

from ..compiling import inlined, inner
from ..numerics import clamp, least_of
from .kernels import padded, self_kernel

LONGEST_STEP = 1e100  # steps are clamped to it: coefficients stay finite even if the model diverges
LARGEST = 1e140  # the largest coefficient times scale: then scores stay finite
TINY_SCALE, HUGE_SCALE = 1e-60, 1e60  # beyond, the scale moves into the coefficients
TIE = 1.0 + 1e-9  # weights whose ratio is below it count as equal
LATEST = 2**63 - 1  # later than every arrival


@inner
def insert(m, x, norm):
    """Append x as a support vector with coefficients 0. Returns its slot, which is the last."""
    j = append(m, norm)
    write_features(m, j, x)
    return j


@inner
def append(m, norm):
    """The same but for the features of x, which are written later, if at all. Returns the slot."""
    j = m.head[0].count
    m.head[0].count = j + 1
    for r in range(m.coefficients.shape[0]):
        m.coefficients[r, j] = 0.0
    for e in range(m.per_vector.shape[0]):
        m.per_vector[e, j] = 0.0
    set_arrival(m, j, norm)
    return j


@inlined
def set_arrival(m, j, norm):
    """Vector j has this norm and becomes the newest."""
    m.norms[j], m.arrivals[j] = norm, m.head[0].arrived
    m.head[0].arrived += 1


@inner
def write_features(m, j, x):
    """Overwrite the features of vector j with those of x."""
    places, values, _ = x
    vectors = m.vectors
    if places.shape[0] < vectors.shape[0]:  # else it has every feature
        for i in range(vectors.shape[0]):
            vectors[i, j] = 0.0
    for i in range(places.shape[0]):
        vectors[places[i], j] = values[i]


@inlined
def overwrite_vector(m, j, x, norm):
    """Overwrite vector j and its norm with x, and keep its coefficients. It becomes the newest."""
    write_features(m, j, x)
    set_arrival(m, j, norm)


@inner
def replace_vector(m, j, x, norm):
    """Replace vector j by x, with coefficients 0."""
    overwrite_vector(m, j, x, norm)
    for r in range(m.coefficients.shape[0]):
        m.coefficients[r, j] = 0.0


@inlined
def move(m, source, target):
    """Move vector `source`, with all that belongs to it, to the slot `target`. Overwrites what is
    there.
    """
    for i in range(m.vectors.shape[0]):
        m.vectors[i, target] = m.vectors[i, source]
    move_numbers(m, source, target)


@inlined
def move_numbers(m, source, target):
    """The same without features."""
    for r in range(m.coefficients.shape[0]):
        m.coefficients[r, target] = m.coefficients[r, source]
    for e in range(m.per_vector.shape[0]):
        m.per_vector[e, target] = m.per_vector[e, source]
    for s in range(m.squares.shape[0]):
        move_in_square(m.squares[s], source, target, m.head[0].count)
    m.norms[target], m.arrivals[target] = m.norms[source], m.arrivals[source]


@inner
def move_in_square(square, source, target, n):
    """Move the row and the column of a vector. What it had with itself it has in its new slot,
    too.
    """
    for i in range(n):
        square[target, i] = square[source, i]
    for i in range(n):
        square[i, target] = square[i, source]


@inlined
def drop_last_slot(m):
    """Set the coefficients of the last slot, and what the algorithm keeps of it, to 0, and subtract
    1 from the number of vectors.
    """
    last = m.head[0].count - 1
    for r in range(m.coefficients.shape[0]):
        m.coefficients[r, last] = 0.0
    for e in range(m.per_vector.shape[0]):
        m.per_vector[e, last] = 0.0
    for s in range(m.squares.shape[0]):
        for i in range(last + 1):
            m.squares[s, last, i] = m.squares[s, i, last] = 0.0
    m.head[0].count = last


@inner
def remove(m, j):
    """Remove vector j. The last one moves to its slot, with its rows of own tables."""
    last = m.head[0].count - 1
    if j != last:
        move(m, last, j)
    drop_last_slot(m)


@inner
def remove_in_order(m, j):
    """Remove vector j and move each vector behind it one slot down, for tables that keep the order
    of slots.
    """
    for source in range(j + 1, m.head[0].count):
        move(m, source, source - 1)
    drop_last_slot(m)


@inner
def add_to(m, j, plus, minus, amount):
    """Add amount (e_plus - e_minus) to the coefficients of vector j; if minus < 0, only amount
    e_plus. The amount is that of the model: head.scale is taken care of.
    """
    amount = clamp(amount, LONGEST_STEP) / m.head[0].scale
    m.coefficients[plus, j] += amount
    if minus >= 0:
        m.coefficients[minus, j] -= amount


@inner
def bounded(head, coefficient):
    """A coefficient, clamped so that all scores are finite.

    It could overflow in projections on vectors whose lengths are hundreds of orders of magnitude
    apart.
    """
    return clamp(coefficient, LARGEST / head.scale)


@inner
def rescale(m, factor):
    """Multiply the model by a factor >= 0, in O(1): by its scale. An extreme scale moves into the
    coefficients.
    """
    head = m.head[0]
    head.scale *= factor
    if not TINY_SCALE <= head.scale <= HUGE_SCALE:
        for r in range(m.coefficients.shape[0]):
            for j in range(head.count):
                m.coefficients[r, j] *= head.scale
        head.scale = 1.0


@inner
def oldest(m):
    """The vector with the smallest arrival number."""
    found = 0
    for j in range(1, m.head[0].count):
        if m.arrivals[j] < m.arrivals[found]:
            found = j
    return found


@inner
def weight_of(m, j):
    """|a_j|^2, not yet times the square of the scale."""
    total = 0.0
    for r in range(m.coefficients.shape[0]):
        total += m.coefficients[r, j] ** 2
    return total


@inlined
def weights_into(m, weights):
    """weights[j] = |a_j|^2, not yet times the square of the scale. Overwrites `weights`."""
    a, n = m.coefficients, padded(m.head[0].count)
    for j in range(n):
        weights[j] = a[0, j] * a[0, j]
    for r in range(1, a.shape[0]):
        for j in range(n):
            weights[j] += a[r, j] * a[r, j]


@inner
def lightest(m, weights):
    """The vector whose removal changes w least: argmin of |a_j|^2 k(x_j, x_j). Overwrites
    `weights`.
    """
    head = m.head[0]
    weights_into(m, weights)
    if not head.bounded:
        for j in range(head.count):
            length = self_kernel(m, m.norms[j])
            weights[j] = weights[j] * length if length > 0.0 else 0.0  # 0 for NaN too
    return oldest_of_lightest(m, weights)


@inlined
def oldest_of_lightest(m, weights):
    """The oldest of the vectors whose weights are least up to rounding. All weights must be >= 0.

    Without merging, all coefficients of budgeted SGD are equal in exact arithmetic.
    """
    arrivals, n, oldest = m.arrivals, m.head[0].count, LATEST
    most = TIE * least_of(weights, n)
    for j in range(n):
        oldest = min(oldest, arrivals[j] if weights[j] <= most else LATEST)
    found = n - 1  # mostly it is the newcomer
    while found > 0 and arrivals[found] != oldest:
        found -= 1
    return found

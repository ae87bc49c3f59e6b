"""Merging: replace the lightest vector and its best partners by one vector z. Symbols as in core/budget/degradation.py.

    merge(model, exact, strategy, newcomer)                                                  2018, algorithm 1
        best_partners     the members: the lightest vector, and arity - 1 partners that degrade least
        read_members      their coefficients, vectors and pairwise distances
        place_merged      the shares of z = sum_i share_i x_i, its coefficients, the degradation
        write_merged      write z to the slot of one member, remove the others

A merged vector has the features of all its members. Where new names keep coming, as words do, vectors become so long that
a merge takes longer than the rest of learning, and a warning is due.
"""

from __future__ import annotations

import math
from collections import namedtuple

from ..block.codes import Strategy
from ..block.layout import SEARCH_ROWS
from ..block.limits import padded_count
from ..compiling.array_views import f64, f64_matrix, i64
from ..compiling.jit import compiled
from ..examples.present_features import write_whole
from ..expansion.kernel_rows import along_row, distances_into
from ..expansion.support import lightest
from ..rounds.stream_warnings import LONG_VECTORS
from ..simd.exponential import exp_of
from ..simd.vector_ops import add_multiple, dot
from ..vectors.table import read_vector, read_with_zeros
from .degradation import NN, S
from .newcomer import unwritten_place
from .partner_search import EQ21, best_partners, place_of_pair, search_width
from .several import (
    CASCADE,
    ascend,
    cascade,
    combination,
    combine,
    distance_to,
    first_of,
    inner,
    inner_term,
    member_distances,
    merge_own_rows,
    replace,
)

MANY = int(Strategy.MANY)
# A warning is due when an example is merged into vectors with LONG features and LONGER_BY times its own
LONG, LONGER_BY = 320, 20

# The vectors to be merged: their slots (members), the shares of z, the distances s_ij between members, the members'
# coefficients, those of z (a_z), the members' values with their zeros, one row each (points), and the address of
# temporary memory (room).
Group = namedtuple("Group", "members shares distances coefficients a_z points room")


@compiled(inlined=True)
def merge(model, exact, strategy, newcomer):
    """Merge the lightest vector with its `arity` - 1 best partners. The merged vector becomes the newest.

    Returns the change of |w|^2 if `exact`, otherwise a bound of the growth of |w|, both without the scale.
    Overwrites all scratch space.
    """
    search = f64_matrix(model.heap, SEARCH_ROWS, search_width(model))
    group = new_group(model)
    best_partners(model, lightest(model, search[NN]), newcomer, search, group.members)
    read_members(model, newcomer, search, group)
    loss = max(place_merged(model, strategy, search, group), 0.0)
    model.head.cost += model.head.scale * math.sqrt(loss)
    gain = write_merged(model, exact, newcomer, search, group)
    return loss + 2.0 * gain if exact else math.sqrt(loss)


@compiled(always_inlined=True)
def new_group(model):
    """The arrays of a merge, in the heap behind those of the search for partners."""
    head, outputs = model.head, model.coefficients.shape[0]
    m, width = min(head.arity, head.count), head.width
    at = model.heap + 8 * SEARCH_ROWS * search_width(model)
    members, shares, distances = i64(at, m), f64(at + 8 * m, m), f64_matrix(at + 16 * m, m, m)
    at += 8 * m * (m + 2)
    coefficients, a_z = f64_matrix(at, m, outputs), f64(at + 8 * m * outputs, outputs)
    at += 8 * (m + 1) * outputs
    points = f64_matrix(at, m, width)
    return Group(members, shares, distances, coefficients, a_z, points, at + 8 * m * width)


@compiled(inlined=True)
def read_members(model, newcomer, search, group):
    """Copy coefficients, vectors and distances of the members to the group."""
    members, (_, _, x) = group.members, newcomer
    unwritten = unwritten_place(newcomer)
    for i in range(members.shape[0]):
        if members[i] == unwritten:
            write_whole(x, group.points[i])
        else:
            read_with_zeros(model, members[i], group.points[i])
        for r in range(group.a_z.shape[0]):
            group.coefficients[i, r] = model.coefficients[r, members[i]]
    member_distances(model, group.points, members, search[S], group.distances)


@compiled(inlined=True)
def place_merged(model, strategy, search, group):
    """Compute the shares of z and its coefficients. Returns the degradation."""
    a, s, shares, a_z, loss = group.coefficients, group.distances, group.shares, group.a_z, 0.0
    if strategy == MANY and model.head.method != CASCADE and shares.shape[0] > 2:
        ascend(a, s, shares, a_z, group.room)
    else:
        place, loss = place_of_pair(model, search, group.members)
        for i in range(2, shares.shape[0]):
            shares[i] = 0.0
        shares[0], shares[1] = place, 1.0 - place
        combine(place, s[0, 1], a[0], a[1], a_z)
        if strategy == MANY:
            cascade(a, s, shares, a_z)
    if strategy == MANY or model.head.objective == EQ21:  # their search does not compute the loss
        return loss_by_merging(shares, s, a, a_z)
    return loss


@compiled(inlined=True)
def write_merged(model, exact, newcomer, search, group):
    """Write z to the slot of one member, remove the others. Returns a_z . f(z) - sum_i a_i . f(x_i) if `exact`."""
    members, shares, s, a_z = group.members, group.shares, group.distances, group.a_z
    gain = gain_by_merging(model, search[S], members, shares, s, a_z) if exact else 0.0
    z, norm, n_features = combination(model, group.points, shares)
    merge_own_rows(model, members, shares, s, first_of(members))
    replace(model, members, z, norm, a_z, newcomer)
    warn_of_long_vectors(model, n_features, newcomer)
    return gain


@compiled(always_inlined=True)
def warn_of_long_vectors(model, n_features, newcomer):
    """Raise the alarm if merges take long since vectors have far more features than examples."""
    _, _, x = newcomer
    if n_features >= LONG and 0 < LONGER_BY * x[2] <= n_features:
        model.head.alarm |= LONG_VECTORS & ~model.head.said


@compiled
def loss_by_merging(shares, s, a, a_z):
    """|sum_i a_i k(x_i, .) - a_z k(z, .)|^2"""
    total = inner(a_z, a_z)
    for i in range(a.shape[0]):
        total += inner(a[i], a[i]) - 2.0 * math.exp(-distance_to(shares, s, i)) * inner(a[i], a_z)
        for j in range(i):
            total += 2.0 * math.exp(-s[i, j]) * inner(a[i], a[j])
    return total


@compiled
def gain_by_merging(model, first, members, shares, s, a_z):
    """a_z . f(z) - sum_i a_i . f(x_i). Overwrites model.row, model.buffer, model.x and model.nonzero.

    `first`: the distances s of the first member to all vectors. The kernel row of z follows from those of the
    members: log k(z, .) = sum_i share_i log k(x_i, .) + inner term.
    """
    n, m = padded_count(model), members.shape[0]
    z_row, row = model.buffer, model.row
    constant = inner_term(shares, s)
    for j in range(n):
        row[j] = exp_of(-first[j])
        z_row[j] = constant - shares[0] * first[j]
    gain = -along_row(model, row, members[0])
    for i in range(1, m):
        distances_into(model, read_vector(model, members[i]), model.norms[members[i]], row)
        add_multiple(z_row, -shares[i], row, n)
        for j in range(n):
            row[j] = exp_of(-row[j])
        gain -= along_row(model, row, members[i])
    for j in range(n):
        z_row[j] = exp_of(min(z_row[j], 0.0))
    for r in range(a_z.shape[0]):
        gain += a_z[r] * dot(z_row, model.coefficients[r], n)
    return gain

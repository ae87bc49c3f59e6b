"""Rules that keep a budget: what `algorithm(keep=...)` takes, and a round may call."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from ..core.budget import projection
from ..core.budget.merging import merge, nobody
from ..core.budget.strategies import NOT_EXACT, NOT_NEWEST
from ..core.compiling import arguments_of, of_user
from ..core.expansion.support import LATEST, TIE, lightest, oldest, remove
from ..core.random_numbers import below

SPARE = 5  # the row of m.work with the values of a criterion, which no kernel overwrites


def made(template: Any, name: str, **names: Any) -> Any:
    """A copy of a function in which these names stand for these values.

    A closure would do the same, but numba finds no compiled closure on the disk again.
    """
    known = {**template.__globals__, **names}
    copy = types.FunctionType(template.__code__, known, name)
    copy.__module__, copy.__qualname__, copy.__doc__ = template.__module__, name, template.__doc__
    return copy


@of_user
def remove_oldest(m, state):
    """Remove the oldest vector."""
    remove(m, oldest(m))


@of_user
def remove_random(m, state):
    """Remove any vector but the last, which is the newcomer, all equally likely."""
    remove(m, below(m.head[0], m.head[0].count - 1))


@of_user
def remove_smallest(m, state):
    """Remove the vector whose removal changes the model least. Overwrites m.buffer."""
    remove(m, lightest(m, m.buffer))


@of_user
def merge_pair(m, state):
    """Merge the lightest vector with its best partner: two become one, which is the newest. For a
    Gaussian kernel, without own tables. Overwrites all scratch space.
    """
    if m.other is not None:
        raise RuntimeError("merge_pair needs a Gaussian kernel (RBF): algorithm(needs_rbf=True)")
    if m.per_vector.shape[0] + m.squares.shape[0] > 0:
        raise RuntimeError("merge_pair makes a vector for which nobody computes own tables")
    merge(m, nobody(m), NOT_NEWEST, NOT_EXACT)


# Removal by a criterion


def _removal(m, state):
    """Remove the vector with the smallest value of a criterion."""
    values, least, n = m.work[SPARE], np.inf, m.head[0].count
    for j in range(n):
        values[j] = criterion(m, state, j)  # type: ignore[name-defined]  # noqa: F821
        if values[j] != values[j]:
            raise RuntimeError("the criterion of a removal is NaN")
        least = min(least, values[j])
    remove(m, _oldest_of_least(m, values, least))


def _removal_with(m, state, own):
    """The same with own tables."""
    values, least, n = m.work[SPARE], np.inf, m.head[0].count
    for j in range(n):
        values[j] = criterion(m, state, own, j)  # type: ignore[name-defined]  # noqa: F821
        if values[j] != values[j]:
            raise RuntimeError("the criterion of a removal is NaN")
        least = min(least, values[j])
    remove(m, _oldest_of_least(m, values, least))


@of_user
def _oldest_of_least(m, values, least):
    """The oldest of the vectors whose values are least up to rounding."""
    found, arrival, most = 0, LATEST, least + (TIE - 1.0) * abs(least)
    for j in range(m.head[0].count):
        if values[j] <= most and m.arrivals[j] < arrival:
            found, arrival = j, m.arrivals[j]
    return found


def removal_by(criterion: Any) -> Any:
    """A rule that removes the vector with the smallest value of a criterion; of several that are
    equal up to rounding, the oldest.

    criterion
        A compiled function (m, state, j) -> number of vector j, or (m, state, own, j). The
        newcomer is the last vector, j = m.head[0].count - 1: for it return math.inf, if it is to
        stay.
    """
    name = f"{criterion.__module__}.{criterion.__qualname__}"
    template = _removal_with if "own" in arguments_of(criterion) else _removal
    return of_user(made(template, f"removal by {name}", criterion=criterion))


# Projection


@of_user
def add_or_project(m, x, norm, plus, minus, amount):
    """Add amount (e_plus - e_minus) k(x, .), for an algorithm whose rule is `project_smallest`: x
    becomes a vector, or is projected on the vectors if it lies in their span. Returns whether x
    became one. m.row must be the kernel row of x; overwrites it, m.buffer and m.work.

    It takes the place of `insert` and `add_to`, as it keeps the factor of the Gram matrix.
    """
    before = m.head[0].count + 1
    _, _, stored = projection.add_or_project(m, x, norm, plus, minus, amount)
    _clear_rows(m, before)
    return stored


@of_user
def project_smallest(m, state):
    """Project the lightest vector on the others: least squares. The round stores by
    `add_or_project`. Overwrites m.buffer and m.work.
    """
    n = m.head[0].count
    for j in range(n):
        if m.factor.shape[0] < n or m.factor[j, j] == 0.0:
            raise RuntimeError(
                "a vector is not in the factor of the Gram matrix: store by add_or_project, and "
                "not by insert and add_to"
            )
    projection.project_out(m, lightest(m, m.buffer))
    _clear_rows(m, n)


@of_user
def _clear_rows(m, before):
    """Set the rows of the factor behind the last vector to 0, where there have been so many."""
    for i in range(m.head[0].count, before):
        for j in range(before):
            m.factor[i, j] = 0.0

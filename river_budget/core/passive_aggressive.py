"""Budgeted passive-aggressive learning (BPA): one problem for the step and the removal.

Z. Wang, S. Vucetic. Online passive-aggressive algorithms on a budget. AISTATS 2010.

paper   here          An example with a loss gets the step tau = min(C, loss / |direction|^2 k(x, x)). A full
B       budget        model replaces one vector r by it and spreads the contribution of r over V, by least
C       C             squares. The loss afterwards is the same for every r, so the r goes that loses least:
V       heirs           |a_r|^2 times the squared distance of k(x_r, .) to the span of V
    simple      V = the newcomer
    nearest     V = the newcomer and the nearest neighbour of r, which every vector remembers
    projection  V = the newcomer and all others
"""

from __future__ import annotations

import numpy as np

from .jit import compiled
from .losses import judge, limited, squared_length
from .model import examples, unpack
from .projection import (
    TINY,
    check_factor,
    extend,
    fold,
    inverse_diagonal,
    keep_apart,
    project,
    project_out,
)
from .rounds import observe
from .rows import kernel_row, row_of, self_kernel
from .support import (
    add_to,
    bounded,
    insert,
    lightest,
    oldest_of_least,
    overwrite,
    remove,
    vector,
    weights_into,
)
from .views import carver, numbers

SIMPLE, NEAREST, PROJECTION = range(3)
NEIGHBOUR_ROWS = 2  # of extras: the nearest other vector, and the kernel value
NEIGHBOUR, SIMILARITY = range(NEIGHBOUR_ROWS)
STATE = np.dtype((np.record, [("C", "f8"), ("code", "i8")]))
_state = carver(STATE, 0)


@compiled(entry=True)
def learn(call):
    """Learn the rows in order; scores[t] = f(x_t) before it is learned. Returns how many were done."""
    model = unpack(call)
    rows, targets, weights, scores = examples(call)
    own, head = _state(model.own), model.head
    for t in range(rows.shape[0]):
        x, f = row_of(rows, t), row_of(scores, t)
        norm = observe(model, x, f)
        if norm < 0.0:
            return t
        loss, sign, plus, minus = judge(model, f, targets[t], 0.0)
        if not (loss > 0.0 and weights[t] > 0.0):
            continue
        cap, length = limited(weights[t] * own.C), self_kernel(model, norm) * squared_length(minus)
        step = sign * (min(cap, loss / length) if length > 0.0 else cap)
        if own.code == PROJECTION:
            exchange_by_projection(model, x, norm, plus, minus, step)
            continue
        if head.count < head.budget:
            j = insert(model, x, norm)
        elif own.code == SIMPLE:
            j = exchange(model, x, norm)
        else:
            j = exchange_with_neighbour(model, x, norm)
        add_to(model, j, plus, minus, step)
        if own.code == NEAREST:
            meet(model, j)
    return np.int64(rows.shape[0])


@compiled
def exchange(model, x, norm):
    """BPA-S: the newcomer takes the place of r, and k_rt / k_tt of its coefficients."""
    n, loss, row, k_tt = model.head.count, model.scratch, model.row, self_kernel(model, norm)
    weights_into(model, loss)
    for r in range(n):
        rest = self_kernel(model, model.norms[r])
        rest -= row[r] * row[r] / k_tt if k_tt > 0.0 else 0.0
        loss[r] = loss[r] * rest if rest > TINY else 0.0
    r = oldest_of_least(model, loss)
    give(model, r, r, row[r] / k_tt if k_tt > 0.0 else 0.0)
    overwrite(model, r, x, norm)
    return r


@compiled
def exchange_with_neighbour(model, x, norm):
    """BPA-NN: the newcomer and the nearest neighbour of r share its coefficients."""
    n, loss, row, k_tt = model.head.count, model.scratch, model.row, self_kernel(model, norm)
    weights_into(model, loss)
    for r in range(n):
        to_newcomer, to_neighbour = shares(model, r, row, k_tt)
        rest = self_kernel(model, model.norms[r]) - to_newcomer * row[r]
        rest -= to_neighbour * model.extras[SIMILARITY, r]
        loss[r] = loss[r] * rest if rest > TINY else 0.0
    r = oldest_of_least(model, loss)
    to_newcomer, to_neighbour = shares(model, r, row, k_tt)
    neighbour = int(model.extras[NEIGHBOUR, r])
    for c in range(model.coefficients.shape[0]):
        amount = model.coefficients[c, r]
        if neighbour >= 0:
            heir = model.coefficients[c, neighbour]
            model.coefficients[c, neighbour] = bounded(model, heir + to_neighbour * amount)
        model.coefficients[c, r] = bounded(model, to_newcomer * amount)
    overwrite(model, r, x, norm)
    return r


@compiled
def give(model, r, heir, share):
    """The heir gets a share of the coefficients of vector r, which keeps nothing."""
    for c in range(model.coefficients.shape[0]):
        amount = share * model.coefficients[c, r]
        model.coefficients[c, r] = 0.0
        model.coefficients[c, heir] = bounded(model, model.coefficients[c, heir] + amount)


@compiled
def shares(model, r, row, k_tt):
    """The least-squares solution for k_r in terms of the newcomer t and the neighbour n of r."""
    n = int(model.extras[NEIGHBOUR, r])
    if n < 0:
        return row[r] / k_tt if k_tt > 0.0 else 0.0, 0.0
    k_rn, k_rt, k_nt, k_nn = (
        model.extras[SIMILARITY, r],
        row[r],
        row[n],
        self_kernel(model, model.norms[n]),
    )
    determinant = k_tt * k_nn - k_nt * k_nt
    if determinant <= TINY * k_tt * k_nn:  # newcomer and neighbour are the same: half each
        both = k_tt + k_nn
        return (k_rt / both, k_rn / both) if both > 0.0 else (0.0, 0.0)
    return (k_nn * k_rt - k_nt * k_rn) / determinant, (k_tt * k_rn - k_nt * k_rt) / determinant


@compiled
def meet(model, j):
    """Vector j is new in its place: find its nearest neighbour, and be that of others."""
    n, extras, row = model.head.count, model.extras, model.row
    look_around(model, j)
    lost = numbers(model.free, n)
    for i in range(n):
        lost[i] = 0.0
        if i != j and (row[i] > extras[SIMILARITY, i] or extras[NEIGHBOUR, i] < 0.0):
            extras[NEIGHBOUR, i], extras[SIMILARITY, i] = j, row[i]
        elif i != j and extras[NEIGHBOUR, i] == j:
            lost[i] = 1.0
    for i in range(n):  # those whose neighbour was in this place before
        if lost[i] != 0.0:
            look_around(model, i)


@compiled
def look_around(model, j):
    """Find the nearest neighbour of vector j; of several, the oldest."""
    vector(model, j, model.x)
    kernel_row(model, model.x, model.norms[j])
    row, best = model.row, -1
    for i in range(model.head.count):
        if i != j and (
            best < 0
            or row[i] > row[best]
            or (row[i] == row[best] and model.arrivals[i] < model.arrivals[best])
        ):
            best = i
    model.extras[NEIGHBOUR, j] = best
    model.extras[SIMILARITY, j] = row[best] if best >= 0 else 0.0


@compiled
def exchange_by_projection(model, x, norm, plus, minus, step):
    """BPA-P: all others inherit. A newcomer that adds no direction is projected itself."""
    head, k_tt = model.head, self_kernel(model, norm)
    d = numbers(model.free, head.count)
    residual = k_tt - project(model, model.row, d)
    if residual <= TINY * k_tt:
        fold(model, d, plus, minus, step)
        return
    j = insert(model, x, norm)
    extend(model, d, residual, j)
    add_to(model, j, plus, minus, step)
    keep_apart(model)
    check_factor(model)
    if head.count > head.budget:
        project_out(model, cheapest(model, head.count - 1))


@compiled
def cheapest(model, n):
    """Which of the first n vectors loses least when it is projected on all others: |a_r|^2 / (K^-1)_rr."""
    loss, inverse = model.scratch, numbers(model.free, model.head.count)
    weights_into(model, loss)
    inverse_diagonal(model, inverse)
    for r in range(n):
        loss[r] /= inverse[r]
    for r in range(n, model.head.count):
        loss[r] = np.inf
    return oldest_of_least(model, loss)


@compiled(entry=True)
def shrink_to_budget(call):
    """Remove vectors until a budget that has been made smaller is kept: there is no newcomer, and what
    they leave is spread over the neighbour, over all others, or over none."""
    model = unpack(call)
    own, head = _state(model.own), model.head
    if own.code == PROJECTION:
        while head.count > head.budget:
            project_out(model, cheapest(model, head.count))
    while head.count > head.budget:
        r = lightest(model, model.scratch)
        if own.code == NEAREST:
            look_around(model, r)
            heir = int(model.extras[NEIGHBOUR, r])
            k_nn = self_kernel(model, model.norms[heir])
            if k_nn > 0.0:
                give(model, r, heir, model.extras[SIMILARITY, r] / k_nn)
        remove(model, r)
    for j in range(head.count if own.code == NEAREST else 0):
        look_around(model, j)

"""Budgeted passive-aggressive learning (BPA): one problem for the step and the removal.

Z. Wang, S. Vucetic. Online passive-aggressive algorithms on a budget. AISTATS 2010.

    paper    here
    B        budget
    C        C
    tau      tau = min(C, loss / |direction|^2 k(x, x)), the step of an example with a loss
    r        r, the vector that a full model replaces by this example
    V        the heirs of r, over which its contribution is spread by least squares: the newcomer
             (BPA-S: SIMPLE); also the nearest neighbour of r, which every vector remembers (BPA-NN:
             NEAREST); or all others (BPA-P: PROJECTION)

The loss on the new example is the same for every r, so r is the vector whose removal changes the
model least: |a_r|^2 times the squared distance of k(x_r, .) to the span of V.
"""

from __future__ import annotations

from ...budget.projection import TINY, add_or_project, cheapest, project_out
from ...compiling import inlined, inner, passes
from ...expansion.kernels import row_of_vector, self_kernel
from ...expansion.support import (
    add_to,
    bounded,
    insert,
    lightest,
    oldest_of_lightest,
    overwrite_vector,
    remove,
    weights_into,
)
from ...memory import record
from ...rounds.losses import loss_and_direction, squared_length
from ...rounds.observe import learn_rows, observe

SIMPLE, NEAREST, PROJECTION = range(3)
NEIGHBOUR_ROWS = 2  # of per_vector: the nearest other vector, and their kernel value
NEIGHBOUR, SIMILARITY = range(NEIGHBOUR_ROWS)
STATE = record("f8 C", "i8 code")


@passes
def learn(m, states, rows):
    """The learning pass."""
    return learn_rows(m, states, rows, observe, round_of)


@inlined
def round_of(m, state, x, norm, f, y, w):
    """An example with a loss gets the step tau; a full model exchanges a vector for it."""
    loss, sign, plus, minus = loss_and_direction(m.head[0], f, y, 0.0)
    if not loss > 0.0:
        return
    cap, length = w * state.C, self_kernel(m, norm) * squared_length(minus)
    tau = min(cap, loss / length) if length > 0.0 else cap
    if state.code == PROJECTION:
        exchange_by_projection(m, x, norm, plus, minus, tau * sign)
        return
    if m.head[0].count < m.head[0].budget:
        j = insert(m, x, norm)
    elif state.code == SIMPLE:
        j = exchange(m, x, norm)
    else:
        j = exchange_with_neighbour(m, x, norm)
    add_to(m, j, plus, minus, tau * sign)
    if state.code == NEAREST:
        update_neighbours(m, j)


@inner
def exchange(m, x, norm):
    """BPA-S: replace vector r by the newcomer t, which inherits k_rt / k_tt times its coefficients.
    Returns the slot.
    """
    n, loss, row, k_tt = m.head[0].count, m.buffer, m.row, self_kernel(m, norm)
    weights_into(m, loss)
    for r in range(n):
        length = self_kernel(m, m.norms[r])
        rest = length - (row[r] * row[r] / k_tt if k_tt > 0.0 else 0.0)
        loss[r] = loss[r] * rest if rest > TINY * length else 0.0
    r = oldest_of_lightest(m, loss)
    move_share(m, r, r, row[r] / k_tt if k_tt > 0.0 else 0.0)
    overwrite_vector(m, r, x, norm)
    return r


@inner
def exchange_with_neighbour(m, x, norm):
    """BPA-NN: replace r by the newcomer, which inherits its coefficients with r's nearest
    neighbour. Returns the slot.
    """
    n, loss, row, k_tt = m.head[0].count, m.buffer, m.row, self_kernel(m, norm)
    weights_into(m, loss)
    for r in range(n):
        to_newcomer, to_neighbour = shares(m, r, row, k_tt)
        length = self_kernel(m, m.norms[r])
        rest = length - to_newcomer * row[r] - to_neighbour * m.per_vector[SIMILARITY, r]
        loss[r] = loss[r] * rest if rest > TINY * length else 0.0
    r = oldest_of_lightest(m, loss)
    to_newcomer, to_neighbour = shares(m, r, row, k_tt)
    neighbour = int(m.per_vector[NEIGHBOUR, r])
    for c in range(m.coefficients.shape[0]):
        amount = m.coefficients[c, r]
        if neighbour >= 0:
            heir = m.coefficients[c, neighbour]
            m.coefficients[c, neighbour] = bounded(m.head[0], heir + to_neighbour * amount)
        m.coefficients[c, r] = bounded(m.head[0], to_newcomer * amount)
    overwrite_vector(m, r, x, norm)
    return r


@inner
def move_share(m, r, heir, share):
    """Add a share of the coefficients of vector r to those of the heir, and set those of r to 0."""
    for c in range(m.coefficients.shape[0]):
        amount = share * m.coefficients[c, r]
        m.coefficients[c, r] = 0.0
        m.coefficients[c, heir] = bounded(m.head[0], m.coefficients[c, heir] + amount)


@inner
def shares(m, r, row, k_tt):
    """(p, q) with k(x_r, .) = p k(x_t, .) + q k(x_n, .) by least squares, for the newcomer t and
    the neighbour n of r.
    """
    n = int(m.per_vector[NEIGHBOUR, r])
    if n < 0:
        return row[r] / k_tt if k_tt > 0.0 else 0.0, 0.0
    k_rn, k_nn = m.per_vector[SIMILARITY, r], self_kernel(m, m.norms[n])
    k_rt, k_nt = row[r], row[n]
    determinant = k_tt * k_nn - k_nt * k_nt
    if determinant <= TINY * k_tt * k_nn:  # newcomer and neighbour are the same: half each
        both = k_tt + k_nn
        return (k_rt / both, k_rn / both) if both > 0.0 else (0.0, 0.0)
    return (k_nn * k_rt - k_nt * k_rn) / determinant, (k_tt * k_rn - k_nt * k_rt) / determinant


@inner
def update_neighbours(m, j):
    """For a new vector j, find its nearest neighbour, and update the vectors whose nearest
    neighbour j is now.
    """
    n, per_vector, row = m.head[0].count, m.per_vector, m.row
    find_neighbour(m, j)
    lost = m.work[0]
    for i in range(n):
        lost[i] = 0.0
        if i != j and (row[i] > per_vector[SIMILARITY, i] or per_vector[NEIGHBOUR, i] < 0.0):
            per_vector[NEIGHBOUR, i], per_vector[SIMILARITY, i] = j, row[i]
        elif i != j and per_vector[NEIGHBOUR, i] == j:
            lost[i] = 1.0
    for i in range(n):  # vectors whose neighbour was the one that j replaces
        if lost[i] != 0.0:
            find_neighbour(m, i)


@inner
def find_neighbour(m, j):
    """Find the nearest neighbour of vector j; of several, the oldest."""
    row_of_vector(m, j)
    row, best = m.row, -1
    for i in range(m.head[0].count):
        if i != j and (
            best < 0
            or row[i] > row[best]
            or (row[i] == row[best] and m.arrivals[i] < m.arrivals[best])
        ):
            best = i
    m.per_vector[NEIGHBOUR, j] = best
    m.per_vector[SIMILARITY, j] = row[best] if best >= 0 else 0.0


@inner
def exchange_by_projection(m, x, norm, plus, minus, step):
    """BPA-P: add the newcomer and project r on all others. A newcomer in the span of the support is
    projected itself.
    """
    _, _, stored = add_or_project(m, x, norm, plus, minus, step)
    if stored and m.head[0].count > m.head[0].budget:
        project_out(m, cheapest(m, m.head[0].count - 1))


@passes
def shrink_to_budget(m, states):
    """Remove vectors until the model keeps its budget, which a user has made smaller.

    There is no newcomer: the removed vector's neighbour inherits, or all others, or none, by
    variant.
    """
    state, head = states[0], m.head[0]
    if state.code == PROJECTION:
        while head.count > head.budget:
            project_out(m, cheapest(m, head.count))
    while head.count > head.budget:
        r = lightest(m, m.buffer)
        if state.code == NEAREST:
            find_neighbour(m, r)
            heir = int(m.per_vector[NEIGHBOUR, r])
            k_nn = self_kernel(m, m.norms[heir])
            if k_nn > 0.0:
                move_share(m, r, heir, m.per_vector[SIMILARITY, r] / k_nn)
        remove(m, r)
    for j in range(head.count if state.code == NEAREST else 0):
        find_neighbour(m, j)

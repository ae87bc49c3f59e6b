"""Budgeted passive-aggressive learning (BPA): one problem for the step and the removal.

Z. Wang, S. Vucetic. Online passive-aggressive algorithms on a budget. AISTATS 2010.

    paper    here
    B        budget
    C        C
    tau      tau = min(C, loss / |direction|^2 k(x, x)), the step of an example with a loss
    r        r, the vector that a full model replaces by this example
    V        the heirs of r, over which its contribution is spread by least squares: the newcomer (BPA-S: SIMPLE); also the
             nearest neighbour of r, which every vector remembers (BPA-NN: NEAREST); or all others (BPA-P: PROJECTION)

The loss on the new example is the same for every r, so r is the vector whose removal changes the model least: |a_r|^2 times
the squared distance of k(x_r, .) to the span of V.
"""

from __future__ import annotations

from ...budget.projection import TINY, add_or_project, cheapest, project_out
from ...compiling.array_views import carver, f64, record
from ...compiling.jit import compiled
from ...examples.call import model_of
from ...expansion.kernel_rows import row_of_vector, self_kernel
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
from ...rounds.losses import loss_and_direction, squared_length
from ...rounds.observe import learn_rows, observe

SIMPLE, NEAREST, PROJECTION = range(3)
NEIGHBOUR_ROWS = 2  # of per_vector: the nearest other vector, and their kernel value
NEIGHBOUR, SIMILARITY = range(NEIGHBOUR_ROWS)
STATE = record("f8 C", "i8 code")
state_at = carver(STATE, 0)


@compiled(called_from_python=True)
def learn(call):
    """The learning pass."""
    return learn_rows(call, state_at, observe, round_of)


@compiled(inlined=True)
def round_of(model, state, x, norm, f, y, w):
    """An example with a loss gets the step tau; a full model exchanges a vector for it."""
    loss, sign, plus, minus = loss_and_direction(model, f, y, 0.0)
    if not loss > 0.0:
        return
    cap, length = w * state.C, self_kernel(model, norm) * squared_length(minus)
    tau = min(cap, loss / length) if length > 0.0 else cap
    if state.code == PROJECTION:
        exchange_by_projection(model, x, norm, plus, minus, tau * sign)
        return
    if model.head.count < model.head.budget:
        j = insert(model, x, norm)
    elif state.code == SIMPLE:
        j = exchange(model, x, norm)
    else:
        j = exchange_with_neighbour(model, x, norm)
    add_to(model, j, plus, minus, tau * sign)
    if state.code == NEAREST:
        update_neighbours(model, j)


@compiled
def exchange(model, x, norm):
    """BPA-S: replace vector r by the newcomer t, which inherits k_rt / k_tt times its coefficients. Returns the slot."""
    n, loss, row, k_tt = model.head.count, model.buffer, model.row, self_kernel(model, norm)
    weights_into(model, loss)
    for r in range(n):
        length = self_kernel(model, model.norms[r])
        rest = length - (row[r] * row[r] / k_tt if k_tt > 0.0 else 0.0)
        loss[r] = loss[r] * rest if rest > TINY * length else 0.0
    r = oldest_of_lightest(model, loss)
    move_share(model, r, r, row[r] / k_tt if k_tt > 0.0 else 0.0)
    overwrite_vector(model, r, x, norm)
    return r


@compiled
def exchange_with_neighbour(model, x, norm):
    """BPA-NN: replace r by the newcomer, which inherits its coefficients with r's nearest neighbour. Returns the slot."""
    n, loss, row, k_tt = model.head.count, model.buffer, model.row, self_kernel(model, norm)
    weights_into(model, loss)
    for r in range(n):
        to_newcomer, to_neighbour = shares(model, r, row, k_tt)
        length = self_kernel(model, model.norms[r])
        rest = length - to_newcomer * row[r] - to_neighbour * model.per_vector[SIMILARITY, r]
        loss[r] = loss[r] * rest if rest > TINY * length else 0.0
    r = oldest_of_lightest(model, loss)
    to_newcomer, to_neighbour = shares(model, r, row, k_tt)
    neighbour = int(model.per_vector[NEIGHBOUR, r])
    for c in range(model.coefficients.shape[0]):
        amount = model.coefficients[c, r]
        if neighbour >= 0:
            heir = model.coefficients[c, neighbour]
            model.coefficients[c, neighbour] = bounded(model, heir + to_neighbour * amount)
        model.coefficients[c, r] = bounded(model, to_newcomer * amount)
    overwrite_vector(model, r, x, norm)
    return r


@compiled
def move_share(model, r, heir, share):
    """Add a share of the coefficients of vector r to those of the heir, and set those of r to 0."""
    for c in range(model.coefficients.shape[0]):
        amount = share * model.coefficients[c, r]
        model.coefficients[c, r] = 0.0
        model.coefficients[c, heir] = bounded(model, model.coefficients[c, heir] + amount)


@compiled
def shares(model, r, row, k_tt):
    """(p, q) with k(x_r, .) = p k(x_t, .) + q k(x_n, .) by least squares, for the newcomer t and the neighbour n of r."""
    n = int(model.per_vector[NEIGHBOUR, r])
    if n < 0:
        return row[r] / k_tt if k_tt > 0.0 else 0.0, 0.0
    k_rn, k_nn = model.per_vector[SIMILARITY, r], self_kernel(model, model.norms[n])
    k_rt, k_nt = row[r], row[n]
    determinant = k_tt * k_nn - k_nt * k_nt
    if determinant <= TINY * k_tt * k_nn:  # newcomer and neighbour are the same: half each
        both = k_tt + k_nn
        return (k_rt / both, k_rn / both) if both > 0.0 else (0.0, 0.0)
    return (k_nn * k_rt - k_nt * k_rn) / determinant, (k_tt * k_rn - k_nt * k_rt) / determinant


@compiled
def update_neighbours(model, j):
    """For a new vector j, find its nearest neighbour, and update the vectors whose nearest neighbour j is now."""
    n, per_vector, row = model.head.count, model.per_vector, model.row
    find_neighbour(model, j)
    lost = f64(model.heap, n)
    for i in range(n):
        lost[i] = 0.0
        if i != j and (row[i] > per_vector[SIMILARITY, i] or per_vector[NEIGHBOUR, i] < 0.0):
            per_vector[NEIGHBOUR, i], per_vector[SIMILARITY, i] = j, row[i]
        elif i != j and per_vector[NEIGHBOUR, i] == j:
            lost[i] = 1.0
    for i in range(n):  # vectors whose neighbour was the one that j replaces
        if lost[i] != 0.0:
            find_neighbour(model, i)


@compiled
def find_neighbour(model, j):
    """Find the nearest neighbour of vector j; of several, the oldest."""
    row_of_vector(model, j)
    row, best = model.row, -1
    for i in range(model.head.count):
        if i != j and (
            best < 0
            or row[i] > row[best]
            or (row[i] == row[best] and model.arrivals[i] < model.arrivals[best])
        ):
            best = i
    model.per_vector[NEIGHBOUR, j] = best
    model.per_vector[SIMILARITY, j] = row[best] if best >= 0 else 0.0


@compiled
def exchange_by_projection(model, x, norm, plus, minus, step):
    """BPA-P: add the newcomer and project r on all others. A newcomer in the span of the support is projected itself."""
    _, _, stored = add_or_project(model, x, norm, plus, minus, step)
    if stored and model.head.count > model.head.budget:
        project_out(model, cheapest(model, model.head.count - 1))


@compiled(called_from_python=True)
def shrink_to_budget(call):
    """Remove vectors until the model keeps its budget, which a user has made smaller.

    There is no newcomer: the removed vector's neighbour inherits, or all others, or none, by variant.
    """
    model = model_of(call)
    state, head = state_at(model.state), model.head
    if state.code == PROJECTION:
        while head.count > head.budget:
            project_out(model, cheapest(model, head.count))
    while head.count > head.budget:
        r = lightest(model, model.buffer)
        if state.code == NEAREST:
            find_neighbour(model, r)
            heir = int(model.per_vector[NEIGHBOUR, r])
            k_nn = self_kernel(model, model.norms[heir])
            if k_nn > 0.0:
                move_share(model, r, heir, model.per_vector[SIMILARITY, r] / k_nn)
        remove(model, r)
    for j in range(head.count if state.code == NEAREST else 0):
        find_neighbour(model, j)

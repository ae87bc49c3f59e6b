"""The support before and after each maintenance of a stream, compared with exhaustive search for a
pair.
"""

from __future__ import annotations

import numpy as np
from inside import plain, row, squared_length, support
from oracles.budgeted_sgd import BudgetedSGD, degradations, weight_degradation
from oracles.rounds import lightest

from river_budget.kernels import RBF

BEST = 1.0 + 1e-3  # the degradation against that of an exhaustive search
ROUNDING = 1e-12  # of the squared lengths that cancel in a degradation


def maintenances(model, stream):
    """(support with the newcomer, gamma, support after) for every example that exceeded the
    budget.
    """
    for x, y in stream:
        model.learn_one(x, y, 0.0)  # adds new features and labels
        before, t = support(model), int(model._state_record().rounds)
        model.learn_one(x, y)
        oracle = one_round(model, before, t, row(model, x), y)
        if len(oracle.X) > model.budget:
            yield np.array(oracle.X), oracle.A, before, support(model)


def one_round(model, before, t, x, y):
    """The reference after a round from this support, without any maintenance."""
    outputs = before.A.shape[1]
    task = "binary" if outputs == 1 else "multiclass"
    kernel = plain(model.kernel)
    oracle = BudgetedSGD(kernel, task, outputs, None, "oldest", model.l2, project_to_ball=False)
    oracle.X, oracle.A, oracle.t = list(before.X), before.A, t
    code = model._labels.codes[y]
    oracle.step(x, code if task == "binary" else int(code))
    return oracle


def members_and_result(X, A, before, after):
    """(merged rows, merged vector), without the scaling by the projection on the ball."""
    arrivals = np.append(before.arrivals, after.arrivals[-1] - 1)  # the newcomer came just before
    stayed = np.isin(arrivals, after.arrivals)
    kept = after.A[:-1]
    scale = np.sum(kept * A[stayed]) / np.sum(A[stayed] ** 2)
    return np.flatnonzero(~stayed), after.X[-1], after.A[-1] / scale


def assert_best_pairs(model, stream, at_least):
    """Assert that the merged pair and its h lose no more than those of an exhaustive search."""
    gamma, found = model.kernel.gamma, 0
    for X, A, before, after in maintenances(model, stream):
        members, z, a_z = members_and_result(X, A, before, after)
        p = lightest(np.sum(A**2, axis=1))
        assert p in members
        assert len(members) == 2
        best = degradations(A, X, gamma, p).min()
        (q,) = set(members.tolist()) - {p}
        assert loss_by_kernel(X, A, p, q, z, a_z, gamma) <= best * BEST
        heaviest = np.sum(A**2, axis=1).max()
        slack = ROUNDING * (A[p] @ A[p]) + ROUNDING**2 * heaviest  # the last leaves no trace
        assert loss_by_place(X, A, p, q, z, gamma) <= best * BEST + slack
        found += 1
    assert found >= at_least


def loss_by_kernel(X, A, p, q, z, a_z, gamma):
    """The degradation by merging the pair, minus the largest rounding error."""
    points, parts = np.array([X[p], X[q], z]), np.array([A[p], A[q], -a_z])
    loss = squared_length(points, parts, RBF(gamma))
    return loss - ROUNDING * np.sum(parts**2)


def loss_by_place(X, A, p, q, z, gamma):
    """The degradation from the position of z between the two vectors, without cancellation."""
    line = X[p] - X[q]
    length = line @ line
    h = (z - X[q]) @ line / length if length > 0.0 else 0.0
    return weight_degradation(h, gamma * length, A[p] @ A[p], A[q] @ A[q], A[p] @ A[q])

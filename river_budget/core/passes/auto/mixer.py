"""The mixture of all experts: probabilities from scores, their weights by Newton steps, and a calibration.

E. Hazan, A. Agarwal, S. Kale. Logarithmic regret algorithms for online convex optimization. Machine Learning 69, 2007.
(Here with forgetting, and with weights that need not be positive or sum to 1.)

    spec   here
    w_k    mixer.weight, which begins at `start` and decays towards it
    A      mixer.curvature; it never falls below MIXER_RIDGE on its diagonal
    g_k    solver.slope; h = A^-1 (...)  is computed from scratch in every round, as an updated inverse would lose
           its definiteness
    P      mixture.share, and p the largest of them, of the most probable class

Calibration: between 1/C and 1 there are knots; for each, a running mean of the excess by which predictions with about
probability p were right more often than p (histogram binning, linear between the knots). It corrects what no mixture
of logarithms can express, such as labels of which one in ten is noise, so that no probability should exceed .9. The
predicted class does not change. calibration.mass: weights of the knots; calibration.excess: sums of [right] - p.
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling.array_views import address_of, f64
from ...compiling.jit import compiled
from ...examples.call import row_of
from ...simd.exponential import exp_of, exponentials, softmax
from ...simd.vector_ops import combine, dot
from .tables import (
    CALIBRATION_KNOTS,
    EXPERT_COLUMNS,
    KERNEL_EXPERTS,
    N_EXPERTS,
    VOTE_EXPERTS,
    WORD_EXPERTS,
    columns_of,
    desk_of,
    found_of,
    room_of,
)

MIXER_FORGETTING = 0.999  # lam
MIXER_RIDGE = 10.0
LOSS_RATE = 0.01  # rate of the running losses
RIGHT_SIDE = EXPERT_COLUMNS - 1  # the last column, as there are fewer experts than columns
CALIBRATION_FORGETTING = 0.999
DOUBT = 30.0  # number of examples without excess with which every knot begins
AHEAD_OF_SECOND = 1.0 + 1e-9  # so that corrected probabilities do not tie
CERTAIN = 1.0 - 1e-4  # larger probabilities are not corrected


# Which experts there are


@compiled
def experts_of(state):
    """The number of experts: least squares only up to MOST_SQUARED features."""
    if state.slots > 0:
        return np.int64(WORD_EXPERTS)
    return N_EXPERTS - np.int64(state.second_order < 0)


@compiled
def far_expert(state):
    """The index of the vote of far rows: the last one."""
    return experts_of(state) - 1


# From scores to probabilities


@compiled
def link(scores, shares):
    """Write probabilities from scores. With two classes there is one score; that of the other class is its negative."""
    if shares.shape[0] == 2:
        small = exp_of(-2.0 * abs(scores[0]))
        large = 1.0 / (1.0 + small)
        shares[1] = large if scores[0] >= 0.0 else small * large
        shares[0] = small * large if scores[0] >= 0.0 else large
        return
    softmax(scores, shares)


@compiled
def link_all(model, first):
    """Write the probabilities of all experts from `first` on, except the votes. (With two classes those of all experts
    at once, as one vector; numbers written for other experts are overwritten later.)"""
    desk = desk_of(model)
    shares, scores = desk.shares, desk.scores
    if columns_of(model) > 1:
        for k in range(first, N_EXPERTS):
            if k < VOTE_EXPERTS or k >= KERNEL_EXPERTS:
                link(row_of(scores, k), row_of(shares, k))
        return
    margins, odds = in_one(scores), in_one(desk.logs)
    for k in range(EXPERT_COLUMNS):
        odds[k] = -2.0 * abs(margins[k])
    exponentials(odds, odds, np.int64(EXPERT_COLUMNS))
    for k in range(EXPERT_COLUMNS):
        large = 1.0 / (1.0 + odds[k])
        shares[k, 1] = large if margins[k] >= 0.0 else odds[k] * large
        shares[k, 0] = odds[k] * large if margins[k] >= 0.0 else large


@compiled
def in_one(table):
    """All numbers of a table, as one array."""
    return f64(address_of(table), table.shape[0] * table.shape[1])


# The Newton step


@compiled
def mean_log(shares, logs):
    """sum_c P_c l_c"""
    if logs.shape[0] == 2:
        return shares[0] * logs[0] + shares[1] * logs[1]
    return dot(shares, logs, logs.shape[0])


@compiled
def newton_step(model, n, start, step, w):
    """A <- lam A + w u u' + (1 - lam) ridge I;  w_k <- w_k - A^-1 (w step g + (1 - lam) ridge (w_k - start)),
    with g in solver.slope and u in solver.curve, which is overwritten."""
    mixer, solver = room_of(model).mixer, desk_of(model).solver
    curve, answer = solver.curve, solver.answer
    leak, root = (1.0 - MIXER_FORGETTING) * MIXER_RIDGE, math.sqrt(w)
    for i in range(n):
        curve[i] *= root  # so that the matrix stays symmetric to the last bit
    for i in range(n, EXPERT_COLUMNS):
        curve[i] = 0.0
    for i in range(n):
        line = mixer.curvature[i]
        combine(line, MIXER_FORGETTING, curve[i], curve, EXPERT_COLUMNS)
        line[i] += leak
        answer[i] = w * step * solver.slope[i] + leak * (mixer.weight[i] - start)
    solve(mixer.curvature, solver.triangle, answer, n)
    for i in range(n):
        mixer.weight[i] -= answer[i]


@compiled
def solve(matrix, triangle, answer, n):
    """answer = matrix^-1 answer, by elimination; a positive definite matrix has no small pivots. The right
    side is the last column meanwhile, so that each step treats a whole row alike."""
    for i in range(n):
        for j in range(EXPERT_COLUMNS):
            triangle[i, j] = matrix[i, j]
        triangle[i, RIGHT_SIDE] = answer[i]
    for k in range(n):
        inverse = 1.0 / triangle[k, k]
        for i in range(k + 1, n):
            factor = triangle[k, i] * inverse
            combine(triangle[i], 1.0, -factor, triangle[k], EXPERT_COLUMNS)
        triangle[k, k] = inverse
    for i in range(n - 1, -1, -1):
        total = triangle[i, RIGHT_SIDE]
        for k in range(i + 1, n):
            total -= triangle[i, k] * answer[k]
        answer[i] = total * triangle[i, i]


@compiled
def learn_loss(model, expert, rounds, loss):
    """Update the running loss of an expert, which only `experts()` reads."""
    losses = room_of(model).mixer.loss
    losses[expert] += max(1.0 / (rounds + 1.0), LOSS_RATE) * (loss - losses[expert])


# Calibration


@compiled
def calibrate(model):
    """Compute the corrected probability of the most probable class."""
    shares, found, table = desk_of(model).mixture.share, found_of(model), room_of(model).calibration
    n, top, second = shares.shape[0], 0, 0.0
    for c in range(1, n):
        if shares[c] > shares[top] or (n == 2 and shares[1] == shares[0]):
            top = c  # if both classes are equal, the second, positive one
    for c in range(n):
        second = max(second, shares[c] if c != top else 0.0)
    p = shares[top]
    place = min(max((p * n - 1.0) / (n - 1.0), 0.0), 1.0) * (CALIBRATION_KNOTS - 1)
    left = min(int(place), CALIBRATION_KNOTS - 2)
    share = place - left
    low = table.excess[left] / (table.mass[left] + DOUBT)
    high = table.excess[left + 1] / (table.mass[left + 1] + DOUBT)
    right = min(p + (1.0 - share) * low + share * high, CERTAIN)
    found.top, found.place = top, place
    least = AHEAD_OF_SECOND * second / (second + 1.0 - p)
    found.corrected = p if p >= CERTAIN else max(right, least)


@compiled
def corrections(model):
    """(the most probable class, what to add to the logarithm of its probability, and to those of the other classes,
    whose probabilities sum to the rest)"""
    found = found_of(model)
    top, corrected = int(found.top), found.corrected
    p = desk_of(model).mixture.share[top]
    if p >= CERTAIN:
        return top, 0.0, 0.0
    return top, math.log(corrected / p), math.log((1.0 - corrected) / (1.0 - p))


@compiled
def learn_calibration(model, y, w):
    """Update the two knots around p by whether the most probable class was right; all knots decay."""
    table, found = room_of(model).calibration, found_of(model)
    mass, excesses, top = table.mass, table.excess, int(found.top)
    left = min(int(found.place), CALIBRATION_KNOTS - 2)
    share = found.place - left
    excess = w * ((1.0 if y == top else 0.0) - desk_of(model).mixture.share[top])
    for i in range(CALIBRATION_KNOTS):
        mass[i] *= CALIBRATION_FORGETTING
        excesses[i] *= CALIBRATION_FORGETTING
    mass[left] += w * (1.0 - share)
    mass[left + 1] += w * share
    excesses[left] += (1.0 - share) * excess
    excesses[left + 1] += share * excess

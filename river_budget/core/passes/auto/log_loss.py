"""The AutoKernel classifier: experts that give probabilities, mixed by their logarithms, under the log loss
(examples/auto_kernel.md, Classification).

p_k      shares[k], per class; l_k  logs[k]; [c = y] - p_kc  errors[k]
P        shares[MIXTURE]; z  logs[MIXTURE], or of two classes half of the difference, in scores[MIXTURE]
y        a class; column c of all tables belongs to class `first` + c, where two classes share one column
v        state.residual
"""

from __future__ import annotations

import numpy as np

from ...compiling import inlined, inner, passes
from ...numerics import exp_of, log_of
from .archive import MANY_COLUMNS
from .binning import learn_bins
from .calibration import CERTAIN, calibrate, learn_calibration
from .experts import HEAVIEST_EXAMPLE, SOFTNESS, consult_experts, is_predicted, store
from .linear_models import N_RATES, RATES, learn_least_squares, learn_linear
from .memory import weigh
from .metric import TRAINED, learn_metric
from .mixer import LOSS_RATE, newton_step
from .tables import (
    BINS,
    CURVE,
    EXPERTS,
    FAR,
    LOSS,
    MIXTURE,
    NEAR,
    NEIGHBOURS,
    ORIENTATION,
    OWN,
    PLAIN,
    QUICK,
    RAW,
    SHARE,
    SLOPE,
    SQUARES,
    START,
    TARGET,
    WEIGHT,
    WIDE,
    WORK,
)

FIRST_WEIGHTS = 1.5  # the sum of all experts' first weights
MIXER_STEP = 1.8
EASY = 0.9  # rows whose right class has this probability or more are not hard
UNIFORM_SHARE = 1e-3  # the share of the uniform distribution in every expert's probabilities
KERNEL_STEP = 1.0
PRIOR_RATE = 0.02
PRIOR_VOTES = 0.3  # the prior counts as so many neighbours
RESIDUAL_RATE, LEAST_RESIDUAL = 0.005, 1e-3
NEVER = -1e3  # log-odds that are a probability of 0


@passes
def learn(m, states, rows, room, desk):
    """Learn the rows in order; scores[t] = log-probabilities before x_t is learned, or log-odds of two classes.
    Returns how many rows it has processed."""
    state, width = states[0], rows.places.shape[0]
    for t in range(rows.scores.shape[0]):
        x, w = rows.values[width * t : width * (t + 1)], rows.weights[t]
        predict(m, state, room, desk, x)
        write_scores(
            desk.scores, desk.logs, desk.shares[MIXTURE], room.unseen, desk.found[0], rows.scores[t]
        )
        if w > 0.0:
            y = class_of(desk.scores, rows.targets[t])
            learn_row(m, state, room, desk, y, min(w, HEAVIEST_EXAMPLE))
    return rows.scores.shape[0]


@passes
def score(m, states, rows, room, desk):
    """Score all rows. Returns how many it has scored."""
    state, width = states[0], rows.places.shape[0]
    for t in range(rows.scores.shape[0]):
        predict(m, state, room, desk, rows.values[width * t : width * (t + 1)])
        write_scores(
            desk.scores, desk.logs, desk.shares[MIXTURE], room.unseen, desk.found[0], rows.scores[t]
        )
    return rows.scores.shape[0]


@inner
def class_of(scores, target):
    """The number of the class: a target of two classes is -1 or 1."""
    return np.int64(target) if scores.shape[1] > 1 else np.int64(target > 0.0)


# Prediction


@inlined
def predict(m, state, room, desk, x):
    """Write everything that follows from x to the desk."""
    found, scores, shares = desk.found[0], desk.scores, desk.shares
    if not is_predicted(state, found, desk.features[RAW], x):
        consult_experts(m, state, room, desk, x)
        if state.second_order >= 0:
            # 1 and 0 for the right class and others, as logarithms of odds; one column stands for both of two classes
            middle = 0.5 if scores.shape[1] == 1 else 0.0
            confident = max(state.residual, LEAST_RESIDUAL)
            for c in range(scores.shape[1]):
                scores[SQUARES, c] = (scores[PLAIN, c] - middle) / confident
        for k in range(QUICK, EXPERTS):
            if k != NEAR and k != FAR:
                link(scores[k], shares[k])
        vote(desk.near, found.near, SOFTNESS, room.prior, shares[NEAR])
        softness = SOFTNESS if scores.shape[1] >= MANY_COLUMNS else TRAINED
        vote(desk.far, found.far, softness, room.prior, shares[FAR])
        mix(room.mixer, room.prior, scores, shares, desk.logs)
        calibrate(room.calibration, shares[MIXTURE], found)
        found.version = state.rounds + 1.0


@inner
def link(scores, shares):
    """Write probabilities from scores. With two classes there is one score; that of the other class is its negative."""
    if shares.shape[0] == 2:
        small = exp_of(-2.0 * abs(scores[0]))
        large = 1.0 / (1.0 + small)
        shares[1] = large if scores[0] >= 0.0 else small * large
        shares[0] = small * large if scores[0] >= 0.0 else large
        return
    highest, total = scores[0], 0.0
    for c in range(1, scores.shape[0]):
        highest = max(highest, scores[c])
    for c in range(scores.shape[0]):
        shares[c] = exp_of(scores[c] - highest)
        total += shares[c]
    for c in range(scores.shape[0]):
        shares[c] /= total


@inner
def vote(neighbours, n, softness, prior, votes):
    """The votes of n neighbours, and a few of the prior."""
    number = weigh(neighbours, n, softness)
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    for k in range(n):
        votes[np.int64(neighbours[TARGET, k])] += neighbours[SHARE, k]
    for c in range(votes.shape[0]):
        votes[c] = (votes[c] * number + PRIOR_VOTES * prior[c]) / (number + PRIOR_VOTES)


@inner
def mix(mixer, prior, scores, shares, logs):
    """Write the prior;  l_k = log((1 - eps) p_k + eps / C);  P = softmax(sum_k w_k l_k)"""
    starts, weights, mixed, n = mixer[START], mixer[WEIGHT], logs[MIXTURE], prior.shape[0]
    for c in range(n):
        shares[OWN, c], mixed[c] = prior[c], 0.0
    for k in range(EXPERTS):
        for c in range(n):
            logs[k, c] = log_of((1.0 - UNIFORM_SHARE) * shares[k, c] + UNIFORM_SHARE / n)
    for k in range(EXPERTS):
        if starts[k] != 0.0:
            for c in range(n):
                mixed[c] += weights[k] * logs[k, c]
    if n == 2:
        scores[MIXTURE, 0] = 0.5 * (mixed[1] - mixed[0])
        link(scores[MIXTURE], shares[MIXTURE])
    else:
        link(mixed, shares[MIXTURE])


@inner
def write_scores(scores, logs, shares, unseen, found, f):
    """The log-odds of two classes, or the logarithms of all probabilities, corrected; those of classes never seen are 0."""
    mixed, top, n, number = logs[MIXTURE], found.top, shares.shape[0], 0.0
    p, for_top, for_others = shares[top], 0.0, 0.0
    if p < CERTAIN:
        for_top = log_of(found.corrected / p)
        for_others = log_of((1.0 - found.corrected) / (1.0 - p))
    for c in range(n):
        number += unseen[c]
    some = 0.0 < number < n
    if n == 2:
        odds = mixed[1] - mixed[0]
        f[0] = odds + (for_top - for_others if top == 1 else for_others - for_top)
        if some:
            f[0] = NEVER if unseen[1] != 0.0 else -NEVER
        return
    shift = log_of(p) - mixed[top]
    for c in range(n):
        more = for_top if c == top else for_others
        f[c] = NEVER if some and unseen[c] != 0.0 else mixed[c] + shift + more


# Learning


@inlined
def learn_row(m, state, room, desk, y, w):
    """Learn the row that was predicted last."""
    hard = desk.shares[MIXTURE, y] < EASY
    write_errors(desk.errors, desk.shares, desk.scores, y, w)
    learn_mixture(state, room, desk, y, w)
    learn_models(state, room, desk, w)
    train_metric(state, room, desk, y, w)
    store(m, state, room, desk, np.float64(y), hard, w, 0.0, KERNEL_STEP)
    state.rounds += 1


@inner
def write_errors(errors, shares, scores, y, w):
    """Write the errors of every expert, times the weight of the row: [c = y] - p_kc; for least squares [c = y] - s_c,
    as their gain contains the weight."""
    first = shares.shape[1] - errors.shape[1]  # the class of column 0
    for k in range(EXPERTS):
        for c in range(errors.shape[1]):
            errors[k, c] = w * ((first + c == y) - shares[k, first + c])
    for c in range(errors.shape[1]):
        errors[SQUARES, c] = (first + c == y) - scores[PLAIN, c]


@inlined
def learn_mixture(state, room, desk, y, w):
    """The mixer, with g_k = sum_c P_c l_kc - l_ky; then calibration and prior."""
    starts, losses, prior = room.mixer[START], room.mixer[LOSS], room.prior
    logs, mixed, solver = desk.logs, desk.shares[MIXTURE], desk.solver
    rate = max(1.0 / (state.rounds + 1.0), LOSS_RATE)
    for k in range(EXPERTS):
        solver[SLOPE, k] = solver[CURVE, k] = 0.0
        if starts[k] != 0.0:
            slope = -logs[k, y]
            for c in range(logs.shape[1]):
                slope += mixed[c] * logs[k, c]
            solver[SLOPE, k] = solver[CURVE, k] = slope
            losses[k] -= rate * (logs[k, y] + losses[k])
    newton_step(room.mixer, solver, MIXER_STEP, w)
    learn_calibration(room.calibration, mixed, desk.found[0], y, w)
    room.unseen[y] = 0.0
    for c in range(prior.shape[0]):
        prior[c] += min(w * PRIOR_RATE, 1.0) * ((c == y) - prior[c])


@inlined
def learn_models(state, room, desk, w):
    """The linear models and the bins."""
    errors, linear, wide, steps = desk.errors, room.linear, desk.features[WIDE], desk.features[WORK]
    for u in range(N_RATES):
        learn_linear(linear.weights, linear.sums, u, RATES[u], wide, errors[QUICK + u], steps)
    learn_bins(room.bins.cells, desk.hits, errors[BINS])
    if state.second_order >= 0:
        lacking, orientations, total = errors[SQUARES], desk.features[ORIENTATION], 0.0
        n = state.second_order + 1
        learn_least_squares(room.squares, n, wide, orientations, lacking, w, desk.gain)
        for c in range(lacking.shape[0]):
            total += lacking[c] * lacking[c]
        residual = min(total / lacking.shape[0], 1.0)  # two classes have the same error
        state.residual += min(w * RESIDUAL_RATE, 1.0) * (residual - state.residual)
        state.residual = max(state.residual, LEAST_RESIDUAL)


@inlined
def train_metric(state, room, desk, y, w):
    """g_f = a_f beta / D_(K) (sum_N pi_i (x_f - s_if)^2 - sum_{N, y_i = y} pi_i (x_f - s_if)^2 / v_y), with the shares pi_i
    of a softer vote, which replace those of the neighbours."""
    near, n, right = desk.near, desk.found[0].near, 0.0
    if n >= NEIGHBOURS:
        weigh(near, n, TRAINED)
        for k in range(n):
            right += near[SHARE, k] if near[TARGET, k] == y else 0.0
        if right > 0.0:
            for k in range(n):
                near[SHARE, k] -= near[SHARE, k] / right if near[TARGET, k] == y else 0.0
            learn_metric(
                room.metric, desk.features, near, room.archive.rows, state.features, 1.0, w
            )

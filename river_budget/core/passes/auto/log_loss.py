"""The AutoKernel classifier: experts that give probabilities, mixed by their logarithms, under the log loss.

spec     here
p_k      desk.shares[k], per class; l_k  desk.logs[k]; [c = y] - p_kc  desk.errors[k]
P        mixture.share; z  mixture.score
y        a class; column c of all tables belongs to class `first` + c, where two classes share one column
v        state.residual
"""

from __future__ import annotations

import numpy as np

from ...compiling.array_views import address_of, f64
from ...compiling.by_address import shared
from ...compiling.jit import compiled
from ...compiling.model_type import MODEL, NOTHING, NUMBERS
from ...compiling.needs import Need
from ...examples.call import row_of, scores_of, unpack_rows, whole_row
from ...simd.exponential import exp_of, exponentials, log_of, logarithms, softmax
from .archive import MANY_COLUMNS
from .binning import learn_bins
from .calibration import CERTAIN, calibrate, learn_calibration
from .experts import HEAVIEST_EXAMPLE, SOFTNESS, consult_experts, is_predicted, store
from .linear_models import N_RATES, RATES, learn_least_squares, learn_linear
from .memory import weigh
from .metric import TRAINED, learn_weights
from .mixer import LOSS_RATE, newton_step
from .tables import (
    BINS,
    EXPERTS,
    FAR,
    NEAR,
    NEIGHBOURS,
    OWN,
    QUICK,
    SQUARES,
    columns_of,
    desk_of,
    found_of,
    room_of,
    state_at,
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


@compiled(called_from_python=True)
def learn(call):
    """Learn the rows in order; scores[t] = log-probabilities before x_t is learned, or log-odds of two classes.
    Returns how many rows it has processed."""
    model, stream, n = unpack_rows(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w = whole_row(stream, t)
        predict_classes(model, x)
        write_scores(model, f)
        if w > 0.0:
            learn_row(model, state, class_of(model, y), w)
    return n


@compiled(called_from_python=True)
def decide(call):
    """Score all rows. Returns how many it has scored."""
    model, stream, n = unpack_rows(call)
    for t in range(n):
        x, f = row_of(stream[0], t), scores_of(stream, t)
        predict_classes(model, x)
        write_scores(model, f)
    return n


@compiled
def class_of(model, target):
    """The number of the class: a target of two classes is -1 or 1."""
    return np.int64(target) if columns_of(model) > 1 else np.int64(target > 0.0)


# Prediction


@shared(Need.AUTO_CLASSES, NOTHING, MODEL, NUMBERS)
def predict_classes(model, x):
    """SCALE, EXPERTS and MIX: write everything that follows from x to the desk."""
    state, desk, found = state_at(model.state), desk_of(model), found_of(model)
    if is_predicted(model, state, x):
        return
    consult_experts(model, x)
    if state.second_order >= 0:
        # 1 and 0 for the right class and others, as logarithms of odds; one column stands for both of two classes
        middle = 0.5 if columns_of(model) == 1 else 0.0
        for c in range(desk.squares.shape[0]):
            confident = max(state.residual, LEAST_RESIDUAL)
            desk.scores[SQUARES, c] = (desk.squares[c] - middle) / confident
    link_all(model, desk.scores, desk.shares)
    vote(model, desk.near, found.near, SOFTNESS, row_of(desk.shares, NEAR))
    softness = SOFTNESS if columns_of(model) >= MANY_COLUMNS else TRAINED
    vote(model, desk.far, found.far, softness, row_of(desk.shares, FAR))
    mix(model)
    calibrate(model)
    found.version = state.rounds + 1.0


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
def link_all(model, scores, shares):
    """The same of all experts. (With two classes, as one vector. What is written for those that have no scores is
    written again later.)"""
    if columns_of(model) > 1:
        for k in range(EXPERTS):
            if k != OWN and k != NEAR and k != FAR:
                link(row_of(scores, k), row_of(shares, k))
        return
    margins, odds = in_one(scores), in_one(desk_of(model).logs)
    for k in range(EXPERTS):
        odds[k] = -2.0 * abs(margins[k])
    exponentials(odds, odds, np.int64(EXPERTS))
    for k in range(EXPERTS):
        large = 1.0 / (1.0 + odds[k])
        shares[k, 1] = large if margins[k] >= 0.0 else odds[k] * large
        shares[k, 0] = odds[k] * large if margins[k] >= 0.0 else large


@compiled
def in_one(table):
    """All numbers of a table, as one array."""
    return f64(address_of(table), table.shape[0] * table.shape[1])


@compiled
def vote(model, neighbours, n, softness, votes):
    """The votes of n neighbours, and a few of the prior."""
    number, prior = weigh(neighbours, n, softness), room_of(model).prior
    pi, labels = neighbours.share, neighbours.target
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    for k in range(n):
        votes[np.int64(labels[k])] += pi[k]
    for c in range(votes.shape[0]):
        votes[c] = (votes[c] * number + PRIOR_VOTES * prior[c]) / (number + PRIOR_VOTES)


@compiled
def mix(model):
    """Write the prior;  l_k = log((1 - eps) p_k + eps / C);  P = softmax(sum_k w_k l_k)"""
    desk, mixer, prior = desk_of(model), room_of(model).mixer, room_of(model).prior
    starts, weights, logs, mixture = mixer.start, mixer.weight, desk.logs, desk.mixture
    shares, all_logs, n = in_one(desk.shares), in_one(logs), desk.shares.shape[1]
    for c in range(n):
        desk.shares[OWN, c] = prior[c]
    for i in range(EXPERTS * n):
        all_logs[i] = (1.0 - UNIFORM_SHARE) * shares[i] + UNIFORM_SHARE / n
    logarithms(all_logs, all_logs, np.int64(EXPERTS * n))
    for c in range(n):
        mixture.score[c] = 0.0
    for k in range(EXPERTS):
        if starts[k] != 0.0:
            for c in range(n):
                mixture.score[c] += weights[k] * logs[k, c]
    if n == 2:
        mixture.margin[0] = 0.5 * (mixture.score[1] - mixture.score[0])
        link(mixture.margin, mixture.share)
    else:
        link(mixture.score, mixture.share)


@compiled
def write_scores(model, scores):
    """The log-odds of two classes, or the logarithms of all probabilities, corrected; those of classes never seen are 0."""
    mixture, found, unseen = (desk_of(model).mixture, found_of(model), room_of(model).unseen)
    top, n, number = found.top, mixture.share.shape[0], 0.0
    p, for_top, for_others = mixture.share[top], 0.0, 0.0
    if p < CERTAIN:
        for_top = log_of(found.corrected / p)
        for_others = log_of((1.0 - found.corrected) / (1.0 - p))
    for c in range(n):
        number += unseen[c]
    some = 0.0 < number < n
    if n == 2:
        odds = mixture.score[1] - mixture.score[0]
        scores[0] = odds + (for_top - for_others if top == 1 else for_others - for_top)
        if some:
            scores[0] = NEVER if unseen[1] != 0.0 else -NEVER
        return
    shift = log_of(p) - mixture.score[top]
    for c in range(n):
        more = for_top if c == top else for_others
        scores[c] = NEVER if some and unseen[c] != 0.0 else mixture.score[c] + shift + more


# Learning


@compiled
def learn_row(model, state, y, w):
    """LEARN, after `predict_classes` of the same row."""
    hard, w = desk_of(model).mixture.share[y] < EASY, min(w, HEAVIEST_EXAMPLE)
    write_errors(model, y, w)
    learn_mixture(model, state, y, w)
    learn_models(model, state, w)
    learn_metric(model, state, y, w)
    store(model, state, np.float64(y), hard, w, 0.0, KERNEL_STEP)
    state.rounds += 1


@compiled
def write_errors(model, y, w):
    """Write the errors of every expert, times the weight of the row: [c = y] - p_kc; for least squares [c = y] - s_c,
    as their gain contains the weight."""
    desk = desk_of(model)
    errors, shares, squares = desk.errors, desk.shares, desk.squares
    first = shares.shape[1] - errors.shape[1]  # the class of column 0
    for k in range(EXPERTS):
        for c in range(errors.shape[1]):
            errors[k, c] = w * ((first + c == y) - shares[k, first + c])
    for c in range(errors.shape[1]):
        errors[SQUARES, c] = (first + c == y) - squares[c]


@compiled
def learn_mixture(model, state, y, w):
    """The mixer, with g_k = sum_c P_c l_kc - l_ky; then calibration and prior."""
    desk, starts, losses = (desk_of(model), room_of(model).mixer.start, room_of(model).mixer.loss)
    prior, rate = room_of(model).prior, max(1.0 / (state.rounds + 1.0), LOSS_RATE)
    logs, shares, slopes, curves = (desk.logs, desk.mixture.share, desk.solver.slope, desk.levels)
    for k in range(EXPERTS):
        slopes[k] = curves[k] = 0.0
        if starts[k] != 0.0:
            slope = -logs[k, y]
            for c in range(logs.shape[1]):
                slope += shares[c] * logs[k, c]
            slopes[k] = curves[k] = slope
            losses[k] -= rate * (logs[k, y] + losses[k])
    newton_step(model, slopes, curves, MIXER_STEP, w)
    learn_calibration(model, y, w)
    room_of(model).unseen[y] = 0.0
    for c in range(prior.shape[0]):
        prior[c] += min(w * PRIOR_RATE, 1.0) * ((c == y) - prior[c])


@compiled
def learn_models(model, state, w):
    """lin, bin, linrls"""
    errors = desk_of(model).errors
    for u in range(N_RATES):
        learn_linear(model, u, RATES[u], row_of(errors, QUICK + u))
    learn_bins(model, row_of(errors, BINS))
    if state.second_order >= 0:
        lacking, total = row_of(errors, SQUARES), 0.0
        learn_least_squares(model, state, lacking, w)
        for c in range(lacking.shape[0]):
            total += lacking[c] * lacking[c]
        residual = min(total / lacking.shape[0], 1.0)  # two classes have the same error
        state.residual += min(w * RESIDUAL_RATE, 1.0) * (residual - state.residual)
        state.residual = max(state.residual, LEAST_RESIDUAL)


@compiled
def learn_metric(model, state, y, w):
    """g_f = a_f beta / D_(K) (sum_N pi_i (x_f - s_if)^2 - sum_{N, y_i = y} pi_i (x_f - s_if)^2 / v_y), with the shares pi_i
    of a softer vote, which replace those of the neighbours."""
    near, n, right = desk_of(model).near, found_of(model).near, 0.0
    pi, labels = near.share, near.target
    if n < NEIGHBOURS:
        return
    weigh(near, n, TRAINED)
    for k in range(n):
        right += pi[k] if labels[k] == y else 0.0
    if right > 0.0:
        for k in range(n):
            pi[k] -= pi[k] / right if labels[k] == y else 0.0
        learn_weights(model, state, pi, 1.0, w)

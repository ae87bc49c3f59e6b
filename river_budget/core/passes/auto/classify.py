"""The AutoKernel classifier: experts over one memory under a learned metric, mixed by a Newton step.

    spec     here
    x+       desk.scaled; D_i  model.row
    p_k      desk.shares[k], per class; l_k  desk.logs[k]; [c = y] - p_kc  desk.errors[k]
    P        mixture.share; z  mixture.score
    y        a class; column c of all tables belongs to class `first` + c, where two classes share one column

The experts stand in the order of PRIOR_EXPERT, LINEAR_EXPERTS and those of tables.py, which regression has too.
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling.by_address import shared
from ...compiling.jit import compiled
from ...compiling.model_type import MODEL, NOTHING, NUMBERS
from ...compiling.needs import Need
from ...examples.call import row_of, scores_of, unpack_rows, whole_row
from ...examples.finite import is_finite
from ...simd.exponential import logarithms
from ...simd.vector_ops import LANES
from .archive import archive_row, find_far
from .binning import learn_bins, predict_bins
from .linear_models import (
    QUICK_RATE,
    SLOW_RATE,
    compute_gain,
    learn_least_squares,
    learn_linear,
    least_squares_scores,
    linear_scores,
    shrink_covariance,
)
from .memory import (
    SHARPEST,
    SOFTEST,
    find_nearest,
    free_place,
    is_predicted,
    mark_predicted,
    store_row,
    weigh,
    weigh_neighbours,
)
from .metric import (
    learn_usual_distance,
    learn_weights,
    predict_kernels,
    scale_and_compare,
    write_coefficients,
)
from .mixer import (
    calibrate,
    corrections,
    experts_of,
    far_expert,
    in_one,
    learn_calibration,
    learn_loss,
    link,
    link_all,
    mean_log,
    newton_step,
)
from .scaling import learn_moments
from .tables import (
    BIN_EXPERTS,
    N_EXPERTS,
    NEIGHBOURS,
    SQUARES_EXPERT,
    VOTE_EXPERTS,
    columns_of,
    desk_of,
    found_of,
    memory_of,
    room_of,
    state_at,
)

PRIOR_EXPERT, LINEAR_EXPERTS = 0, 1
PLAIN_SQUARES = np.int64(N_EXPERTS)  # the row of the least squares output
FIRST_WEIGHTS = 1.2  # the sum of all experts' first weights
MIXER_STEP = 1.8
EASY = 0.88  # rows whose right class has this probability or more are not hard
UNIFORM_SHARE = 1e-3  # the share of the uniform distribution in every expert's probabilities
KERNEL_STEP = 1.0
PRIOR_RATE = 0.02
# Steps of the search for far rows. With many classes, where other work takes longer and the far vote counts for more,
# there are more steps.
FAR_STEPS, MORE_FAR_STEPS, MANY_COLUMNS = 1, 6, 8
PRIOR_VOTES = 0.3  # the prior counts as so many neighbours
SURE_VOTE = 1e-3  # votes closer to 0 or 1 than this do not train the metric
RESIDUAL_RATE, LEAST_RESIDUAL = 0.005, 1e-3
HEAVIEST_EXAMPLE = 1e3
NEVER = -1e3  # log-odds that are a probability of 0


@compiled(called_from_python=True)
def learn(call):
    """Learn the rows in order; scores[t] = log-probabilities before x_t is learned, or log-odds of two classes.
    Returns how many rows it has processed."""
    model, stream, n = unpack_rows(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w = whole_row(stream, t)
        if not is_finite(x):
            return t
        predict_experts(model, x)
        write_scores(model, f)
        if w > 0.0:
            learn_row(model, state, class_of(model, y), min(w, HEAVIEST_EXAMPLE))
    return n


@compiled(called_from_python=True)
def decide(call):
    """Score all rows. Returns how many it has scored: it stops at a row that is not finite."""
    model, stream, n = unpack_rows(call)
    if state_at(model.state).slots > 0:  # another thread has changed the model to words
        n = 0
    for t in range(n):
        x, f = row_of(stream[0], t), scores_of(stream, t)
        if not is_finite(x):
            return t
        predict_experts(model, x)
        write_scores(model, f)
    return n


@compiled
def class_of(model, target):
    """The number of the class: a target of two classes is -1 or 1."""
    return np.int64(target) if columns_of(model) > 1 else np.int64(target > 0.0)


# Prediction


@shared(Need.AUTO_CLASSES, NOTHING, MODEL, NUMBERS)
def predict_experts(model, x):
    """SCALE, EXPERTS and MIX: write everything that follows from x to the desk."""
    state = state_at(model.state)
    if is_predicted(model, state, x):
        return
    scale_and_compare(model, x)
    predict_linear(model, state)
    predict_bins(model)
    predict_kernels(model, state)
    link_all(model, LINEAR_EXPERTS)
    predict_prior(model)
    predict_votes(model, state)
    mix(model, state)
    mark_predicted(model, state)


@compiled
def predict_linear(model, state):
    """lin, linrls"""
    scores, columns = desk_of(model).scores, columns_of(model)
    for u in range(2):
        linear_scores(model, state, u, row_of(scores, LINEAR_EXPERTS + u))
    if state.second_order >= 0:
        middle = 0.5 if columns == 1 else 0.0  # one column stands for both classes
        row, plain = row_of(scores, SQUARES_EXPERT), row_of(scores, PLAIN_SQUARES)
        least_squares_scores(model, state, plain)
        for c in range(columns):
            row[c] = (plain[c] - middle) / max(state.residual, LEAST_RESIDUAL)


@compiled
def predict_prior(model):
    """prior"""
    shares, prior = desk_of(model).shares, room_of(model).prior
    for c in range(shares.shape[1]):
        shares[PRIOR_EXPERT, c] = prior[c]


@compiled
def predict_votes(model, state):
    """vote(8) and vote(3), whose shares of neighbours train the metric; then the vote of far rows."""
    desk, labels, n = desk_of(model), memory_of(model).target, find_nearest(model)
    near, nearest = desk.near, desk.near.place
    found_of(model).neighbours = n
    for u in range(2):
        number = weigh_neighbours(model, n, SHARPEST if u == 0 else SOFTEST) if n > 0 else 0.0
        votes = begin_votes(model, VOTE_EXPERTS + 1 - u)
        for k in range(n):
            votes[int(labels[nearest[k]])] += near.share[k]
        add_prior(model, votes, number)
    predict_far_votes(model, state, n)


@compiled
def predict_far_votes(model, state, n):
    """vote(8) of the nearest in memory and archive."""
    far, number = desk_of(model).far, 0.0
    steps = MORE_FAR_STEPS if columns_of(model) >= MANY_COLUMNS else FAR_STEPS
    number_far = find_far(model, state, n, steps)
    if n > 0:
        number = weigh(far.distance, far.weight, far.share, number_far, SHARPEST)
    votes = begin_votes(model, far_expert(state))
    for k in range(number_far):
        votes[int(far.target[k])] += far.share[k]
    add_prior(model, votes, number)


@compiled
def begin_votes(model, expert):
    """The shares of an expert that votes, all 0."""
    votes = row_of(desk_of(model).shares, expert)
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    return votes


@compiled
def add_prior(model, votes, number):
    """So many votes, and a few of the prior."""
    prior = room_of(model).prior
    for c in range(votes.shape[0]):
        votes[c] = (votes[c] * number + PRIOR_VOTES * prior[c]) / (number + PRIOR_VOTES)


@compiled
def mix(model, state):
    """l_k = log((1 - eps) p_k + eps / C);  P = softmax(sum_k w_k l_k)"""
    desk, weights = desk_of(model), room_of(model).mixer.weight
    logs, mixture, n = desk.logs, desk.mixture, desk.shares.shape[1]
    all_shares, all_logs = in_one(desk.shares), in_one(logs)
    number = (experts_of(state) * n + LANES - 1) // LANES * LANES
    for i in range(number):
        all_logs[i] = (1.0 - UNIFORM_SHARE) * all_shares[i] + UNIFORM_SHARE / n
    logarithms(all_logs, all_logs, number)
    for c in range(n):
        mixture.score[c] = 0.0
    for k in range(experts_of(state)):
        for c in range(n):
            mixture.score[c] += weights[k] * logs[k, c]
    if n == 2:
        mixture.margin[0] = 0.5 * (mixture.score[1] - mixture.score[0])
        link(mixture.margin, mixture.share)
    else:
        link(mixture.score, mixture.share)
    calibrate(model)


@compiled
def write_scores(model, scores):
    """The log-odds of two classes, or the logarithms of all probabilities, which are 0 of classes never seen."""
    unseen, number = room_of(model).unseen, 0.0
    write_calibrated(model, scores)
    for c in range(unseen.shape[0]):
        number += unseen[c]
    if number == 0.0 or number == unseen.shape[0]:
        return
    if unseen.shape[0] == 2:
        scores[0] = NEVER if unseen[1] != 0.0 else -NEVER
        return
    for c in range(unseen.shape[0]):
        if unseen[c] != 0.0:
            scores[c] = NEVER


@compiled
def write_calibrated(model, scores):
    """The same of all classes, after calibration."""
    mixture = desk_of(model).mixture
    top, for_top, for_others = corrections(model)
    if mixture.share.shape[0] == 2:
        odds = mixture.score[1] - mixture.score[0]
        scores[0] = odds + (for_top - for_others if top == 1 else for_others - for_top)
        return
    shift = math.log(mixture.share[top]) - mixture.score[top]
    for c in range(mixture.share.shape[0]):
        scores[c] = mixture.score[c] + shift + for_others
    scores[top] = mixture.score[top] + shift + for_top


# Learning


@compiled
def learn_row(model, state, y, w):
    """LEARN, after `predict_experts` of the same row."""
    write_errors(model, state, y, w)
    learn_mixture(model, state, y, w)
    learn_calibration(model, y, w)
    learn_models(model, state, w)
    learn_metric(model, state, y, w)
    learn_usual_distance(model, state)
    remember(model, state, y, w)
    learn_prior(model, y, w)
    learn_moments(model, state)
    state.rounds += 1


@compiled
def write_errors(model, state, y, w):
    """Write the errors of every expert, times the weight of the row: [c = y] - p_kc; for least squares [c = y] - s_c,
    as their gain contains the weight."""
    desk = desk_of(model)
    errors, shares, scores = desk.errors, desk.shares, desk.scores
    first = shares.shape[1] - errors.shape[1]  # the class of column 0
    for k in range(experts_of(state)):
        for c in range(errors.shape[1]):
            errors[k, c] = w * ((first + c == y) - shares[k, first + c])
    if state.second_order >= 0:
        for c in range(errors.shape[1]):
            errors[SQUARES_EXPERT, c] = (first + c == y) - scores[PLAIN_SQUARES, c]


@compiled
def learn_mixture(model, state, y, w):
    """g_k = sum_c P_c l_kc - l_ky"""
    desk = desk_of(model)
    logs, solver, n = desk.logs, desk.solver, experts_of(state)
    for k in range(n):
        slope = mean_log(desk.mixture.share, logs[k]) - logs[k, y]
        solver.slope[k] = solver.curve[k] = slope
        learn_loss(model, k, state.rounds, -logs[k, y])
    newton_step(model, n, FIRST_WEIGHTS / n, MIXER_STEP, w)


@compiled
def learn_models(model, state, w):
    """lin, bin, linrls"""
    errors = desk_of(model).errors
    for u in range(2):
        rate = QUICK_RATE if u == 0 else SLOW_RATE
        learn_linear(model, state, u, rate, row_of(errors, LINEAR_EXPERTS + u))
    for u in range(2):
        learn_bins(model, u, row_of(errors, BIN_EXPERTS + u))
    if state.second_order < 0:
        return
    lacking, factor, total = row_of(errors, SQUARES_EXPERT), compute_gain(model, state, w), 0.0
    for c in range(errors.shape[1]):
        learn_least_squares(model, state, c, factor * lacking[c])
        total += lacking[c] * lacking[c]
    shrink_covariance(model, state, factor)
    residual = min(total / errors.shape[1], 1.0)  # two classes have the same error
    state.residual += min(w * RESIDUAL_RATE, 1.0) * (residual - state.residual)
    state.residual = max(state.residual, LEAST_RESIDUAL)


@compiled
def learn_metric(model, state, y, w):
    """g_f = a_f 3 / D_(K) (sum_N pi_i (x_f - s_if)^2 - sum_{N, y_i = y} pi_i (x_f - s_if)^2 / v_y). Overwrites the
    shares and the weights of the neighbours."""
    near, labels = desk_of(model).near, memory_of(model).target
    places, pi, own, right = near.place, near.share, near.weight, 0.0
    if found_of(model).neighbours < NEIGHBOURS:
        return
    for k in range(NEIGHBOURS):
        own[k] = pi[k] if labels[places[k]] == y else 0.0
        right += own[k]
    if SURE_VOTE < right < 1.0 - SURE_VOTE:
        for k in range(NEIGHBOURS):
            pi[k] -= own[k] / right
        learn_weights(model, state, pi, 1.0, w)


@compiled
def remember(model, state, y, w):
    """Store the row in the memory, with alpha_qc = [c = y] - p_qc."""
    place, hard = free_place(model, state), desk_of(model).mixture.share[y] < EASY
    store_row(model, state, place, np.float64(y), hard, w, 0.0)
    archive_row(model, state, np.float64(y), w)
    write_coefficients(model, place, KERNEL_STEP)


@compiled
def learn_prior(model, y, w):
    """Update the running shares of classes."""
    prior, rate = room_of(model).prior, min(w * PRIOR_RATE, 1.0)
    room_of(model).unseen[y] = 0.0
    for c in range(prior.shape[0]):
        prior[c] += rate * ((c == y) - prior[c])

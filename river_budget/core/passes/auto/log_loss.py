"""The AutoKernel classifier: experts that give probabilities, mixed by their logarithms, under the
log loss (examples/auto_kernel.md, Classification).

p_k      shares[k], per class; l_k  logs[k]; [c = y] - p_kc  errors[k]
P        shares[MIXTURE]; z  logs[MIXTURE], or of two classes half of the difference, in scores[MIXTURE]
y        a class; column c of all tables belongs to class `first` + c, where two classes share one
         column
v        state.residual
"""  # noqa: E501

from __future__ import annotations

import numpy as np

from ...compiling import inlined, inner, passes
from ...numerics import dot, exp_of, log_of
from .archive import MANY_COLUMNS
from .binning import learn_bins
from .calibration import CERTAIN, calibrate, learn_calibration
from .experts import (
    HEAVIEST_EXAMPLE,
    SOFTNESS,
    consult_memory,
    consult_models,
    is_predicted,
    keep_moments,
    store,
)
from .linear_models import N_RATES, RATES, learn_least_squares, learn_linear, mean_square
from .memory import weigh
from .metric import TRAINED, learn_metric
from .mixer import LOSS_RATE, newton_step
from .tables import (
    BINS,
    CURVE,
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
LOG_ODDS_OF_0 = -1e3  # log-odds that are a probability of 0


@passes
def learn(states, rows, room, desk):
    """Learn the rows in order, those of weight 0 only score; scores[t] = log-probabilities before
    x_t is learned, or log-odds of two classes. Returns how many rows it has processed.
    """
    memory, features, models = room.memory, room.features, room.models
    archive, mixing = room.archive, room.mixing
    opinions, search, row, hits, gain = desk.opinions, desk.search, desk.row, desk.hits, desk.gain
    state, found, width = states[0], desk.opinions.found[0], rows.places.shape[0]
    values, targets, weights, results = rows.values, rows.targets, rows.weights, rows.scores
    for t in range(results.shape[0]):
        x, w = values[width * t : width * (t + 1)], weights[t]
        if not is_predicted(state, found, row[RAW], x):
            varying = consult_models(state, features, models, row, hits, opinions.scores, x)
            consult_memory(memory, state, features.metric, archive, search, row, varying, opinions)
            give_opinions(state, row[WIDE], models.squares, search, mixing.prior, opinions)
            mix(mixing.mixer, mixing.prior, opinions.scores, opinions.shares, opinions.logs)
            calibrate(mixing.calibration, opinions.shares[MIXTURE], found)
            found.version = state.rounds + 1.0
        write_scores(
            opinions.logs[MIXTURE], opinions.shares[MIXTURE], mixing.unseen, found, results[t]
        )
        if w > 0.0:
            y, w = class_of(targets[t], opinions.scores), min(w, HEAVIEST_EXAMPLE)
            hard = opinions.shares[MIXTURE, y] < EASY
            write_errors(opinions.errors, opinions.shares, opinions.scores, y, w)
            learn_mixture(state, mixing, opinions, y, w)
            learn_models(state, models, row, hits, gain, opinions.errors, w)
            train_metric(state, features.metric, archive.rows, row, search.near, found.near, y, w)
            store(
                memory,
                state,
                archive,
                search.far,
                row,
                opinions,
                np.float64(y),
                hard,
                w,
                0.0,
                KERNEL_STEP,
            )
            keep_moments(state, features, models, row)
            state.rounds += 1
    return results.shape[0]


@inner
def class_of(target, scores):
    """The number of the class: a target of two classes is -1 or 1."""
    return np.int64(target) if scores.shape[1] > 1 else np.int64(target > 0.0)


# Prediction


@inlined
def give_opinions(state, wide, squares, search, prior, opinions):
    """Write the probabilities of every expert but the prior."""
    found, scores, shares = opinions.found[0], opinions.scores, opinions.shares
    if state.second_order >= 0:
        # 1 and 0 for the right class and others, as logarithms of odds; one column stands for both
        # of two classes
        middle = 0.5 if scores.shape[1] == 1 else 0.0
        confident = max(state.residual, LEAST_RESIDUAL)
        for c in range(scores.shape[1]):
            scores[PLAIN, c] = dot(wide, squares[c], squares.shape[1])
            scores[SQUARES, c] = (scores[PLAIN, c] - middle) / confident
    for k in range(shares.shape[0] - 1):
        if k != OWN and k != NEAR and k != FAR:
            link(scores[k], shares[k])
    vote(search.near, found.near, SOFTNESS, prior, shares[NEAR])
    softness = SOFTNESS if scores.shape[1] >= MANY_COLUMNS else TRAINED
    vote(search.far, found.far, softness, prior, shares[FAR])


@inner
def link(scores, shares):
    """Write probabilities from scores. With two classes there is one score; that of the other class
    is its negative.
    """
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
    weights, mixed, n = mixer[WEIGHT], logs[MIXTURE], prior.shape[0]
    for c in range(n):
        shares[OWN, c], mixed[c] = prior[c], 0.0
    for k in range(weights.shape[0]):
        for c in range(n):
            logs[k, c] = log_of((1.0 - UNIFORM_SHARE) * shares[k, c] + UNIFORM_SHARE / n)
            mixed[c] += weights[k] * logs[k, c]
    if n == 2:
        scores[MIXTURE, 0] = 0.5 * (mixed[1] - mixed[0])
        link(scores[MIXTURE], shares[MIXTURE])
    else:
        link(mixed, shares[MIXTURE])


@inner
def write_scores(mixed, shares, unseen, found, f):
    """The log-odds of two classes, or the logarithms of all probabilities, corrected; those of
    classes never seen are 0.
    """
    top, n, number = found.top, shares.shape[0], 0.0
    p, for_top, for_others = shares[top], 0.0, 0.0
    if p < CERTAIN:
        for_top, for_others = (
            log_of(found.corrected / p),
            log_of((1.0 - found.corrected) / (1.0 - p)),
        )
    for c in range(n):
        number += unseen[c]
    some = 0.0 < number < n
    if n == 2:
        more = for_top - for_others
        f[0] = mixed[1] - mixed[0] + (more if top == 1 else -more)
        if some:
            f[0] = LOG_ODDS_OF_0 if unseen[1] != 0.0 else -LOG_ODDS_OF_0
        return
    shift = log_of(p) - mixed[top]
    for c in range(n):
        f[c] = mixed[c] + (shift + (for_top if c == top else for_others))
        if some and unseen[c] != 0.0:
            f[c] = LOG_ODDS_OF_0


# Learning


@inner
def write_errors(errors, shares, scores, y, w):
    """Write the errors of every expert, times the weight of the row: [c = y] - p_kc; for least
    squares [c = y] - s_c, as their gain contains the weight.
    """
    first = shares.shape[1] - errors.shape[1]  # the class of column 0
    for c in range(errors.shape[1]):
        right = 1.0 if first + c == y else 0.0
        for k in range(errors.shape[0]):
            errors[k, c] = w * (right - shares[k, first + c])
        errors[SQUARES, c] = right - scores[PLAIN, c]


@inlined
def learn_mixture(state, mixing, opinions, y, w):
    """The mixer, with g_k = sum_c P_c l_kc - l_ky; then calibration and prior."""
    starts, losses, prior, mixed = (
        mixing.mixer[START],
        mixing.mixer[LOSS],
        mixing.prior,
        opinions.shares[MIXTURE],
    )
    logs, slopes, curves = opinions.logs, opinions.solver[SLOPE], opinions.solver[CURVE]
    rate = max(1.0 / (state.rounds + 1.0), LOSS_RATE)
    for k in range(starts.shape[0]):
        slope = 0.0
        if starts[k] != 0.0:
            slope = -logs[k, y]
            for c in range(logs.shape[1]):
                slope += mixed[c] * logs[k, c]
            losses[k] -= rate * (logs[k, y] + losses[k])
        slopes[k] = curves[k] = slope
    newton_step(mixing.mixer, opinions.solver, MIXER_STEP, w)
    learn_calibration(mixing.calibration, mixed, opinions.found[0], y, w)
    mixing.unseen[y] = 0.0
    for c in range(prior.shape[0]):
        prior[c] += min(w * PRIOR_RATE, 1.0) * ((c == y) - prior[c])


@inlined
def learn_models(state, models, row, hits, gain, errors, w):
    """The linear models and the bins."""
    wide, steps = row[WIDE], row[WORK]
    for u in range(N_RATES):
        learn_linear(models.linear, models.sums, u, RATES[u], wide, errors[QUICK + u], steps)
    learn_bins(models.cells, hits, errors[BINS])
    if state.second_order >= 0:
        n, lacking = state.second_order + 1, errors[SQUARES]
        learn_least_squares(
            models.squares, models.covariance, n, wide, row[ORIENTATION], lacking, w, gain
        )
        residual = min(mean_square(lacking), 1.0)  # two classes have the same error
        state.residual += min(w * RESIDUAL_RATE, 1.0) * (residual - state.residual)
        state.residual = max(state.residual, LEAST_RESIDUAL)


@inlined
def train_metric(state, metric, stored, row, near, n, y, w):
    """g_f = a_f beta / D_(K) (sum_N pi_i (x_f - s_if)^2 - sum_{N, y_i = y} pi_i (x_f - s_if)^2 /
    v_y), with the shares pi_i of a softer vote, which replace those of the neighbours.
    """
    if n >= NEIGHBOURS:
        right, shares, labels = 0.0, near[SHARE], near[TARGET]
        weigh(near, n, TRAINED)
        for k in range(n):
            right += shares[k] if labels[k] == y else 0.0
        if right > 0.0:
            for k in range(n):
                shares[k] -= shares[k] / right if labels[k] == y else 0.0
            learn_metric(metric, row, near, stored, state.features, 1.0, w)

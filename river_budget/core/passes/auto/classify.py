"""The automatic kernel classifier: experts over one memory under a learned metric, mixed by a Newton step.

    spec     here
    x+       row ROW of the desk (auto_scaling.py); D_i  model.row (auto_metric.py)
    p_k      SHARES, per expert and class; l_k  LOGS
    P        MIXTURE[0]; z  MIXTURE[1]
    y        a class; column c of all tables belongs to class `first` + c, where two classes share one column

The order of the experts is that of the constants PRIOR_EXPERT and so on.
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling.array_views import as_u64
from ...compiling.by_address import shared
from ...compiling.jit import compiled
from ...compiling.model_type import MODEL, NOTHING, NUMBERS
from ...compiling.needs import Need
from ...examples.call import row_of, scores_of, unpack_rows, whole_row
from ...examples.finite import is_finite
from ...simd.logarithm import logarithms
from ...simd.registers import LANES
from ...simd.vector_ops import dot
from .binning import binned, find_cells, learn_bins
from .confidence import correct, corrections, learn_calibration
from .kernels import kernel_scores, learn_distance, narrow, widest_kernels
from .linear_models import (
    QUICK,
    SLOW,
    gain,
    learn_least_squares,
    learn_linear,
    least_squares_scores,
    linear_scores,
    shrink_covariance,
)
from .links import in_one, link, link_all
from .memory import make_room, write
from .metric import measure, turn
from .mixer import CURVES, SLOPES, newton_step, note_loss
from .neighbours import NEAREST, OUTSIDE, SHARPEST, SOFTEST, nearest, neighbour_slopes, share_out
from .scaling import keep_moments
from .sharing import NEIGHBOURS_FOUND, is_noted, note
from .tables import (
    EXPERTS,
    LOGS,
    METRIC,
    METRIC_WEIGHT,
    MIXER,
    MIXER_WEIGHT,
    MIXTURE,
    NEAR,
    NEAR_DISTANCE,
    NEAR_PLACE,
    NEAR_SHARE,
    NEIGHBOURS,
    PRIOR,
    ROW,
    SCORES,
    SHARES,
    SLOPE,
    SOLVER,
    TARGET,
    WIDTHS,
    columns_of,
    kept,
    noted,
    state_at,
)

PRIOR_EXPERT, LINEAR_EXPERT, BIN_EXPERT = 0, 1, 3
VOTE_EXPERT, KERNEL_EXPERT, SQUARES_EXPERT = np.array((5, 7, 10))
PLAIN_SQUARES = np.int64(11)  # behind the experts: what least squares say, before it is a score
START = 1.5  # of the weights together
STEP = 1.5  # of the mixer
FLOOR = 1e-3  # share of the uniform in the probabilities of every expert
KERNEL_STEP = 1.0
PRIOR_RATE = 0.02
EASY = 0.8  # probability of the right class from which a row is not hard
SURE = 1e-3  # votes closer to 0 or 1 than this do not train the metric
RESIDUAL_RATE, LEAST_RESIDUAL = 0.005, 1e-3
HEAVIEST = 1e3  # weight of an example


@compiled(called_from_python=True)
def learn(call):
    """Learn the rows in order; scores[t] = log-probabilities before x_t is learned, or log-odds of two classes.
    Returns how many were done."""
    model, stream, n = unpack_rows(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w = whole_row(stream, t)
        if not is_finite(x):
            return t
        foresee(model, x)
        tell(model, f)
        if w > 0.0:
            take_in(model, state, class_of(model, y), min(w, HEAVIEST))
    return n


@compiled(called_from_python=True)
def decide(call):
    """Scores of all rows. Returns how many were done: it stops at a row that is not finite."""
    model, stream, n = unpack_rows(call)
    for t in range(n):
        x, f = row_of(stream[0], t), scores_of(stream, t)
        if not is_finite(x):
            return t
        foresee(model, x)
        tell(model, f)
    return n


@compiled
def class_of(model, target):
    return np.int64(target) if columns_of(model) > 1 else np.int64(target > 0.0)


@compiled
def experts_of(state):
    return EXPERTS if state.second_order >= 0 else EXPERTS - 1


@shared(Need.AUTO_CLASSES, NOTHING, MODEL, NUMBERS)
def foresee(model, x):
    """SCALE, EXPERTS and MIX: everything that follows from x stays on the desk."""
    state = state_at(model.state)
    if is_noted(model, state, x):
        return
    measure(model, x)
    ask_models(model, state)
    ask_kernels(model, state)
    link_all(model, LINEAR_EXPERT, VOTE_EXPERT, KERNEL_EXPERT)
    ask_prior(model)
    ask_neighbours(model)
    mix(model, state)
    note(model, state)


@compiled
def ask_models(model, state):
    """lin, bin, linrls"""
    scores, columns = noted(model, SCORES), columns_of(model)
    for u in range(2):
        linear_scores(model, state, u, row_of(scores, LINEAR_EXPERT + u))
    for u in range(2):
        find_cells(model, u)
        binned(model, u, row_of(scores, BIN_EXPERT + u))
    if state.second_order >= 0:
        middle = 0.5 if columns == 1 else 0.0  # one column stands for s and 1 - s
        row, plain = row_of(scores, SQUARES_EXPERT), row_of(scores, PLAIN_SQUARES)
        least_squares_scores(model, state, plain)
        for c in range(columns):
            row[c] = (plain[c] - middle) / max(state.residual, LEAST_RESIDUAL)


@compiled
def ask_kernels(model, state):
    scores = noted(model, SCORES)
    widest_kernels(model, state)
    for q in range(WIDTHS):
        if q > 0:
            narrow(model)
        kernel_scores(model, q, row_of(scores, KERNEL_EXPERT + q))


@compiled
def ask_prior(model):
    shares, prior = noted(model, SHARES), kept(model, PRIOR)[0]
    for c in range(shares.shape[1]):
        shares[PRIOR_EXPERT, c] = prior[c]


@compiled
def ask_neighbours(model):
    """vote(8) and vote(3): the shares of the second stay."""
    shares, prior, n = noted(model, SHARES), kept(model, PRIOR)[0], nearest(model)
    model.note[NEIGHBOURS_FOUND] = n
    near, labels = noted(model, NEAR), model.per_vector[TARGET]
    places = as_u64(near[NEAR_PLACE])
    for u in range(2):
        votes = shares[VOTE_EXPERT + 1 - u]
        for c in range(shares.shape[1]):
            votes[c] = 0.0
        number = share_out(model, n, SHARPEST if u == 0 else SOFTEST) if n > 0 else 0.0
        for k in range(n):
            votes[int(labels[places[k]])] += near[NEAR_SHARE, k]
        for c in range(shares.shape[1]):
            votes[c] = (votes[c] * number + OUTSIDE * prior[c]) / (number + OUTSIDE)


@compiled
def mix(model, state):
    """P = softmax(sum_k w_k l_k)"""
    shares, logs, mixture = noted(model, SHARES), noted(model, LOGS), noted(model, MIXTURE)
    weights, n = kept(model, MIXER)[MIXER_WEIGHT], shares.shape[1]
    all_shares, all_logs = in_one(shares), in_one(logs)
    number = (experts_of(state) * n + LANES - 1) // LANES * LANES
    for i in range(number):
        all_logs[i] = (1.0 - FLOOR) * all_shares[i] + FLOOR / n
    logarithms(all_logs, all_logs, number)
    for c in range(n):
        mixture[1, c] = 0.0
    for k in range(experts_of(state)):
        for c in range(n):
            mixture[1, c] += weights[k] * logs[k, c]
    if n == 2:
        mixture[2, 0] = 0.5 * (mixture[1, 1] - mixture[1, 0])
        link(mixture[2], mixture[0])
    else:
        link(mixture[1], mixture[0])
    correct(model)


@compiled
def tell(model, scores):
    """The log-odds of two classes, or the logarithms of all probabilities."""
    mixture = noted(model, MIXTURE)
    top, for_top, for_others = corrections(model)
    if mixture.shape[1] == 2:
        odds = mixture[1, 1] - mixture[1, 0]
        scores[0] = odds + (for_top - for_others if top == 1 else for_others - for_top)
        return
    shift = math.log(mixture[0, top]) - mixture[1, top]
    for c in range(mixture.shape[1]):
        scores[c] = mixture[1, c] + shift + for_others
    scores[top] = mixture[1, top] + shift + for_top


@compiled
def take_in(model, state, y, w):
    """LEARN, after `foresee` of the same row."""
    columns = columns_of(model)
    first = noted(model, MIXTURE).shape[1] - columns  # the class of column 0
    learn_mixture(model, state, y, w)
    learn_calibration(model, y, w)
    learn_models(model, state, y, w, first, columns)
    learn_metric(model, state, y, w)
    learn_distance(model, state)
    remember(model, state, y, w, first, columns)
    learn_prior(model, y, w)
    keep_moments(model, state)
    state.rounds += 1


@compiled
def learn_mixture(model, state, y, w):
    """g_k = sum_c P_c l_kc - l_ky"""
    logs, mixture, solver = noted(model, LOGS), noted(model, MIXTURE), noted(model, SOLVER)
    n = experts_of(state)
    for k in range(n):
        slope = mean_log(mixture[0], logs[k]) - logs[k, y]
        solver[SLOPES, k] = solver[CURVES, k] = slope
        note_loss(model, k, state.rounds, -logs[k, y])
    newton_step(model, n, START / n, STEP, w)


@compiled
def mean_log(shares, logs):
    """sum_c P_c l_c"""
    if logs.shape[0] == 2:
        return shares[0] * logs[0] + shares[1] * logs[1]
    return dot(shares, logs, logs.shape[0])


@compiled
def learn_models(model, state, y, w, first, columns):
    """lin, bin, linrls"""
    shares, scores, errors = noted(model, SHARES), noted(model, SCORES), noted(model, MIXTURE)[2]
    for u in range(2):
        for c in range(columns):
            errors[c] = w * (shares[LINEAR_EXPERT + u, first + c] - (first + c == y))
        learn_linear(model, state, u, QUICK if u == 0 else SLOW, errors)
    for u in range(2):
        for c in range(columns):
            errors[c] = w * (shares[BIN_EXPERT + u, first + c] - (first + c == y))
        learn_bins(model, u, errors)
    if state.second_order < 0:
        return
    plain, factor, total = row_of(scores, PLAIN_SQUARES), gain(model, state, w), 0.0
    for c in range(columns):
        error = (first + c == y) - plain[c]
        learn_least_squares(model, state, c, factor * error)
        total += error * error
    shrink_covariance(model, state, factor)
    residual = min(total / columns, 1.0)  # two classes have the same error
    state.residual += min(w * RESIDUAL_RATE, 1.0) * (residual - state.residual)
    state.residual = max(state.residual, LEAST_RESIDUAL)


@compiled
def learn_metric(model, state, y, w):
    """g_f = a_f 3 / D_(K) (sum_N pi_i (x_f - s_if)^2 - sum_{N, y_i = y} pi_i (x_f - s_if)^2 / v_y)"""
    near, labels = noted(model, NEAR), model.per_vector[TARGET]
    places, pi = as_u64(near[NEAR_PLACE]), near[NEAR_SHARE]
    if model.note[NEIGHBOURS_FOUND] < NEIGHBOURS:
        return
    right = 0.0
    for k in range(NEIGHBOURS):
        right += pi[k] if labels[places[k]] == y else 0.0
    if not SURE < right < 1.0 - SURE:
        return
    for k in range(NEIGHBOURS):
        pi[k] -= pi[k] / right if labels[places[k]] == y else 0.0
    neighbour_slopes(model, state, noted(model, ROW)[0], NEIGHBOURS, pi)
    slope, weights = noted(model, SLOPE)[0], kept(model, METRIC)[METRIC_WEIGHT]
    rate = SOFTEST / max(near[NEAR_DISTANCE, NEIGHBOURS - 1], NEAREST)
    for f in range(state.features):
        slope[f] *= rate * weights[f]
    turn(model, state, w)


@compiled
def remember(model, state, y, w, first, columns):
    """The row enters the memory with alpha_qc = [c = y] - p_qc."""
    shares, mixture, place = noted(model, SHARES), noted(model, MIXTURE), make_room(model, state)
    write(model, state, place, np.float64(y), mixture[0, y] < EASY, w, 0.0)
    for c in range(columns):
        for q in range(WIDTHS):
            error = (first + c == y) - shares[KERNEL_EXPERT + q, first + c]
            model.coefficients[WIDTHS * c + q, place] = KERNEL_STEP * w * error


@compiled
def learn_prior(model, y, w):
    prior, rate = kept(model, PRIOR)[0], min(w * PRIOR_RATE, 1.0)
    for c in range(prior.shape[0]):
        prior[c] += rate * ((c == y) - prior[c])

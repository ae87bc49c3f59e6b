"""The AutoKernel regressor: the same memory and metric as in classification, and experts that predict numbers.

    spec      here
    f_k       desk.scores[k, 0]: the difference of expert k from the running mean; desk.levels[k] is f_k / sy, clipped
    my, sy    state.average, usual_size(state)
    e         the error of the mixture, or of an expert (desk.errors[k, 0]), clipped to BOUND times the rms error
    lo, hi    state.lowest, state.highest
    r_i^2     memory.squared_error: of the mixture when row i was stored; their vote, with the latest errors, is the
              local variance
    q      room.quantiles: of the error in units of found.spread; they begin as those of a normal distribution

Until two different targets were seen, nothing that depends on the size of targets is learned, so that their unit and
their zero do not matter.
"""

from __future__ import annotations

import math

import numpy as np

from ...block.limits import within
from ...compiling.by_address import shared
from ...compiling.jit import compiled
from ...compiling.model_type import MODEL, NOTHING, NUMBERS
from ...compiling.needs import Need
from ...examples.call import row_of, scores_of, unpack_rows, whole_row
from ...examples.finite import is_finite
from .archive import archive_row, find_far
from .binning import learn_bin_means, predict_bins
from .classify import HEAVIEST_EXAMPLE
from .linear_models import (
    QUICK_RATE,
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
from .mixer import experts_of, far_expert, learn_loss, newton_step
from .scaling import LARGEST_VALUE, learn_moments
from .tables import (
    BIN_EXPERTS,
    LEVELS,
    NEIGHBOURS,
    SQUARES_EXPERT,
    VOTE_EXPERTS,
    desk_of,
    found_of,
    memory_of,
    room_of,
    state_at,
)

LATE_MEAN_EXPERT, LAST_TARGET_EXPERT = 0, 1
LINEAR_EXPERT = np.int64(2)
ONLY = np.int64(0)  # the index of the only rate, and of the only column
LATE_MEAN_RATE, LAST_TARGET_RATE = 0.02, 0.5
SLOWEST_TARGETS = 1e-4  # rate of the mean and the variance of targets
ERROR_RATE = 0.01  # rate of running errors
LATEST_RATE = 0.1  # rate of the mean of the latest squared errors
KERNEL_STEP = 0.5
HIGHEST_LEVEL = 5.0  # the largest |f_k| / sy
BOUND, UNBOUNDED_ROUNDS = 4.0, 10  # errors of the first rounds are not clipped
LARGEST_RATIO = 1e6  # of an error to sy, so that sums of squared errors stay finite
HEAVIEST_SHARE = 0.5  # of the newest value in a mean: with 1 a variance would be 0
MIXING_ROUND = 30  # the mixer learns from this round on
RANGE_MARGIN = 0.1  # predictions may leave the range of targets by this share of it
CONSTANT_TARGETS = 1e-24  # a smaller variance, as a share of the squared mean, counts as 0
FAR_STEPS = np.int64(2)  # of the search for far rows: with 1, casp has an R2 of .51 instead of .53
FAR_SOFTNESS = 6.0  # of the vote of far rows: with 8, chick has 2 % more error; with 5, casp 1 %
LATEST_VOTES = 2.0  # the latest errors count as so many neighbours
NINETY = 1.6448536269514722  # standard normal quantile of .95
STRETCH_RATE = 0.05  # of the log of the factor by which 90 % intervals hold 90 %
FIRST_STRETCH_RATE = 10.0  # over the rounds
LONGEST_STRETCH = 5.0  # bound of that factor, for streams where all intervals hold, or none
QUANTILE_ROUND = 10  # from which on quantiles of errors are learned
QUANTILE_RATE = 0.02
# over the rounds, and the largest: so much that a few hundred intervals hold their share
FIRST_QUANTILE_RATE, LARGEST_QUANTILE_RATE = 40.0, 0.2
OUTERMOST_QUANTILE = 1e3


@compiled(called_from_python=True)
def learn(call):
    """Learn the rows in order; scores[t] = the prediction before x_t is learned. Returns how many rows it has processed."""
    model, stream, n = unpack_rows(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w = whole_row(stream, t)
        if not is_finite(x):
            return t
        predict_experts(model, x)
        f[0] = found_of(model).forecast
        if w > 0.0:
            learn_row(model, state, within(y, LARGEST_VALUE), min(w, HEAVIEST_EXAMPLE))
    return n


@compiled(called_from_python=True)
def decide(call):
    """Predict all rows, and their spread if there is a second column. Returns how many rows it has processed."""
    model, stream, n = unpack_rows(call)
    if state_at(model.state).slots > 0:  # another thread has changed the model to words
        n = 0
    for t in range(n):
        x, f = row_of(stream[0], t), scores_of(stream, t)
        if not is_finite(x):
            return t
        predict_experts(model, x)
        f[0] = found_of(model).forecast
        if f.shape[0] > 1:
            f[1] = found_of(model).spread
    return n


# The size of targets and errors


@compiled
def has_scale(state):
    """Whether the model has learned two different targets."""
    return state.variance > CONSTANT_TARGETS * state.average * state.average


@compiled
def usual_size(state):
    """sy, or 1 before there is one."""
    return math.sqrt(state.variance) if has_scale(state) else 1.0


@compiled
def largest_error(state):
    """The largest error of a step: larger ones are clipped."""
    if state.rounds <= UNBOUNDED_ROUNDS or state.squared_error <= 0.0:
        return np.inf
    return BOUND * math.sqrt(state.squared_error)


# Prediction


@shared(Need.AUTO_NUMBERS, NOTHING, MODEL, NUMBERS)
def predict_experts(model, x):
    """SCALE, EXPERTS and MIX: write everything that follows from x to the desk."""
    state = state_at(model.state)
    if is_predicted(model, state, x):
        return
    scale_and_compare(model, x)
    predict_targets(model, state)
    predict_linear(model, state)
    predict_bins(model)
    predict_votes(model, state)
    predict_kernels(model, state)
    mix(model, state)
    mark_predicted(model, state)


@compiled
def predict_targets(model, state):
    """fast, last"""
    values = desk_of(model).scores
    values[LATE_MEAN_EXPERT, 0] = state.fast - state.average
    values[LAST_TARGET_EXPERT, 0] = state.last - state.average


@compiled
def predict_linear(model, state):
    """lin, linrls"""
    values = desk_of(model).scores
    linear_scores(model, state, ONLY, row_of(values, LINEAR_EXPERT))
    if state.second_order >= 0:
        least_squares_scores(model, state, row_of(values, SQUARES_EXPERT))


@compiled
def predict_votes(model, state):
    """vote(8) and vote(3), whose shares stay; the squared errors are voted too. Then the vote of far rows."""
    n, latest, found = find_nearest(model), state.latest_error, found_of(model)
    values, near, memory = desk_of(model).scores, desk_of(model).near, memory_of(model)
    spread = latest
    for u in range(2):
        vote, variance = 0.0, 0.0
        number = weigh_neighbours(model, n, SHARPEST if u == 0 else SOFTEST) if n > 0 else 0.0
        for k in range(n):
            vote += near.share[k] * memory.target[near.place[k]]
            variance += near.share[k] * memory.squared_error[near.place[k]]
        values[VOTE_EXPERTS + 1 - u, 0] = vote - state.average if n > 0 else 0.0
        spread = (number * variance + LATEST_VOTES * latest) / (number + LATEST_VOTES)
    found.neighbours = n
    found.spread = math.exp(state.stretch) * math.sqrt(spread)
    values[far_expert(state), 0] = far_vote(model, state, n)


@compiled
def far_vote(model, state, n):
    """vote(6) of the nearest in memory and archive."""
    far, number = desk_of(model).far, find_far(model, state, n, FAR_STEPS)
    if number == 0:
        return 0.0
    weigh(far.distance, far.weight, far.share, number, FAR_SOFTNESS)
    vote = 0.0
    for k in range(number):
        vote += far.share[k] * far.target[k]
    return vote - state.average


@compiled
def mix(model, state):
    """my + sy sum_k w_k f_k / sy, near the range of the targets"""
    desk, found, weights = desk_of(model), found_of(model), room_of(model).mixer.weight
    values, levels, size, level = desk.scores, desk.levels, usual_size(state), 0.0
    for k in range(experts_of(state)):
        bounded = within(values[k, 0] / size, HIGHEST_LEVEL)
        levels[k] = bounded if has_scale(state) else 0.0
        level += weights[k] * levels[k]
    margin = RANGE_MARGIN * (state.highest - state.lowest)
    forecast = min(max(state.average + level * size, state.lowest - margin), state.highest + margin)
    found.level, found.forecast = level, forecast


# Learning


@compiled
def learn_row(model, state, y, w):
    """LEARN, after `predict_experts` of the same row."""
    found = found_of(model)
    if state.rounds == 0:  # before the first target there is no error
        state.average = state.fast = state.last = state.lowest = state.highest = y
        found.forecast = y
    error, bound = y - found.forecast, largest_error(state)
    write_errors(model, state, y, bound)
    if state.rounds > 0:
        learn_mixture(model, state, y, bound, w)
        learn_models(model, state, w)
        learn_metric(model, state, y, w)
    learn_usual_distance(model, state)
    remember(model, state, y, error, w)
    learn_spread(model, state, error, w)
    learn_targets(state, y, error, bound, w)
    learn_moments(model, state)
    state.rounds += 1


@compiled
def write_errors(model, state, y, bound):
    """Write the errors of every expert, clipped to the bound."""
    desk = desk_of(model)
    errors, values = desk.errors, desk.scores
    for k in range(experts_of(state)):
        errors[k, 0] = within(y - state.average - values[k, 0], bound)


@compiled
def learn_mixture(model, state, y, bound, w):
    """g_k = -e f_k / sy"""
    desk, n, size = desk_of(model), experts_of(state), usual_size(state)
    levels, solver, target = desk.levels, desk.solver, (y - state.average) / size
    error = within(target - found_of(model).level, bound / size)
    for k in range(n):
        solver.curve[k] = levels[k]
        solver.slope[k] = -error * levels[k]
        lacks = target - levels[k]
        learn_loss(model, k, state.rounds, min(lacks * lacks, 1e6) if has_scale(state) else 0.0)
    if state.rounds >= MIXING_ROUND:
        newton_step(model, n, 1.0 / (n - 1), 1.0, w)


@compiled
def learn_models(model, state, w):
    """lin, bin, linrls"""
    errors, size = desk_of(model).errors, usual_size(state)
    if has_scale(state):
        lacking = row_of(errors, LINEAR_EXPERT)
        lacking[0] = w * within(lacking[0] / size, LARGEST_RATIO)
        learn_linear(model, state, ONLY, QUICK_RATE * size, lacking)
    for u in range(2):
        learn_bin_means(model, u, errors[BIN_EXPERTS + u, 0], w)
    if state.second_order >= 0:
        factor = compute_gain(model, state, w)
        learn_least_squares(model, state, ONLY, factor * errors[SQUARES_EXPERT, 0])
        shrink_covariance(model, state, factor)


@compiled
def learn_metric(model, state, y, w):
    """g_f of (y - vote(3))^2 in units of the variance of targets"""
    found, desk, targets = found_of(model), desk_of(model), memory_of(model).target
    if found.neighbours < NEIGHBOURS or not has_scale(state):
        return
    places, pi, size = desk.near.place, desk.near.share, usual_size(state)
    vote = state.average + desk.scores[VOTE_EXPERTS, 0]
    for k in range(NEIGHBOURS):
        pi[k] *= within((targets[places[k]] - vote) / size, LARGEST_RATIO)
    learn_weights(model, state, pi, within((vote - y) / size, LARGEST_RATIO), w)


@compiled
def remember(model, state, y, error, w):
    """Store the row in the memory, with alpha_q = e_q / 2."""
    place, hard = free_place(model, state), abs(error) > state.absolute_error
    store_row(model, state, place, y, hard, w, error * error)
    archive_row(model, state, y, w)
    write_coefficients(model, place, min(w * KERNEL_STEP, 1.0))


@compiled
def learn_spread(model, state, error, w):
    """Enlarge the factor on the spread if the 90 % interval missed the target, else shrink it a ninth as much."""
    spread = found_of(model).spread
    if state.rounds >= QUANTILE_ROUND and spread > 0.0:
        learn_quantiles(model, state, error / spread, min(w, 1.0))
    if state.rounds >= MIXING_ROUND and spread > 0.0:
        missed = 1.0 if abs(error) > NINETY * spread else 0.0
        rate = max(STRETCH_RATE, FIRST_STRETCH_RATE / (state.rounds + 1.0))
        state.stretch = within(state.stretch + min(w, 1.0) * rate * (missed - 0.1), LONGEST_STRETCH)


@compiled
def learn_quantiles(model, state, error, w):
    """Each goes up by its level, or down by the rest to 1 where the error lies below: so in the long run its share of
    errors does lie there, whatever their distribution is and however it drifts."""
    quantiles, rate = room_of(model).quantiles, FIRST_QUANTILE_RATE / (state.rounds + 1.0)
    rate = w * max(min(rate, LARGEST_QUANTILE_RATE), QUANTILE_RATE)
    for k in range(LEVELS.shape[0]):
        below = 0.5 if error == quantiles[k] else (1.0 if error < quantiles[k] else 0.0)
        quantiles[k] = within(quantiles[k] + rate * (LEVELS[k] - below), OUTERMOST_QUANTILE)
    for k in range(1, LEVELS.shape[0]):  # those that have crossed change places
        value, place = quantiles[k], k
        while place > 0 and quantiles[place - 1] > value:
            quantiles[place] = quantiles[place - 1]
            place -= 1
        quantiles[place] = value


@compiled
def learn_targets(state, y, error, bound, w):
    """Update the running means of targets and errors. The first target has initialised those of targets."""
    if state.rounds > 0:
        first = 1.0 / (state.rounds + 1.0)
        square, before = min(error * error, bound * bound), state.latest_error
        rate = min(w * max(first, LATEST_RATE), HEAVIEST_SHARE)
        state.latest_error = before + rate * (square - before)
        rate = min(w * max(first, ERROR_RATE), HEAVIEST_SHARE)
        state.squared_error += rate * (square - state.squared_error)
        state.absolute_error += rate * (abs(error) - state.absolute_error)
        deviation = y - state.average
        rate = min(w * max(first, SLOWEST_TARGETS), HEAVIEST_SHARE)
        state.average += rate * deviation
        state.variance += rate * (deviation * (y - state.average) - state.variance)
        state.fast += min(w * max(first, LATE_MEAN_RATE), HEAVIEST_SHARE) * (y - state.fast)
        state.last += min(w * LAST_TARGET_RATE, HEAVIEST_SHARE) * (y - state.last)
    state.lowest = min(state.lowest, y)
    state.highest = max(state.highest, y)

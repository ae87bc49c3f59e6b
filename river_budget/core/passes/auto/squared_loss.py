"""The AutoKernel regressor: experts that predict numbers, mixed by a sum, under the squared loss.

    spec      here
    f_k       desk.scores[k, 0]: the difference of expert k from the running mean; desk.levels[k] is f_k / sy
    my, sy    state.average, usual_size(state)
    e         the error of the mixture, or of an expert (desk.errors[k, 0]), clipped to BOUND times the rms error
    lo, hi    state.lowest, state.highest
    r_i^2     memory.squared_error: their vote, with the latest errors, is the local variance
    q         room.quantiles: of the error in units of found.spread; they begin as those of a normal distribution

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
from .binning import learn_bin_means
from .experts import HEAVIEST_EXAMPLE, SOFTNESS, consult_experts, is_predicted, store
from .linear_models import N_RATES, RATES, learn_least_squares, learn_linear
from .memory import weigh
from .metric import TRAINED, learn_weights
from .mixer import LOSS_RATE, newton_step
from .scaling import LARGEST_VALUE
from .tables import (
    BINS,
    EXPERTS,
    FAR,
    LEVELS,
    NEAR,
    NEIGHBOURS,
    OWN,
    QUICK,
    SQUARES,
    desk_of,
    found_of,
    memory_of,
    room_of,
    state_at,
)

LAST_TARGET_RATE = 0.5
SLOWEST_TARGETS = 1e-4  # rate of the mean and the variance of targets
ERROR_RATE = 0.01  # rate of running errors
LATEST_RATE = 0.1  # rate of the mean of the latest squared errors
KERNEL_STEP = 0.5
BOUND, UNBOUNDED_ROUNDS = 4.0, 10  # errors of the first rounds are not clipped
LARGEST_RATIO = 1e6  # of errors and opinions to sy, so that sums of squares stay finite
HEAVIEST_SHARE = 0.5  # of the newest value in a mean: with 1 a variance would be 0
MIXING_ROUND = 30  # the mixer learns from this round on
RANGE_MARGIN = 0.1  # predictions may leave the range of targets by this share of it
CONSTANT_TARGETS = 1e-24  # a smaller variance, as a share of the squared mean, counts as 0
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
        predict_number(model, x)
        f[0] = found_of(model).forecast
        if w > 0.0:
            learn_row(model, state, within(y, LARGEST_VALUE), w)
    return n


@compiled(called_from_python=True)
def decide(call):
    """Predict all rows, and their spread if there is a second column. Returns how many rows it has processed."""
    model, stream, n = unpack_rows(call)
    for t in range(n):
        x, f = row_of(stream[0], t), scores_of(stream, t)
        predict_number(model, x)
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
def predict_number(model, x):
    """SCALE, EXPERTS and MIX: write everything that follows from x to the desk."""
    state, desk, found = state_at(model.state), desk_of(model), found_of(model)
    if is_predicted(model, state, x):
        return
    consult_experts(model, x)
    values = desk.scores
    values[OWN, 0] = state.last - state.average
    if state.second_order >= 0:
        values[SQUARES, 0] = desk.squares[0]
    values[NEAR, 0] = vote(state, desk.near, found.near, SOFTNESS)
    values[FAR, 0] = vote(state, desk.far, found.far, SOFTNESS)
    found.spread = spread(model, state, found.near)
    mix(model, state)
    found.version = state.rounds + 1.0


@compiled
def vote(state, neighbours, n, softness):
    """What n neighbours say, beyond the mean."""
    weigh(neighbours, n, softness)
    pi, targets, total = neighbours.share, neighbours.target, 0.0
    for k in range(n):
        total += pi[k] * targets[k]
    return total - state.average if n > 0 else 0.0


@compiled
def spread(model, state, n):
    """The root of the local variance: a softer vote of the squared errors of n neighbours, and the latest."""
    near, errors, variance = desk_of(model).near, memory_of(model).squared_error, 0.0
    number = weigh(near, n, TRAINED)
    for k in range(n):
        variance += near.share[k] * errors[near.place[k]]
    variance = (number * variance + LATEST_VOTES * state.latest_error) / (number + LATEST_VOTES)
    return math.exp(state.stretch) * math.sqrt(variance)


@compiled
def mix(model, state):
    """my + sy sum_k w_k f_k / sy, near the range of the targets"""
    desk, found, mixer = desk_of(model), found_of(model), room_of(model).mixer
    starts, weights, values, levels = (mixer.start, mixer.weight, desk.scores, desk.levels)
    size, level = usual_size(state), 0.0
    for k in range(EXPERTS):
        levels[k] = 0.0
        if starts[k] != 0.0 and has_scale(state):
            levels[k] = within(values[k, 0] / size, LARGEST_RATIO)
            level += weights[k] * levels[k]
    margin = RANGE_MARGIN * (state.highest - state.lowest)
    forecast = min(max(state.average + level * size, state.lowest - margin), state.highest + margin)
    found.level, found.forecast = level, forecast


# Learning


@compiled
def learn_row(model, state, y, w):
    """LEARN, after `predict_number` of the same row."""
    found, w = found_of(model), min(w, HEAVIEST_EXAMPLE)
    if state.rounds == 0:  # before the first target there is no error
        state.average = state.last = state.lowest = state.highest = y
        found.forecast = y
    error, bound = y - found.forecast, largest_error(state)
    write_errors(model, state, y, bound)
    if state.rounds > 0:
        learn_mixture(model, state, y, bound, w)
        learn_models(model, state, w)
        learn_metric(model, state, y, w)
    hard = abs(error) > state.absolute_error
    store(model, state, y, hard, w, error * error, min(w * KERNEL_STEP, 1.0))
    learn_spread(model, state, error, w)
    learn_targets(state, y, error, bound, w)
    state.rounds += 1


@compiled
def write_errors(model, state, y, bound):
    """Write the errors of every expert, clipped to the bound."""
    desk = desk_of(model)
    errors, values = desk.errors, desk.scores
    for k in range(EXPERTS):
        errors[k, 0] = within(y - state.average - values[k, 0], bound)


@compiled
def learn_mixture(model, state, y, bound, w):
    """g_k = -e f_k / sy"""
    desk, size, starts = desk_of(model), usual_size(state), room_of(model).mixer.start
    losses, rate = room_of(model).mixer.loss, max(1.0 / (state.rounds + 1.0), LOSS_RATE)
    levels, slopes, target = desk.levels, desk.solver.slope, (y - state.average) / size
    error = within(target - found_of(model).level, bound / size)
    for k in range(EXPERTS):
        slopes[k] = -error * levels[k]
        if starts[k] != 0.0:
            lacks = target - levels[k]
            loss = min(lacks * lacks, 1e6) if has_scale(state) else 0.0
            losses[k] += rate * (loss - losses[k])
    if state.rounds >= MIXING_ROUND:
        newton_step(model, slopes, levels, 1.0, w)


@compiled
def learn_models(model, state, w):
    """lin, bin, linrls"""
    errors, size = desk_of(model).errors, usual_size(state)
    if has_scale(state):
        for u in range(N_RATES):
            lacking = row_of(errors, QUICK + u)
            lacking[0] = w * within(lacking[0] / size, LARGEST_RATIO)
            learn_linear(model, u, RATES[u] * size, lacking)
    learn_bin_means(model, errors[BINS, 0], w)
    if state.second_order >= 0:
        learn_least_squares(model, state, row_of(errors, SQUARES), w)


@compiled
def learn_metric(model, state, y, w):
    """g_f of (y - vote)^2 in units of the variance of targets, with the shares of a softer vote, which replace those of
    the neighbours."""
    near, n, size = desk_of(model).near, found_of(model).near, usual_size(state)
    if n < NEIGHBOURS or not has_scale(state):
        return
    mean = state.average + vote(state, near, n, TRAINED)
    pi, targets = near.share, near.target
    for k in range(n):
        pi[k] *= within((targets[k] - mean) / size, LARGEST_RATIO)
    learn_weights(model, state, pi, within((mean - y) / size, LARGEST_RATIO), w)


@compiled
def learn_spread(model, state, error, w):
    """Enlarge the factor on the spread if the 90 % interval missed the target, else shrink it a ninth as much.

    Quantiles of errors go up by their level, or down by the rest to 1 where the error lies below: so in the long run their
    share of errors does lie there, whatever their distribution is and however it drifts."""
    quantiles, spread, w = room_of(model).quantiles, found_of(model).spread, min(w, 1.0)
    if state.rounds < QUANTILE_ROUND or spread <= 0.0:
        return
    rate = min(FIRST_QUANTILE_RATE / (state.rounds + 1.0), LARGEST_QUANTILE_RATE)
    rate, scaled = w * max(rate, QUANTILE_RATE), error / spread
    for k in range(LEVELS.shape[0]):
        below = 0.5 if scaled == quantiles[k] else (1.0 if scaled < quantiles[k] else 0.0)
        quantiles[k] = within(quantiles[k] + rate * (LEVELS[k] - below), OUTERMOST_QUANTILE)
    for k in range(1, LEVELS.shape[0]):  # those that have crossed change places
        value, place = quantiles[k], k
        while place > 0 and quantiles[place - 1] > value:
            quantiles[place] = quantiles[place - 1]
            place -= 1
        quantiles[place] = value
    if state.rounds >= MIXING_ROUND:
        missed = 1.0 if abs(error) > NINETY * spread else 0.0
        rate = max(STRETCH_RATE, FIRST_STRETCH_RATE / (state.rounds + 1.0))
        state.stretch = within(state.stretch + w * rate * (missed - 0.1), LONGEST_STRETCH)


@compiled
def learn_targets(state, y, error, bound, w):
    """Update the running means of targets and errors. The first target has initialised those of targets."""
    if state.rounds > 0:
        first = 1.0 / (state.rounds + 1.0)
        square = min(error * error, bound * bound)
        rate = min(w * max(first, LATEST_RATE), HEAVIEST_SHARE)
        state.latest_error += rate * (square - state.latest_error)
        rate = min(w * max(first, ERROR_RATE), HEAVIEST_SHARE)
        state.squared_error += rate * (square - state.squared_error)
        state.absolute_error += rate * (abs(error) - state.absolute_error)
        deviation = y - state.average
        rate = min(w * max(first, SLOWEST_TARGETS), HEAVIEST_SHARE)
        state.average += rate * deviation
        state.variance += rate * (deviation * (y - state.average) - state.variance)
        state.last += min(w * LAST_TARGET_RATE, HEAVIEST_SHARE) * (y - state.last)
    state.lowest = min(state.lowest, y)
    state.highest = max(state.highest, y)

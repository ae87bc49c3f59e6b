"""The AutoKernel regressor: experts that predict numbers, mixed by a sum, under the squared loss (examples/auto_kernel.md,
Regression and Intervals).

f_k       scores[k, 0]: the difference of expert k from the running mean; solver[CURVE] is f_k / sy
my, sy    state.average, usual_size(state)
e         the error of the mixture, or of an expert (errors[k, 0]), clipped to BOUND times the rms error
lo, hi    state.lowest, state.highest
r_i^2     m.per_vector[SQUARED_ERROR]: their vote, with the latest errors, is the local variance
q         quantiles of the error in units of found.spread; they begin as those of a normal distribution

Until two different targets were seen, nothing that depends on the size of targets is learned, so that their unit and
their zero do not matter.
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling import inlined, inner, passes
from ...numerics import clamp
from .binning import learn_bin_means
from .experts import HEAVIEST_EXAMPLE, SOFTNESS, consult_experts, is_predicted, store
from .linear_models import N_RATES, RATES, learn_least_squares, learn_linear
from .memory import weigh
from .metric import TRAINED, learn_metric
from .mixer import LOSS_RATE, newton_step
from .scaling import LARGEST_VALUE
from .tables import (
    BINS,
    CURVE,
    EXPERTS,
    FAR,
    LEVELS,
    LOSS,
    NEAR,
    NEIGHBOURS,
    ORIENTATION,
    OWN,
    PLACE,
    PLAIN,
    QUICK,
    RAW,
    SHARE,
    SLOPE,
    SQUARED_ERROR,
    SQUARES,
    START,
    TARGET,
    WEIGHT,
    WIDE,
    WORK,
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


@passes
def learn(m, states, rows, room, desk):
    """Learn the rows in order; scores[t] = the prediction before x_t is learned. Returns how many rows it has processed."""
    state, width = states[0], rows.places.shape[0]
    for t in range(rows.scores.shape[0]):
        x, w = rows.values[width * t : width * (t + 1)], rows.weights[t]
        predict(m, state, room, desk, x)
        rows.scores[t, 0] = desk.found[0].forecast
        if w > 0.0:
            y = clamp(rows.targets[t], LARGEST_VALUE)
            learn_row(m, state, room, desk, y, min(w, HEAVIEST_EXAMPLE))
    return rows.scores.shape[0]


@passes
def score(m, states, rows, room, desk):
    """Predict all rows, and their spread if there is a second column. Returns how many rows it has processed."""
    state, width = states[0], rows.places.shape[0]
    for t in range(rows.scores.shape[0]):
        predict(m, state, room, desk, rows.values[width * t : width * (t + 1)])
        rows.scores[t, 0] = desk.found[0].forecast
        if rows.scores.shape[1] > 1:
            rows.scores[t, 1] = desk.found[0].spread
    return rows.scores.shape[0]


# The size of targets and errors


@inner
def has_scale(state):
    """Whether the model has learned two different targets."""
    return state.variance > CONSTANT_TARGETS * state.average * state.average


@inner
def usual_size(state):
    """sy, or 1 before there is one."""
    return math.sqrt(state.variance) if has_scale(state) else 1.0


@inner
def largest_error(state):
    """The largest error of a step: larger ones are clipped."""
    if state.rounds <= UNBOUNDED_ROUNDS or state.squared_error <= 0.0:
        return np.inf
    return BOUND * math.sqrt(state.squared_error)


# Prediction


@inlined
def predict(m, state, room, desk, x):
    """Write everything that follows from x to the desk."""
    found, scores = desk.found[0], desk.scores
    if not is_predicted(state, found, desk.features[RAW], x):
        consult_experts(m, state, room, desk, x)
        scores[OWN, 0] = state.last - state.average
        if state.second_order >= 0:
            scores[SQUARES, 0] = scores[PLAIN, 0]
        scores[NEAR, 0] = vote(state, desk.near, found.near, SOFTNESS)
        scores[FAR, 0] = vote(state, desk.far, found.far, SOFTNESS)
        found.spread = local_spread(state, desk.near, found.near, m.per_vector[SQUARED_ERROR])
        mix(state, room.mixer, scores, desk.solver[CURVE], found)
        found.version = state.rounds + 1.0


@inner
def vote(state, neighbours, n, softness):
    """What n neighbours say, beyond the mean."""
    weigh(neighbours, n, softness)
    total = 0.0
    for k in range(n):
        total += neighbours[SHARE, k] * neighbours[TARGET, k]
    return total - state.average if n > 0 else 0.0


@inner
def local_spread(state, near, n, squared_errors):
    """The root of the local variance: a softer vote of the squared errors of n neighbours, and the latest."""
    number, variance = weigh(near, n, TRAINED), 0.0
    for k in range(n):
        variance += near[SHARE, k] * squared_errors[np.int64(near[PLACE, k])]
    variance = (number * variance + LATEST_VOTES * state.latest_error) / (number + LATEST_VOTES)
    return math.exp(state.stretch) * math.sqrt(variance)


@inner
def mix(state, mixer, scores, levels, found):
    """my + sy sum_k w_k f_k / sy, near the range of the targets. Writes f_k / sy to `levels`."""
    starts, weights, size, level = mixer[START], mixer[WEIGHT], usual_size(state), 0.0
    for k in range(EXPERTS):
        levels[k] = 0.0
        if starts[k] != 0.0 and has_scale(state):
            levels[k] = clamp(scores[k, 0] / size, LARGEST_RATIO)
            level += weights[k] * levels[k]
    margin = RANGE_MARGIN * (state.highest - state.lowest)
    forecast = min(max(state.average + level * size, state.lowest - margin), state.highest + margin)
    found.level, found.forecast = level, forecast


# Learning


@inlined
def learn_row(m, state, room, desk, y, w):
    """Learn the row that was predicted last."""
    found = desk.found[0]
    error, bound = begin_round(state, found, desk.errors, desk.scores, y)
    if state.rounds > 0:
        learn_mixture(state, room.mixer, desk.solver, found.level, y, bound, w)
        learn_models(state, room, desk, w)
        train_metric(state, room, desk, y, w)
    hard = abs(error) > state.absolute_error
    store(m, state, room, desk, y, hard, w, error * error, min(w * KERNEL_STEP, 1.0))
    learn_spread(state, room.quantiles, found.spread, error, w)
    learn_targets(state, y, error, bound, w)
    state.rounds += 1


@inner
def begin_round(state, found, errors, scores, y):
    """(the error of the mixture, the largest error of a step): writes the errors of every expert, clipped to it. The first
    target initialises the means, and is no error."""
    if state.rounds == 0:
        state.average = state.last = state.lowest = state.highest = y
        found.forecast = y
    bound = largest_error(state)
    for k in range(EXPERTS):
        errors[k, 0] = clamp(y - state.average - scores[k, 0], bound)
    return y - found.forecast, bound


@inner
def learn_mixture(state, mixer, solver, level, y, bound, w):
    """g_k = -e f_k / sy"""
    starts, losses, slopes, levels = mixer[START], mixer[LOSS], solver[SLOPE], solver[CURVE]
    size, rate = usual_size(state), max(1.0 / (state.rounds + 1.0), LOSS_RATE)
    target = (y - state.average) / size
    error = clamp(target - level, bound / size)
    for k in range(EXPERTS):
        slopes[k] = -error * levels[k]
        if starts[k] != 0.0:
            lacks = target - levels[k]
            loss = min(lacks * lacks, 1e6) if has_scale(state) else 0.0
            losses[k] += rate * (loss - losses[k])
    if state.rounds >= MIXING_ROUND:
        newton_step(mixer, solver, 1.0, w)


@inlined
def learn_models(state, room, desk, w):
    """The linear models and the bins."""
    errors, linear, size = desk.errors, room.linear, usual_size(state)
    wide, steps = desk.features[WIDE], desk.features[WORK]
    if has_scale(state):
        for u in range(N_RATES):
            lacking = errors[QUICK + u]
            lacking[0] = w * clamp(lacking[0] / size, LARGEST_RATIO)
            learn_linear(linear.weights, linear.sums, u, RATES[u] * size, wide, lacking, steps)
    learn_bin_means(room.bins.cells, desk.hits, errors[BINS, 0], w)
    if state.second_order >= 0:
        orientations, n = desk.features[ORIENTATION], state.second_order + 1
        learn_least_squares(room.squares, n, wide, orientations, errors[SQUARES], w, desk.gain)


@inlined
def train_metric(state, room, desk, y, w):
    """g_f of (y - vote)^2 in units of the variance of targets, with the shares of a softer vote, which replace those of
    the neighbours."""
    near, n, size = desk.near, desk.found[0].near, usual_size(state)
    if n >= NEIGHBOURS and has_scale(state):
        mean = state.average + vote(state, near, n, TRAINED)
        for k in range(n):
            near[SHARE, k] *= clamp((near[TARGET, k] - mean) / size, LARGEST_RATIO)
        lacking = clamp((mean - y) / size, LARGEST_RATIO)
        learn_metric(
            room.metric, desk.features, near, room.archive.rows, state.features, lacking, w
        )


@inner
def learn_spread(state, quantiles, spread, error, w):
    """Enlarge the factor on the spread if the 90 % interval missed the target, else shrink it a ninth as much.

    Quantiles of errors go up by their level, or down by the rest to 1 where the error lies below: so in the long run their
    share of errors does lie there, whatever their distribution is and however it drifts."""
    w = min(w, 1.0)
    if state.rounds < QUANTILE_ROUND or spread <= 0.0:
        return
    rate = min(FIRST_QUANTILE_RATE / (state.rounds + 1.0), LARGEST_QUANTILE_RATE)
    rate, scaled = w * max(rate, QUANTILE_RATE), error / spread
    for k in range(LEVELS.shape[0]):
        below = 0.5 if scaled == quantiles[k] else (1.0 if scaled < quantiles[k] else 0.0)
        quantiles[k] = clamp(quantiles[k] + rate * (LEVELS[k] - below), OUTERMOST_QUANTILE)
    for k in range(1, LEVELS.shape[0]):  # those that have crossed change places
        value, place = quantiles[k], k
        while place > 0 and quantiles[place - 1] > value:
            quantiles[place] = quantiles[place - 1]
            place -= 1
        quantiles[place] = value
    if state.rounds >= MIXING_ROUND:
        missed = 1.0 if abs(error) > NINETY * spread else 0.0
        rate = max(STRETCH_RATE, FIRST_STRETCH_RATE / (state.rounds + 1.0))
        state.stretch = clamp(state.stretch + w * rate * (missed - 0.1), LONGEST_STRETCH)


@inner
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

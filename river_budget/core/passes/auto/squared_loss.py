"""The AutoKernel regressor: experts that predict numbers, mixed by a sum, under the squared loss
(examples/auto_kernel.md, Regression and Intervals).

f_k       scores[k, 0]: the difference of expert k from the running mean; solver[CURVE] is f_k / sy
my, sy    state.average, usual_size(state)
e         the error of the mixture, or of an expert (errors[k, 0]), clipped to BOUND times the rms
          error
lo, hi    state.lowest, state.highest
r_i^2     memory.facts[SQUARED_ERROR]: their vote, with the latest errors, is the local variance
q         quantiles of the error in units of found.spread; they begin as those of a normal
          distribution

Until two different targets were seen, nothing that depends on the size of targets is learned, so
that their unit and their zero do not matter.
"""

from __future__ import annotations

import math

from ...compiling import inlined, inner, passes
from ...numerics import clamp
from .binning import learn_bin_means
from .experts import (
    HEAVIEST_EXAMPLE,
    SOFTNESS,
    consult_memory,
    consult_models,
    is_predicted,
    keep_moments,
    store,
)
from .linear_models import (
    ERROR_RATE,
    N_RATES,
    RATES,
    blend,
    bound_of,
    learn_blend,
    learn_least_squares,
    learn_linear,
    near_targets,
    refer,
    refer_row,
)
from .memory import weigh
from .metric import TRAINED, learn_metric
from .mixer import LOSS_RATE, newton_step
from .noise import learn_noise, spread_of
from .scaling import LARGEST_VALUE
from .tables import (
    BINS,
    CURVE,
    FAR,
    LEVELS,
    LOSS,
    NEAR,
    NEIGHBOURS,
    ORIENTATION,
    OWN,
    QUICK,
    RAW,
    REFERRED,
    SCALED,
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
from .target_means import has_decided, keep_row, learn_means, must_decide, write_means

LAST_TARGET_RATE = 0.5
SLOWEST_TARGETS = 1e-4  # rate of the mean and the variance of targets
LATEST_RATE = 0.1  # rate of the mean of the latest squared errors
KERNEL_STEP = 0.5
LARGEST_RATIO = 1e6  # of errors and opinions to sy, so that sums of squares stay finite
HEAVIEST_SHARE = 0.5  # of the newest value in a mean: with 1 a variance would be 0
MIXING_ROUND = 30  # the mixer learns from this round on
PRECISION, MOST_PRECISE = 0.4, 1e4  # of a row in the mixer, over sy^2 / r^2, and the largest
CONSTANT_TARGETS = 1e-24  # a smaller variance, as a share of the squared mean, counts as 0
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
def learn(states, rows, room, desk):
    """Learn the rows in order, those of weight 0 only score; scores[t] = the prediction before x_t
    is learned, and its spread if there is a second column. Returns how many rows it has processed:
    less than all, if it must be decided which features are names.
    """
    memory, features, models = room.memory, room.features, room.models
    archive, mixing, reference, means = room.archive, room.mixing, room.reference, room.means
    noise = room.noise
    opinions, search, row, hits, gain = desk.opinions, desk.search, desk.row, desk.hits, desk.gain
    state, found, width = states[0], desk.opinions.found[0], rows.places.shape[0]
    values, targets, weights, results = rows.values, rows.targets, rows.weights, rows.scores
    for t in range(results.shape[0]):
        x, w = values[width * t : width * (t + 1)], weights[t]
        if not is_predicted(state, found, row[RAW], x):
            write_means(means, state, row[RAW], x)
            varying = consult_models(state, features, models, row, hits, opinions.scores, x)
            consult_memory(memory, state, features.metric, archive, search, row, varying, opinions)
            refer_row(state, models.squares, reference, row, opinions.scores)
            give_opinions(state, search, opinions)
            found.spread = spread_of(
                state, noise, row[SCALED], search.near, found, memory.facts[SQUARED_ERROR]
            )
            mix(state, mixing.mixer, opinions)
            blend(state, mixing.mixer[START, SQUARES], opinions)
            found.version = state.rounds + 1.0
        if w == 0.0 or not has_decided(state):
            write_scores(found, results[t])
        if w > 0.0 and must_decide(state):
            return t
        if w > 0.0:
            y, w = clamp(targets[t], LARGEST_VALUE), min(w, HEAVIEST_EXAMPLE)
            error, bound = begin_round(state, opinions, y)
            if state.rounds > 0:
                learn_mixture(state, mixing.mixer, opinions, y, bound, w)
                learn_models(state, models, row, hits, gain, opinions.errors, w)
                train_metric(
                    state, features.metric, archive.rows, row, search.near, found.near, y, w
                )
            hard, rate = abs(error) > state.absolute_error, min(w * KERNEL_STEP, 1.0)
            store(
                memory, state, archive, search.far, row, opinions, y, hard, w, error * error, rate
            )
            keep_moments(state, features, models, row)
            learn_spread(state, mixing.quantiles, found.spread, error, w)
            if state.rounds >= QUANTILE_ROUND:
                learn_noise(noise, row[SCALED], state.features, found, error, min(w, 1.0))
            keep_row(means, state, x, y, w)
            learn_means(means, state, x, y, w)
            learn_blend(state, found, y, w)
            moved = learn_targets(state, y, error, y - found.mixture, bound, w)
            if state.second_order >= 0:
                models.squares[0, 0] -= moved
                refer(reference, row, models.squares, models.covariance, state.second_order)
            state.rounds += 1
    return results.shape[0]


# The size of targets and errors


@inner
def has_scale(state):
    """Whether the model has learned two different targets."""
    return state.variance > CONSTANT_TARGETS * state.average * state.average


@inner
def usual_size(state):
    """sy, or 1 before there is one."""
    return math.sqrt(state.variance) if has_scale(state) else 1.0


# Prediction


@inlined
def give_opinions(state, search, opinions):
    """Write what experts without weights predict, beyond the mean."""
    found, scores = opinions.found[0], opinions.scores
    scores[OWN, 0] = state.last - state.average
    scores[NEAR, 0] = vote(search.near, found.near, SOFTNESS, state.average)
    scores[FAR, 0] = vote(search.far, found.far, SOFTNESS, state.average)


@inner
def vote(neighbours, n, softness, average):
    """What n neighbours say, beyond the mean."""
    weigh(neighbours, n, softness)
    total = 0.0
    for k in range(n):
        total += neighbours[SHARE, k] * neighbours[TARGET, k]
    return total - average if n > 0 else 0.0


@inlined
def mix(state, mixer, opinions):
    """my + sy sum_k w_k f_k / sy, near the range of the targets"""
    starts, weights, found, scores = mixer[START], mixer[WEIGHT], opinions.found[0], opinions.scores
    size, level, levels = usual_size(state), 0.0, opinions.solver[CURVE]
    for k in range(starts.shape[0]):
        levels[k] = 0.0
        if starts[k] != 0.0 and has_scale(state):
            levels[k] = clamp(scores[k, 0] / size, LARGEST_RATIO)
            level += weights[k] * levels[k]
    found.level, found.forecast = level, near_targets(state, state.average + level * size)


@inlined
def write_scores(found, f):
    """The prediction, and its spread if there is room for it."""
    f[0] = found.forecast
    if f.shape[0] > 1:
        f[1] = found.spread


# Learning


@inlined
def begin_round(state, opinions, y):
    """(the error of the mixture, the largest error of a step): writes the errors of every expert,
    clipped to it. The first target initialises the means, and is no error.
    """
    found, errors, scores = opinions.found[0], opinions.errors, opinions.scores
    if state.rounds == 0:
        state.average = state.last = state.lowest = state.highest = y
        found.forecast = found.mixture = found.straight = y
    bound = bound_of(state.rounds, state.squared_error)
    for k in range(errors.shape[0]):
        errors[k, 0] = clamp(y - state.average - scores[k, 0], bound)
    return y - found.forecast, bound


@inlined
def learn_mixture(state, mixer, opinions, y, bound, w):
    """g_k = -e f_k / sy, times the precision: else experts a thousand times worse keep weights,
    where errors are small.
    """
    starts, losses, solver, level = (
        mixer[START],
        mixer[LOSS],
        opinions.solver,
        opinions.found[0].level,
    )
    slopes, levels, size = solver[SLOPE], solver[CURVE], usual_size(state)
    rate, target = max(1.0 / (state.rounds + 1.0), LOSS_RATE), (y - state.average) / size
    error = clamp(target - level, bound / size)
    for k in range(starts.shape[0]):
        slopes[k] = -error * levels[k]
        if starts[k] != 0.0:
            lacks = target - levels[k]
            loss = min(lacks * lacks, 1e6) if has_scale(state) else 0.0
            losses[k] += rate * (loss - losses[k])
    if state.rounds >= MIXING_ROUND:
        newton_step(mixer, solver, 1.0, w * precision_of(state))


@inner
def precision_of(state):
    """How much a row says of weights: more, if errors are small beside the targets."""
    if PRECISION * state.variance < MOST_PRECISE * state.squared_error:
        return max(PRECISION * state.variance / state.squared_error, 1.0)
    return MOST_PRECISE


@inlined
def learn_models(state, models, row, hits, gain, errors, w):
    """The linear models and the bins."""
    wide, steps, size = row[WIDE], row[WORK], usual_size(state)
    if has_scale(state):
        for u in range(N_RATES):
            lacking = errors[QUICK + u]
            lacking[0] = w * clamp(lacking[0] / size, LARGEST_RATIO)
            learn_linear(models.linear, models.sums, u, RATES[u] * size, wide, lacking, steps)
    learn_bin_means(models.cells, hits, errors[BINS, 0], w)
    if state.second_order >= 0:
        n, u, lacking = state.second_order + 1, row[REFERRED], errors[SQUARES]
        learn_least_squares(
            models.squares, models.covariance, n, u, row[ORIENTATION], lacking, w, gain
        )


@inlined
def train_metric(state, metric, stored, row, near, n, y, w):
    """g_f of (y - vote)^2 in units of the variance of targets, with the shares of a softer vote,
    which replace those of the neighbours.
    """
    size, shares, targets = usual_size(state), near[SHARE], near[TARGET]
    if n >= NEIGHBOURS and has_scale(state):
        mean = state.average + vote(near, n, TRAINED, state.average)
        for k in range(n):
            shares[k] *= clamp((targets[k] - mean) / size, LARGEST_RATIO)
        lacking = clamp((mean - y) / size, LARGEST_RATIO)
        learn_metric(metric, row, near, stored, state.features, lacking, w)


@inner
def learn_spread(state, quantiles, spread, error, w):
    """Enlarge the factor on the spread if the 90 % interval missed the target, else shrink it a
    ninth as much.

    Quantiles of errors go up by their level, or down by the rest to 1 where the error lies below:
    so in the long run their share of errors does lie there, whatever their distribution is and
    however it drifts.
    """
    w = min(w, 1.0)
    if state.rounds < QUANTILE_ROUND or spread <= 0.0:
        return
    rate = min(FIRST_QUANTILE_RATE / (state.rounds + 1.0), LARGEST_QUANTILE_RATE)
    rate, scaled = w * max(rate, QUANTILE_RATE), error / spread
    for k in range(quantiles.shape[0]):
        below = 0.5 if scaled == quantiles[k] else (1.0 if scaled < quantiles[k] else 0.0)
        quantiles[k] = clamp(quantiles[k] + rate * (LEVELS[k] - below), OUTERMOST_QUANTILE)
    for k in range(1, quantiles.shape[0]):  # those that have crossed change places
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
def learn_targets(state, y, error, lacks, bound, w):
    """Update the running means of targets and errors, those of the prediction and of the mixture,
    which lacks so much. Returns by how much the mean has moved. The first target has initialised
    those of targets.
    """
    before = state.average
    if state.rounds > 0:
        first = 1.0 / (state.rounds + 1.0)
        square = min(error * error, bound * bound)
        rate = min(w * max(first, LATEST_RATE), HEAVIEST_SHARE)
        state.latest_error += rate * (square - state.latest_error)
        rate = min(w * max(first, ERROR_RATE), HEAVIEST_SHARE)
        square = min(lacks * lacks, bound * bound)
        state.squared_error += rate * (square - state.squared_error)
        state.absolute_error += rate * (min(abs(error), bound) - state.absolute_error)
        deviation = y - state.average
        rate = min(w * max(first, SLOWEST_TARGETS), HEAVIEST_SHARE)
        state.average += rate * deviation
        state.variance += rate * (deviation * (y - state.average) - state.variance)
        state.last += min(w * LAST_TARGET_RATE, HEAVIEST_SHARE) * (y - state.last)
    state.lowest = min(state.lowest, y)
    state.highest = max(state.highest, y)
    return state.average - before

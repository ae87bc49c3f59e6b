"""The automatic kernel regressor: the same memory and metric, experts that predict numbers.

    spec      here
    f_k       VALUES: what expert k adds to the running mean; its LEVELS are in units of sy and bounded
    my, sy    own.average, usual_size(own)
    e         what the mixture, or an expert, lacks; it teaches up to BOUND times the rms error
    lo, hi    own.lowest, own.highest
    r_i^2     extras[SQUARED_ERROR]: of the mixture, when row i came; voted as the targets are they are the local variance

Nothing that depends on the size of targets is learned before two different ones were seen, so their unit and their
zero do not matter.
"""

from __future__ import annotations

import math

import numpy as np

from .auto import HEAVIEST, experts_of
from .auto_binning import binned, find_cells, learn_bin_means
from .auto_kernels import kernel_score, learn_distance, narrow, widest_kernels
from .auto_linear import (
    QUICK,
    gain,
    learn_least_squares,
    learn_linear,
    least_squares_score,
    linear_score,
    shrink_covariance,
)
from .auto_memory import make_room, write
from .auto_metric import distances, turn
from .auto_mixer import CURVES, SLOPES, newton_step, note_loss
from .auto_scaling import LARGEST_VALUE, keep_moments, scale
from .auto_sharing import FORECAST, NEIGHBOURS_FOUND, NUMBER, SPREAD, is_noted, note
from .auto_tables import (
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
    NOTE,
    ONLY,
    ROW,
    SHARES,
    SLOPE,
    SOLVER,
    SQUARED_ERROR,
    TARGET,
    WIDTHS,
    kept,
    noted,
    state,
)
from .auto_votes import NEAREST, SHARPEST, SOFTEST, nearest, neighbour_slopes, share_out
from .jit import compiled
from .model import examples, unpack
from .rows import is_finite, row_of
from .support import within

FAST_EXPERT, LAST_EXPERT, LINEAR_EXPERT, BIN_EXPERT = 0, 1, 2, 3
VOTE_EXPERT, KERNEL_EXPERT, SQUARES_EXPERT = 5, 7, 10
VALUES, LEVELS = SHARES, LOGS  # tables of the desk, whose first column is used
FAST_RATE, LAST_RATE = 0.02, 0.5
SLOWEST = 1e-4  # rate of the mean and the variance of targets
ERROR_RATE = 0.01  # of running errors
KERNEL_STEP = 0.5
HIGHEST_LEVEL = 5.0  # of an expert, in units of sy
BOUND, UNBOUNDED = 4.0, 10  # errors of the first rounds teach in full
HEAVIEST_SHARE = 0.5  # of the newest in a running mean: with all of it a variance would be 0
MIXING = 30  # the round from which the mixer learns
MARGIN = 0.1  # of the range of targets, by which predictions may leave it
ROUNDING = 1e-24  # a variance below this share of the squared mean is none
OUTSIDE = 1.0  # neighbours that the mean squared error stands for
NINETY = 1.6448536269514722  # standard normal quantile of .95
STRETCH_RATE = 0.05  # of the logarithm of the factor that makes intervals of 90 % hold so many
LONGEST_STRETCH = 5.0  # where all hold, or none, it goes no further
FIRST_RATE = 10.0  # of it, over the rounds


@compiled(entry=True)
def learn(call):
    """Learn the rows in order; scores[t] = the prediction before x_t is learned. Returns how many were done."""
    model = unpack(call)
    rows, targets, weights, scores = examples(call)
    own = state(model.own)
    for t in range(rows.shape[0]):
        x = row_of(rows, t)
        if not is_finite(x):
            return t
        foresee(model, own, x)
        scores[t, 0] = noted(model, NOTE)[0, FORECAST]
        if weights[t] > 0.0:
            target = within(targets[t], LARGEST_VALUE)
            take_in(model, own, target, min(weights[t], HEAVIEST))
    return np.int64(rows.shape[0])


@compiled(entry=True)
def decide(call):
    """Predictions of all rows, and their spread where there is a second column. Returns how many were done."""
    model = unpack(call)
    rows, _, _, scores = examples(call)
    own = state(model.own)
    for t in range(rows.shape[0]):
        x = row_of(rows, t)
        if not is_finite(x):
            return t
        foresee(model, own, x)
        scores[t, 0] = noted(model, NOTE)[0, FORECAST]
        if scores.shape[1] > 1:
            scores[t, 1] = noted(model, NOTE)[0, SPREAD]
    return np.int64(rows.shape[0])


@compiled(hot=True)
def has_scale(own):
    """Whether two different targets were seen."""
    return own.variance > ROUNDING * own.average * own.average


@compiled(hot=True)
def usual_size(own):
    return math.sqrt(own.variance) if has_scale(own) else 1.0


@compiled(hot=True)
def largest_error(own):
    """The largest error that teaches."""
    if own.rounds <= UNBOUNDED or own.squared_error <= 0.0:
        return np.inf
    return BOUND * math.sqrt(own.squared_error)


@compiled(hot=True)
def foresee(model, own, x):
    """SCALE, EXPERTS and MIX: everything that follows from x stays on the desk."""
    if is_noted(model, own, x):
        return
    scale(model, own, x)
    distances(model, own)
    ask_models(model, own)
    ask_neighbours(model, own)
    ask_kernels(model, own)
    mix(model, own)
    note(model, own)


@compiled(hot=True)
def ask_models(model, own):
    """fast, last, lin, bin, linrls"""
    values, score = noted(model, VALUES), noted(model, MIXTURE)[1]
    values[FAST_EXPERT, 0] = own.fast - own.average
    values[LAST_EXPERT, 0] = own.last - own.average
    values[LINEAR_EXPERT, 0] = linear_score(model, own, ONLY, ONLY)
    for u in range(2):
        find_cells(model, u)
        binned(model, u, score)
        values[BIN_EXPERT + u, 0] = score[0]
    if own.second_order >= 0:
        values[SQUARES_EXPERT, 0] = least_squares_score(model, own, ONLY)


@compiled(hot=True)
def ask_neighbours(model, own):
    """vote(8) and vote(3), whose shares stay; the squared errors are voted too."""
    values, n, spread = noted(model, VALUES), nearest(model), own.squared_error
    near, targets, squares = noted(model, NEAR), model.extras[TARGET], model.extras[SQUARED_ERROR]
    places, pi = near[NEAR_PLACE].view(np.int64), near[NEAR_SHARE]
    for u in range(2):
        vote, variance = 0.0, 0.0
        number = share_out(model, n, SHARPEST if u == 0 else SOFTEST) if n > 0 else 0.0
        for k in range(n):
            vote += pi[k] * targets[places[k]]
            variance += pi[k] * squares[places[k]]
        values[VOTE_EXPERT + 1 - u, 0] = vote - own.average if n > 0 else 0.0
        spread = (number * variance + OUTSIDE * own.squared_error) / (number + OUTSIDE)
    noted(model, NOTE)[0, NEIGHBOURS_FOUND] = n
    noted(model, NOTE)[0, SPREAD] = math.exp(own.stretch) * math.sqrt(spread)


@compiled(hot=True)
def ask_kernels(model, own):
    values = noted(model, VALUES)
    widest_kernels(model, own)
    for q in range(WIDTHS):
        if q > 0:
            narrow(model)
        values[KERNEL_EXPERT + q, 0] = kernel_score(model, ONLY, q)


@compiled(hot=True)
def mix(model, own):
    """my + sy sum_k w_k f_k / sy, near the range of the targets"""
    values, levels = noted(model, VALUES), noted(model, LEVELS)
    weights, size, level = kept(model, MIXER)[MIXER_WEIGHT], usual_size(own), 0.0
    for k in range(experts_of(own)):
        bounded = within(values[k, 0] / size, HIGHEST_LEVEL)
        levels[k, 0] = bounded if has_scale(own) else 0.0
        level += weights[k] * levels[k, 0]
    margin = MARGIN * (own.highest - own.lowest)
    forecast = min(max(own.average + level * size, own.lowest - margin), own.highest + margin)
    noted(model, NOTE)[0, NUMBER] = level
    noted(model, NOTE)[0, FORECAST] = forecast


@compiled(hot=True)
def take_in(model, own, y, w):
    """LEARN, after `foresee` of the same row."""
    if own.rounds == 0:  # a first target is no error
        own.average = own.fast = own.last = own.lowest = own.highest = y
        noted(model, NOTE)[0, FORECAST] = y
    error = y - noted(model, NOTE)[0, FORECAST]
    bound = largest_error(own)
    if own.rounds > 0:
        learn_mixture(model, own, y, bound, w)
        learn_models(model, own, y - own.average, bound, w)
        learn_metric(model, own, y, w)
    learn_distance(model, own)
    remember(model, own, y, error, bound, w)
    learn_spread(model, own, error, w)
    learn_targets(own, y, error, bound, w)
    keep_moments(model, own)
    own.rounds += 1


@compiled(hot=True)
def learn_mixture(model, own, y, bound, w):
    """g_k = -e f_k / sy"""
    levels, solver = noted(model, LEVELS), noted(model, SOLVER)
    n, size = experts_of(own), usual_size(own)
    error = within((y - own.average) / size - noted(model, NOTE)[0, NUMBER], bound / size)
    for k in range(n):
        solver[CURVES, k] = levels[k, 0]
        solver[SLOPES, k] = -error * levels[k, 0]
        lacks = (y - own.average) / size - levels[k, 0]
        note_loss(model, k, own.rounds, min(lacks * lacks, 1e6) if has_scale(own) else 0.0)
    if own.rounds >= MIXING:
        newton_step(model, n, 1.0 / (n - 1), 1.0, w)


@compiled(hot=True)
def learn_models(model, own, y, bound, w):
    """lin, bin, linrls; y is what they should add to the mean"""
    values, size = noted(model, VALUES), usual_size(own)
    if has_scale(own):
        error = within(values[LINEAR_EXPERT, 0] - y, bound) / size
        learn_linear(model, own, ONLY, ONLY, QUICK * size, w * error)
    for u in range(2):
        learn_bin_means(model, u, within(y - values[BIN_EXPERT + u, 0], bound), w)
    if own.second_order >= 0:
        factor = gain(model, own, w)
        error = within(y - values[SQUARES_EXPERT, 0], bound)
        learn_least_squares(model, own, ONLY, factor * error)
        shrink_covariance(model, own, factor)


@compiled(hot=True)
def learn_metric(model, own, y, w):
    """g_f of (y - vote(3))^2 in units of the variance of targets"""
    if noted(model, NOTE)[0, NEIGHBOURS_FOUND] < NEIGHBOURS or not has_scale(own):
        return
    near, targets = noted(model, NEAR), model.extras[TARGET]
    places, pi = near[NEAR_PLACE].view(np.int64), near[NEAR_SHARE]
    size = usual_size(own)
    vote = own.average + noted(model, VALUES)[VOTE_EXPERT, 0]
    for k in range(NEIGHBOURS):
        pi[k] *= (targets[places[k]] - vote) / size
    neighbour_slopes(model, own, noted(model, ROW)[0], NEIGHBOURS, pi)
    slope, weights = noted(model, SLOPE)[0], kept(model, METRIC)[METRIC_WEIGHT]
    rate = SOFTEST / max(near[NEAR_DISTANCE, NEIGHBOURS - 1], NEAREST) * (vote - y) / size
    for f in range(own.features):
        slope[f] *= rate * weights[f]
    turn(model, own, w)


@compiled(hot=True)
def remember(model, own, y, error, bound, w):
    """The row enters the memory with alpha_q = e_q / 2; the first one with 0."""
    values, hard = noted(model, VALUES), abs(error) > own.absolute_error
    place, rate = make_room(model, own), min(w * KERNEL_STEP, 1.0)
    write(model, own, place, y, hard, w, error * error)
    for q in range(WIDTHS):
        lacks = within(y - own.average - values[KERNEL_EXPERT + q, 0], bound)
        model.coefficients[q, place] = rate * lacks if own.rounds > 0 else 0.0


@compiled(hot=True)
def learn_spread(model, own, error, w):
    """The factor of the spread grows where intervals of 90 % miss, and shrinks a ninth as fast where they hold."""
    spread = noted(model, NOTE)[0, SPREAD]
    if own.rounds >= MIXING and spread > 0.0:
        missed = 1.0 if abs(error) > NINETY * spread else 0.0
        rate = max(STRETCH_RATE, FIRST_RATE / (own.rounds + 1.0))
        own.stretch = within(own.stretch + min(w, 1.0) * rate * (missed - 0.1), LONGEST_STRETCH)


@compiled(hot=True)
def learn_targets(own, y, error, bound, w):
    """Running means of targets and errors. The first target has set those of targets."""
    if own.rounds > 0:
        first = 1.0 / (own.rounds + 1.0)
        rate = min(w * max(first, ERROR_RATE), HEAVIEST_SHARE)
        own.squared_error += rate * (min(error * error, bound * bound) - own.squared_error)
        own.absolute_error += rate * (abs(error) - own.absolute_error)
        deviation = y - own.average
        rate = min(w * max(first, SLOWEST), HEAVIEST_SHARE)
        own.average += rate * deviation
        own.variance += rate * (deviation * (y - own.average) - own.variance)
        own.fast += min(w * max(first, FAST_RATE), HEAVIEST_SHARE) * (y - own.fast)
        own.last += min(w * LAST_RATE, HEAVIEST_SHARE) * (y - own.last)
    own.lowest = min(own.lowest, y)
    own.highest = max(own.highest, y)

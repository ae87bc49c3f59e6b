"""The automatic kernel regressor: the same memory and metric, experts that predict numbers.

    spec      here
    f_k       VALUES: what expert k adds to the running mean; its LEVELS are in units of sy and bounded
    my, sy    state.average, usual_size(state)
    e         what the mixture, or an expert, lacks; it teaches up to BOUND times the rms error
    lo, hi    state.lowest, state.highest
    r_i^2     per_vector[SQUARED_ERROR]: of the mixture, when row i came; voted as the targets are, and with
              the latest ones, they are the local variance

Nothing that depends on the size of targets is learned before two different ones were seen, so their unit and their
zero do not matter.
"""

from __future__ import annotations

import math

import numpy as np

from ...block.limits import within
from ...compiling.array_views import as_u64
from ...compiling.by_address import shared
from ...compiling.jit import compiled
from ...compiling.model_type import MODEL, NOTHING, NUMBERS
from ...compiling.needs import Need
from ...examples.call import row_of, scores_of, unpack_rows, whole_row
from ...examples.finite import is_finite
from .binning import binned, find_cells, learn_bin_means
from .classify import HEAVIEST, experts_of
from .heavy_tails import LARGEST_VALUE
from .kernels import kernel_scores, learn_distance, narrow, widest_kernels
from .linear_models import (
    QUICK,
    gain,
    learn_least_squares,
    learn_linear,
    least_squares_scores,
    linear_scores,
    shrink_covariance,
)
from .memory import make_room, write
from .metric import measure, turn
from .mixer import CURVES, SLOPES, newton_step, note_loss
from .neighbours import NEAREST, SHARPEST, SOFTEST, nearest, neighbour_slopes, share_out
from .scaling import keep_moments
from .sharing import FORECAST, NEIGHBOURS_FOUND, NUMBER, SPREAD, is_noted, note
from .tables import (
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
    state_at,
)

FAST_EXPERT, LAST_EXPERT, LINEAR_EXPERT, BIN_EXPERT = 0, 1, 2, 3
VOTE_EXPERT, KERNEL_EXPERT, SQUARES_EXPERT = 5, 7, 10
VALUES, LEVELS = SHARES, LOGS  # tables of the desk, whose first column is used
FAST_RATE, LAST_RATE = 0.02, 0.5
SLOWEST = 1e-4  # rate of the mean and the variance of targets
ERROR_RATE = 0.01  # of running errors
KERNEL_STEP = 0.5
HIGHEST_LEVEL = 5.0  # of an expert, in units of sy
BOUND, UNBOUNDED = 4.0, 10  # errors of the first rounds teach in full
LARGEST_RATIO = 1e6  # of an error to the usual size of targets: its square, summed up, stays finite
HEAVIEST_SHARE = 0.5  # of the newest in a running mean: with all of it a variance would be 0
MIXING = 30  # the round from which the mixer learns
MARGIN = 0.1  # of the range of targets, by which predictions may leave it
ROUNDING = 1e-24  # a variance below this share of the squared mean is none
LATEST_RATE = 0.1  # of the mean of the latest squared errors
OUTSIDE = 2.0  # neighbours that it stands for
NINETY = 1.6448536269514722  # standard normal quantile of .95
STRETCH_RATE = 0.05  # of the logarithm of the factor that makes intervals of 90 % hold so many
LONGEST_STRETCH = 5.0  # where all hold, or none, it goes no further
FIRST_RATE = 10.0  # of it, over the rounds


@compiled(called_from_python=True)
def learn(call):
    """Learn the rows in order; scores[t] = the prediction before x_t is learned. Returns how many were done."""
    model, stream, n = unpack_rows(call)
    state = state_at(model.state)
    for t in range(n):
        x, f, y, w = whole_row(stream, t)
        if not is_finite(x):
            return t
        foresee(model, x)
        f[0] = model.note[FORECAST]
        if w > 0.0:
            target = within(y, LARGEST_VALUE)
            take_in(model, state, target, min(w, HEAVIEST))
    return n


@compiled(called_from_python=True)
def decide(call):
    """Predictions of all rows, and their spread where there is a second column. Returns how many were done."""
    model, stream, n = unpack_rows(call)
    for t in range(n):
        x, f = row_of(stream[0], t), scores_of(stream, t)
        if not is_finite(x):
            return t
        foresee(model, x)
        f[0] = model.note[FORECAST]
        if f.shape[0] > 1:
            f[1] = model.note[SPREAD]
    return n


@compiled
def has_scale(state):
    """Whether two different targets were seen."""
    return state.variance > ROUNDING * state.average * state.average


@compiled
def usual_size(state):
    return math.sqrt(state.variance) if has_scale(state) else 1.0


@compiled
def largest_error(state):
    """The largest error that teaches."""
    if state.rounds <= UNBOUNDED or state.squared_error <= 0.0:
        return np.inf
    return BOUND * math.sqrt(state.squared_error)


@compiled
def latest_error(state):
    """The usual squared error of late; files of earlier versions do not have it."""
    return state.latest_error if state.latest_error > 0.0 else state.squared_error


@shared(Need.AUTO_NUMBERS, NOTHING, MODEL, NUMBERS)
def foresee(model, x):
    """SCALE, EXPERTS and MIX: everything that follows from x stays on the desk."""
    state = state_at(model.state)
    if is_noted(model, state, x):
        return
    measure(model, x)
    ask_models(model, state)
    ask_neighbours(model, state)
    ask_kernels(model, state)
    mix(model, state)
    note(model, state)


@compiled
def ask_models(model, state):
    """fast, last, lin, bin, linrls"""
    values, score = noted(model, VALUES), noted(model, MIXTURE)[1][:1]
    values[FAST_EXPERT, 0] = state.fast - state.average
    values[LAST_EXPERT, 0] = state.last - state.average
    linear_scores(model, state, ONLY, score)
    values[LINEAR_EXPERT, 0] = score[0]
    for u in range(2):
        find_cells(model, u)
        binned(model, u, score)
        values[BIN_EXPERT + u, 0] = score[0]
    if state.second_order >= 0:
        least_squares_scores(model, state, score)
        values[SQUARES_EXPERT, 0] = score[0]


@compiled
def ask_neighbours(model, state):
    """vote(8) and vote(3), whose shares stay; the squared errors are voted too."""
    values, n, latest = noted(model, VALUES), nearest(model), latest_error(state)
    near, targets, squares = (
        noted(model, NEAR),
        model.per_vector[TARGET],
        model.per_vector[SQUARED_ERROR],
    )
    places, pi, spread = as_u64(near[NEAR_PLACE]), near[NEAR_SHARE], latest
    for u in range(2):
        vote, variance = 0.0, 0.0
        number = share_out(model, n, SHARPEST if u == 0 else SOFTEST) if n > 0 else 0.0
        for k in range(n):
            vote += pi[k] * targets[places[k]]
            variance += pi[k] * squares[places[k]]
        values[VOTE_EXPERT + 1 - u, 0] = vote - state.average if n > 0 else 0.0
        spread = (number * variance + OUTSIDE * latest) / (number + OUTSIDE)
    model.note[NEIGHBOURS_FOUND] = n
    model.note[SPREAD] = math.exp(state.stretch) * math.sqrt(spread)


@compiled
def ask_kernels(model, state):
    values, score = noted(model, VALUES), noted(model, MIXTURE)[1][:1]
    widest_kernels(model, state)
    for q in range(WIDTHS):
        if q > 0:
            narrow(model)
        kernel_scores(model, q, score)
        values[KERNEL_EXPERT + q, 0] = score[0]


@compiled
def mix(model, state):
    """my + sy sum_k w_k f_k / sy, near the range of the targets"""
    values, levels = noted(model, VALUES), noted(model, LEVELS)
    weights, size, level = kept(model, MIXER)[MIXER_WEIGHT], usual_size(state), 0.0
    for k in range(experts_of(state)):
        bounded = within(values[k, 0] / size, HIGHEST_LEVEL)
        levels[k, 0] = bounded if has_scale(state) else 0.0
        level += weights[k] * levels[k, 0]
    margin = MARGIN * (state.highest - state.lowest)
    forecast = min(max(state.average + level * size, state.lowest - margin), state.highest + margin)
    model.note[NUMBER] = level
    model.note[FORECAST] = forecast


@compiled
def take_in(model, state, y, w):
    """LEARN, after `foresee` of the same row."""
    if state.rounds == 0:  # a first target is no error
        state.average = state.fast = state.last = state.lowest = state.highest = y
        model.note[FORECAST] = y
    error = y - model.note[FORECAST]
    bound = largest_error(state)
    if state.rounds > 0:
        learn_mixture(model, state, y, bound, w)
        learn_models(model, state, y - state.average, bound, w)
        learn_metric(model, state, y, w)
    learn_distance(model, state)
    remember(model, state, y, error, bound, w)
    learn_spread(model, state, error, w)
    learn_targets(state, y, error, bound, w)
    keep_moments(model, state)
    state.rounds += 1


@compiled
def learn_mixture(model, state, y, bound, w):
    """g_k = -e f_k / sy"""
    levels, solver = noted(model, LEVELS), noted(model, SOLVER)
    n, size = experts_of(state), usual_size(state)
    error = within((y - state.average) / size - model.note[NUMBER], bound / size)
    for k in range(n):
        solver[CURVES, k] = levels[k, 0]
        solver[SLOPES, k] = -error * levels[k, 0]
        lacks = (y - state.average) / size - levels[k, 0]
        note_loss(model, k, state.rounds, min(lacks * lacks, 1e6) if has_scale(state) else 0.0)
    if state.rounds >= MIXING:
        newton_step(model, n, 1.0 / (n - 1), 1.0, w)


@compiled
def learn_models(model, state, y, bound, w):
    """lin, bin, linrls; y is what they should add to the mean"""
    values, size, errors = noted(model, VALUES), usual_size(state), noted(model, MIXTURE)[2]
    if has_scale(state):
        error = within(within(values[LINEAR_EXPERT, 0] - y, bound) / size, LARGEST_RATIO)
        errors[0] = w * error
        learn_linear(model, state, ONLY, QUICK * size, errors)
    for u in range(2):
        learn_bin_means(model, u, within(y - values[BIN_EXPERT + u, 0], bound), w)
    if state.second_order >= 0:
        factor = gain(model, state, w)
        error = within(y - values[SQUARES_EXPERT, 0], bound)
        learn_least_squares(model, state, ONLY, factor * error)
        shrink_covariance(model, state, factor)


@compiled
def learn_metric(model, state, y, w):
    """g_f of (y - vote(3))^2 in units of the variance of targets"""
    if model.note[NEIGHBOURS_FOUND] < NEIGHBOURS or not has_scale(state):
        return
    near, targets = noted(model, NEAR), model.per_vector[TARGET]
    places, pi = as_u64(near[NEAR_PLACE]), near[NEAR_SHARE]
    size = usual_size(state)
    vote = state.average + noted(model, VALUES)[VOTE_EXPERT, 0]
    for k in range(NEIGHBOURS):
        pi[k] *= within((targets[places[k]] - vote) / size, LARGEST_RATIO)
    neighbour_slopes(model, state, noted(model, ROW)[0], NEIGHBOURS, pi)
    slope, weights = noted(model, SLOPE)[0], kept(model, METRIC)[METRIC_WEIGHT]
    rate = SOFTEST / max(near[NEAR_DISTANCE, NEIGHBOURS - 1], NEAREST)
    rate *= within((vote - y) / size, LARGEST_RATIO)
    for f in range(state.features):
        slope[f] *= rate * weights[f]
    turn(model, state, w)


@compiled
def remember(model, state, y, error, bound, w):
    """The row enters the memory with alpha_q = e_q / 2; the first one with 0."""
    values, hard = noted(model, VALUES), abs(error) > state.absolute_error
    place, rate = make_room(model, state), min(w * KERNEL_STEP, 1.0)
    write(model, state, place, y, hard, w, error * error)
    for q in range(WIDTHS):
        lacks = within(y - state.average - values[KERNEL_EXPERT + q, 0], bound)
        model.coefficients[q, place] = rate * lacks if state.rounds > 0 else 0.0


@compiled
def learn_spread(model, state, error, w):
    """The factor of the spread grows where intervals of 90 % miss, and shrinks a ninth as fast where they hold."""
    spread = model.note[SPREAD]
    if state.rounds >= MIXING and spread > 0.0:
        missed = 1.0 if abs(error) > NINETY * spread else 0.0
        rate = max(STRETCH_RATE, FIRST_RATE / (state.rounds + 1.0))
        state.stretch = within(state.stretch + min(w, 1.0) * rate * (missed - 0.1), LONGEST_STRETCH)


@compiled
def learn_targets(state, y, error, bound, w):
    """Running means of targets and errors. The first target has set those of targets."""
    if state.rounds > 0:
        first = 1.0 / (state.rounds + 1.0)
        square, before = min(error * error, bound * bound), latest_error(state)
        rate = min(w * max(first, LATEST_RATE), HEAVIEST_SHARE)
        state.latest_error = before + rate * (square - before)
        rate = min(w * max(first, ERROR_RATE), HEAVIEST_SHARE)
        state.squared_error += rate * (square - state.squared_error)
        state.absolute_error += rate * (abs(error) - state.absolute_error)
        deviation = y - state.average
        rate = min(w * max(first, SLOWEST), HEAVIEST_SHARE)
        state.average += rate * deviation
        state.variance += rate * (deviation * (y - state.average) - state.variance)
        state.fast += min(w * max(first, FAST_RATE), HEAVIEST_SHARE) * (y - state.fast)
        state.last += min(w * LAST_RATE, HEAVIEST_SHARE) * (y - state.last)
    state.lowest = min(state.lowest, y)
    state.highest = max(state.highest, y)

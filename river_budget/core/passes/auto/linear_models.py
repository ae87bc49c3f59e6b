"""Linear models of the features: AdaGrad with two rates, and recursive least squares
(examples/auto_kernel.md, Linear models).

J. Duchi, E. Hazan, Y. Singer. Adaptive subgradient methods for online learning and stochastic optimization. JMLR 12,
2011. (Here the sums of squares decay.)

    x+       row: 1, and then the scaled features
    L_u, G   models.linear, models.sums: per rate, the weights of every column, and sums of squared
             gradients, the mean over columns
    w        models.squares, which begins at 1/C for x+ = 1; its covariance  models.covariance
    trace    of the covariance: the model forgets only while the trace is small

In regression a target may run away, so least squares have units that stay, and stand beside the
mixture (examples/auto_kernel.md, Regression):

    u        row[REFERRED]: 1, and then (x_f - c_f) / s_f, within 40 of 0; 0 of a feature without
             reference
    c, s     reference[CENTRE], reference[UNIT]: the mean and the standard deviation of a feature
             when it had just begun to vary. They are set anew behind a row with which the standard
             deviation is twice as large as s or half as large, or the mean is farther from c than
             s. Then weights and covariance are rewritten, so that no prediction changes: running
             units would turn a model of a trend into another one with every row
    w        models.squares[0]: least squares say w'u beyond the mean my. When my moves, w_0 moves
             against it
    M, L     found.mixture, found.straight: what the mixture and what least squares say, near the
             range of the targets. The prediction is M + b (L - M), with b = straight_share:
             (sum (y - M) (L - M) - ERRORS_LESS r sqrt(sum (L - M)^2)) / (sum (L - M)^2 + DOUBT r^2)
             between 0 and 1: what would have been best, less a part of its standard error. Sums
             fade by BLEND_FORGETTING, and a row in which the prediction is wrong by more than BOUND
             r counts less, as if all of it were shrunk to BOUND r
    r^2      state.blend_error, a running mean of such squared errors
"""  # noqa: E501

from __future__ import annotations

import math

import numpy as np

from ...compiling import inlined, inner
from ...numerics import add_multiple, clamp, dot
from .scaling import CONSTANT, LARGEST_VALUE, WIDE_CLIP
from .tables import CENTRE, MEAN, ORIENTATION, RAW, REFERRED, SQUARES, UNIT, VARIANCE

RATES = (0.3, 0.05)
N_RATES = len(RATES)
LINEAR_FORGETTING = 0.9995  # of sums of squared gradients
SQUARES_FORGETTING = 0.9995  # of past rows in least squares
GRADIENT_FLOOR = 1e-10  # added under the root, for features that were 0 so far
BOUND, UNBOUNDED_ROUNDS = 4.0, 10  # errors of the first rounds are not clipped
ERROR_RATE = 0.01  # rate of running errors
BLEND_FORGETTING = 0.998
DOUBT = 10.0  # rows
RANGE_MARGIN = 0.1  # predictions may leave the range of targets by this share of it
ERRORS_LESS = 0.5  # so many standard errors are taken from b
FARTHEST = 2.0  # standard deviations may grow or fall so far from the reference
MOST_VARIANCE = 1e8  # of a weight in the covariance


@inner
def learn_linear(weights, sums, rate, step, row, errors, steps):
    """An AdaGrad step along errors[c] x+, the negative gradient. All columns have the same step
    lengths. Overwrites `steps`.
    """
    squares, n, square = sums[rate], row.shape[0], mean_square(errors)
    for i in range(n):
        squares[i] = LINEAR_FORGETTING * squares[i] + square * (row[i] * row[i])
    for i in range(n):
        steps[i] = step * row[i] / math.sqrt(squares[i] + GRADIENT_FLOOR)
    for c in range(errors.shape[0]):
        add_multiple(weights[N_RATES * c + rate], errors[c], steps, n)


@inner
def mean_square(errors):
    """The mean of squared errors."""
    total = 0.0
    for c in range(errors.shape[0]):
        total += errors[c] * errors[c]
    return total / errors.shape[0]


@inlined
def learn_least_squares(weights, covariance, n, row, orientations, errors, w, gain):
    """With the gain q = P x and the factor k = w / (forgetting + w x'q), w_c += k errors[c] q;  P <- P - k q q', divided
    by the forgetting while the trace stays below its initial value. n: features in use, and one. Overwrites `gain`.

    Entries of features that have never varied stay initial. Both halves of P get the same bits, so
    it stays symmetric.
    """  # noqa: E501
    rounded, trace, number = gain.shape[0], 0.0, 0
    for i in range(n):
        gain[i] = dot(row, covariance[i], rounded)
    for i in range(n, rounded):
        gain[i] = 0.0
    factor = w / (SQUARES_FORGETTING + w * dot(gain, row, rounded))
    for c in range(errors.shape[0]):
        add_multiple(weights[c], factor * errors[c], gain, rounded)
    for i in range(n):
        if i == 0 or orientations[i - 1] != 0.0:
            trace += covariance[i, i] - factor * (gain[i] * gain[i])
            number += 1
    growth = 1.0 / SQUARES_FORGETTING if trace / SQUARES_FORGETTING < number else 1.0
    root = math.sqrt(factor * growth)
    for i in range(rounded):
        gain[i] *= root
    for i in range(n):
        own, others = gain[i], covariance[i]
        for j in range(rounded):
            others[j] = growth * others[j] - own * gain[j]
    for i in range(1, n):
        if orientations[i - 1] == 0.0:
            covariance[i, i] = 1.0


# Least squares in regression: prediction


@inlined
def refer_row(state, squares, reference, row, scores):
    """Write u, and what least squares say."""
    u, raw, centres, units = row[REFERRED], row[RAW], reference[CENTRE], reference[UNIT]
    if state.second_order >= 0:
        u[0] = 1.0
        for f in range(state.second_order):
            value = (clamp(raw[f], LARGEST_VALUE) - centres[f]) / units[f]
            u[1 + f] = clamp(value if units[f] > 0.0 else 0.0, WIDE_CLIP)
        scores[SQUARES, 0] = dot(u, squares[0], squares.shape[1])


@inlined
def blend(state, squares_start, opinions):
    """M + b (L - M)"""
    found = opinions.found[0]
    found.mixture = found.straight = found.forecast
    if squares_start != 0.0:
        found.straight = near_targets(state, state.average + opinions.scores[SQUARES, 0])
        found.forecast += straight_share(state) * (found.straight - found.mixture)


@inner
def straight_share(state):
    """b"""
    total = state.apart + DOUBT * state.blend_error
    sure = state.products - ERRORS_LESS * math.sqrt(state.apart * state.blend_error)
    return min(max(sure / total, 0.0), 1.0) if total > 0.0 else 0.0


@inner
def near_targets(state, value):
    """A prediction within the range of the targets, or a little outside."""
    margin = RANGE_MARGIN * (state.highest - state.lowest)
    return min(max(value, state.lowest - margin), state.highest + margin)


# Least squares in regression: learning


@inner
def bound_of(rounds, square):
    """The largest error of a step, of such a mean square: larger ones are clipped."""
    return BOUND * math.sqrt(square) if rounds > UNBOUNDED_ROUNDS and square > 0.0 else np.inf


@inlined
def learn_blend(state, found, y, w):
    """The sums behind b."""
    if state.rounds > 0:
        apart, lacks, error = found.straight - found.mixture, y - found.mixture, y - found.forecast
        bound, w = bound_of(state.rounds, state.blend_error), min(w, 1.0)
        part = bound / abs(error) if abs(error) > bound else 1.0
        square, fading = w * part * part, 1.0 - w * (1.0 - BLEND_FORGETTING)
        state.products = fading * state.products + square * (lacks * apart)
        state.apart = fading * state.apart + square * (apart * apart)
        rate = min(w * max(1.0 / (state.rounds + 1.0), ERROR_RATE), 0.5)
        state.blend_error += rate * (part * part * (error * error) - state.blend_error)


@inner
def refer(reference, row, squares, covariance, n):
    """Give features that begin to vary a reference, and those that have left theirs another one."""
    centres, units, means, variances = reference[CENTRE], reference[UNIT], row[MEAN], row[VARIANCE]
    orientations, far = row[ORIENTATION], 0
    for f in range(n):  # without branches and roots, as most rows change none
        apart, square, unit = means[f] - centres[f], variances[f], units[f] * units[f]
        moved = (square > FARTHEST * FARTHEST * unit) | (FARTHEST * FARTHEST * square < unit)
        far += (orientations[f] != 0.0) & (moved | (apart * apart > unit))
    if far == 0:
        return
    for f in range(n):
        mean, spread = means[f], math.sqrt(max(variances[f], 0.0))
        if spread > CONSTANT * abs(mean):
            unit, apart = units[f], mean - centres[f]
            if unit == 0.0:
                centres[f], units[f] = mean, spread
            elif spread > FARTHEST * unit or FARTHEST * spread < unit or abs(apart) > unit:
                rewrite(squares, covariance, 1 + f, apart / unit, spread / unit)
                centres[f], units[f] = mean, spread


@inner
def rewrite(squares, covariance, i, shift, factor):
    """Weights and covariance for u_i <- (u_i - shift) / factor:  w_0 += shift w_i,  w_i *= factor."""  # noqa: E501
    for k in range(squares.shape[0]):
        squares[k, 0] += shift * squares[k, i]
        squares[k, i] *= factor
    for j in range(covariance.shape[0]):
        covariance[0, j] += shift * covariance[i, j]
    for j in range(covariance.shape[0]):
        covariance[j, 0] += shift * covariance[j, i]
    scale_row(covariance, i, factor)
    scale_row(covariance, np.int64(0), 1.0)


@inner
def scale_row(covariance, i, factor):
    """Multiply a row and a column of the covariance, by less where the variance would be larger
    than MOST_VARIANCE.
    """
    largest = factor * math.sqrt(covariance[i, i] / MOST_VARIANCE)
    if largest > 1.0:
        factor /= largest
    for j in range(covariance.shape[0]):
        covariance[i, j] *= factor
    for j in range(covariance.shape[0]):
        covariance[j, i] *= factor

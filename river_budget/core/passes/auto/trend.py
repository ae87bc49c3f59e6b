"""A trend: least squares of targets that run away, and of their changes, which the mixture leaves
behind.

u        row[REFERRED]: 1, and then (x_f - c_f) / s_f, within 40 of 0; 0 of a feature without
         reference
c, s     reference[CENTRE], reference[UNIT]: the mean and the standard deviation of a feature when
         it had just begun to vary. They are set anew behind a row with which the standard deviation
         is twice as large as s or half as large, or the mean is farther from c than s. Then weights
         and covariance are rewritten, so that no prediction changes: running units would turn a
         model of a trend into another one with every row
w        models.squares[LEVEL]: the expert of least squares says w'u beyond the mean my. When my
         moves, w_0 moves against it
v        models.squares[CHANGE], of the same covariance: T = q + v'u, with v'u in the range of the
         changes so far and a tenth of it more. Without least squares T = q
q        facts[NEWEST], the target before
M, T     found.mixture, found.change. The prediction is M + b (T - M), with
         b = sum (y - M) (T - M) / (sum (T - M)^2 + DOUBT r^2)  between 0 and 1: what would have been best. Sums fade
         by BLEND_FORGETTING, and a row in which the prediction is wrong by more than BOUND r counts less, as if all
         of it were shrunk to BOUND r
r^2      facts[ERROR], a running mean of such squared errors
h^2      facts[CHANGE_ERROR], the same of T: errors that teach v are clipped to BOUND h
"""  # noqa: E501

from __future__ import annotations

import math

import numpy as np

from ...compiling import inlined, inner
from ...numerics import clamp, dot
from .linear_models import learn_least_squares
from .scaling import CONSTANT, LARGEST_VALUE, WIDE_CLIP
from .tables import (
    CENTRE,
    CHANGE,
    CHANGE_ERROR,
    ERROR,
    FALL,
    LEVEL,
    MEAN,
    NEWEST,
    ORIENTATION,
    PRODUCTS,
    RAW,
    REFERRED,
    RISE,
    SQUARES,
    SQUARES_APART,
    UNIT,
    VARIANCE,
)

BOUND, UNBOUNDED_ROUNDS = 4.0, 10  # errors of the first rounds are not clipped
ERROR_RATE = 0.01  # rate of running errors
RANGE_MARGIN = 0.1  # predictions may leave the range of targets, or of changes, by this share of it
BLEND_FORGETTING = 0.998
DOUBT = 10.0  # rows
FARTHEST = 2.0  # standard deviations may grow or fall so far from the reference
MOST_VARIANCE = 1e8  # of a weight in the covariance


# Prediction


@inlined
def forecast_change(state, squares, trend, row, opinions):
    """The expert of least squares, and T."""
    found, facts = opinions.found[0], trend.facts
    found.rise = 0.0
    if state.second_order >= 0:
        refer_row(trend.reference, row, state.second_order)
        u, rounded = row[REFERRED], squares.shape[1]
        opinions.scores[SQUARES, 0] = dot(u, squares[LEVEL], rounded)
        found.rise = dot(u, squares[CHANGE], rounded)
    margin = RANGE_MARGIN * (facts[RISE] - facts[FALL])
    rise = min(max(found.rise, facts[FALL] - margin), facts[RISE] + margin)
    found.change = facts[NEWEST] + rise


@inner
def refer_row(reference, row, n):
    """Write u of n features."""
    u, raw, centres, units = row[REFERRED], row[RAW], reference[CENTRE], reference[UNIT]
    u[0] = 1.0
    for f in range(n):
        value = (clamp(raw[f], LARGEST_VALUE) - centres[f]) / units[f]
        u[1 + f] = clamp(value if units[f] > 0.0 else 0.0, WIDE_CLIP)


@inlined
def blend(facts, found):
    """M + b (T - M)"""
    found.mixture = found.forecast
    total = facts[SQUARES_APART] + DOUBT * facts[ERROR]
    share = min(max(facts[PRODUCTS] / total, 0.0), 1.0) if total > 0.0 else 0.0
    found.forecast += share * (found.change - found.mixture)


# Learning


@inner
def bound_of(rounds, square):
    """The largest error of a step, of such a mean square: larger ones are clipped."""
    return BOUND * math.sqrt(square) if rounds > UNBOUNDED_ROUNDS and square > 0.0 else np.inf


@inlined
def learn_squares(state, models, facts, row, gain, opinions, lacking, y, w):
    """A step of both models of least squares. Overwrites `lacking`."""
    change = y - facts[NEWEST]
    error = clamp(change - opinions.found[0].rise, bound_of(state.rounds, facts[CHANGE_ERROR]))
    if state.second_order >= 0:
        n, u, varied = state.second_order + 1, row[REFERRED], row[ORIENTATION]
        lacking[LEVEL], lacking[CHANGE] = opinions.errors[SQUARES, 0], error
        squares, covariance = models.squares, models.covariance
        learn_least_squares(squares, covariance, n, u, varied, lacking[:2], w, gain)
    rate = min(w * max(1.0 / (state.rounds + 1.0), ERROR_RATE), 0.5)
    facts[CHANGE_ERROR] += rate * (error * error - facts[CHANGE_ERROR])


@inlined
def learn_blend(state, facts, found, y, w):
    """The sums behind b, and the range of changes."""
    if state.rounds > 0:
        apart, lacks = found.change - found.mixture, y - found.mixture
        error, w = y - found.forecast, min(w, 1.0)
        bound = bound_of(state.rounds, facts[ERROR])
        part = bound / abs(error) if abs(error) > bound else 1.0
        square = w * part * part
        fading = 1.0 - w * (1.0 - BLEND_FORGETTING)
        facts[PRODUCTS] = fading * facts[PRODUCTS] + square * (lacks * apart)
        facts[SQUARES_APART] = fading * facts[SQUARES_APART] + square * (apart * apart)
        rate = min(w * max(1.0 / (state.rounds + 1.0), ERROR_RATE), 0.5)
        facts[ERROR] += rate * (part * part * (error * error) - facts[ERROR])
        change = y - facts[NEWEST]
        facts[FALL], facts[RISE] = min(facts[FALL], change), max(facts[RISE], change)
    facts[NEWEST] = y


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

"""Linear models of the features: AdaGrad with two rates, and recursive least squares
(examples/auto_kernel.md, Linear models).

J. Duchi, E. Hazan, Y. Singer. Adaptive subgradient methods for online learning and stochastic optimization. JMLR 12,
2011. (Here the sums of squares decay.)

    x+       row: 1, and then the scaled features
    L_u, G   models.linear, models.sums: per rate, the weights of every column, and sums of squared
             gradients, the mean over columns
    w        models.squares, which begins at 1/C for x+ = 1; its covariance  models.covariance
    trace    of the covariance: the model forgets only while the trace is small
"""  # noqa: E501

from __future__ import annotations

import math

from ...compiling import inlined, inner
from ...numerics import add_multiple, dot

RATES = (0.3, 0.05)
N_RATES = len(RATES)
LINEAR_FORGETTING = 0.9995  # of sums of squared gradients
SQUARES_FORGETTING = 0.9995  # of past rows in least squares
GRADIENT_FLOOR = 1e-10  # added under the root, for features that were 0 so far


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

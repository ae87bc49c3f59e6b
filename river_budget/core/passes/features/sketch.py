"""Sketches of polynomial features.

N. Pham, R. Pagh. Fast and scalable polynomial kernels via explicit feature maps. KDD 2013.

    paper        here
    p            head.degree
    D            the width of the result
    h_k, s_k     columns 2k (h, a place below D) and 2k + 1 (s, a sign) of a feature's row of
                 vectors; those of the constant feature for coef0 are drawn from head.random
    C_k x        the sum of s_k(i) x_i at the places h_k(i)
    convolution  of all C_k x: here feature by feature, without Fourier transforms, as an example
                 has few

The inner product of the convolutions has the expectation (gamma x.z + coef0)^p.
"""

from __future__ import annotations

import math

import numpy as np

from ...compiling import inner, passes
from ...expansion.examples import example
from ...expansion.kernels import BOUND
from ...memory import record
from ...numerics import clamp
from ...random_numbers import numbered

STATE = record("f8 scale")


@inner
def add_rotated(target, source, place, amount):
    """target[(j + place) mod D] += amount source[j]"""
    n = target.shape[0]
    for j in range(n - place):
        target[place + j] += amount * source[j]
    for j in range(place):
        target[j] += amount * source[n - place + j]


@inner
def place_among(n, value):
    """The value as a place from 0 to n - 1, even if it comes from a damaged file."""
    return min(max(np.int64(value), 0), n - 1)


@inner
def add_sketch(target, source, place, amount, first):
    """target += amount times source, rotated by `place`. The first source is 1 at place 0 and 0
    elsewhere.
    """
    if first:
        target[place] += amount
    else:
        add_rotated(target, source, place, amount)


@inner
def convolve(m, x, k, source, target, factor):
    """target = source convolved with factor C_k x"""
    head, n, (places, values, _) = m.head[0], target.shape[0], x
    for j in range(n):
        target[j] = 0.0
    root = factor * math.sqrt(head.gamma)
    for i in range(places.shape[0]):
        feature = m.vectors[places[i]]
        amount = root * values[i] * feature[2 * k + 1]
        add_sketch(target, source, place_among(n, feature[2 * k]), amount, k == 0)
    if head.coef0 > 0.0:
        amount = factor * math.sqrt(head.coef0)
        amount = -amount if numbered(head.random, 2 * k + 1) < 0.5 else amount
        add_sketch(target, source, place_among(n, numbered(head.random, 2 * k) * n), amount, k == 0)


@passes
def transform(m, states, rows, scratch):
    """scores[t] = scale times the sketch of x_t. Overwrites `scratch`, two rows of as many
    numbers.
    """
    for t in range(rows.scores.shape[0]):
        x, z = example(m, rows, t), rows.scores[t]
        source, target = scratch[0], scratch[1]
        for k in range(m.head[0].degree):
            source, target = target, source
            convolve(m, x, k, source, target, states[0].scale if k == 0 else 1.0)
        for j in range(z.shape[0]):
            z[j] = clamp(target[j], BOUND) if target[j] == target[j] else 0.0
    return rows.scores.shape[0]

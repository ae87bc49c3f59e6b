"""Sketches of polynomial features.

N. Pham, R. Pagh. Fast and scalable polynomial kernels via explicit feature maps. KDD 2013.

    paper        here
    p            head.degree
    D            the width of the result
    h_k, s_k     columns 2k (h, a place below D) and 2k + 1 (s, a sign) of a feature's row of vectors; those of the
                 constant feature for coef0 are drawn from head.random
    C_k x        the sum of s_k(i) x_i at the places h_k(i)
    convolution  of all C_k x: here feature by feature, without Fourier transforms, as an example has few

The inner product of the convolutions has the expectation (gamma x.z + coef0)^p.
"""

from __future__ import annotations

import math

import numpy as np

from ...block.limits import BOUND
from ...block.random_numbers import numbered
from ...compiling.array_views import carver, f64, record
from ...compiling.jit import REORDERED, compiled
from ...examples.present_features import places_of, values_of
from ...expansion.scoring import each_mapped_row

STATE = record("f8 scale")
state_at = carver(STATE, 0)


@compiled(fastmath=REORDERED, always_inlined=True)
def add_rotated(target, source, place, amount):
    """target[(j + place) mod D] += amount source[j]"""
    n = target.shape[0]
    for j in range(n - place):
        target[place + j] += amount * source[j]
    for j in range(place):
        target[j] += amount * source[n - place + j]


@compiled(always_inlined=True)
def place_among(n, value):
    """The value as a place from 0 to n - 1, even if it comes from a damaged file."""
    return min(max(np.int64(value), 0), n - 1)


@compiled(always_inlined=True)
def add_sketch(target, source, place, amount, first):
    """target += amount times source, rotated by `place`. The first source is 1 at place 0 and 0 elsewhere."""
    if first:
        target[place] += amount
    else:
        add_rotated(target, source, place, amount)


@compiled
def convolve(model, x, k, source, target, factor):
    """target = source convolved with factor C_k x"""
    head, n, places, values = model.head, target.shape[0], places_of(x), values_of(x)
    for j in range(n):
        target[j] = 0.0
    root = factor * math.sqrt(head.gamma)
    for i in range(places.shape[0]):
        feature = model.vectors[places[i]]
        amount = root * values[i] * feature[2 * k + 1]
        add_sketch(target, source, place_among(n, feature[2 * k]), amount, k == 0)
    if head.coef0 > 0.0:
        amount = factor * math.sqrt(head.coef0)
        amount = -amount if numbered(head.random, 2 * k + 1) < 0.5 else amount
        add_sketch(target, source, place_among(n, numbered(head.random, 2 * k) * n), amount, k == 0)


@compiled(called_from_python=True)
def transform(call):
    """scores[t] = scale times the sketch of x_t"""
    return each_mapped_row(call, write_sketch)


@compiled
def write_sketch(model, x, z):
    """z = scale times the sketch of x. Overwrites the heap."""
    d, scale = z.shape[0], state_at(model.state).scale
    source, target = f64(model.heap, d), f64(model.heap + 8 * d, d)
    for k in range(model.head.degree):
        source, target = target, source
        convolve(model, x, k, source, target, scale if k == 0 else 1.0)
    for j in range(d):
        value = target[j] if target[j] == target[j] else 0.0
        z[j] = min(max(value, -BOUND), BOUND)

"""Sketches of polynomial features, computed by Fourier transforms as in the paper."""

from __future__ import annotations

import numpy as np


def sketch(x, gamma, coef0, places, signs, n):
    """The sketch of one row, whose last entry stands for coef0.

    places, signs: one row for each factor of a product, one column for each entry of x and one for
    the constant.
    """
    x = np.append(np.sqrt(gamma) * np.asarray(x, float), np.sqrt(coef0))
    product = np.ones(n, complex)
    for place, sign in zip(places, signs, strict=True):
        count_sketch = np.zeros(n)
        np.add.at(count_sketch, place, sign * x)
        product *= np.fft.fft(count_sketch)
    return np.fft.ifft(product).real

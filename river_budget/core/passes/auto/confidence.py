"""How sure the mixture may be: its confidence is corrected by how often it was right when it was as sure before.

The most probable class has the probability p. Between 1/C and 1 there are knots; at each one a running mean says by
how much classes of about this probability were right more often than p says (histogram binning, with lines between
the knots). This catches what no mixture of logarithms can say: that labels are noise one time in ten, so nobody
should be surer than that. The predicted class stays what it is.

    here
    p                   MIXTURE[0], before; the corrected probability p + r is noted as SURE
    MASS, EXCESS        tables of CALIBRATION: weights of the knots, and sums of [right] - p
"""

from __future__ import annotations

import math

from ...compiling.jit import compiled
from .tables import CALIBRATION, EXCESS, KNOTS, MASS, MIXTURE, kept, noted

# numbers of model.note: the place among the knots, the most probable class, its corrected probability
PLACE, TOP, SURE = 5, 6, 7
MEMORY = 0.999
DOUBT = 30.0  # examples without excess that every knot begins with
AHEAD = 1.0 + 1e-9  # of the second class, so that there is no tie
CERTAIN = 1.0 - 1e-4  # probabilities from here on stay as they are


@compiled
def correct(model):
    """Note what the probability of the most probable class should be."""
    mixture, note, tables = noted(model, MIXTURE), model.note, kept(model, CALIBRATION)
    n, top, second = mixture.shape[1], 0, 0.0
    for c in range(1, n):
        if mixture[0, c] > mixture[0, top] or (n == 2 and mixture[0, 1] == mixture[0, 0]):
            top = c  # of two classes that are equal the second, which is positive
    for c in range(n):
        second = max(second, mixture[0, c] if c != top else 0.0)
    p = mixture[0, top]
    place = min(max((p * n - 1.0) / (n - 1.0), 0.0), 1.0) * (KNOTS - 1)
    left = min(int(place), KNOTS - 2)
    share = place - left
    low = tables[EXCESS, left] / (tables[MASS, left] + DOUBT)
    high = tables[EXCESS, left + 1] / (tables[MASS, left + 1] + DOUBT)
    right = min(p + (1.0 - share) * low + share * high, CERTAIN)
    note[TOP] = top
    note[PLACE] = place
    note[SURE] = p if p >= CERTAIN else max(right, AHEAD * second / (second + 1.0 - p))


@compiled
def corrections(model):
    """(the most probable class, what is added to the logarithm of its probability, what to those of the others, which
    share what it leaves)"""
    top, sure = int(model.note[TOP]), model.note[SURE]
    p = noted(model, MIXTURE)[0, top]
    if p >= CERTAIN:
        return top, 0.0, 0.0
    return top, math.log(sure / p), math.log((1.0 - sure) / (1.0 - p))


@compiled
def learn_calibration(model, y, w):
    tables, note = kept(model, CALIBRATION), model.note
    top = int(note[TOP])
    left = min(int(note[PLACE]), KNOTS - 2)
    share = note[PLACE] - left
    excess = w * ((1.0 if y == top else 0.0) - noted(model, MIXTURE)[0, top])
    for i in range(KNOTS):
        tables[MASS, i] *= MEMORY
        tables[EXCESS, i] *= MEMORY
    tables[MASS, left] += w * (1.0 - share)
    tables[MASS, left + 1] += w * share
    tables[EXCESS, left] += (1.0 - share) * excess
    tables[EXCESS, left + 1] += share * excess

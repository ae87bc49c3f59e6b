"""The Tighter Perceptron: the vector goes without which most stored examples are right.

Z. Wang, S. Vucetic. Tighter Perceptron with improved dual use of cached data for model
representation and validation. IJCNN 2009.
"""

import numpy as np

from river_budget import extending as ext


@ext.compiled
def round_of(m, state, own, x, norm, f, y, w):
    if y * f[0] <= 0.0:
        j = ext.insert(m, x, norm)
        own.labels[j] = y
        ext.add_to(m, j, 0, -1, w * y)


@ext.compiled
def tighten(m, state, own):
    """errors[j]: how many of the vectors are wrong without vector j"""
    n, a, errors, found = m.head[0].count, m.coefficients[0], m.work[0], 0
    errors[:n] = 0.0
    for i in range(n):
        ext.row_of_vector(m, i)
        f = np.dot(a[:n], m.row[:n])
        for j in range(n):
            errors[j] += own.labels[i] * (f - a[j] * m.row[j]) <= 0.0
    for j in range(1, n):
        better, older = errors[j] < errors[found], m.arrivals[j] < m.arrivals[found]
        found = j if better or (errors[j] == errors[found] and older) else found
    ext.remove(m, found)


@ext.register
class TighterPerceptronClassifier(ext.Classifier):
    """A Perceptron that validates itself on what it has stored."""

    algorithm = ext.algorithm(round_of, keep=tighten, own={"labels": ("B",)}, binary=True)

    def __init__(self, budget: int = 100, kernel=None, classes: tuple | None = None):
        super().__init__(locals())

"""Gradient descent on explicit features, of which the random Fourier features are one kind.

Rahimi, Recht: Random features for large-scale kernel machines. NIPS, 2007.
Lu, Hoi, Wang, Zhao, Liu: Large scale online kernel learning. JMLR, 2016 (algorithms 1 and 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .perceptrons import KernelOGD


@dataclass(eq=False)
class FeatureOGD(KernelOGD):
    """Kernel gradient descent that goes over to weights W on features z(x): f(x) = z(x) W.

    While W is None the model is the kernel expansion; subclasses say when W begins and what z is.
    """

    W = None  # features x outputs

    def features(self, x):
        raise NotImplementedError

    def scores(self, x):
        return super().scores(x) if self.W is None else self.features(x) @ self.W

    def add(self, x, coefficients):
        """The step of an active round: a new kernel function, or its features times the row."""
        if self.W is None:
            super().add(x, coefficients)
        else:
            self.W = self.W + np.outer(self.features(x), coefficients)

    def add_output(self):
        super().add_output()
        if self.W is not None:
            self.W = np.hstack([self.W, np.zeros((len(self.W), 1))])

    def promote(self):
        super().promote()
        if self.W is not None:
            self.W = np.hstack([-self.W / 2, self.W / 2, np.zeros((len(self.W), 1))])


@dataclass(eq=False)
class FOGD(FeatureOGD):
    """Random Fourier features z(x) = [cos(U'x), sin(U'x)] / sqrt(n_components).

    `frequencies` gives the row of U that belongs to the feature in a place, so U grows with x.
    The paper leaves out the square root; its step is learning_rate / n_components.
    """

    n_components: int = 400
    frequencies: Callable | None = None

    def __post_init__(self):
        super().__post_init__()
        self.U = np.zeros((0, self.n_components))
        self.W = np.zeros((2 * self.n_components, self.outputs))

    def features(self, x):
        x = np.asarray(x, dtype=float)
        # Each row is asked for once: the test may draw it from a stream of random numbers.
        while len(self.U) < len(x):
            self.U = np.vstack([self.U, self.frequencies(len(self.U))])
        angles = x @ self.U[: len(x)]
        return np.concatenate([np.cos(angles), np.sin(angles)]) / np.sqrt(self.n_components)

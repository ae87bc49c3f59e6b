"""Gradient descent in the kernel space until the budget is full, then on Nyström features.

Williams, Seeger: Using the Nyström method to speed up kernel machines. NIPS, 2000.
Lu, Hoi, Wang, Zhao, Liu: Large scale online kernel learning. JMLR, 2016 (algorithms 2 and 4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .random_features import FeatureOGD


@dataclass(eq=False)
class NOGD(FeatureOGD):
    """Phase 1 stores `budget` vectors; phase 2 learns weights on the features z(x) = M k(x).

    k(x) holds the kernel values of x with the stored vectors, which stay the same in phase 2.
    """

    budget: int = 100
    rank: int | None = None
    eta_linear: float | None = None  # phase 2 has a step of its own, and starts at 0
    M = None  # rank x budget

    def __post_init__(self):
        super().__post_init__()
        self.rank = max(1, round(0.2 * self.budget)) if self.rank is None else self.rank

    def features(self, x):
        return self.M @ self.row(x)

    def add(self, x, coefficients):
        # The model changes in the first active round that finds the budget full, not in the one
        # that fills it.  That round's own step is already one on the features.
        if self.W is None and len(self.X) == self.budget:
            self.begin_phase_2()
            if self.eta_linear is not None:
                self.W = np.zeros_like(self.W)
        if self.W is not None and self.eta_linear is not None:
            coefficients = coefficients * (self.eta_linear / self.learning_rate)
        super().add(x, coefficients)

    def begin_phase_2(self):
        """Take the `rank` largest eigenpairs of the Gram matrix; W = pinv(M)' A."""
        values, vectors = np.linalg.eigh(self.gram())
        largest_first = np.argsort(values)[::-1][: self.rank]
        # A deviation from the paper: directions of no length would give infinite features.
        kept = [i for i in largest_first if values[i] > 1e-12 * values.max()]
        self.M = vectors[:, kept].T / np.sqrt(values[kept])[:, None]
        self.W = np.linalg.pinv(self.M).T @ self.A

"""Projectron and Projectron++: project onto the stored vectors instead of storing one more.

Orabona, Keshet, Caputo: Bounded kernel-based online learning. JMLR, 2009 (threshold).
Lu, Hoi, Wang, Zhao, Liu: Large scale online kernel learning. JMLR, 2016 (budget, no threshold).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .perceptrons import KernelPerceptron
from .rounds import MULTICLASS, judge

# Squared distances below this are rounding noise: storing the vector (a duplicate, say) would make
# the Gram matrix singular.
TINY = 1e-10


@dataclass(eq=False)
class Projectron(KernelPerceptron):
    """A Perceptron whose mistakes are projected once the budget is full, or the loss is small.

    threshold (or None) is compared with the squared distance to the span of the stored vectors.
    """

    budget: int | None = None
    threshold: float | None = None

    def learn(self, x, target, scores, weight):
        verdict = judge(self.task, scores, target, self.epsilon)
        if verdict.mistake:
            self.absorb(x, weight * self.step_size() * verdict.direction)

    def absorb(self, x, coefficients):
        """Store x with its coefficients, or add their projection to the stored rows."""
        projection, _, distance2 = self.project(x)
        full = self.budget is not None and len(self.X) >= self.budget
        if full or distance2 <= max(self.threshold or 0.0, TINY):
            self.A = self.A + np.outer(projection, coefficients)
        else:
            self.add(x, coefficients)
            self.keep_apart()

    def keep_apart(self):
        """A deviation from the paper, where the Gram matrix becomes singular: stored vectors that a newcomer has
        made combinations of the others become these combinations."""
        while len(self.X) > 1:
            points = np.array(self.X)
            distances2 = 1.0 / np.diag(np.linalg.inv(self.kernel(points, points)))
            lengths2 = np.array([self.norm2(x) for x in self.X])
            i = int(np.argmin(distances2 / lengths2))
            if distances2[i] > TINY * lengths2[i]:
                return
            x, coefficients = self.X[i], self.A[i].copy()
            self.remove(i)
            self.A = self.A + np.outer(self.project(x)[0], coefficients)

    def project(self, x):
        """Coefficients of the projection of k(x, .), its squared length, the rest's."""
        if not self.X:
            return np.zeros(0), 0.0, self.norm2(x)
        row = self.row(x)
        projection = np.linalg.solve(self.kernel(np.array(self.X), np.array(self.X)), row)
        length2 = row @ projection
        return projection, length2, max(0.0, self.norm2(x) - length2)


class ProjectronPP(Projectron):
    """Projectron that also learns from correct but narrow rounds, by a part of the projection.

    threshold None follows Lu et al. (2016), a number follows Orabona et al. (2009).
    """

    def learn(self, x, target, scores, weight):
        verdict = judge(self.task, scores, target)
        loss = 1 - verdict.margin
        if verdict.mistake:
            self.absorb(x, weight * verdict.direction)
        elif self.X and (0 < loss < 1 or (loss > 0 and self.task == MULTICLASS)):
            projection, length2, distance2 = self.project(x)
            if length2 > 0:
                part = self.part(loss, length2, distance2)
                self.A = self.A + weight * part * np.outer(projection, verdict.direction)

    def part(self, loss, length2, distance2):
        """How much of the projection to add on a margin error; 0 leaves the model alone."""
        if self.threshold is None:
            ratio = (self.budget + 1) / np.log(self.budget + 1)
            bound = np.sqrt(ratio) / 4
            part = min(loss / length2, 1.0)
            gain = part * (2 * loss - part * length2 - 2 * bound * np.sqrt(distance2))
            return part if gain >= 0 else 0.0
        if distance2 == 0:
            rest = loss  # also with threshold 0, where nothing else may be projected
        elif self.threshold == 0:
            return 0.0
        else:
            rest = loss - distance2 / self.threshold
        return max(0.0, min(loss / length2, 1.0, 2 * rest / length2))

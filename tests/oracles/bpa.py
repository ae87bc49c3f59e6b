"""Budgeted passive-aggressive learning: the update that also removes a vector, all in one problem.

Wang, Vucetic: Online passive-aggressive algorithms on a budget. AISTATS, 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rounds import OnlineKernelLearner, judge, lightest

# Squared distances below this are rounding noise; they count as 0, so duplicates cost nothing.
TINY = 1e-10


@dataclass(eq=False)
class BPA(OnlineKernelLearner):
    """BPA-S ("simple"), BPA-NN ("nearest") and BPA-P ("projection").

    With a full budget some r has to go.  Its part of the model is projected onto the newcomer
    alone, onto the newcomer and r's nearest neighbour, or onto all that remain.  The loss after
    the round is the same for every r, so the r that loses least in the projection goes.
    """

    budget: int = 100
    C: float = 1.0
    update: str = "simple"

    def learn(self, x, target, scores, weight):
        verdict = judge(self.task, scores, target)
        loss = 1 - verdict.margin
        if loss <= 0:
            return
        length2 = self.norm2(x) * (verdict.direction @ verdict.direction)
        tau = min(weight * self.C, loss / length2) if length2 > 0 else weight * self.C
        if len(self.X) < self.budget:
            self.add(x, tau * verdict.direction)
        else:
            self.exchange(x, tau * verdict.direction)

    def exchange(self, x, coefficients):
        """Replace the cheapest stored vector by x, the last of the n + 1 points considered."""
        points = np.array([*self.X, x])
        gram = self.kernel(points, points)
        options = [self.project(r, gram) for r in range(len(self.X))]
        losses = [self.A[r] @ self.A[r] * options[r][2] for r in range(len(self.X))]
        r = lightest(losses)
        heirs, shares, _ = options[r]
        A = np.vstack([self.A, coefficients])
        A[heirs] += np.outer(shares, self.A[r])
        newcomer = A[-1]
        self.A = A[:-1]
        self.remove(r)
        self.add(x, newcomer)

    def project(self, r, gram):
        """Who inherits from r, their shares, and the squared distance of r to their span."""
        heirs = self.heirs(r, gram)
        # Least squares, because a newcomer that duplicates an heir makes the matrix singular.
        shares = np.linalg.lstsq(gram[np.ix_(heirs, heirs)], gram[heirs, r], rcond=1e-12)[0]
        distance2 = gram[r, r] - gram[heirs, r] @ shares
        return heirs, shares, distance2 if distance2 > TINY * gram[r, r] else 0.0

    def heirs(self, r, gram):
        newcomer = len(self.X)
        others = [i for i in range(newcomer) if i != r]
        if self.update == "simple" or not others:
            return [newcomer]
        if self.update == "nearest":
            return [others[int(np.argmax(gram[r, others]))], newcomer]
        return [*others, newcomer]

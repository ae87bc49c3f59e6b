"""Projectron and Projectron++: project onto the stored vectors instead of storing one more.

Orabona, Keshet, Caputo: Bounded kernel-based online learning. JMLR, 2009 (threshold). Lu, Hoi,
Wang, Zhao, Liu: Large scale online kernel learning. JMLR, 2016 (budget, no threshold). Wang,
Crammer, Vucetic: Multi-class Pegasos on a budget. ICML, 2010 (section 4.2: Orabona et al. project
"only onto the SVs assigned to the same class").
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

    def span(self, c=None):
        """The places of the vectors that a newcomer is projected on: all."""
        return list(range(len(self.X)))

    def project(self, x, c=None):
        """Coefficients of the projection of k(x, .) on a span, its squared length, the rest's."""
        members, projection = self.span(c), np.zeros(len(self.X))
        if not members:
            return projection, 0.0, self.norm2(x)
        row = self.row(x)[members]
        projection[members] = np.linalg.solve(self.gram(members), row)
        length2 = row @ projection[members]
        return projection, length2, max(0.0, self.norm2(x) - length2)

    def keep_apart(self, c=None):
        """A deviation from the paper, where the Gram matrix becomes singular: stored vectors that a
        newcomer has made combinations of the others become these combinations.
        """
        while len(members := self.span(c)) > 1:
            distances2 = 1.0 / np.diag(np.linalg.inv(self.gram(members)))
            lengths2 = np.diag(self.gram(members))
            worst = int(np.argmin(distances2 / lengths2))
            if distances2[worst] > TINY * lengths2[worst]:
                return
            self.give_up(members[worst], c)

    def give_up(self, i, c):
        x, coefficients = self.X[i], self.A[i].copy()
        self.remove(i)
        self.A = self.A + np.outer(self.project(x)[0], coefficients)


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


@dataclass(eq=False)
class ProjectronByClass(Projectron):
    """The span of each class is that of the vectors stored for it; with two classes every vector
    belongs to both.

    A mistake adds k(x, .) to the function of its class and subtracts it from that of the runner-up.
    If both parts lie within the threshold of the spans of these classes, both are projected, else
    stored.
    """

    eager = False

    def __post_init__(self):
        super().__post_init__()
        self.classes = []  # of every vector: those for which it was stored

    def add(self, x, coefficients):
        super().add(x, coefficients)
        self.classes.append(set(np.flatnonzero(coefficients)) if len(coefficients) > 1 else {0, 1})

    def remove(self, slot):
        super().remove(slot)
        del self.classes[slot]

    def learn(self, x, target, scores, weight):
        if self.task != MULTICLASS:
            super().learn(x, target, scores, weight)
            return
        verdict = judge(self.task, scores, target)
        loss = 1 - verdict.margin
        if not verdict.mistake and not (self.eager and self.X and loss > 0):
            return
        sides = {c: self.project(x, c) for c in np.flatnonzero(verdict.direction)}
        if not verdict.mistake:
            # |the projected change|^2, and the mean distance of its parts to their spans
            length2 = sum(length2 for _, length2, _ in sides.values())
            distance2 = sum(distance2 for *_, distance2 in sides.values()) / 2
            if length2 > 0:
                part = self.part(loss, length2, distance2)
                for c, (projection, *_) in sides.items():
                    self.A[:, c] += weight * part * verdict.direction[c] * projection
            return
        tiny = TINY * self.norm2(x)
        full = self.budget is not None and len(self.X) >= self.budget
        near = full or all(d2 <= max(self.threshold or 0.0, tiny) for *_, d2 in sides.values())
        own = np.zeros(len(verdict.direction))
        for c, (projection, _, distance2) in sides.items():
            if near or distance2 <= tiny:
                self.A[:, c] += weight * verdict.direction[c] * projection
            else:
                own[c] = weight * verdict.direction[c]
        if not near:
            self.add(x, own)
            for c in np.flatnonzero(own):
                self.keep_apart(c)

    def span(self, c=None):
        return [i for i, classes in enumerate(self.classes) if c is None or c in classes]

    def give_up(self, i, c):
        """Vector i leaves class c, and is forgotten if that was its last."""
        if c is None:
            super().give_up(i, c)
            return
        coefficient, self.A[i, c] = self.A[i, c], 0.0
        self.classes[i].discard(c)
        self.A[:, c] += coefficient * self.project(self.X[i], c)[0]
        if not self.classes[i]:
            self.remove(i)


class ProjectronPPByClass(ProjectronByClass, ProjectronPP):
    """Projectron++ with a span for each class; margin errors are projected on both classes in equal
    parts.
    """

    eager = True

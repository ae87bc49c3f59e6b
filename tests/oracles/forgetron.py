"""The self-tuned Forgetron: shrink the model, then forget its oldest example.

Dekel, Shalev-Shwartz, Singer: The Forgetron: a kernel-based Perceptron on a fixed budget.
NIPS, 2005.  Multi-class and regression are the heuristics Lu et al. (JMLR 2016) compare.
"""

from __future__ import annotations

from dataclasses import dataclass

from .perceptrons import KernelPerceptron
from .rounds import BINARY, MULTICLASS, judge


def damage(weight, phi, score):
    """Psi of the paper: what shrinking by phi and then forgetting the oldest may cost.

    weight is the oldest example's coefficient and score the model's on it, both before shrinking
    and both positive if they favour its label.
    """
    return (weight * phi) ** 2 + 2 * weight * phi * (1 - phi * score)


def shrinkage(weight, score, spent, mistakes):
    """The largest phi in (0, 1] that keeps the total damage within 15/32 of the mistakes.

    By bisection.  Damage is a parabola in phi which at 0 is affordable; if at 1 it is not, it
    crosses the allowance exactly once in between, so the bracket always holds the answer.
    """

    def affordable(phi):
        return damage(weight, phi, score) + spent <= 15 / 32 * mistakes

    if affordable(1.0):
        return 1.0
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if affordable(middle):
            low = middle
        else:
            high = middle
    return low


@dataclass(eq=False)
class Forgetron(KernelPerceptron):
    """The paper's algorithm: `spent` is its Q, `mistakes` its M, `phi` the last shrinkage."""

    budget: int = 100
    spent, mistakes, phi = 0.0, 0, 1.0

    def __post_init__(self):
        super().__post_init__()
        self.targets = []

    def learn(self, x, target, scores, weight):
        verdict = judge(self.task, scores, target, self.epsilon)
        # With two classes a score of exactly 0 is a mistake whatever it predicts.
        mistake = verdict.margin <= 0 if self.task == BINARY else verdict.mistake
        if not mistake:
            return
        self.mistakes += 1
        self.add(x, weight * self.step_size() * verdict.direction)
        self.targets.append(target)
        if len(self.X) > self.budget:
            self.shrink()
            self.remove(0)
            del self.targets[0]

    def shrink(self):
        weight, score = self.favour(self.A[0]), self.favour(self.scores(self.X[0]))
        if self.task != BINARY:
            weight = abs(weight)
            score = score if self.task == MULTICLASS else abs(score)
        self.phi = shrinkage(weight, score, self.spent, self.mistakes)
        self.A = self.phi * self.A
        self.spent += damage(weight, self.phi, score)

    def favour(self, values):
        """How much a row of coefficients or scores speaks for the oldest example's target."""
        if self.task == BINARY:
            return self.targets[0] * values[0]
        return values[self.targets[0]] if self.task == MULTICLASS else values[0]

    def promote(self):
        super().promote()
        self.targets = [int(target > 0) for target in self.targets]

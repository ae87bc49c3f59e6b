"""Perceptrons and kernel gradient descent, without a budget and with the simplest budgets.

Kivinen, Smola, Williamson: Online learning with kernels. IEEE Trans. Signal Processing, 2004.
Crammer, Kandola, Singer: Online classification on a budget. NIPS, 2004.
Cavallanti, Cesa-Bianchi, Gentile: Tracking the best hyperplane with a simple budget Perceptron.
    Machine Learning, 2007.
Zhao, Wang, Wu, Jin, Hoi: Fast bounded online gradient descent algorithms for scalable
    kernel-based online learning. ICML, 2012.
Lu, Hoi, Wang, Zhao, Liu: Large scale online kernel learning. JMLR, 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .rounds import BINARY, MULTICLASS, REGRESSION, OnlineKernelLearner, judge


@dataclass(eq=False)
class KernelPerceptron(OnlineKernelLearner):
    """Store every mistake with coefficient +-1; in regression learning_rate * sign(residual)."""

    learning_rate: float = 0.1
    epsilon: float = 0.1

    def learn(self, x, target, scores, weight):
        verdict = judge(self.task, scores, target, self.epsilon)
        if verdict.mistake:
            self.store(x, weight * self.step_size() * verdict.direction)

    def step_size(self):
        return self.learning_rate if self.task == REGRESSION else 1.0

    def store(self, x, coefficients):
        self.add(x, coefficients)


@dataclass(eq=False)
class RBP(KernelPerceptron):
    """Randomised budget Perceptron (Cavallanti et al. 2007): a uniform old vector makes room."""

    budget: int = 100
    choose: Callable | None = None

    def store(self, x, coefficients):
        if len(self.X) < self.budget:
            self.add(x, coefficients)
        else:
            self.replace(self.choose(self.budget), x, coefficients)


@dataclass(eq=False)
class BudgetPerceptron(OnlineKernelLearner):
    """Crammer, Kandola, Singer (2004): drop the example that is classified best without itself."""

    budget: int = 100
    margin: float = 0.0

    def learn(self, x, target, scores, weight):
        if target * scores[0] > self.margin:
            return
        self.add(x, np.array([weight * target]))
        if len(self.X) > self.budget:
            coefficients = self.A[:, 0]
            labels = np.sign(coefficients)
            without_itself = [
                label * (self.scores(point)[0] - coefficient * self.norm2(point))
                for point, coefficient, label in zip(self.X, coefficients, labels, strict=True)
            ]
            # Margins that are equal on paper differ in their last digits: the oldest of them goes.
            best = int(np.argmax(without_itself))
            own = abs(coefficients[best]) * self.norm2(self.X[best])
            equal = without_itself[best] - 1e-9 * max(abs(without_itself[best]), own)
            self.remove(int(np.flatnonzero(without_itself >= equal)[0]))


@dataclass(eq=False)
class KernelOGD(OnlineKernelLearner):
    """Gradient descent with a constant step on the hinge loss, or the squared loss off a tube.

    With `clip`, no residual counts as longer than that (Huber's loss).
    """

    learning_rate: float = 0.2
    epsilon: float = 0.1
    clip: float = np.inf

    def learn(self, x, target, scores, weight):
        verdict = judge(self.task, scores, target, self.epsilon)
        if self.task == REGRESSION:
            active = verdict.mistake
            gradient = np.array([np.clip(verdict.residual, -self.clip, self.clip)])
        else:
            active, gradient = verdict.margin < 1, verdict.direction
        if active:
            self.add(x, weight * self.learning_rate * gradient)


@dataclass(eq=False)
class BOGD(OnlineKernelLearner):
    """Budgeted gradient descent (Zhao et al. 2012) in the forms Lu et al. (2016) compare.

    removal "random": the survivors grow so that the model stays unbiased; sampling "nonuniform"
    is BOGD++, where small coefficients leave sooner.  removal "oldest": no growth.
    max_coefficient times the learning rate bounds the coefficients (None: no bound).
    """

    budget: int = 100
    learning_rate: float = 0.2
    l2: float = 0.0
    epsilon: float = 0.1
    removal: str | None = None
    sampling: str = "uniform"
    max_coefficient: float | None = None
    choose: Callable | None = None
    uniform: Callable | None = None

    def __post_init__(self):
        super().__post_init__()
        # With the squared loss the growth of the survivors makes the model diverge.
        self.removal = self.removal or ("oldest" if self.task == REGRESSION else "random")

    def learn(self, x, target, scores, weight):
        verdict = judge(self.task, scores, target, self.epsilon)
        self.A = (1 - self.learning_rate * self.l2) * self.A
        if not self.active(verdict):
            return
        regression = self.task == REGRESSION
        gradient = np.array([verdict.residual]) if regression else verdict.direction
        newcomer = weight * self.learning_rate * gradient
        if len(self.X) < self.budget:
            self.add(x, newcomer)
            return
        if self.removal == "oldest":
            self.remove(self.oldest())
            self.add(x, newcomer)
        else:
            self.replace(self.victim_after_growth(), x, newcomer)
        if self.max_coefficient is not None:
            self.bound(self.learning_rate * self.max_coefficient)

    def active(self, verdict):
        if self.task == REGRESSION:
            return verdict.mistake
        # The authors' two-class program also learns when the margin is exactly 1.
        return verdict.margin <= 1 if self.task == BINARY else verdict.margin < 1

    def victim_after_growth(self):
        """Draw the slot to give away; each other slot grows by 1 / its chance to survive."""
        probability = self.probabilities()
        if self.sampling == "uniform":
            victim = self.choose(self.budget)
        else:
            exceeds = np.flatnonzero(np.cumsum(probability) > self.uniform())
            # Rounding can leave the last cumulative probability just below a draw near 1.
            victim = int(exceeds[0]) if len(exceeds) else self.budget - 1
        for slot in range(self.budget):
            if slot != victim:
                self.A[slot] /= 1 - probability[slot]
        return victim

    def probabilities(self):
        if self.sampling == "uniform" or self.budget == 1:
            return np.full(self.budget, 1 / self.budget)
        size = np.array(
            [
                np.linalg.norm(coefficients) * np.sqrt(self.norm2(x))
                for x, coefficients in zip(self.X, self.A, strict=True)
            ]
        )
        if size.sum() == 0:
            return np.full(self.budget, 1 / self.budget)
        return (1 - size / size.sum()) / (self.budget - 1)

    def bound(self, largest):
        if self.task == MULTICLASS and self.removal == "oldest":
            # The authors' multi-class program clips from above only, entry by entry.
            self.A = np.minimum(self.A, largest)
        else:
            self.A = self.A * min(1.0, largest / np.abs(self.A).max())


@dataclass(eq=False)
class NORMA(OnlineKernelLearner):
    """Regularised gradient descent with an adaptive tube or margin (Kivinen et al. 2004).

    Regression: `epsilon` is where the tube starts; a fraction nu of the rounds ends outside it.
    Classification: `margin` is fixed, or adapts by nu from 0 if None.  The weight multiplies the
    whole loss, of which the term with nu is a part.
    """

    budget: int | None = None
    learning_rate: float = 0.03
    l2: float = 0.03
    nu: float = 0.4
    epsilon: float = 0.1
    margin: float | None = 1.0

    def __post_init__(self):
        super().__post_init__()
        self.tube = self.epsilon
        self.adaptive = self.margin is None
        self.margin = self.margin or 0.0

    def learn(self, x, target, scores, weight):
        verdict = judge(self.task, scores, target, self.tube)
        regression = self.task == REGRESSION
        active = verdict.mistake if regression else verdict.margin < self.margin
        rate = weight * self.learning_rate
        self.A = (1 - self.learning_rate * self.l2) * self.A
        if active:
            self.add(x, rate * verdict.direction)
            if self.budget is not None and len(self.X) > self.budget:
                self.remove(self.oldest())
        widen = rate * (1 - self.nu) if active else -rate * self.nu
        if regression:
            self.tube += widen  # may become negative, as in the paper: then every round is active
        elif self.adaptive:
            self.margin -= widen


@dataclass(eq=False)
class NormaOneClass(OnlineKernelLearner):
    """Novelty detection (Kivinen et al. 2004): a fraction nu of the stream scores below rho.

    Per round it descends l2/2 |f|^2 + max(0, rho - f(x)) - nu rho.
    """

    task: str = BINARY
    budget: int | None = None
    learning_rate: float = 0.05
    l2: float = 0.01
    nu: float = 0.1
    removal: str = "oldest"
    choose: Callable | None = None
    rho = 0.0

    def step(self, x, target=None, weight=1.0):
        return super().step(x, target, weight)

    def anomaly(self, x):
        return self.rho - self.scores(np.array(x, dtype=float))[0]

    def learn(self, x, target, scores, weight):
        rate = weight * self.learning_rate
        # At the start f = rho = 0 and nothing is below rho, but the first point is new.
        strange = scores[0] < self.rho or (self.rho <= 0 and not self.X)
        self.A = (1 - self.learning_rate * self.l2) * self.A
        if strange:
            self.store(x, np.array([rate]))
            self.rho -= rate * (1 - self.nu)
        else:
            self.rho += rate * self.nu

    def store(self, x, coefficients):
        if self.budget is None or len(self.X) < self.budget:
            self.add(x, coefficients)
        elif self.removal == "random":
            self.replace(self.choose(self.budget), x, coefficients)
        else:
            self.remove(self.oldest())
            self.add(x, coefficients)

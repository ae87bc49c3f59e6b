"""An algorithm of one's own, outside the package: a compiled pass, a class, and a reference that it
must equal.

    python examples/your_own_algorithm.py

The shifting Perceptron: every mistake is stored, and what was stored before fades, the less the
more mistakes there have been. Here it keeps a budget by removing the oldest vector.
examples/extending.md explains each line.

    G. Cavallanti, N. Cesa-Bianchi, C. Gentile. Tracking the best hyperplane with a simple budget
    Perceptron. Machine Learning 69, 2007.

    paper      here                       paper      here
    k          mistakes                   lambda     shift
    lambda_k   share of the newcomer      w_k        coefficients times scale
"""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import numpy as np
from river import datasets, evaluate, metrics, preprocessing

import river_budget as rb
from river_budget.extending import (
    Classifier,
    Mutable,
    add_to,
    algorithm,
    compiled,
    insert,
    is_mistake,
    loss_and_direction,
    positive,
    register,
    remove_oldest,
    rescale,
)


@compiled
def round_of(m, state, x, norm, f, y, w):
    """A mistake: w <- (1 - lambda_k) w + lambda_k y k(x, .)"""
    loss, sign, plus, minus = loss_and_direction(m.head[0], f, y, 0.0)
    if is_mistake(m.head[0], f, loss, sign, plus, minus):
        share = state.shift / (state.shift + state.mistakes)  # lambda_k
        rescale(m, 1.0 - share)
        add_to(m, insert(m, x, norm), plus, minus, w * share * sign)
        state.mistakes += 1.0


@register
class ShiftingPerceptronClassifier(Classifier):
    """A Perceptron whose past fades, on a budget.

    Parameters
    ----------
    budget
        The largest number of support vectors.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("2/d")`.
    shift
        How fast the past fades: the first mistakes count less, the larger it is.
    classes
        The labels, if they are known in advance.

    """

    algorithm = algorithm(round_of, "shift mistakes", remove_oldest, counters=("mistakes",))

    shift = Mutable(positive)

    def __init__(
        self,
        budget: int = 100,
        kernel: rb.kernels.Kernel | None = None,
        shift: float = 10.0,
        classes: tuple[Any, ...] | None = None,
    ):
        super().__init__(locals())


class Reference:
    """The same in plain Python, for two classes and the Gaussian kernel."""

    def __init__(self, budget: int, gamma: float, shift: float):
        self.budget, self.gamma, self.shift = budget, gamma, shift
        self.mistakes = 0
        self.vectors: list[Any] = []
        self.coefficients: list[float] = []

    def predict(self, x: dict[Any, float]) -> float:
        row = np.array(list(x.values()))
        kernel = [np.exp(-self.gamma * np.sum((row - v) ** 2)) for v in self.vectors]
        return float(np.dot(self.coefficients, kernel)) if kernel else 0.0

    def learn(self, x: dict[Any, float], label: bool) -> None:
        y = 1 if label else -1
        if (self.predict(x) >= 0.0) != label:
            share = self.shift / (self.shift + self.mistakes)
            self.mistakes += 1
            self.coefficients = [(1.0 - share) * a for a in self.coefficients] + [share * y]
            self.vectors.append(np.array(list(x.values())))
            if len(self.vectors) > self.budget:
                del self.vectors[0], self.coefficients[0]


def differences(n: int = 1000) -> float:
    """The largest difference of scores between the class and the reference over a stream."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0.0
    model = ShiftingPerceptronClassifier(30, rb.kernels.RBF(0.5), classes=(False, True))
    reference, largest = Reference(30, 0.5, 10.0), 0.0
    for x, label in zip(X, y.tolist(), strict=True):
        example = dict(enumerate(x.tolist()))
        apart = model.decision_function_one(example) - reference.predict(example)
        largest = max(largest, abs(apart))
        model.learn_one(example, label)
        reference.learn(example, label)
    return largest


def main() -> None:
    print(f"largest difference to the reference: {differences():.1e}")
    model = preprocessing.StandardScaler() | ShiftingPerceptronClassifier(
        kernel=rb.kernels.RBF(4.0)
    )
    print(evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy()))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.rb"
        rb.save(model, path)
        same = rb.load(path)
    x = {"1": 0.5, "2": -1.0}
    print(f"saved and loaded: {same.predict_proba_one(x) == model.predict_proba_one(x)}")


if __name__ == "__main__":
    main()
